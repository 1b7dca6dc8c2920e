// Zones encoded for transfers. They are kept for a while, so that several peers cost one encoding, and a slow peer never
// holds the image.

import type { Name } from '../../../dns/name.ts';
import { TYPE } from '../../../dns/type-codes.ts';
import { isNewer } from '../../../zone/serial.ts';
import type { ZoneRecord } from '../../../zone/zone.ts';
import type { Image, ReaderSlot } from '../../image/image.ts';
import { viewNode } from '../../image/read-node.ts';
import { readRoot } from '../../image/zone-root.ts';
import { findRoot } from '../../image/zone-table.ts';
import { encodeZone } from './encode-zone.ts';
import type { EncodedTransfer } from './transfer-writer.ts';

const KEPT_MS = 60_000;
const MOST_OCTETS = 512 * 2 ** 20;

/** A served zone at one version. */
export interface ZoneVersion {
  readonly id: number;
  readonly version: number;
  readonly mark: number;
  readonly serial: number;
  readonly records: number;
  /** True if only peers may read the zone. */
  readonly isPrivate: boolean;
  readonly soa: ZoneRecord;
}

type FoundZone =
  /** No zone with this apex is served. */
  | { readonly kind: 'absent' }
  /** The zone did not fit into memory. */
  | { readonly kind: 'not served' }
  /** The copy of a primary's zone is too old. */
  | { readonly kind: 'expired' }
  /** `isWhole`: all of the zone is served, not only its apex. */
  | { readonly kind: 'served'; readonly isWhole: boolean; readonly zone: ZoneVersion };

interface Kept {
  readonly transfer: EncodedTransfer;
  users: number;
  usedAtMs: number;
}

/** The messages of a zone. Release them once. */
interface HeldZone {
  readonly zone: ZoneVersion;
  readonly transfer: EncodedTransfer;
  release(): void;
}

export class EncodedZones {
  readonly #image: Image;
  readonly #reader: ReaderSlot;
  readonly #nowMs: () => number;
  /** By id, version and mark, the least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #octets = 0;
  #octetsInUse = 0;

  constructor(image: Image, reader: ReaderSlot, nowMs: () => number = Date.now) {
    this.#image = image;
    this.#reader = reader;
    this.#nowMs = nowMs;
  }

  /** False while the transfers in progress use all of the memory. */
  get hasRoom(): boolean {
    return this.#octetsInUse < MOST_OCTETS;
  }

  /** Returns true if the zone is served with this serial or a newer one. */
  hasSerial(apex: Name, serial: number): boolean {
    return this.#inSlot(() => {
      const root = findRoot(this.#image, apex);
      return root !== 0 && !isNewer(serial, readRoot(this.#image, root).serial);
    });
  }

  find(apex: Name): FoundZone {
    return this.#inSlot(() => this.#find(apex).found);
  }

  /** Returns the messages of the zone as it is served now, or undefined if it is not served whole. */
  hold(apex: Name): HeldZone | undefined {
    const held = this.#inSlot(() => {
      const { root, found } = this.#find(apex);
      if (found.kind !== 'served' || !found.isWhole) return undefined;
      const { zone } = found;
      const key = `${zone.id} ${zone.version} ${zone.mark}`;
      const kept = this.#kept.get(key) ?? { transfer: encodeZone(this.#image, root), users: 0, usedAtMs: 0 };
      if (!this.#kept.delete(key)) this.#octets += kept.transfer.octets;
      this.#kept.set(key, kept);
      return { zone, kept };
    });
    if (held === undefined) return undefined;
    const { zone, kept } = held;
    if (kept.users++ === 0) this.#octetsInUse += kept.transfer.octets;
    const release = () => {
      kept.usedAtMs = this.#nowMs();
      if (--kept.users === 0) this.#octetsInUse -= kept.transfer.octets;
      this.sweep();
    };
    this.sweep();
    return { zone, transfer: kept.transfer, release };
  }

  /** Drops zones that have not been used for a while. Call it regularly. */
  sweep(): void {
    const keepFromMs = this.#nowMs() - KEPT_MS;
    for (const [key, { users, usedAtMs, transfer }] of this.#kept) {
      if (users > 0 || (usedAtMs >= keepFromMs && this.#octets <= MOST_OCTETS)) continue;
      this.#kept.delete(key);
      this.#octets -= transfer.octets;
    }
  }

  #inSlot<T>(read: () => T): T {
    this.#reader.enter();
    try {
      return read();
    } finally {
      this.#reader.leave();
    }
  }

  #find(apex: Name): { readonly root: number; readonly found: FoundZone } {
    const root = findRoot(this.#image, apex);
    if (root === 0) return { root, found: { kind: 'absent' } };
    const { id, version, mark, serial, records, apexNode, apexOnly, expired, isPrivate, isServed } = readRoot(
      this.#image,
      root,
    );
    if (!isServed) return { root, found: { kind: 'not served' } };
    if (expired) return { root, found: { kind: 'expired' } };
    const soa = viewNode(this.#image, apexNode, apex).sets.get(TYPE.SOA);
    const [rdata] = soa?.rdata ?? [];
    if (soa === undefined || rdata === undefined) return { root, found: { kind: 'not served' } };
    const zone = {
      id,
      version,
      mark,
      serial,
      records,
      isPrivate,
      soa: { owner: apex, type: TYPE.SOA, ttl: soa.ttl, rdata },
    };
    return { root, found: { kind: 'served', isWhole: !apexOnly, zone } };
  }
}
