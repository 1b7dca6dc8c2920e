// Random zones for a signer, and random edits of few names, so that cuts, empty non-terminals and neighbours interact.

import {
  encodeName,
  isWildcard,
  isWithin,
  type Name,
  parentOf,
  parseName,
  prependLabel,
} from '../../../src/dns/name.ts';
import { SOA } from '../../../src/dns/record/types/zone.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { markOf, type ZoneRecord } from '../../../src/zone/zone.ts';
import { pick, type Random } from '../random/random-zones.ts';

export const PLAIN_LABELS: readonly string[] = ['a', 'b', 'c', 'm', '*', '_x'];
export const ODD_LABELS: readonly string[] = [...PLAIN_LABELS, 'x\0y', '\x01'];
const TTLS = [60, 300];

interface ZoneSetting {
  readonly apex: Name;
  /** Records of the apex besides SOA and NS: keys. */
  readonly own: readonly ZoneRecord[];
  readonly marks: boolean;
  readonly labels: readonly string[];
}

/** The wanted records at each name, edited in place. */
export class WantedZone {
  readonly names = new Map<Name, readonly ZoneRecord[]>();
  own: readonly ZoneRecord[];
  minimum = 900;
  serial = 0;
  readonly #random: Random;
  readonly #setting: ZoneSetting;

  constructor(random: Random, setting: ZoneSetting, edits: number) {
    this.#random = random;
    this.#setting = setting;
    this.own = setting.own;
    for (let i = 0; i < edits; i++) this.edit();
    this.touchApex();
  }

  /** Returns the touched names with all records wanted there, in the form of a signing order. */
  edit(): ReadonlyMap<Name, readonly ZoneRecord[]> {
    const random = this.#random;
    const { apex } = this.#setting;
    const touched = new Map<Name, readonly ZoneRecord[]>();
    const names = 1 + Math.floor(random() * random() * 6);
    for (let i = 0; i < names; i++) {
      const name = this.#name();
      if (name === apex) continue;
      const records = this.#records(name);
      if (records.length === 0) this.names.delete(name);
      else this.names.set(name, records);
      touched.set(name, records);
    }
    touched.set(apex, this.touchApex());
    return touched;
  }

  touchApex(): readonly ZoneRecord[] {
    const { apex } = this.#setting;
    const timers = { refresh: 1, retry: 1, expire: 1, minimum: this.minimum };
    const rdata = SOA.encode({ mname: apex, rname: apex, serial: ++this.serial, ...timers });
    const records = [
      { owner: apex, type: TYPE.SOA, ttl: 3600, rdata: Uint8Array.from(rdata) },
      { owner: apex, type: TYPE.NS, ttl: 3600, rdata: encodeName(parseName('ns.invalid.')) },
      ...this.own,
    ];
    this.names.set(apex, records);
    return records;
  }

  /** Returns a name near existing ones: often an existing name, its parent, or one below it. */
  #name(): Name {
    const random = this.#random;
    const { apex } = this.#setting;
    const there = [...this.names.keys()];
    let name = there.length > 0 ? pick(random, there) : apex;
    if (random() < 0.3) return name;
    if (random() < 0.4 && name !== apex) name = parentOf(name);
    for (let depth = Math.floor(random() * 3); depth > 0; depth--)
      if (name.length - apex.length < 12)
        name = prependLabel(pick(random, this.#setting.labels), name) ?? name;
    return isWithin(name, apex) ? name : apex;
  }

  #records(owner: Name): ZoneRecord[] {
    const random = this.#random;
    const roll = random();
    if (roll < 0.3) return [];
    if (roll < 0.4 && this.#setting.marks) return [markOf(owner)];
    const record = (type: number, rdata: Uint8Array): ZoneRecord => ({
      owner,
      type,
      ttl: pick(random, TTLS),
      rdata,
    });
    const records: ZoneRecord[] = [];
    const isCut = roll < 0.65 && !isWildcard(owner); // RFC 4592 §4.2
    if (isCut)
      records.push(record(TYPE.NS, encodeName(parseName(pick(random, ['ns.invalid.', 'NS2.invalid.'])))));
    if (isCut && random() < 0.4)
      records.push(record(TYPE.DS, Uint8Array.of(0, 1, 13, 2, ...new Uint8Array(32))));
    if (!isCut || random() < 0.4)
      for (let left = 1 + Math.floor(random() * 2); left > 0; left--)
        records.push(record(TYPE.A, Uint8Array.of(192, 0, 2, left)));
    if (random() < 0.4) records.push(record(TYPE.TXT, Uint8Array.of(1, 65 + Math.floor(random() * 3))));
    return records;
  }
}
