// Claims signed zones whose key machine is due, by account, and makes one due on request.

import { sql } from 'kysely';
import { type ClaimedInTurns, claimInTurns, type DueClaim } from '../checks/check-shares.ts';
import type { Database } from '../postgres/database.ts';

/** Longer than a job waits in a full queue and an observation takes. */
const LEASE_SECONDS = 180;

/** Returns ids of signed zones. */
export function claimDueSteps(db: Database, claim: DueClaim): Promise<ClaimedInTurns> {
  return claimInTurns(
    db,
    {
      table: sql`signed_zones`,
      id: sql`id`,
      join: sql``,
      isWanted: sql`v.machine is not null`,
      leaseSeconds: LEASE_SECONDS,
    },
    claim,
  );
}

/** Postpones a zone that has nothing to observe. A restored domain is found later. */
export async function postponeStep(db: Database, signedZoneId: number, seconds: number): Promise<void> {
  await sql`
    update signed_zones set due_at = clock_timestamp() + make_interval(secs => ${seconds})
    where id = ${signedZoneId}`.execute(db);
}

type RequestedLook =
  | { readonly kind: 'asked' | 'no_keys' }
  /** Another request was made within `everySeconds`. */
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number };

interface LookRow {
  readonly isFree: boolean;
  readonly retryAfterSeconds: number | null;
}

/**
 * Requests an observation. A running observation ends without a result. The request is handled once, even if workers
 * are late. `everySeconds` is undefined for operators, whose requests are neither counted nor limited.
 */
export async function askLook(
  db: Database,
  domainId: number,
  { everySeconds }: { readonly everySeconds?: number } = {},
): Promise<RequestedLook> {
  const isUsers = everySeconds !== undefined;
  const end = sql`s.look_asked_at + make_interval(secs => ${everySeconds ?? 0}::float8)`;
  const isFree = sql`(not ${isUsers}::boolean or s.look_asked_at is null or ${end} <= clock_timestamp())`;
  const { rows } = await sql<LookRow>`
    with found as (
      select s.id, ${isFree} as "isFree", ceil(extract(epoch from ${end} - clock_timestamp()))::integer as "retryAfterSeconds"
      from signed_zones s where s.domain_id = ${domainId} and s.machine is not null for no key update),
    asked as (
      update signed_zones s set due_at = clock_timestamp(), ds_due = true, seq = s.seq + 1,
        look_asked_at = case when ${isUsers}::boolean then clock_timestamp() else s.look_asked_at end
      from found where s.id = found.id and found."isFree")
    select "isFree", "retryAfterSeconds" from found`.execute(db);
  const [row] = rows;
  if (row === undefined) return { kind: 'no_keys' };
  if (row.isFree) return { kind: 'asked' };
  return { kind: 'limited', retryAfterSeconds: Math.max(1, row.retryAfterSeconds ?? 1) };
}
