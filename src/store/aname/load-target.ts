// Loads a target of ANAME records with all that was learned of it, for its next look-up.

import { sql } from 'kysely';
import type { FamilyState, TargetState } from '../../checks/aname/next-target.ts';
import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeTarget, IS_FLATTENED, TARGET_OF_RECORD } from '../records/aname-targets.ts';

export interface LoadedTarget {
  readonly id: number;
  readonly target: Name;
  readonly state: TargetState;
  /** `saveTarget` compares and sets this number. */
  readonly seq: number;
  /** The result of the last look-up is published in every domain. */
  readonly isPublished: boolean;
  /** A domain that may be served uses the target. */
  readonly isNeeded: boolean;
  /** When the last look-up began, in milliseconds since 1970. */
  readonly checkedAt: number | undefined;
}

interface TargetRow {
  readonly target: string;
  readonly v4: string[] | null;
  readonly v6: string[] | null;
  readonly ttl: number | null;
  readonly v4GoneAt: Date | null;
  readonly v6GoneAt: Date | null;
  readonly failingSince: Date | null;
  readonly failure: WalkFailure['reason'] | null;
  readonly failureMessage: string | null;
  readonly failures: number;
  readonly seq: number;
  readonly isPublished: boolean;
  readonly isNeeded: boolean;
  readonly checkedAt: Date | null;
}

/** Selects targets `t` that have a record in a domain that nodes serve. */
export const IS_NEEDED = sql<boolean>`exists (
  select from records r join domains d on d.id = r.domain_id
  where ${IS_FLATTENED} and ${TARGET_OF_RECORD} = t.target and d.served <> 'none')`;

export async function loadTarget(db: Database, id: number): Promise<LoadedTarget | undefined> {
  const { rows } = await sql<TargetRow>`
    select t.target, t.v4_addresses as v4, t.v6_addresses as v6, t.ttl, t.v4_gone_at as "v4GoneAt",
      t.v6_gone_at as "v6GoneAt", t.failing_since as "failingSince", t.failure,
      t.failure_message as "failureMessage", t.failures, t.seq, t.is_published as "isPublished",
      ${IS_NEEDED} as "isNeeded", t.checked_at as "checkedAt"
    from aname_targets t where t.id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { seq, isPublished, isNeeded } = row;
  return {
    id,
    target: decodeTarget(row.target),
    state: stateOf(row),
    seq,
    isPublished,
    isNeeded,
    checkedAt: row.checkedAt?.getTime(),
  };
}

function stateOf(row: TargetRow): TargetState {
  const { failure: reason, failureMessage: message, failingSince, failures: count, ttl } = row;
  return {
    v4: familyOf(row.v4, row.v4GoneAt),
    v6: familyOf(row.v6, row.v6GoneAt),
    ttl: ttl ?? undefined,
    failure:
      reason === null || message === null || failingSince === null
        ? undefined
        : { reason, message, since: failingSince.getTime(), count },
  };
}

function familyOf(addresses: string[] | null, goneAt: Date | null): FamilyState {
  return { addresses: addresses ?? undefined, goneAt: goneAt?.getTime() };
}
