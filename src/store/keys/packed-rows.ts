// Records as few large arrays, which pass from one thread to another without a copy of each record.

import type { Name } from '../../dns/name.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { ZoneRecord } from '../../zone/zone.ts';

export interface PackedRecords {
  /** One for each run of records of the same owner, and how many records it has. */
  readonly owners: readonly Name[];
  readonly runs: Uint32Array;
  readonly types: Uint16Array;
  readonly ttls: Uint32Array;
  /** Where the rdata of each record ends in `octets`. */
  readonly ends: Uint32Array;
  readonly octets: Uint8Array;
}

export function packRecords(records: readonly ZoneRecord[]): PackedRecords {
  const owners: Name[] = [];
  const runs: number[] = [];
  const types = new Uint16Array(records.length);
  const ttls = new Uint32Array(records.length);
  const ends = new Uint32Array(records.length);
  let size = 0;
  let last: Name | undefined;
  for (const [i, { owner, type, ttl, rdata }] of records.entries()) {
    if (owner !== last) {
      owners.push(owner);
      runs.push(0);
      last = owner;
    }
    runs[runs.length - 1] = (runs.at(-1) as number) + 1;
    types[i] = type;
    ttls[i] = ttl;
    size += rdata.length;
    ends[i] = size;
  }
  const octets = new Uint8Array(size);
  for (const [i, { rdata }] of records.entries()) octets.set(rdata, (ends[i] as number) - rdata.length);
  return { owners, runs: Uint32Array.from(runs), types, ttls, ends, octets };
}

/** The rdata are views of one buffer. */
export function unpackRecords({ owners, runs, types, ttls, ends, octets }: PackedRecords): ZoneRecord[] {
  const records: ZoneRecord[] = [];
  let i = 0;
  let start = 0;
  for (const [run, owner] of owners.entries()) {
    for (let left = runs[run] as number; left > 0; left--, i++) {
      const end = ends[i] as number;
      const rdata = octets.subarray(start, end);
      records.push({ owner, type: types[i] as number, ttl: ttls[i] as number, rdata });
      start = end;
    }
  }
  return records;
}

export interface PackedOwners {
  readonly owners: readonly { readonly owner: Name; readonly types?: readonly number[] }[];
  /** How many records each owner has. */
  readonly counts: Uint32Array;
  readonly records: PackedRecords;
}

export function packOwners(rows: readonly OwnerRows[]): PackedOwners {
  return {
    owners: rows.map(({ owner, types }) => ({ owner, ...(types !== undefined && { types }) })),
    counts: Uint32Array.from(rows, ({ records }) => records.length),
    records: packRecords(rows.flatMap(({ records }) => records)),
  };
}

export function unpackOwners({ owners, counts, records: packed }: PackedOwners): OwnerRows[] {
  const records = unpackRecords(packed);
  let at = 0;
  return owners.map((owner, i) => {
    const start = at;
    at += counts[i] as number;
    return { ...owner, records: records.slice(start, at) };
  });
}

/** What is handed over, and not copied. */
export function buffersOf({ runs, types, ttls, ends, octets }: PackedRecords): ArrayBuffer[] {
  return [runs, types, ttls, ends, octets].map(({ buffer }) => buffer as ArrayBuffer);
}
