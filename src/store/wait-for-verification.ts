// Waiting for a verification that was asked for. It may be that nobody will make it: another one proved the domain first,
// or its end came.

import { sql } from 'kysely';
import type { Database } from './database.ts';
import { findVerificationByRequest, type VerificationRun } from './load-verifications.ts';
import { IS_TO_BE_VERIFIED } from './load-verified-domain.ts';
import { type Waiting, waitForRow } from './wait-for-row.ts';

export type AwaitedVerification =
  | { readonly kind: 'run'; readonly run: VerificationRun }
  /** The domain is not what it was: there is nothing to wait for. */
  | { readonly kind: 'over' };

/** `value`: what is looked for. Undefined: the time is over, or `signal` was raised. */
export async function waitForVerification(
  db: Database,
  wanted: { readonly domainId: number; readonly value: string; readonly request: string },
  waiting: Waiting,
): Promise<AwaitedVerification | undefined> {
  const find = async (): Promise<AwaitedVerification | undefined> => {
    const isOver = !(await isOpen(db, wanted)); // first: the run that ended it is there by then
    const run = await findVerificationByRequest(db, wanted.request);
    if (run !== undefined) return { kind: 'run', run };
    return isOver ? { kind: 'over' } : undefined;
  };
  return await waitForRow(find, waiting);
}

async function isOpen(
  db: Database,
  { domainId, value }: { readonly domainId: number; readonly value: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from domains d
    where d.id = ${domainId} and ${IS_TO_BE_VERIFIED} and d.verification_value = ${value}
      and d.verification_expires_at > clock_timestamp()`.execute(db);
  return rows.length > 0;
}
