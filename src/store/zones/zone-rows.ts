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
  place?: Uint8Array | undefined;
}

interface ZoneRows {
  readonly zone: ChunkedZone;
  /** Sorted by owner. Read once, as far as chunks are taken. */
  readonly rows: Iterable<RecordRow>;
}

/** A locked zone, as far as chunks depend on it. */
interface ChunkedZone {
  readonly id: number;
  readonly nextVersion: number;
  readonly deleted: boolean;
  readonly keepsHistory: boolean;
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
  readonly slices: readonly Slice[];
  readonly rows: readonly (RecordRow & { zoneId: number; version: number })[];
  /** Zones of which the removed and added records are kept. */
  readonly histories: readonly number[];
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
      place: place === undefined ? undefined : encodeKey(place),
    };
  });
  if (rows.length < 2) return rows;
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
  const draft = new ChunkDraft();
  for (const { zone, rows } of zones) {
    let first = '';
    let before: string | undefined;
    for (const row of rows) {
      if (draft.isFull && before !== undefined && row.owner !== before) {
        draft.addSlice(zone, { first, end: row.owner });
        yield draft.take();
        first = row.owner;
      }
      draft.addRow(zone, row);
      before = row.owner;
    }
    draft.addSlice(zone, { first, end: null });
    if (draft.isFull) yield draft.take();
  }
  if (!draft.isEmpty) yield draft.take();
}

/** Cuts the records of owners into chunks that contain each owner completely. */
export function* chunksOfOwners(
  zone: ChunkedZone,
  apex: Name,
  owners: Iterable<OwnerRows>,
): Generator<Chunk> {
  const draft = new ChunkDraft();
  for (const { owner, types, isNew, records } of owners) {
    if (!isNew) {
      const first = encodeNameColumn(owner);
      // No owner sorts between a name and the same text with another character appended.
      draft.addSlice(zone, { first, end: `${first}\x01`, ...(types && { types }) });
    }
    for (const row of recordRows(apex, records)) draft.addRow(zone, row);
    if (draft.isFull) yield draft.take();
  }
  if (!draft.isEmpty) yield draft.take();
}

class ChunkDraft {
  #slices: Slice[] = [];
  #rows: (RecordRow & { zoneId: number; version: number })[] = [];
  #histories = new Set<number>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#slices.length === 0 && this.#rows.length === 0;
  }

  get isFull(): boolean {
    return Math.max(this.#rows.length, this.#slices.length) >= CHUNK_ROWS || this.#bytes >= CHUNK_BYTES;
  }

  addSlice(zone: ChunkedZone, slice: Pick<Slice, 'first' | 'end' | 'types'>): void {
    this.#slices.push({ zoneId: zone.id, version: zone.nextVersion, ...slice });
    this.#keepHistory(zone);
  }

  /** Completes the row instead of copying it, because there may be millions. */
  addRow(zone: ChunkedZone, row: RecordRow): void {
    this.#rows.push(Object.assign(row, { zoneId: zone.id, version: zone.nextVersion }));
    this.#keepHistory(zone);
    this.#bytes += row.rdata.length + row.owner.length;
  }

  #keepHistory({ id, deleted, keepsHistory }: ChunkedZone): void {
    if (keepsHistory && !deleted) this.#histories.add(id);
  }

  take(): Chunk {
    const chunk = { slices: this.#slices, rows: this.#rows, histories: [...this.#histories] };
    this.#slices = [];
    this.#rows = [];
    this.#histories = new Set();
    this.#bytes = 0;
    return chunk;
  }
}
