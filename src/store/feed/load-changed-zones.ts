// Loads zones for a node: complete, or only the record sets that changed since the node's version. Each call is one
// statement, so that a zone's version matches its records. No snapshot stays open between calls, because that would
// delay vacuum and be cancelled on a standby. Concurrent changes arrive with the feed.

import type { Name } from '../../dns/name.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Connection } from '../postgres/connection.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { ZoneState } from './change-feed.ts';

export interface WantedZone {
  readonly id: number;
  /** The content that the node has. Undefined to load the whole zone. */
  readonly since: { readonly version: number; readonly mark: number } | undefined;
}

/** The present state of a zone. */
export interface ChangedZone {
  readonly id: number;
  readonly apex: Name;
  readonly version: number;
  readonly mark: number;
  readonly deleted: boolean;
  /** If true, `records` are the changed sets, each complete, and `gone` the deleted sets. If false, `records` are all. */
  readonly partial: boolean;
  readonly records: ZoneRecord[];
  readonly gone: { owner: Name; type: number }[];
}

// A difference can only be computed from a version in this database's history: its change exists, or is older than all
// kept changes. A server that lost its last commits may have given the node a version that no longer exists.
const changedSql = (wanted: string) => `
  with wanted as materialized (
    select z.id, z.name, z.version, z.mark, z.deleted_at is not null as deleted,
      case when w.since >= z.complete_since and (
        exists (select from changes c where c.id = w.since and c.mark = w.mark)
        or w.since < (select min(id) from changes)) then w.since end as since
    from ${wanted} as w(id, since, mark) join zones z on z.id = w.id)
  select id, name, version, mark, deleted, since is not null, null, null, null, null from wanted
  union all
  select w.id, null, null, null, null, null, r.owner, r.type, r.ttl, r.rdata
  from wanted w join zone_records r on r.zone_id = w.id and not r.removed
  where w.since is null and not w.deleted
  union all
  select t.id, null, null, null, null, null, t.owner, t.type, r.ttl, r.rdata
  from (select w.id, c.owner, c.type
        from wanted w cross join lateral (
          select distinct r.owner, r.type from zone_records r
          where r.zone_id = w.id and r.version > w.since offset 0) c
        where w.since is not null and not w.deleted) t
    -- Looked up set by set, because a plan for average zones would read all of a large one.
    left join lateral (
      select r.ttl, r.rdata from zone_records r
      where r.zone_id = t.id and r.owner = t.owner and r.type = t.type and not r.removed offset 0) r on true`;

const MANY_SQL = changedSql('unnest($1::bigint[], $2::bigint[], $3::bigint[])');

/** Up to this many zones, the statement is prepared with a fixed number of rows, so that Postgres knows how few they are. */
const FEW_ZONES = 8;
const FEW_SQL = Array.from({ length: FEW_ZONES + 1 }, (_, zones) => {
  const rows = Array.from(
    { length: zones },
    (_, i) => `($${3 * i + 1}::bigint, $${3 * i + 2}::bigint, $${3 * i + 3}::bigint)`,
  );
  return changedSql(`(values ${rows.join(', ')})`);
});

/** Maximum wait for the first row of a large zone's difference. */
const LOAD_SILENCE_MS = 15_000;

type ChangedRow = [
  number,
  string | null,
  number,
  number,
  boolean,
  boolean,
  string,
  number,
  number | null,
  Uint8Array,
];

/** Loads zones. A zone without an entry in the result has been deleted and purged. */
export async function loadChangedZones(
  connection: Connection,
  wanted: readonly WantedZone[],
): Promise<ChangedZone[]> {
  if (wanted.length === 0) return [];
  const zones = new Map<number, ChangedZone>();
  const early = new Map<number, { records: ZoneRecord[]; gone: ChangedZone['gone'] }>();
  const partsOf = (id: number) => {
    let parts = early.get(id);
    if (parts === undefined) {
      parts = { records: [], gone: [] };
      early.set(id, parts);
    }
    return parts;
  };
  let ownerText = '';
  let owner = '' as Name;
  const columns = wanted.map(({ id, since }) => [id, since?.version ?? null, since?.mark ?? null]);
  await connection.stream(
    FEW_SQL[wanted.length] ?? MANY_SQL,
    wanted.length <= FEW_ZONES ? columns.flat() : [0, 1, 2].map((i) => columns.map((row) => row[i])),
    (row) => {
      const [id, name, version, mark, deleted, partial, text, type, ttl, rdata] = row as ChangedRow;
      const parts = partsOf(id);
      if (name !== null) {
        const apex = decodeNameColumn(name);
        zones.set(id, { id, apex, version, mark, deleted, partial, ...parts });
        return;
      }
      if (text !== ownerText) {
        owner = decodeNameColumn(text);
        ownerText = text;
      }
      if (ttl === null) parts.gone.push({ owner, type });
      else parts.records.push({ owner, type, ttl, rdata });
    },
    LOAD_SILENCE_MS,
  );
  return [...zones.values()];
}

export async function countZones(connection: Connection): Promise<number> {
  const rows = await connection.query(
    'select count(*) from zones where deleted_at is null',
    [],
    SCAN_SILENCE_MS,
  );
  const [count] = rows[0] as [number];
  return Number(count);
}

/** Lists zones with ids above `after`, in the order of ids. */
export async function listZoneStates(
  connection: Connection,
  after: number,
  limit: number,
): Promise<ZoneState[]> {
  const rows = await connection.query(
    `select id, version, mark, records from zones
     where id > $1 and deleted_at is null order by id limit $2`,
    [after, limit],
  );
  return rows.map(decodeZoneState);
}

export const BUCKETS = 1024;

/** Limit for statements that read the whole table, possibly from a cold disk. */
const SCAN_SILENCE_MS = 60_000;

/** Returns a zone's contribution to the sum of its bucket. The SQL below computes the same. */
export function zoneFingerprint({ version, mark }: { version: number; mark: number }): number {
  return ((version % 0x1000000) ^ (mark % 0x1000000)) + 1;
}

/** Returns the sum of the zones' fingerprints for each bucket (`id % BUCKETS`). */
export async function loadFingerprints(connection: Connection): Promise<Float64Array> {
  const sums = new Float64Array(BUCKETS);
  const rows = await connection.query(
    `select id % ${BUCKETS}, sum(((version # mark) & 16777215) + 1)::bigint
     from zones where deleted_at is null group by 1`,
    [],
    SCAN_SILENCE_MS,
  );
  for (const [bucket, sum] of rows as [number, number][]) sums[bucket] = sum;
  return sums;
}

export async function listBuckets(connection: Connection, buckets: readonly number[]): Promise<ZoneState[]> {
  const rows = await connection.query(
    `select id, version, mark, records from zones
     where id % ${BUCKETS} = any($1::bigint[]) and deleted_at is null`,
    [buckets],
    SCAN_SILENCE_MS,
  );
  return rows.map(decodeZoneState);
}

function decodeZoneState(row: readonly unknown[]): ZoneState {
  const [id, version, mark, records] = row as [number, number, number, number];
  return { id, version, mark, records };
}

/** Loads the per-region record sets as JSON text. Returns undefined if they equal the node's, or if there are none. */
export async function loadEdgeSets(connection: Connection, known: string): Promise<string | undefined> {
  const rows = await connection.query('select sets::text from edge_sets where sets::text <> $1', [known]);
  return rows[0]?.[0] as string | undefined;
}
