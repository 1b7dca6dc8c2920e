// Waits for a verification that was asked for. It may never be made: one that began later serves as well, another one
// proved the domain first, or the domain's time ended.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { type Waiting, waitForRow } from '../postgres/wait-for-row.ts';
import { findNewestVerification, findVerificationSince, type VerificationRun } from './load-verifications.ts';
import { IS_TO_BE_VERIFIED } from './load-verified-domain.ts';

type AwaitedVerification =
  | { readonly kind: 'run'; readonly run: VerificationRun }
  /** The domain has changed: there is nothing to wait for. */
  | { readonly kind: 'over' };

interface WantedVerification {
  readonly domainId: number;
  /** The value that is looked for. */
  readonly value: string;
  readonly request: string;
  /** When it was asked for. */
  readonly since: Date;
}

/**
 * When the time is over, a verification that was running at the request is given instead. Undefined: there was none, or
 * `signal` has aborted.
 */
export async function waitForVerification(
  db: Database,
  wanted: WantedVerification,
  waiting: Waiting,
): Promise<AwaitedVerification | undefined> {
  const { domainId, value } = wanted;
  const before = await findNewestVerification(db, domainId, value);
  const find = async (): Promise<AwaitedVerification | undefined> => {
    const isOver = !(await isOpen(db, wanted)); // first: the run that ended it is there by then
    const run = await findVerificationSince(db, wanted);
    if (run !== undefined) return { kind: 'run', run };
    return isOver ? { kind: 'over' } : undefined;
  };
  const came = await waitForRow(find, waiting);
  if (came !== undefined || waiting.signal.aborted) return came;
  const run = await findNewestVerification(db, domainId, value);
  return run === undefined || run.id === before?.id ? undefined : { kind: 'run', run };
}

async function isOpen(db: Database, { domainId, value }: WantedVerification): Promise<boolean> {
  const { rows } = await sql`
    select from domains d join domain_verifications v on v.domain_id = d.id
    where d.id = ${domainId} and ${IS_TO_BE_VERIFIED} and v.value = ${value} and v.expires_at > clock_timestamp()`.execute(
    db,
  );
  return rows.length > 0;
}
