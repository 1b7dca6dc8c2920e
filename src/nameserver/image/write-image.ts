// The only writer of an image: adds, edits and removes zones, and updates the totals. A change is published as a whole.
// If it does not fit, ImageFullError is thrown and the previous content is still served.

import { type Name, printName } from '../../dns/name.ts';
import { buildZone } from '../../zone/build-zone.ts';
import type { EdgeSets } from '../../zone/edge-sets.ts';
import type { Zone } from '../../zone/zone.ts';
import type { ZoneProblem } from '../../zone/zone-problem.ts';
import { unitsOfEdgeSets, writeEdgeSets } from './edge-block.ts';
import { type ZoneChanges, ZoneEdit } from './edit-zone.ts';
import type { Image } from './image.ts';
import { HEADER } from './layout.ts';
import { recordsAfter } from './records-after.ts';
import { ImageFullError, Space } from './space.ts';
import { ZoneWriter } from './write-zone.ts';
import { isServedRoot, isUnprovenRoot, readRoot, recordsOfRoot, type ZoneContent } from './zone-root.ts';
import { findRoot, rootsOf, rootsWithHash, ZoneTable } from './zone-table.ts';

type EditedZone =
  | { readonly kind: 'edited' }
  | { readonly kind: 'refused'; readonly problems: readonly ZoneProblem[] };

interface ZoneEntry extends ZoneContent {
  readonly apex: Name;
  readonly records: number;
}

/** The fraction of the image reserved for marks of zones that do not fit. */
const RESERVED_PART = 1 / 64;
const MANY_RECORDS = 1000;
export class ImageWriter {
  readonly image: Image;
  readonly #space: Space;
  readonly #table: ZoneTable;
  readonly #zones: ZoneWriter;
  /** Called often while one zone is written. */
  readonly onStep: () => void;

  /** `free` is the result of `exportFree` for the content that was read into the image; undefined for a new image. */
  constructor(image: Image, free?: Int32Array, onStep: () => void = () => undefined) {
    this.image = image;
    this.onStep = onStep;
    const reserve = Math.floor((image.header[HEADER.CAPACITY] as number) * RESERVED_PART);
    this.#space = new Space(image, free, reserve);
    this.#table = new ZoneTable(image, this.#space);
    this.#zones = new ZoneWriter(image, this.#space, onStep);
  }

  get zones(): number {
    return this.image.zones;
  }

  get records(): number {
    return this.image.records;
  }

  get bytesUsed(): number {
    return this.image.bytesUsed;
  }

  /** Publishes the zone. It replaces the one with the same apex. */
  put(zone: Zone, content: ZoneContent): void {
    this.#change(() => {
      if (findRoot(this.image, zone.apex) === 0) this.#table.makeRoom();
      const old = this.#publish(zone.apex, this.#zones.write(zone, content));
      if (old !== 0) this.#zones.retire(old);
    });
  }

  /**
   * Changes record sets of a served zone. The result is validated like a whole zone. Except for a copy of the root, the
   * cost does not grow with the zone. The whole zone is rebuilt if the change is refused, a DNAME is added above other
   * names, or most of the zone is new; a rebuild then takes a third of the time.
   */
  edit(apex: Name, content: ZoneContent, changes: ZoneChanges): EditedZone {
    const root = this.rootOf(apex);
    if (root === 0) throw new RangeError(`${printName(apex)} cannot be edited: it is not served`);
    const edit = new ZoneEdit(this.image, this.#space, root);
    const isMostlyNew = changes.records.length > Math.max(MANY_RECORDS, recordsOfRoot(this.image, root));
    if (isMostlyNew || !edit.apply(changes)) {
      const built = buildZone(apex, recordsAfter(this.image, root, changes), this.onStep);
      if (built.kind === 'refused') return built;
      this.put(built.zone, content);
      return { kind: 'edited' };
    }
    this.#change(() => {
      this.#publish(apex, edit.write(content));
      edit.retire();
    });
    return { kind: 'edited' };
  }

  remove(apex: Name): void {
    this.#change(() => {
      const root = this.#table.remove(apex);
      if (root === 0) return;
      if (isServedRoot(this.image, root)) this.#count(-1, -recordsOfRoot(this.image, root));
      this.#zones.retire(root);
    });
  }

  /**
   * Marks a zone as belonging to the fleet but not served, until it is put or removed. Returns false if the zone is
   * served, or if even the mark does not fit.
   */
  markNotServed(apex: Name, content: ZoneContent): boolean {
    if (this.rootOf(apex) !== 0) return false;
    const { header } = this.image;
    const wasFull = header[HEADER.FULL] as number;
    try {
      this.#change(() => this.#space.fromReserve(() => this.#publishNotServed(apex, content)));
      return true;
    } catch (error) {
      if (error instanceof ImageFullError) return false;
      throw error;
    } finally {
      header[HEADER.FULL] = wasFull;
    }
  }

  #publishNotServed(apex: Name, content: ZoneContent): void {
    if (findRoot(this.image, apex) === 0) this.#table.makeRoom();
    const old = this.#publish(apex, this.#zones.writeNotServed(apex, content));
    if (old !== 0) this.#zones.retire(old);
  }

  /** Returns the ref of the zone's root, or 0 if the zone is not served. The next change of the zone gives it another ref. */
  rootOf(apex: Name): number {
    const root = findRoot(this.image, apex);
    return root !== 0 && isServedRoot(this.image, root) ? root : 0;
  }

  zoneAt(root: number): ZoneEntry {
    return readRoot(this.image, root);
  }

  contentOf(apex: Name): ZoneContent | undefined {
    const root = this.rootOf(apex);
    return root === 0 ? undefined : readRoot(this.image, root);
  }

  *entries(): Generator<ZoneEntry> {
    for (const root of rootsOf(this.image)) {
      if (isServedRoot(this.image, root)) yield readRoot(this.image, root);
    }
  }

  /** Lists the fleet's zones that are not served. */
  *notServed(): Generator<ZoneEntry> {
    for (const root of rootsOf(this.image)) {
      if (!isServedRoot(this.image, root)) yield readRoot(this.image, root);
    }
  }

  /** Lists the ids of the unproven zones whose apex has this hash; usually only one. */
  *unprovenIds(apexHash: number): Generator<number> {
    for (const root of rootsWithHash(this.image, apexHash)) {
      if (isUnprovenRoot(this.image, root)) yield readRoot(this.image, root).id;
    }
  }

  /** Replaces the edge sets of regions, which need space like a zone. Without them, names publish their own addresses. */
  putEdgeSets(sets: EdgeSets): void {
    this.#change(() => {
      const { header } = this.image;
      const old = header[HEADER.EDGE_SETS] as number;
      let ref = 0;
      if (sets.regions.length > 0)
        this.#space.fromReserve(() => {
          ref = writeEdgeSets(this.image, this.#space, sets);
        });
      Atomics.store(header, HEADER.EDGE_SETS, ref);
      this.#space.keep();
      if (old !== 0) this.#space.retire(old, unitsOfEdgeSets(this.image, old));
    });
  }

  reclaim(): void {
    this.#space.reclaim();
  }

  /** Preserves the bytes of every block that is served now, until `resumeReuse`. */
  pauseReuse(): void {
    this.#space.pauseReuse();
  }

  resumeReuse(): void {
    this.#space.resumeReuse();
  }

  exportFree(): Int32Array {
    return this.#space.exportFree();
  }

  /** The range of the zone table. Only this range and the header change in place. */
  get tableRange(): { readonly bytesAt: number; readonly bytes: number } {
    return this.#table.range;
  }

  #change(make: () => void): void {
    try {
      make();
      this.image.header[HEADER.FULL] = 0;
    } catch (error) {
      this.#space.takeBack();
      if (error instanceof ImageFullError) this.image.header[HEADER.FULL] = 1;
      throw error;
    } finally {
      this.#space.reclaim();
    }
  }

  /** Returns the root that was published before, or 0. */
  #publish(apex: Name, root: number): number {
    const old = this.#table.publish(apex, root);
    this.#space.keep();
    const records = recordsOfRoot(this.image, root);
    const zones = isServedRoot(this.image, root) ? 1 : 0;
    if (old === 0) this.#count(zones, records);
    else {
      const before = isServedRoot(this.image, old) ? 1 : 0;
      this.#count(zones - before, records - recordsOfRoot(this.image, old));
    }
    return old;
  }

  #count(zones: number, records: number): void {
    const { header } = this.image;
    header[HEADER.ZONES] = (header[HEADER.ZONES] as number) + zones;
    header[HEADER.RECORDS] = (header[HEADER.RECORDS] as number) + records;
  }
}
