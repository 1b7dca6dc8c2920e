// The counts that the breaker judges by, shared by all workers, and its trips. The row of a trip is its audit: who
// released it, and when it was over.

import { sql } from 'kysely';
import type { CheckCounts } from '../../checks/delegation/breaker.ts';
import type { Database } from '../postgres/database.ts';

const WINDOW_MINUTES = 15;
const COUNTS_KEPT_MINUTES = 60;
/** A day and its hour of begin, so that 24 whole hours are there. */
const HOURS_KEPT = 25;

export interface BreakerTrip {
  readonly id: number;
  /** The parent as in its column; '' means overall. */
  readonly parent: string;
  readonly trippedAt: Date;
  /** Counts within 15 minutes, at the worst moment. */
  readonly checked: number;
  readonly turned: number;
  /** When an operator let moves through; that holds until the trip ends. */
  readonly releasedAt: Date | null;
  readonly releasedBy: string | null;
  readonly endedAt: Date | null;
}

interface Breaker {
  readonly counts: readonly CheckCounts[];
  /** The trips that have not ended. */
  readonly trips: readonly BreakerTrip[];
}

/** Adds the counts of this minute. A parent may come more than once; texts are as in columns. */
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

/** Counts of one hour: of active domains that were checked, those that turned away or could not be seen. */
interface HourlyCounts extends Omit<CheckCounts, 'parent'> {
  readonly hour: Date;
}

interface RegistryHours {
  readonly parent: string;
  /** Hours without a check are left out. */
  readonly hours: readonly HourlyCounts[];
}

/** The last 24 hours of the parents in whose zones most domains turned away, then of those with most checks. */
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
  const byParent = new Map<string, HourlyCounts[]>();
  for (const { parent, ...counts } of rows) {
    const hours = byParent.get(parent);
    if (hours === undefined) byParent.set(parent, [counts]);
    else hours.push(counts);
  }
  return [...byParent].map(([parent, hours]) => ({ parent, hours }));
}

export async function loadBreaker(db: Database): Promise<Breaker> {
  const { rows: counts } = await sql<CheckCounts>`
    select parent, sum(checked) as checked, sum(turned) as turned, sum(off) as off from check_counts
    where minute > clock_timestamp() - make_interval(mins => ${WINDOW_MINUTES}::integer)
    group by parent order by parent`.execute(db);
  const trips = await sql<BreakerTrip>`
    select ${TRIP_COLUMNS} from breaker_trips t where t.ended_at is null order by t.parent`.execute(db);
  return { counts, trips: trips.rows };
}

const TRIP_COLUMNS = sql`t.id, t.parent, t.tripped_at as "trippedAt", t.checked, t.turned,
  t.released_at as "releasedAt", t.released_by as "releasedBy", t.ended_at as "endedAt"`;

/** Lists trips, newest first, including those that have ended. */
export async function listTrips(db: Database, { limit }: { readonly limit: number }): Promise<BreakerTrip[]> {
  const { rows } = await sql<BreakerTrip>`
    select ${TRIP_COLUMNS} from breaker_trips t order by t.id desc limit ${limit}`.execute(db);
  return rows;
}

/** Gives the new trips; a trip that goes on keeps its row, with the figures of its worst moment. */
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

/** Ends all trips except those of these parents, whose condition still holds. Deletes old counts too. */
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

/** Lets moves through until the trip ends. Undefined: there is no trip. A second release keeps the first time. */
export async function releaseBreaker(
  db: Database,
  parent: string,
  by: string,
): Promise<BreakerTrip | undefined> {
  const { rows } = await sql<BreakerTrip>`
    update breaker_trips t
    set released_at = coalesce(t.released_at, clock_timestamp()), released_by = coalesce(t.released_by, ${by})
    where t.parent = ${parent} and t.ended_at is null
    returning ${TRIP_COLUMNS}`.execute(db);
  return rows[0];
}
