// Events of domains for followers, whose cursor is their position. Every event has a row and is written under the
// domain's lock, so the ids of a domain's rows follow the order of commits.

import { sql } from 'kysely';
import type { DomainStatus } from '../../zone/domain/domain-status.ts';
import type { Actor } from '../accounts/actor.ts';
import { listChecks, type SavedRun } from '../checks/check-runs.ts';
import type { Database } from '../postgres/database.ts';
import type { ActorKind, ChangeSource, DomainOperation } from '../postgres/tables/schema.ts';

export interface EventCursor {
  readonly change: number;
  readonly check: number;
  /** Number of times that the check's outcome was repeated. */
  readonly repeated: number;
  readonly verification: number;
}

const TEXT = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,8})-(0|[1-9]\d{0,14})$/;
export const MAX_CURSOR_CHARACTERS = 64;

export function encodeEventCursor({ change, check, repeated, verification }: EventCursor): string {
  return `${change}-${check}.${repeated}-${verification}`;
}

/** Returns undefined if the text is not a cursor of this fleet. */
export function decodeEventCursor(text: string): EventCursor | undefined {
  const found = TEXT.exec(text);
  if (found === null) return undefined;
  const [change, check, repeated, verification] = found.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return { change, check, repeated, verification };
}

/** Returns true if `head` has events that `cursor` has not seen. */
export function isBehind(cursor: EventCursor, head: EventCursor): boolean {
  return (
    cursor.change < head.change || cursor.verification < head.verification || isCheckBehind(cursor, head)
  );
}

export function isCheckBehind(cursor: EventCursor, head: Pick<EventCursor, 'check' | 'repeated'>): boolean {
  return cursor.check < head.check || (cursor.check === head.check && cursor.repeated < head.repeated);
}

/** Returns the later position of both, for each kind of event. */
export function furtherOf(a: EventCursor, b: EventCursor): EventCursor {
  const { check, repeated } = isCheckBehind(a, b) ? b : a;
  return {
    change: Math.max(a.change, b.change),
    check,
    repeated,
    verification: Math.max(a.verification, b.verification),
  };
}

/** Returns true if the database lacks events of the cursor: it was restored, or the cursor is another domain's. */
export function isBeyond(cursor: EventCursor, head: EventCursor): boolean {
  return (
    cursor.change > head.change ||
    cursor.verification > head.verification ||
    cursor.check > head.check ||
    (cursor.check === head.check && cursor.repeated > head.repeated)
  );
}

/** A change without its records. */
export interface ToldChange {
  readonly id: number;
  readonly serial: number;
  readonly at: Date;
  readonly operation: DomainOperation;
  readonly source: ChangeSource;
  readonly actor: Actor;
  readonly isFormer: boolean;
  readonly isByAdmin: boolean;
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly rules: number;
  readonly from: DomainStatus | null;
  readonly to: DomainStatus | null;
  readonly checkId: number | null;
  readonly reverts: number | null;
}

/** A query for the TXT record, without the replies of each server. */
export interface ToldVerification {
  readonly id: number;
  readonly finishedAt: Date;
  readonly verdict: string;
  readonly found: number;
  readonly asked: number;
  readonly message: string;
}

export interface DomainEvents {
  readonly changes: readonly ToldChange[];
  readonly checks: readonly SavedRun[];
  readonly verifications: readonly ToldVerification[];
  /** True if a kind has more than `most` events or too many octets: the loaded events are then incomplete. */
  readonly isCut: boolean;
}

/** Total stored size of the changes whose operations one call counts. */
const MOST_OCTETS = 4 << 20;

/** The newest events of a domain. */
export interface EventHead extends EventCursor {
  /** Age of the newest change, by the database's clock. */
  readonly changeAgeMs: number;
}

/** Loads the newest events of many domains with few index lookups per domain. Deleted domains have no entry. */
export async function loadEventHeads(
  db: Database,
  domainIds: readonly number[],
): Promise<Map<number, EventHead>> {
  const { rows } = await sql<{ id: number } & EventHead>`
    select d.id, coalesce(k.last_run_id, 0) as "check", coalesce(r.repeated, 0) as repeated,
      coalesce(c.id, 0) as change,
      coalesce((extract(epoch from clock_timestamp() - c.at) * 1000)::double precision, 0) as "changeAgeMs",
      coalesce((select v.id from verification_runs v where v.domain_id = d.id order by v.id desc limit 1), 0) as verification
    from domains d left join domain_checks k on k.domain_id = d.id left join check_runs r on r.id = k.last_run_id
      left join lateral (
        select c.id, c.at from domain_changes c where c.domain_id = d.id order by c.id desc limit 1) c on true
    where d.id = any(${domainIds}::bigint[])`.execute(db);
  return new Map(rows.map(({ id, ...head }) => [id, head]));
}

/**
 * Loads the events after a cursor, without their large columns. Returns at most `most` of each kind, oldest first.
 * Reads only kinds in which `head` is ahead of the cursor.
 */
export async function loadEventsBehind(
  db: Database,
  domainId: number,
  { cursor, head, most }: { readonly cursor: EventCursor; readonly head: EventCursor; readonly most: number },
): Promise<DomainEvents> {
  const changes =
    cursor.change < head.change
      ? await loadChanges(db, domainId, { after: cursor.change, most: most + 1 })
      : [];
  // The newest check counts again each time it is repeated.
  const after =
    cursor.repeated < head.repeated && cursor.check === head.check ? cursor.check - 1 : cursor.check;
  const checks = isCheckBehind(cursor, head)
    ? await listChecks(db, domainId, { limit: most + 1, descending: false }, { after })
    : [];
  const verifications =
    cursor.verification < head.verification
      ? await loadVerifications(db, domainId, { after: cursor.verification, most: most + 1 })
      : [];
  return {
    changes: changes.slice(0, most).map(({ isCounted: _, ...change }) => change),
    checks: checks.slice(0, most),
    verifications: verifications.slice(0, most),
    isCut:
      [changes, checks, verifications].some(({ length }) => length > most) ||
      changes.some(({ isCounted }) => !isCounted),
  };
}

interface Behind {
  readonly after: number;
  readonly most: number;
}

/** `isCounted` is false if the changes up to this one are too large to count their operations. */
type ReadChange = ToldChange & { readonly isCounted: boolean };

type ChangeRow = Omit<ReadChange, 'actor'> & {
  readonly kind: ActorKind;
  readonly accountId: number | null;
  readonly keyId: number | null;
  readonly address: string | null;
  readonly name: string | null;
};

async function loadChanges(db: Database, domainId: number, { after, most }: Behind): Promise<ReadChange[]> {
  // A row stores the size of its TOASTed values (PostgreSQL, "TOAST"), so large operations are not read.
  const { rows } = await sql<ChangeRow>`
    with behind as materialized (
      select id, sum(pg_column_size(ops)) over (order by id) <= ${MOST_OCTETS} as counted from (
        select id, ops from domain_changes where domain_id = ${domainId} and id > ${after} order by id limit ${most}) newest)
    select c.id, c.serial, c.at, c.operation, c.source, c.actor_kind as kind, c.actor_account_id as "accountId",
      c.actor_key_id as "keyId", c.actor_address as address, c.actor_name as name, c.status_from as "from",
      c.status_to as "to", c.check_id as "checkId", c.reverts, coalesce(jsonb_array_length(c.rules), 0) as rules,
      o.created, o.updated, o.deleted, b.counted as "isCounted",
      c.account_id <> (select d.account_id from domains d where d.id = c.domain_id) as "isFormer",
      exists (select from accounts x where x.id = c.actor_account_id and x.is_admin) as "isByAdmin"
    from behind b join domain_changes c on c.id = b.id cross join lateral (
      select (count(*) filter (where op->>'op' = 'create'))::integer as created,
        (count(*) filter (where op->>'op' = 'update'))::integer as updated,
        (count(*) filter (where op->>'op' = 'delete'))::integer as deleted
      from jsonb_array_elements(case when b.counted then c.ops else '[]' end) op) o
    order by c.id`.execute(db);
  return rows.map(({ kind, accountId, keyId, address, name, ...change }) => ({
    ...change,
    actor: {
      kind,
      ...(accountId !== null && { accountId }),
      ...(keyId !== null && { keyId }),
      ...(address !== null && { address }),
      ...(name !== null && { name }),
    },
  }));
}

async function loadVerifications(
  db: Database,
  domainId: number,
  { after, most }: Behind,
): Promise<ToldVerification[]> {
  const { rows } = await sql<ToldVerification>`
    select v.id, v.finished_at as "finishedAt", v.verdict, v.found, v.asked, v.message
    from verification_runs v where v.domain_id = ${domainId} and v.id > ${after} order by v.id limit ${most}`.execute(
    db,
  );
  return rows;
}
