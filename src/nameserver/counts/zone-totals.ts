// The counts of one minute by zone, type and rcode, in typed arrays of a fixed size. When they are full, the smallest
// counts are merged: first the rarer types of each zone, then whole zones, those with the fewest queries first. To hide
// a zone's counts, an attacker would have to query thousands of other zones as often as that zone.

import { OTHER_TYPE } from './counted-types.ts';

/** Collects counts that are no longer attributed to a zone. No zone has this id. */
export const NO_ZONE = 0;

const MOST_TOTALS = 65_536;
/** Number of counts that each zone keeps when rarer types are merged. */
const KEPT_OF_ZONE = 6;
/** Plus one for each rcode in answers from zones: NOERROR, NXDOMAIN and YXDOMAIN. */
const MOST_OF_ZONE = KEPT_OF_ZONE + 3;
/** Fraction of the space that is free after zones were merged. */
const FREED = 1 / 4;

const OTHER_KIND = OTHER_TYPE << 8;

export interface Totals {
  readonly zoneIds: Float64Array;
  readonly types: Uint16Array;
  readonly rcodes: Uint8Array;
  readonly counts: Float64Array;
}

export class ZoneTotals {
  readonly #most: number;
  readonly #mask: number;
  readonly #zones: Float64Array;
  readonly #kinds: Int32Array;
  /** 0 if the slot is free. */
  readonly #counts: Float64Array;
  #size = 0;

  constructor(most: number = MOST_TOTALS) {
    this.#most = most;
    const slots = 2 ** Math.ceil(Math.log2(most * 2));
    this.#mask = slots - 1;
    this.#zones = new Float64Array(slots);
    this.#kinds = new Int32Array(slots);
    this.#counts = new Float64Array(slots);
  }

  get size(): number {
    return this.#size;
  }

  add(zoneId: number, type: number, rcode: number, count: number): void {
    const kind = (type << 8) | rcode;
    let at = this.#find(zoneId, kind);
    if (this.#counts[at] === 0 && this.#size >= this.#most) {
      this.#fold();
      at = this.#find(zoneId, kind);
    }
    this.#put(at, zoneId, kind, count);
  }

  /** Returns and clears all counts, in no particular order. */
  take(): Totals {
    const taken: Totals = {
      zoneIds: new Float64Array(this.#size),
      types: new Uint16Array(this.#size),
      rcodes: new Uint8Array(this.#size),
      counts: new Float64Array(this.#size),
    };
    let i = 0;
    for (const at of this.#used()) {
      const kind = this.#kinds[at] as number;
      taken.zoneIds[i] = this.#zones[at] as number;
      taken.types[i] = kind >>> 8;
      taken.rcodes[i] = kind & 0xff;
      taken.counts[i++] = this.#counts[at] as number;
    }
    this.#clear();
    return taken;
  }

  #put(at: number, zoneId: number, kind: number, count: number): void {
    if (this.#counts[at] === 0) {
      this.#size++;
      this.#zones[at] = zoneId;
      this.#kinds[at] = kind;
    }
    this.#counts[at] = (this.#counts[at] as number) + count;
  }

  /** Returns the slot of a key, or the free slot for it. */
  #find(zoneId: number, kind: number): number {
    const folded = (zoneId >>> 0) ^ Math.imul(Math.floor(zoneId / 0x100000000), 0x85ebca6b);
    const mixed = Math.imul(Math.imul(folded, 0x9e3779b1) ^ kind, 0xc2b2ae35);
    let at = (mixed ^ (mixed >>> 15)) & this.#mask;
    while (this.#counts[at] !== 0 && (this.#zones[at] !== zoneId || this.#kinds[at] !== kind))
      at = (at + 1) & this.#mask;
    return at;
  }

  *#used(): Generator<number> {
    for (let at = 0; at <= this.#mask; at++) if (this.#counts[at] !== 0) yield at;
  }

  #clear(): void {
    this.#counts.fill(0);
    this.#size = 0;
  }

  #fold(): void {
    const zones = this.#sorted();
    this.#clear();
    for (const zone of zones) this.#keep(zone);
    const wanted = Math.floor(this.#most * (1 - FREED));
    if (this.#size <= wanted) return;
    this.#clear();
    let other = 0;
    for (const zone of zones) {
      if (zone.zoneId !== NO_ZONE && this.#size + Math.min(zone.kinds.length, MOST_OF_ZONE) > wanted)
        other += zone.total;
      else this.#keep(zone);
    }
    this.#put(this.#find(NO_ZONE, OTHER_KIND), NO_ZONE, OTHER_KIND, other);
  }

  /** Adds the counts of a zone, with its rarer types merged into one count per rcode. */
  #keep({ zoneId, kinds }: ZoneKinds): void {
    for (const [i, { kind, count }] of kinds.entries()) {
      const kept = i < KEPT_OF_ZONE ? kind : (OTHER_TYPE << 8) | (kind & 0xff);
      this.#put(this.#find(zoneId, kept), zoneId, kept, count);
    }
  }

  /** Returns the zones, most queried first, each with its largest counts first. */
  #sorted(): ZoneKinds[] {
    const byZone = new Map<number, { kind: number; count: number }[]>();
    for (const at of this.#used()) {
      const zoneId = this.#zones[at] as number;
      const entry = { kind: this.#kinds[at] as number, count: this.#counts[at] as number };
      const kinds = byZone.get(zoneId);
      if (kinds === undefined) byZone.set(zoneId, [entry]);
      else kinds.push(entry);
    }
    return [...byZone]
      .map(([zoneId, kinds]) => ({
        zoneId,
        total: kinds.reduce((sum, { count }) => sum + count, 0),
        kinds: kinds.sort((a, b) => b.count - a.count),
      }))
      .sort((a, b) => b.total - a.total);
  }
}

interface ZoneKinds {
  readonly zoneId: number;
  readonly total: number;
  readonly kinds: readonly { readonly kind: number; readonly count: number }[];
}
