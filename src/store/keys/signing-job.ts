// Messages between the main thread and the thread that signs large zones. Records are sent in a few large arrays, which
// are transferred without a copy of each record.

import type { Name } from '../../dns/name.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { Needed } from '../../zone/signing/plan-signing.ts';
import type { DenialKind } from '../../zone/signing/signed-types.ts';
import type { ZoneKeys } from '../../zone/signing/signing-key.ts';
import type { SignatureTimes } from '../../zone/signing/validity.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { SignedZone } from './signed-zone.ts';

/**
 * A plan and its signatures. A job has only the private keys that sign it, as `KeyObject`: the threads share a handle
 * to the key that OpenSSL holds. No message contains key material, and KEY_SECRETS stay in the main thread.
 */
export interface SigningJob {
  readonly apex: Name;
  readonly denial: DenialKind;
  readonly keys: ZoneKeys;
  /** Signatures that end before this time are renewed, in seconds since 1970. */
  readonly remakeBefore: number;
  readonly times: SignatureTimes;
  readonly work: ChangeWork | WholeWork | ChainWork;
}

/** Changes the records at some or all names. */
interface ChangeWork {
  readonly kind: 'change';
  readonly isWhole: boolean;
  /** Names without records. The records of the other names follow as messages. */
  readonly gone: readonly Name[];
  /** See `ChangeToSign`. */
  readonly missing: PackedRecords | undefined;
}

/** Signs an existing zone. */
interface WholeWork {
  readonly kind: 'whole';
  readonly signed: SignedZone;
}

/** Adds the chain of the other kind, or its missing part, to an existing zone. */
interface ChainWork {
  readonly kind: 'chain';
}

export type ToThread =
  | { readonly kind: 'begin'; readonly job: SigningJob }
  /** Wanted records, or requested ones. `isLast` marks the end. */
  | { readonly kind: 'records'; readonly records: PackedRecords; readonly isLast: boolean }
  /** The main thread has processed a piece, so the thread may send another. */
  | { readonly kind: 'taken' };

export type FromThread =
  | { readonly kind: 'needed'; readonly needed: Needed }
  | { readonly kind: 'piece'; readonly rows: PackedOwners }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string; readonly stack: string | undefined };

/** Pieces that may be in transit: one is written while others are signed. */
export const PIECES_AHEAD = 4;
export const RECORDS_AT_ONCE = 1000;

export interface PackedRecords {
  /** The owner of each run of consecutive records, and the length of each run. */
  readonly owners: readonly Name[];
  readonly runs: Uint32Array;
  readonly types: Uint16Array;
  readonly ttls: Uint32Array;
  /** The end of each record's rdata in `octets`. */
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

/** The returned rdata are views of one buffer. */
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

interface PackedOwners {
  readonly owners: readonly { readonly owner: Name; readonly types?: readonly number[] }[];
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

/** Returns the buffers that are transferred instead of copied. */
export function buffersOf({ runs, types, ttls, ends, octets }: PackedRecords): ArrayBuffer[] {
  return [runs, types, ttls, ends, octets].map(({ buffer }) => buffer as ArrayBuffer);
}
