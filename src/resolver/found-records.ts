// What a scan has found so far. A delegation takes away all that is at it and below it but its glue: servers that hold the
// zone below as well show records that are not this zone's.

import type { ScannedRecord } from '../checks/scan.ts';
import { compareNames, isWithin, type Name, parentOf } from '../dns/name.ts';
import { TYPE } from '../dns/type-codes.ts';

export interface Found {
  readonly name: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: readonly Uint8Array[];
}

export class FoundRecords {
  readonly #domain: Name;
  readonly #found = new Map<string, Found>();
  readonly #cuts = new Set<Name>();
  readonly #dnames = new Set<Name>();
  #count = 0;

  constructor(domain: Name) {
    this.#domain = domain;
  }

  get count(): number {
    return this.#count;
  }

  /** The name is a delegation, or below one, or below a DNAME: nothing of the zone is there. */
  isCutOff(name: Name): boolean {
    for (let at = name; ; at = parentOf(at)) {
      if (this.#cuts.has(at) || (at !== name && this.#dnames.has(at))) return true;
      if (at.length <= this.#domain.length) return false;
    }
  }

  add(name: Name, type: number, ttl: number, rdata: readonly Uint8Array[]): void {
    if (!this.isCutOff(name)) this.#put({ name, type, ttl, rdata });
  }

  /** `sets`: the NS, and what else is known at the delegation or below it. */
  cutOff(name: Name, sets: readonly Found[]): void {
    if (this.isCutOff(name)) return;
    for (const [key, found] of this.#found) {
      if (!isWithin(found.name, name)) continue;
      this.#found.delete(key);
      this.#count -= found.rdata.length;
    }
    this.#cuts.add(name);
    for (const found of sets) this.#put(found);
  }

  /** What is below a DNAME is made by it; what is at it stays (RFC 6672 §2.3). */
  endBelow(name: Name, dname: Pick<Found, 'ttl' | 'rdata'>): void {
    if (this.isCutOff(name)) return;
    for (const [key, found] of this.#found) {
      if (found.name === name || !isWithin(found.name, name)) continue;
      this.#found.delete(key);
      this.#count -= found.rdata.length;
    }
    this.#dnames.add(name);
    this.#put({ name, type: TYPE.DNAME, ...dname });
  }

  list(): ScannedRecord[] {
    return [...this.#found.values()]
      .sort((a, b) => compareNames(a.name, b.name) || a.type - b.type)
      .flatMap(({ name, type, ttl, rdata }) =>
        [...rdata].sort(Buffer.compare).map((octets) => ({ name, type, ttl, rdata: octets })),
      );
  }

  #put(found: Found): void {
    const key = `${found.type} ${found.name}`;
    this.#count += found.rdata.length - (this.#found.get(key)?.rdata.length ?? 0);
    this.#found.set(key, found);
  }
}
