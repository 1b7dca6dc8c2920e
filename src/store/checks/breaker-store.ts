// Counts for the circuit breaker, shared by all workers, and its trips: automatic ones and those made by operators. The
// row of a trip is its audit record: who released it and when it ended.

import { sql } from 'kysely';
import type { CheckCounts } from '../../checks/delegation/breaker.ts';
import { groupBy } from '../../zone/records/group-by.ts';
import type { Database } from '../postgres/database.ts';

const WINDOW_MINUTES = 15;
const COUNTS_KEPT_MINUTES = 60;
/** One hour more than a day, so that 24 complete hours are available. */
const HOURS_KEPT = 25;

export interface BreakerTrip {
  readonly id: number;
  /** The parent in stored form. An empty text means all domains. */
  readonly parent: string;
  readonly trippedAt: Date;
  /** Counts within 15 minutes, at the worst moment. */
  readonly checked: number;
  readonly turned: number;
  /** When an operator allowed status changes again. They stay allowed until the trip ends. */
  readonly releasedAt: Date | null;
  readonly releasedBy: string | null;
  readonly endedAt: Date | null;
  /** The operator who made the trip. Null if it is automatic. */
  readonly frozenBy: string | null;
  /** The operator's reason. */
  readonly reason: string | null;
  /** When an operator's trip ends automatically. Null if it lasts until it is released. */
  readonly frozenUntil: Date | null;
}

/** Returns true if the trip holds back status changes now. */
export function isHolding({ releasedAt, endedAt }: BreakerTrip): boolean {
  return releasedAt === null && endedAt === null;
}

interface Breaker {
  readonly counts: readonly CheckCounts[];
  /** The trips that have not ended. */
  readonly trips: readonly BreakerTrip[];
}

/** Adds to the counts of this minute. A parent may occur more than once. Texts are in stored form. */
export async function addCheckCounts(db: Database, counts: readonly CheckCounts[]): Promise<void> {
  if (counts.length === 0) return;
  await sql`
    with added as materialized (
      select clock_timestamp() as at, n.parent collate "C" as parent, sum(n.checked) as checked, sum(n.turned) as turned,
        sum(n.off) as off
      from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb) as n(parent text, checked integer, turned integer, off integer)
      group by n.parent order by n.parent collate "C"),
    hours as (
      insert into check_hours as c (hour, parent, checked, turned, off)
      select date_trunc('hour', at), parent, checked, turned, off from added
      on conflict (hour, parent) do update ${ADDED})
    insert into check_counts as c (minute, parent, checked, turned, off)
    select date_trunc('minute', at), parent, checked, turned, off from added
    on conflict (minute, parent) do update ${ADDED}`.execute(db);
}

const ADDED = sql`set checked = c.checked + excluded.checked, turned = c.turned + excluded.turned,
  off = c.off + excluded.off`;

/** Counts of one hour: active domains that were checked, that left the fleet, and that could not be checked. */
interface HourlyCounts extends Omit<CheckCounts, 'parent'> {
  readonly hour: Date;
}

interface RegistryHours {
  readonly parent: string;
  /** Hours without a check are omitted. */
  readonly hours: readonly HourlyCounts[];
}

/** Loads the last 24 hours of the parents with the most domains that left, then of those with the most checks. */
export async function loadRegistryHours(
  db: Database,
  { parents }: { readonly parents: number },
): Promise<readonly RegistryHours[]> {
  const { rows } = await sql<HourlyCounts & { parent: string }>`
    with recent as materialized (
      select hour, parent, checked, turned, off from check_hours
      where hour > date_trunc('hour', clock_timestamp()) - interval '24 hours'),
    shown as (
      select parent, row_number() over (order by sum(turned) desc, sum(checked) desc, parent) as place
      from recent group by parent order by place limit ${parents})
    select r.* from recent r join shown s using (parent) order by s.place, r.hour`.execute(db);
  const byParent = groupBy(rows, ({ parent }) => parent);
  return [...byParent].map(([parent, hours]) => ({
    parent,
    hours: hours.map(({ parent: _, ...counts }) => counts),
  }));
}

export async function loadBreaker(db: Database): Promise<Breaker> {
  const { rows: counts } = await sql<CheckCounts>`
    select parent, sum(checked) as checked, sum(turned) as turned, sum(off) as off from check_counts
    where minute > clock_timestamp() - make_interval(mins => ${WINDOW_MINUTES}::integer)
    group by parent order by parent`.execute(db);
  const trips = await sql<BreakerTrip>`
    select ${TRIP_COLUMNS} from breaker_trips t
    where ${GOES_ON} order by t.parent, t.id`.execute(db);
  return { counts, trips: trips.rows };
}

/** An operator's trip has its end from the beginning, possibly in the future. */
const GOES_ON = sql`t.ended_at is null or (t.frozen_by is not null and t.ended_at > clock_timestamp())`;

const TRIP_COLUMNS = sql`t.id, t.parent, t.tripped_at as "trippedAt", t.checked, t.turned,
  t.released_at as "releasedAt", t.released_by as "releasedBy", t.frozen_by as "frozenBy", t.reason,
  t.frozen_until as "frozenUntil",
  case when t.frozen_by is null or t.ended_at <= clock_timestamp() then t.ended_at end as "endedAt"`;

/** Lists the newest trips and all that have not ended, newest first. */
export async function listTrips(db: Database, { limit }: { readonly limit: number }): Promise<BreakerTrip[]> {
  const { rows } = await sql<BreakerTrip>`
    select ${TRIP_COLUMNS} from breaker_trips t
    where t.id in (select id from breaker_trips order by id desc limit ${limit}) or ${GOES_ON}
    order by t.id desc`.execute(db);
  return rows;
}

/** Returns the new trips. A trip that continues keeps its row, with the figures of its worst moment. */
export async function tripBreaker(db: Database, tripped: readonly CheckCounts[]): Promise<BreakerTrip[]> {
  if (tripped.length === 0) return [];
  const { rows } = await sql<BreakerTrip & { isNew: boolean }>`
    insert into breaker_trips as t (parent, tripped_at, checked, turned)
    select n.parent, clock_timestamp(), n.checked, n.turned
    from jsonb_to_recordset(${JSON.stringify(tripped)}::jsonb) as n(parent text, checked integer, turned integer)
    order by n.parent collate "C"
    on conflict (parent) where ended_at is null do update
      set checked = case when excluded.turned > t.turned then excluded.checked else t.checked end,
        turned = greatest(t.turned, excluded.turned)
    returning ${TRIP_COLUMNS}, t.xmax = 0 as "isNew"`.execute(db);
  return rows.filter(({ isNew }) => isNew).map(({ isNew: _, ...trip }) => trip);
}

/** Ends all automatic trips except those of these parents, whose condition still holds. Also deletes old counts. */
export async function endTrips(db: Database, goingOn: readonly string[]): Promise<BreakerTrip[]> {
  const { rows } = await sql<BreakerTrip>`
    update breaker_trips t set ended_at = clock_timestamp()
    where t.ended_at is null and not t.parent = any(${goingOn}::text[])
    returning ${TRIP_COLUMNS}`.execute(db);
  await sql`
    delete from check_counts
    where minute < clock_timestamp() - make_interval(mins => ${COUNTS_KEPT_MINUTES}::integer)`.execute(db);
  await sql`
    delete from check_hours where hour < clock_timestamp() - make_interval(hours => ${HOURS_KEPT}::integer)`.execute(
    db,
  );
  return rows;
}

/**
 * Allows status changes until the trip ends. An operator's trip ends immediately. A second release keeps the first
 * time. Returns undefined if the trip has ended.
 */
export async function releaseTrip(db: Database, id: number, by: string): Promise<BreakerTrip | undefined> {
  const { rows } = await sql<BreakerTrip>`
    update breaker_trips t
    set released_at = coalesce(t.released_at, clock_timestamp()), released_by = coalesce(t.released_by, ${by}),
      ended_at = case when t.frozen_by is not null then clock_timestamp() end
    where t.id = ${id} and (${GOES_ON})
    returning ${TRIP_COLUMNS}`.execute(db);
  return rows[0];
}

interface Freeze {
  /** The parent in stored form. An empty text means all domains. */
  readonly parent: string;
  readonly reason: string;
  readonly by: string;
  /** If undefined, the freeze lasts until it is released. */
  readonly until: Date | undefined;
}

/** The end of a freeze without an end. `infinity` cannot be converted to a Date. */
const NEVER = '9999-12-31T00:00:00Z';

/** Holds back status changes for an operator. An existing freeze of the parent gets the new reason and end. */
export async function freezeMoves(db: Database, { parent, reason, by, until }: Freeze): Promise<BreakerTrip> {
  const endedAt = until ?? NEVER;
  const { rows } = await sql<BreakerTrip>`
    with changed as (
      update breaker_trips set frozen_by = ${by}, reason = ${reason}, frozen_until = ${until ?? null}, ended_at = ${endedAt}
      where parent = ${parent} and frozen_by is not null and ended_at > clock_timestamp()
      returning *),
    added as (
      insert into breaker_trips (parent, tripped_at, checked, turned, frozen_by, reason, frozen_until, ended_at)
      select ${parent}, clock_timestamp(), coalesce(sum(checked), 0), coalesce(sum(turned), 0), ${by}, ${reason},
        ${until ?? null}::timestamptz, ${endedAt}::timestamptz
      from check_counts
      where minute > clock_timestamp() - make_interval(mins => ${WINDOW_MINUTES}::integer)
        and ${parent} in ('', parent)
      having not exists (select from changed)
      returning *)
    select ${TRIP_COLUMNS} from (select * from changed union all select * from added) t order by t.id limit 1`.execute(
    db,
  );
  return rows[0] as BreakerTrip;
}

/** Returns true if checks of this fleet's domains have found this parent zone. */
export async function hasDomainsUnder(db: Database, parent: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from check_hours where parent = ${parent})
      or exists (select from domain_checks where parent = ${parent} and not deleted) as found`.execute(db);
  return rows[0]?.found === true;
}
