// The messages between the main thread and the thread that signs large zones. Records travel as few large arrays,
// which pass to another thread without a copy of each record.

import type { Name } from '../../dns/name.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { Needed } from '../../zone/signing/plan-signing.ts';
import type { DenialKind } from '../../zone/signing/signed-types.ts';
import type { ZoneKeys } from '../../zone/signing/signing-key.ts';
import type { SignatureTimes } from '../../zone/signing/validity.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { SignedZone } from './signed-zone.ts';

/**
 * One plan, and the signatures of it. Of private keys a job has only those that make these signatures, as `KeyObject`: what
 * passes between the threads is a handle to the one key that OpenSSL holds for the process, which gives signatures. Its octets
 * are in no message, and KEY_SECRETS stay with the main thread.
 */
export interface SigningJob {
  readonly apex: Name;
  readonly denial: DenialKind;
  readonly keys: ZoneKeys;
  /** Signatures that end before this are renewed, in seconds since 1970. */
  readonly remakeBefore: number;
  readonly times: SignatureTimes;
  readonly work: ChangeWork | WholeWork | ChainWork;
}

/** Records are wanted at some names, or at all. */
interface ChangeWork {
  readonly kind: 'change';
  readonly isWhole: boolean;
  /** Names at which nothing is wanted; the records of the others follow as messages. */
  readonly gone: readonly Name[];
  /** As in `signChange`. */
  readonly missing: PackedRecords | undefined;
}

/** Signs an existing zone as it is. */
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
  /** What is wanted, or what was needed; `isLast`: that was all. */
  | { readonly kind: 'records'; readonly records: PackedRecords; readonly isLast: boolean }
  /** A piece was taken: there is room for another. */
  | { readonly kind: 'taken' };

export type FromThread =
  | { readonly kind: 'needed'; readonly needed: Needed }
  | { readonly kind: 'piece'; readonly rows: PackedOwners }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string; readonly stack: string | undefined };

/** Pieces that may be under way: one is written while others are signed. */
export const PIECES_AHEAD = 4;
/** Records in one message. */
export const RECORDS_AT_ONCE = 1000;

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

interface PackedOwners {
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
