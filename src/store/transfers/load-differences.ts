// Loads the history of a zone for an incremental transfer. The rows of zone_history must form a chain that ends with the
// version that the node serves.

import type { Name } from '../../dns/name.ts';
import type { VersionChange } from '../../zone/transfer/condense.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Connection } from '../postgres/connection.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

interface WantedHistory {
  readonly zoneId: number;
  /** The serial at which the history begins. */
  readonly serial: number;
  /** The version with which it ends, and the mark of that version. */
  readonly version: number;
  readonly mark: number;
  /** The number of rows above which the history is not loaded. */
  readonly maxRows: number;
}

/** `purged`: no version with this serial is kept. `gap`: the chain is broken. `larger`: too many rows, or a large change. */
export type HistoryMiss = 'purged' | 'gap' | 'larger';

type LoadedHistory =
  /** Oldest first. */
  | { readonly kind: 'loaded'; readonly versions: readonly VersionChange[] }
  | { readonly kind: 'missing'; readonly why: HistoryMiss };

/** Longer chains are not loaded. */
const MOST_VERSIONS = 10_000;

// Versions before the first one with this serial may have changed records without a new serial: they belong to the next
// difference. After a restore, version numbers are used again, but with other marks.
const CHAIN_SQL = `
  with first as (
    select version from zone_history
    where zone_id = $1 and serial_before = $2 and version <= $3 order by version desc limit 1),
  early as (
    select max(h.version) as version from zone_history h, first
    where h.zone_id = $1 and h.version < first.version and h.serial_after is not null)
  select h.version, h.version_before, h.serial_after is not null, h.rows,
    h.version >= first.version, (select mark from changes where id = $3)
  from first, early, zone_history h
  where h.zone_id = $1 and h.version <= $3 and h.version > coalesce(early.version, 0)
  order by h.version desc limit ${MOST_VERSIONS + 1}`;

const ROWS_SQL = `
  select version, removed, owner, type, ttl, rdata from zone_differences
  where zone_id = $1 and version = any($2::bigint[]) order by version, owner, type`;

type ChainRow = [
  version: number,
  before: number | null,
  isNewSerial: boolean,
  rows: number,
  isWanted: boolean,
  mark: number | null,
];

export async function loadHistory(
  connection: Connection,
  wanted: WantedHistory,
  silenceMs: number,
): Promise<LoadedHistory> {
  const { zoneId, serial, version, mark, maxRows } = wanted;
  const rows = (await connection.query(CHAIN_SQL, [zoneId, serial, version], silenceMs)) as ChainRow[];
  if (rows.length === 0) return { kind: 'missing', why: 'purged' };
  if (rows.length > MOST_VERSIONS) return { kind: 'missing', why: 'larger' };
  const chain: ChainRow[] = [];
  let expected: number | null = version;
  for (const row of rows) {
    const [at, before, , , isWanted] = row;
    if (at !== expected) {
      if (isWanted) return { kind: 'missing', why: expected === null ? 'larger' : 'gap' };
      break;
    }
    if (before === null && !isWanted) break;
    chain.unshift(row);
    expected = before;
  }
  const [first] = chain as [ChainRow, ...ChainRow[]];
  if (first[1] === null && first[4]) return { kind: 'missing', why: 'larger' };
  if (first[5] !== mark) return { kind: 'missing', why: first[5] === null ? 'purged' : 'gap' };
  if (chain.reduce((sum, [, , , count]) => sum + count, 0) > maxRows)
    return { kind: 'missing', why: 'larger' };
  return { kind: 'loaded', versions: await loadVersions(connection, zoneId, chain, silenceMs) };
}

async function loadVersions(
  connection: Connection,
  zoneId: number,
  chain: readonly ChainRow[],
  silenceMs: number,
): Promise<VersionChange[]> {
  const changes = new Map(
    chain.map(([version, , isNewSerial]) => [
      version,
      { isNewSerial, removed: [] as ZoneRecord[], added: [] as ZoneRecord[] },
    ]),
  );
  let ownerText = '';
  let owner = '' as Name;
  await connection.stream(
    ROWS_SQL,
    [zoneId, [...changes.keys()]],
    (row) => {
      const [version, removed, text, type, ttl, rdata] = row as [
        number,
        boolean,
        string,
        number,
        number,
        Uint8Array,
      ];
      if (text !== ownerText) {
        owner = decodeNameColumn(text);
        ownerText = text;
      }
      const change = changes.get(version);
      (removed ? change?.removed : change?.added)?.push({ owner, type, ttl, rdata });
    },
    silenceMs,
  );
  return [...changes.values()];
}
