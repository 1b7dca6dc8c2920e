// The existing rows of a signed zone by owner: sets, and their signatures by the type that they cover.

import { canonicalRdata } from '../../dns/dnssec/canonical-rdata.ts';
import { readKeeping } from '../../dns/dnssec/signed-octets.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { RecordSet, ZoneRecord } from '../zone.ts';

export interface StandingName {
  /** Without RRSIG. */
  readonly sets: ReadonlyMap<number, RecordSet>;
  /** Rdata of RRSIG records by type covered. */
  readonly signatures: ReadonlyMap<number, readonly Uint8Array[]>;
}

const NOTHING: StandingName = { sets: new Map(), signatures: new Map() };

export class Standing {
  readonly #names = new Map<Name, StandingName>();

  /** Adds rows. A name is read with all its rows, or only with its denial and signatures; earlier rows are kept. */
  learn(rows: Iterable<ZoneRecord>): void {
    for (const [owner, records] of recordsByOwner(rows)) {
      const known = this.#names.get(owner);
      const { sets, signatures } = groupRecords(owner, records);
      this.#names.set(owner, {
        sets: new Map([...(known?.sets ?? []), ...sets]),
        signatures: new Map([...(known?.signatures ?? []), ...signatures]),
      });
    }
  }

  at(owner: Name): StandingName {
    return this.#names.get(owner) ?? NOTHING;
  }

  names(): IterableIterator<[Name, StandingName]> {
    return this.#names.entries();
  }
}

/** Removes duplicates: a row that is read for two reasons may occur twice. */
export function distinct(rows: Iterable<ZoneRecord>): ZoneRecord[] {
  const known = new Map<string, ZoneRecord>();
  for (const row of rows) {
    const octets = Buffer.from(row.rdata.buffer, row.rdata.byteOffset, row.rdata.byteLength).toString(
      'latin1',
    );
    known.set(`${row.type} ${row.owner}${octets}`, row);
  }
  return [...known.values()];
}

export function recordsByOwner(records: Iterable<ZoneRecord>): Map<Name, ZoneRecord[]> {
  const byOwner = new Map<Name, ZoneRecord[]>();
  for (const record of records) {
    const same = byOwner.get(record.owner);
    if (same === undefined) byOwner.set(record.owner, [record]);
    else same.push(record);
  }
  return byOwner;
}

/** Groups the records of one name. The lowest TTL becomes that of the set (RFC 2181 §5.2). */
export function groupRecords(owner: Name, records: readonly ZoneRecord[]): StandingName {
  const sets = new Map<number, { owner: Name; type: number; ttl: number; rdata: Uint8Array[] }>();
  const signatures = new Map<number, Uint8Array[]>();
  for (const { type, ttl, rdata } of records) {
    if (type === TYPE.RRSIG) {
      const covered = ((rdata[0] as number) << 8) | (rdata[1] as number);
      signatures.set(covered, [...(signatures.get(covered) ?? []), rdata]);
      continue;
    }
    const set = sets.get(type);
    if (set === undefined) sets.set(type, { owner, type, ttl, rdata: [rdata] });
    else {
      set.ttl = Math.min(set.ttl, ttl);
      set.rdata.push(rdata);
    }
  }
  return { sets, signatures };
}

/** Returns true if a signature over one set is also valid for the other, given the right TTL. */
export function isSameSet(a: RecordSet, b: RecordSet): boolean {
  const [left, right] = [sortedOctets(a), sortedOctets(b)];
  return left.length === right.length && left.every((octets, i) => octets === right[i]);
}

function sortedOctets({ type, rdata }: RecordSet): string[] {
  const texts = rdata.map((octets) => Buffer.from(canonicalRdata(type, octets)).toString('latin1'));
  return [...new Set(texts)].sort();
}

/** Returns true if the rdata of an RRSIG can be kept: made with this key over this TTL, and not due. */
export function isKept(
  rdata: Uint8Array,
  { key, ttl, before }: { key: { tag: number; algorithm: number }; ttl: number; before: number },
): boolean {
  const { keyTag, algorithm, originalTtl, expiration } = readKeeping(rdata);
  const isOfKey = keyTag === key.tag && algorithm === key.algorithm;
  return isOfKey && originalTtl === ttl && ((expiration - before) | 0) >= 0; // serial number arithmetic (RFC 4034 §3.1.5)
}
