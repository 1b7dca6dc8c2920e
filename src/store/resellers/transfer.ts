// Moves money between a reseller's wallet and a client's: all of it, or nothing. Neither goes below zero by it.

import { moveMoney } from '../money/move-money.ts';
import { countInWindow } from '../postgres/count-in-window.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { holdClient } from './clients.ts';

interface Transfer {
  readonly resellerId: number;
  readonly clientId: number;
  /** `credit`: to the client. */
  readonly direction: 'credit' | 'debit';
  readonly amountRials: number;
  readonly description: string;
}

type Transferred =
  | { readonly kind: 'moved'; readonly resellerRials: number; readonly clientRials: number }
  /** Who pays holds too little, or who gets it would hold more than is counted. */
  | { readonly kind: 'short' | 'full' }
  | { readonly kind: 'not_owned' }
  | { readonly kind: 'too_often'; readonly waitSeconds: number };

/** Of one reseller, with whatever credentials: what moves there and back costs nothing, and stays for ever. */
const TRANSFERS = { limit: 10_000, seconds: 86_400 };

export async function transfer(db: Database, wanted: Transfer): Promise<Transferred> {
  const { resellerId, clientId, direction, amountRials, description } = wanted;
  return await inTransaction<Transferred>(db, async (trx) => {
    const waitSeconds = await countInWindow(trx, `transfers:${resellerId}`, TRANSFERS);
    if (waitSeconds !== undefined) return { kind: 'too_often', waitSeconds };
    if (!(await holdClient(trx, wanted, false))) return { kind: 'not_owned' };
    const isCredit = direction === 'credit';
    const [from, to] = isCredit ? [resellerId, clientId] : [clientId, resellerId];
    const moved = await moveMoney(trx, {
      from: { accountId: from },
      to: { accountId: to },
      amountRials,
      refType: 'reseller_transfer',
      description,
      at: await currentTime(trx),
    });
    if (moved.kind !== 'moved') return { kind: moved.kind };
    const [source, target] = [moved.from as number, moved.to as number];
    return {
      kind: 'moved',
      resellerRials: isCredit ? source : target,
      clientRials: isCredit ? target : source,
    };
  });
}
