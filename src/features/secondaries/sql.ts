// The rows of secondaries as the workers use them: which are due, what a refresh needs, and its result.

import { sql } from 'kysely';
import { entitlementsOf, type Overrides } from '../../billing/entitlements.ts';
import { GATES, judgeGate } from '../../billing/gates.ts';
import type { TsigAlgorithm } from '../../dns/message/tsig.ts';
import type { Name } from '../../dns/name.ts';
import { PLAN_JSON, type Plan } from '../../store/accounts/plans.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import type { PeerTls } from '../../store/transfers/peer-tls.ts';
import { COSTLY_FINDINGS, EXPIRY_WINDOW_MS, type RefreshFailure, type RefreshJob } from './rules.ts';

/** A primary's address, with the sealed key that signs queries to it. */
export interface StoredPrimary {
  readonly address: string;
  readonly port: number;
  /** True if the operator chose the address. */
  readonly isOperators: boolean;
  readonly key: StoredKey | null;
  readonly tls: PeerTls;
}

interface StoredKey {
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly wrap: string;
  readonly sealed: Uint8Array;
  readonly isRevoked: boolean;
}

export interface LoadedSecondary {
  readonly id: number;
  readonly apex: Name;
  /** Null for an operator zone. */
  readonly domainId: number | null;
  /** The owner of the domain. Null for an operator zone. */
  readonly accountId: number | null;
  /** Version for optimistic locking: a result is saved only if it is unchanged, and increments it. */
  readonly seq: number;
  /** Serial of the copy. Undefined if there is none. */
  readonly serial: number | undefined;
  /** Rdata of the copy's SOA. */
  readonly soa: Uint8Array | undefined;
  /** Number of records of the copy. */
  readonly records: number | undefined;
  /** Time of the row's `due_at`, as an opaque number: another request for a refresh changes it. */
  readonly due: number;
  readonly isDue: boolean;
  readonly isForced: boolean;
  readonly isExpired: boolean;
  /** True if the copy expires unless this refresh succeeds. */
  readonly isPastExpiry: boolean;
  readonly failures: number;
  /** The finding of the last refresh. Null if it succeeded. */
  readonly lastError: string | null;
  /** Maximum number of records, set by the operator or the domain's plan. Null for SECONDARY_MAX_RECORDS. */
  readonly maxRecords: number | null;
  /** The time of loading, which is before any query. */
  readonly now: Date;
  /** In the order in which they are asked. */
  readonly primaries: readonly StoredPrimary[];
}

/** A domain `d` is transferred while it is answered whole. */
const IS_SERVED = sql`(s.domain_id is null or d.served = 'full')`;

/** Longer than a job waits in its queue. A job that runs longer stays the only one with its key. */
const LEASE_SECONDS = 120;
/** Zones whose last refresh succeeded precede the others, which may wait for silent servers. */
const HEALTHY_TURN = 1;
const FAILING_TURN = 5;

/** Refreshes of an account's domains at the same time, so that its slow primaries do not delay other accounts. */
export const MOST_OF_ACCOUNT = 4;

/**
 * Claims secondaries that are due, and of each account's domains only as many as may be refreshed at the same time.
 * `healthyOnly` excludes those whose last refresh failed.
 */
export async function claimDueSecondaries(
  db: Database,
  limit: number,
  { healthyOnly = false } = {},
): Promise<RefreshJob[]> {
  const isDue = sql`s.due_at <= now() and coalesce(s.leased_until <= now(), true)
    and (not ${healthyOnly}::boolean or s.failures = 0)`;
  const { rows } = await sql<{ id: number; failures: number }>`
    with of_domains as materialized (
      select s.id, d.account_id, row_number() over (partition by d.account_id order by s.due_at, s.id) as place
      from secondaries s join domains d on d.id = s.domain_id where ${isDue} and d.served = 'full'),
    running as materialized (
      select d.account_id, count(*) as count from secondaries s join domains d on d.id = s.domain_id
      where s.leased_until > now() group by 1)
    update secondaries set leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(array(
      select s.id from secondaries s
      where ${isDue} and (s.domain_id is null or s.id in (
        select o.id from of_domains o left join running r using (account_id)
        where o.place + coalesce(r.count, 0) <= ${MOST_OF_ACCOUNT}))
      order by s.due_at limit ${limit}
      for no key update skip locked))
    returning id, failures`.execute(db);
  return rows.map(({ id, failures }) => ({
    secondaryId: id,
    turn: failures === 0 ? HEALTHY_TURN : FAILING_TURN,
  }));
}

const MOST_NOTIFIES = 1000;
/** After this many failures that cost a whole transfer each, NOTIFY no longer shortens the wait. */
const MOST_COSTLY_FAILURES = 5;

/**
 * Makes the zones due of which NOTIFY messages announce a newer serial or an unknown one, and deletes the messages. Any
 * NOTIFY makes a zone due whose last refresh failed: a primary that starts again announces the serial that it had.
 */
export async function takeNotifies(db: Database): Promise<number> {
  const { rows } = await sql<{ taken: number }>`
    with taken as (
      delete from received_notifies where slot = any(array(
        select slot from received_notifies order by received_at limit ${MOST_NOTIFIES} for update skip locked))
      returning zone, serial),
    noted as (
      select s.id, s.serial, s.failures, t.serial as announced from taken t join secondaries s on s.zone_name = t.zone
      union all
      select s.id, s.serial, s.failures, t.serial from taken t join domains d on d.name = t.zone and d.zone_id is not null
        join secondaries s on s.domain_id = d.id),
    notified as (
      update secondaries set due_at = clock_timestamp()
      where (failures < ${MOST_COSTLY_FAILURES} or last_error <> all(${COSTLY_FINDINGS}::text[])) and id = any(array(
        select id from noted
        -- RFC 1982 §3.2
        where failures > 0 or serial is null or announced is null or mod(announced - serial + 4294967296, 4294967296) between 1 and 2147483647)))
    select count(*)::integer as taken from taken`.execute(db);
  return rows[0]?.taken ?? 0;
}

type SecondaryRow = Omit<LoadedSecondary, 'apex' | 'serial' | 'soa' | 'records' | 'primaries'> & {
  readonly zone: string;
  readonly serial: number | null;
  readonly soa: Buffer | null;
  readonly records: number | null;
  readonly plan: Plan | null;
  readonly overrides: Overrides | null;
  readonly primaries: readonly (Omit<StoredPrimary, 'key' | 'tls'> & {
    readonly key: (Omit<StoredKey, 'sealed'> & { readonly sealed: string }) | null;
    readonly tls: Omit<PeerTls, 'pins'> & { readonly pins: readonly string[] };
  })[];
};

/** Returns undefined if the secondary was removed, or if its domain is not answered. */
export async function loadSecondary(db: Database, id: number): Promise<LoadedSecondary | undefined> {
  const { rows } = await sql<SecondaryRow>`
    select s.id, n.zone, s.domain_id as "domainId", d.account_id as "accountId",
      case when p.id is not null then ${PLAN_JSON} end as plan, d.plan_overrides as overrides, s.seq, s.serial, s.is_forced as "isForced", s.failures,
      (extract(epoch from s.due_at) * 1000000)::bigint as due, s.due_at <= now() as "isDue",
      s.last_error as "lastError", s.max_records as "maxRecords", s.expired_at is not null as "isExpired",
      coalesce(s.expires_at <= now(), false) as "isPastExpiry", clock_timestamp() as now,
      z.records, r.rdata as soa,
      (select coalesce(jsonb_agg(jsonb_build_object('address', host(a.address), 'port', p.port,
          'isOperators', p.domain_id is null,
          'tls', jsonb_build_object('mode', p.tls, 'port', p.tls_port, 'name', p.tls_name,
            'pins', array(select encode(pin, 'base64') from unnest(p.tls_pins) pin)),
          'key', case when k.id is not null then jsonb_build_object('name', k.name, 'algorithm', k.algorithm,
            'wrap', k.wrap, 'sealed', encode(k.sealed, 'base64'),
            'isRevoked', k.revoked_at is not null or coalesce(k.expires_at <= now(), false)) end)
          order by u.place, a.place), '[]')
        from unnest(s.peers) with ordinality u (id, place) join peers p on p.id = u.id
          cross join unnest(p.addresses) with ordinality a (address, place)
          left join tsig_keys k on k.id = p.key_id) as primaries
    from secondaries s left join domains d on d.id = s.domain_id left join plans p on p.id = d.plan_id
      cross join lateral (select coalesce(s.zone_name, d.name) as zone) n
      left join zones z on z.name = n.zone and z.deleted_at is null
      left join zone_records r on r.zone_id = z.id and r.owner = z.name and r.type = 6 and not r.removed
    where s.id = ${id} and ${IS_SERVED}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { zone, serial, soa, records, primaries, plan, overrides, ...rest } = row;
  return {
    ...rest,
    maxRecords: rest.domainId === null ? rest.maxRecords : recordLimit(plan, overrides),
    apex: decodeNameColumn(zone),
    serial: soa === null ? undefined : (serial ?? undefined),
    soa: serial === null ? undefined : (soa ?? undefined),
    records: serial === null ? undefined : (records ?? undefined),
    primaries: primaries.map(({ key, tls, ...primary }) => ({
      ...primary,
      key: key && { ...key, sealed: Buffer.from(key.sealed, 'base64') },
      tls: { ...tls, pins: tls.pins.map((pin) => Buffer.from(pin, 'base64')) },
    })),
  };
}

/** Returns null if the plan has no limit. */
function recordLimit(plan: Plan | null, overrides: Overrides | null): number | null {
  const entitlements = plan && entitlementsOf(plan, overrides);
  const refusal = judgeGate(GATES.records, entitlements, Number.POSITIVE_INFINITY);
  return refusal?.code === 'plan_limit' ? refusal.limit : null;
}

/** Ends a refresh without a result. */
export async function releaseSecondary(db: Database, id: number): Promise<void> {
  await sql`update secondaries set leased_until = null where id = ${id}`.execute(db);
}

export interface Succeeded {
  readonly refreshInMs: number;
  readonly expireMs: number;
  /** Undefined if the copy was already current. */
  readonly copy?: { readonly serial: number; readonly form: 'axfr' | 'ixfr' };
}

/** Returns false if another result was saved in the meantime, or the secondary was removed. */
export async function saveSuccess(
  db: Database,
  { id, seq, due, now }: Pick<LoadedSecondary, 'id' | 'seq' | 'due' | 'now'>,
  { refreshInMs, expireMs, copy }: Succeeded,
): Promise<boolean> {
  const copied = copy
    ? sql`serial = ${copy.serial}, form = ${copy.form}, transferred_at = clock_timestamp(), `
    : sql``;
  // The next refresh serves requests that arrived during this one.
  const { numAffectedRows } = await sql`
    update secondaries set seq = seq + 1, ${copied} refreshed_at = ${now}, leased_until = null,
      due_at = case when ${isUnchanged(due)} then clock_timestamp() + make_interval(secs => ${refreshInMs / 1000})
        else due_at end,
      is_forced = is_forced and not ${isUnchanged(due)},
      expires_at = ${now}::timestamptz + make_interval(secs => ${expireMs / 1000}), expired_at = null, failures = 0,
      last_error = null, last_message = null
    where id = ${id} and seq = ${seq}`.execute(db);
  return numAffectedRows === 1n;
}

/** Returns false if another result was saved in the meantime, or the secondary was removed. */
export async function saveFailure(
  db: Database,
  { id, seq, due }: Pick<LoadedSecondary, 'id' | 'seq' | 'due'>,
  { code, message, retryInMs }: RefreshFailure & { readonly retryInMs: number },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update secondaries set seq = seq + 1, leased_until = null, failures = failures + 1, last_error = ${code},
      last_message = ${message},
      due_at = case when ${isUnchanged(due)} then clock_timestamp() + make_interval(secs => ${retryInMs / 1000})
        else due_at end
    where id = ${id} and seq = ${seq}`.execute(db);
  return numAffectedRows === 1n;
}

function isUnchanged(due: number) {
  return sql`(extract(epoch from due_at) * 1000000)::bigint = ${due}`;
}

/** Counts the copies, and those that have expired a moment ago or soon will. */
export async function countExpiring(db: Database): Promise<{ copies: number; expiring: number }> {
  const window = sql`make_interval(secs => ${EXPIRY_WINDOW_MS / 1000})`;
  const { rows } = await sql<{ copies: number; expiring: number }>`
    select count(*) filter (where serial is not null)::integer as copies,
      count(*) filter (where case when expired_at is null then failures > 0 and expires_at <= now() + ${window}
        else expired_at > now() - ${window} end)::integer as expiring
    from secondaries`.execute(db);
  return rows[0] as { copies: number; expiring: number };
}

export const SECONDARY_STATES = ['waiting', 'current', 'failing', 'held', 'expired'] as const;
export type SecondaryState = (typeof SECONDARY_STATES)[number];

/** SQL expression: the state of a secondary `s`. */
export const STATE = sql<SecondaryState>`case when s.expired_at is not null then 'expired'
  when s.serial is null then 'waiting' when s.failures = 0 then 'current'
  when s.expires_at <= now() then 'held' else 'failing' end`;

export async function countStates(db: Database): Promise<Map<SecondaryState, number>> {
  const { rows } = await sql<{ state: SecondaryState; count: number }>`
    select ${STATE} as state, count(*)::integer as count from secondaries s group by 1`.execute(db);
  return new Map(rows.map(({ state, count }) => [state, count]));
}
