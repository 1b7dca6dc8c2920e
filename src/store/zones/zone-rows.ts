// Converts zones to parameters of the statement that writes them: sorted, without duplicates, in chunks of limited
// size. A slice is a range of owner names: rows in Postgres that are in the range but not among the slice's rows are
// removed.

import { encodeKey } from '../../dns/dnssec/canonical-key.ts';
import type { Name } from '../../dns/name.ts';
import { placeOfRecord } from '../../zone/signing/denial-records.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';

const CHUNK_ROWS = 10_000;
const CHUNK_BYTES = 8 << 20;

export interface RecordRow {
  owner: string;
  type: number;
  ttl: number;
  rdata: Buffer;
  /** For NSEC and NSEC3: the position in the chain. */
  place?: Uint8Array;
}

export interface ZoneRows {
  zoneId: number;
  version: number;
  rows: readonly RecordRow[];
}

interface Slice {
  zoneId: number;
  version: number;
  /** The first owner of the slice. */
  first: string;
  /** The owner before which the slice ends; null for the end of the zone. */
  end: string | null;
  /** The affected types. Undefined for all types. */
  types?: readonly number[];
}

export interface Chunk {
  slices: Slice[];
  rows: (RecordRow & { zoneId: number; version: number })[];
}

/** Sorts records by owner as Postgres's "C" collation does. Drops duplicates and keeps the lower TTL. */
export function recordRows(apex: Name, records: readonly ZoneRecord[]): RecordRow[] {
  const rows = records.map(({ owner, type, ttl, rdata }): RecordRow => {
    const place = placeOfRecord({ owner, type }, apex);
    return {
      owner: ownerColumn(owner),
      type,
      ttl,
      rdata: Buffer.from(rdata.buffer, rdata.byteOffset, rdata.byteLength),
      ...(place !== undefined && { place: encodeKey(place) }),
    };
  });
  rows.sort(
    (a, b) => compareText(a.owner, b.owner) || a.type - b.type || a.rdata.compare(b.rdata) || a.ttl - b.ttl,
  );
  return rows.filter((row, i) => {
    const before = rows[i - 1];
    return (
      before === undefined ||
      before.owner !== row.owner ||
      before.type !== row.type ||
      !before.rdata.equals(row.rdata)
    );
  });
}

let lastOwner: Name | undefined;
let lastColumn = '';

// Records of an owner are consecutive, and printing a name is the most expensive step.
function ownerColumn(owner: Name): string {
  if (owner !== lastOwner) {
    lastColumn = encodeNameColumn(owner);
    lastOwner = owner;
  }
  return lastColumn;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Cuts zones into chunks: small zones share one, and a large zone is cut between owners, never within one. */
export function* chunksOf(zones: readonly ZoneRows[]): Generator<Chunk> {
  let chunk: Chunk = { slices: [], rows: [] };
  let bytes = 0;
  for (const { zoneId, version, rows } of zones) {
    let first = '';
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as RecordRow;
      const full = chunk.rows.length >= CHUNK_ROWS || bytes >= CHUNK_BYTES;
      if (full && i > 0 && row.owner !== (rows[i - 1] as RecordRow).owner) {
        chunk.slices.push({ zoneId, version, first, end: row.owner });
        yield chunk;
        chunk = { slices: [], rows: [] };
        bytes = 0;
        first = row.owner;
      }
      chunk.rows.push({ ...row, zoneId, version });
      bytes += row.rdata.length + row.owner.length;
    }
    chunk.slices.push({ zoneId, version, first, end: null });
    if (chunk.rows.length >= CHUNK_ROWS || bytes >= CHUNK_BYTES) {
      yield chunk;
      chunk = { slices: [], rows: [] };
      bytes = 0;
    }
  }
  if (chunk.slices.length > 0) yield chunk;
}

/** Cuts the records of owners into chunks that contain each owner completely. */
export function* chunksOfOwners(
  zone: { readonly id: number; readonly nextVersion: number },
  apex: Name,
  owners: Iterable<OwnerRows>,
): Generator<Chunk> {
  const { id: zoneId, nextVersion: version } = zone;
  let chunk: Chunk = { slices: [], rows: [] };
  let bytes = 0;
  for (const { owner, types, records } of owners) {
    const first = encodeNameColumn(owner);
    // No owner sorts between a name and the same text with another character appended.
    chunk.slices.push({ zoneId, version, first, end: `${first}\x01`, ...(types && { types }) });
    for (const row of recordRows(apex, records)) {
      chunk.rows.push({ ...row, zoneId, version });
      bytes += row.rdata.length + row.owner.length;
    }
    if (chunk.slices.length < CHUNK_ROWS && chunk.rows.length < CHUNK_ROWS && bytes < CHUNK_BYTES) continue;
    yield chunk;
    chunk = { slices: [], rows: [] };
    bytes = 0;
  }
  if (chunk.slices.length > 0) yield chunk;
}
