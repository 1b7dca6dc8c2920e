// Records found by a scan so far. A delegation removes all records at and below it except glue, because servers that also
// serve the zone below return records that are not in this zone. A set that exceeds the limits is omitted.

import type { ScannedRecord } from '../../checks/scan/scan.ts';
import { compareNames, isWithin, type Name, parentOf } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';

export interface ScannedSet {
  readonly name: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: readonly Uint8Array[];
}

interface ScanBounds {
  readonly records: number;
  /** Maximum number of octets of rdata. */
  readonly octets: number;
}

/** Far more than real zones have. The zone's owner controls how much there is to find, so it is limited. */
const SCAN_BOUNDS: ScanBounds = { records: 10_000, octets: 4 << 20 };

export class ScannedRecords {
  readonly #domain: Name;
  readonly #sets = new Map<string, ScannedSet>();
  readonly #cuts = new Set<Name>();
  readonly #dnames = new Set<Name>();
  readonly #bounds: ScanBounds;
  #count = 0;
  #octets = 0;
  #left = 0;

  constructor(domain: Name, bounds: ScanBounds = SCAN_BOUNDS) {
    this.#domain = domain;
    this.#bounds = bounds;
  }

  get count(): number {
    return this.#count;
  }

  /** Number of omitted records. */
  get left(): number {
    return this.#left;
  }

  /** True if the name is a delegation, or below a delegation or DNAME, so that nothing there belongs to the zone. */
  isCutOff(name: Name): boolean {
    for (let at = name; ; at = parentOf(at)) {
      if (this.#cuts.has(at) || (at !== name && this.#dnames.has(at))) return true;
      if (at.length <= this.#domain.length) return false;
    }
  }

  add(name: Name, type: number, ttl: number, rdata: readonly Uint8Array[]): void {
    if (!this.isCutOff(name)) this.#put({ name, type, ttl, rdata });
  }

  /** `sets`: the NS, and other known sets at or below the delegation. */
  cutOff(name: Name, sets: readonly ScannedSet[]): void {
    if (this.isCutOff(name)) return;
    for (const [key, set] of this.#sets) {
      if (isWithin(set.name, name)) this.#drop(key, set);
    }
    this.#cuts.add(name);
    for (const set of sets) this.#put(set);
  }

  /** The DNAME defines all names below it. Records at its owner name are kept (RFC 6672 §2.3). */
  endBelow(name: Name, dname: Pick<ScannedSet, 'ttl' | 'rdata'>): void {
    if (this.isCutOff(name) || this.#dnames.has(name)) return;
    for (const [key, set] of this.#sets) {
      if (set.name !== name && isWithin(set.name, name)) this.#drop(key, set);
    }
    this.#dnames.add(name);
    this.#put({ name, type: TYPE.DNAME, ...dname });
  }

  list(): ScannedRecord[] {
    return [...this.#sets.values()]
      .sort((a, b) => compareNames(a.name, b.name) || a.type - b.type)
      .flatMap(({ name, type, ttl, rdata }) =>
        [...rdata].sort(Buffer.compare).map((octets) => ({ name, type, ttl, rdata: octets })),
      );
  }

  #put(set: ScannedSet): void {
    const key = `${set.type} ${set.name}`;
    const before = this.#sets.get(key);
    if (before !== undefined) this.#drop(key, before);
    const count = this.#count + set.rdata.length;
    const octets = this.#octets + octetsOf(set);
    if (count > this.#bounds.records || octets > this.#bounds.octets) {
      this.#left += set.rdata.length;
      return;
    }
    this.#count = count;
    this.#octets = octets;
    this.#sets.set(key, set);
  }

  #drop(key: string, set: ScannedSet): void {
    this.#sets.delete(key);
    this.#count -= set.rdata.length;
    this.#octets -= octetsOf(set);
  }
}

function octetsOf({ rdata }: ScannedSet): number {
  return rdata.reduce((sum, { length }) => sum + length, 0);
}
