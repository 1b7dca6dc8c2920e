// Stores the targets of ANAME records.

import { sql } from 'kysely';
import type { FamilyState, TargetDecision, TargetState } from '../../checks/aname/next-target.ts';
import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import { type Name, parentOf, ROOT } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import {
  decodeTarget,
  encodeTarget,
  IS_FLATTENED,
  TARGET_OF_RECORD,
} from '../../store/records/aname-targets.ts';

export interface LoadedTarget {
  readonly id: number;
  readonly target: Name;
  readonly state: TargetState;
  /** Version for optimistic locking: `saveTarget` writes only if it is unchanged, and increments it. */
  readonly seq: number;
  /** True if the result of the last lookup is published in every domain. */
  readonly isPublished: boolean;
  /** True if a domain that may be served uses the target. */
  readonly isNeeded: boolean;
  /** When the last lookup began, in milliseconds since 1970. */
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
const IS_NEEDED = sql<boolean>`exists (
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

interface TargetLookUp {
  /** The target as it was loaded before the lookup. */
  readonly before: LoadedTarget;
  readonly decision: TargetDecision;
  /** Last name of the target's alias chain. */
  readonly leadsTo: Name;
  /** When the lookup began. */
  readonly checkedAt: number;
}

/** Returns the new `seq`, or undefined if another lookup was saved meanwhile. */
export async function saveTarget(db: Database, lookUp: TargetLookUp): Promise<number | undefined> {
  const { before, decision, leadsTo, checkedAt } = lookUp;
  const { v4, v6, ttl, failure } = decision.state;
  const row = await db
    .updateTable('aname_targets')
    .set({
      v4_addresses: v4.addresses?.slice() ?? null,
      v6_addresses: v6.addresses?.slice() ?? null,
      ttl: ttl ?? null,
      v4_gone_at: dateOf(v4.goneAt),
      v6_gone_at: dateOf(v6.goneAt),
      leads_to: encodeNameColumn(leadsTo),
      failing_since: dateOf(failure?.since),
      failure: failure?.reason ?? null,
      failure_message: failure?.message ?? null,
      failures: failure?.count ?? 0,
      seq: before.seq + 1,
      ...(decision.isChanged && { is_published: false }),
      checked_at: new Date(checkedAt),
      due_at: new Date(decision.dueAt),
    })
    .where('id', '=', before.id)
    .where('seq', '=', before.seq)
    .returning('seq')
    .executeTakeFirst();
  return row?.seq;
}

/** Records that the result of lookup `seq` is published in every domain. */
export async function savePublished(db: Database, id: number, seq: number): Promise<void> {
  await db
    .updateTable('aname_targets')
    .set({ is_published: true })
    .where('id', '=', id)
    .where('seq', '=', seq)
    .execute();
}

/** Returns false if a record uses the target again. */
export async function deleteTarget(db: Database, id: number): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    // Lock first: a transaction that publishes a record with this target holds the lock until it commits. Its record
    // is visible afterwards.
    await sql`select from aname_targets where id = ${id} for update`.execute(trx);
    const { numAffectedRows } = await sql`
      delete from aname_targets t where id = ${id} and not ${IS_NEEDED}`.execute(trx);
    return numAffectedRows === 1n;
  });
}

function dateOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

const LEASE_SECONDS = 120;

export async function claimDueTargets(db: Database, limit: number): Promise<{ targetId: number }[]> {
  const { rows } = await sql<{ targetId: number }>`
    update aname_targets set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(array(
      select id from aname_targets where due_at <= now() order by due_at limit ${limit}
      for no key update skip locked))
    returning id as "targetId"`.execute(db);
  return rows;
}

/** Maximum number of records that are followed. No real chain is longer. */
const MAX_LINKS = 16;

/** Returns the targets of a loop, if any. `leadsTo` is the last name of the first target's alias chain. */
export async function findTargetLoop(
  db: Database,
  target: Name,
  leadsTo: Name,
): Promise<readonly Name[] | undefined> {
  const way = [target];
  let end = leadsTo;
  for (;;) {
    const next = await loadAnameAt(db, end);
    if (next === undefined) return undefined;
    const isLoop = way.includes(next);
    way.push(next);
    if (isLoop || way.length > MAX_LINKS) return way;
    end = (await loadLeadsTo(db, next)) ?? next;
  }
}

/** Returns the target of the ANAME that answers for this name. It may belong to a wildcard. */
async function loadAnameAt(db: Database, name: Name): Promise<Name | undefined> {
  const names = [encodeNameColumn(name)];
  for (let above = name; above !== ROOT; names.push(encodeNameColumn(above))) above = parentOf(above);
  // The name itself, or the deepest wildcard above it (RFC 4592 §2.2.1), in the deepest domain.
  const places = [names[0], ...names.slice(1).map((above) => (above === '.' ? '*.' : `*.${above}`))];
  const { rows } = await sql<{ target: string | null }>`
    with domain as (
      select d.id from domains d
      where d.name = any(${names}::text[]) and d.status = 'active' and d.served = 'full'
      order by length(d.name) desc limit 1),
    place as (
      select r.domain_id, r.name from records r
      where r.domain_id = (select id from domain) and r.name = any(${places}::text[])
      order by array_position(${places}::text[], r.name) limit 1)
    select ${TARGET_OF_RECORD} as target from records r join place p using (domain_id, name)
    where ${IS_FLATTENED}`.execute(db);
  const text = rows[0]?.target;
  return text == null ? undefined : decodeTarget(text);
}

async function loadLeadsTo(db: Database, target: Name): Promise<Name | undefined> {
  const row = await db
    .selectFrom('aname_targets')
    .select('leads_to')
    .where('target', '=', encodeTarget(target))
    .executeTakeFirst();
  return row?.leads_to == null ? undefined : decodeNameColumn(row.leads_to);
}
