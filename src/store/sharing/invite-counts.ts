// How many invites were sent within a window of time, by what they are counted for. Counted in the transaction that makes the
// invite, so an invite that is not made does not count.

import { createHash } from 'node:crypto';
import { type CountRule, countInWindow } from '../postgres/count-in-window.ts';
import type { Database } from '../postgres/database.ts';

const OF_DOMAIN: CountRule = { limit: 50, seconds: 86_400 };
/** Over all domains of an account: domains are easily made. */
const OF_ACCOUNT: CountRule = { limit: 200, seconds: 86_400 };
/** Beyond it an invite is made, and not mailed: whoever invites learns nothing of others who do. */
const TO_ADDRESS: CountRule = { limit: 3, seconds: 3600 };

/** Seconds to wait; undefined: it counts. */
export async function countInvite(
  trx: Database,
  domainId: number,
  accountId: number,
): Promise<number | undefined> {
  return (
    (await countInWindow(trx, `domain:${domainId}`, OF_DOMAIN)) ??
    (await countInWindow(trx, `account:${accountId}`, OF_ACCOUNT))
  );
}

/** False: the address has had enough mails with invites for now. */
export async function mayMailInvite(trx: Database, emailKey: string): Promise<boolean> {
  const digest = createHash('sha256').update(emailKey).digest('base64');
  return (await countInWindow(trx, `to:${digest}`, TO_ADDRESS)) === undefined;
}
