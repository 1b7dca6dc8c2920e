// The zones of a node: which of them the image serves, and from which content in Postgres each was built. A zone that
// cannot be built or does not fit continues to be served in its old version. Content is stored in the image itself, so
// a million zones need only a table of ids here.

import type { Name } from '../../dns/name.ts';
import type { ZoneState } from '../../store/feed/change-feed.ts';
import {
  BUCKETS,
  type ChangedZone,
  type WantedZone,
  zoneFingerprint,
} from '../../store/feed/load-changed-zones.ts';
import { buildZone } from '../../zone/build-zone.ts';
import type { ZoneProblem } from '../../zone/zone-problem.ts';
import { ImageFullError } from '../image/space.ts';
import type { ImageWriter } from '../image/write-image.ts';
import type { ZoneContent } from '../image/zone-root.ts';
import type { SnapshotEntry } from '../snapshot/snapshot-entry.ts';
import { ZoneIds } from './zone-ids.ts';

/** The result of loading a zone. Its content is served only if the kind is `served`. */
export type Applied =
  | { readonly kind: 'served' }
  | { readonly kind: 'refused'; readonly problems: readonly ZoneProblem[] }
  | { readonly kind: 'full' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A zone in Postgres whose newest content is not served. */
interface Unserved extends ZoneContent {
  readonly apex: Name;
  readonly records: number;
  readonly why: Exclude<Applied['kind'], 'served'>;
}

export class FollowedZones {
  readonly #writer: ImageWriter;
  readonly #onApplied: (entry: SnapshotEntry) => void;
  /** The zones that are in Postgres and served, in any version. */
  readonly #ids = new ZoneIds();
  readonly #unserved = new Map<number, Unserved>();
  readonly #unservedIds = new Map<Name, number>();
  readonly #fingerprints = new Float64Array(BUCKETS);
  #withoutRoom = 0;

  /** @param onApplied called for each change of the served zones */
  constructor(writer: ImageWriter, onApplied: (entry: SnapshotEntry) => void = () => undefined) {
    this.#writer = writer;
    this.#onApplied = onApplied;
  }

  get zones(): number {
    return this.#writer.zones;
  }

  get records(): number {
    return this.#writer.records;
  }

  /** Returns the zones whose newest content is not served. */
  unservedIds(): number[] {
    return [...this.#unserved.keys()];
  }

  /** Number of zones whose newest content cannot be built. */
  get refused(): number {
    return this.#unserved.size - this.#withoutRoom;
  }

  /** Number of zones whose newest content does not fit into the image. */
  get withoutRoom(): number {
    return this.#withoutRoom;
  }

  /** Adopts an image read from a snapshot: its zones are considered those of Postgres until Postgres reports otherwise. */
  adopt(): void {
    for (const { apex, id, version, mark } of this.#writer.entries()) {
      this.#ids.set(id, this.#writer.rootOf(apex));
      this.#addFingerprint({ id, version, mark }, 1);
    }
    for (const { apex, id, version, mark } of this.#writer.notServed()) {
      this.#unserved.set(id, { id, version, mark, apex, records: 0, why: 'full' });
      this.#unservedIds.set(apex, id);
      this.#withoutRoom++;
      this.#addFingerprint({ id, version, mark }, 1);
    }
  }

  /** Returns what to load for a zone with this state in Postgres. Returns undefined if there is nothing new. */
  wantedFor(state: ZoneState, isRetry = false): WantedZone | undefined {
    const served = this.#contentOf(state.id);
    const newest = this.#unserved.get(state.id) ?? served;
    if (newest !== undefined && isSame(newest, state)) {
      if (!isRetry || newest === served) return undefined;
    }
    return {
      id: state.id,
      since: served !== undefined && served.version < state.version ? served : undefined,
    };
  }

  /** Serves the loaded content, if possible. */
  apply(changed: ChangedZone): Applied {
    const { id, apex, version, mark } = changed;
    const content = { id, version, mark };
    // After a restore, an id may belong to another zone, and an apex may have another id.
    this.#forgetApex(apex);
    this.#forget(id);
    const applied = this.#serve(changed, content);
    const root = this.#writer.rootOf(apex);
    if (root !== 0 && this.#writer.zoneAt(root).id === id) this.#ids.set(id, root);
    if (applied.kind !== 'served') {
      this.#unserved.set(id, { ...content, apex, records: changed.records.length, why: applied.kind });
      this.#unservedIds.set(apex, id);
      if (applied.kind === 'full') this.#withoutRoom++;
      this.#writer.markNotServed(apex, content); // unless an older version is served
    }
    this.#addFingerprint(content, 1);
    return applied;
  }

  #serve({ apex, partial, records, gone }: ChangedZone, content: ZoneContent): Applied {
    try {
      if (partial && this.#writer.contentOf(apex) !== undefined) {
        const edited = this.#writer.edit(apex, content, { records, gone });
        if (edited.kind === 'refused') return edited;
        this.#onApplied({ kind: 'sets', apex, content, records, gone });
        return { kind: 'served' };
      }
      const built = buildZone(apex, records, this.#writer.onStep);
      if (built.kind === 'refused') return built;
      this.#writer.put(built.zone, content);
      this.#onApplied({ kind: 'zone', apex, content, records });
      return { kind: 'served' };
    } catch (error) {
      // A bug that affects one zone must not stop the others from being followed.
      return error instanceof ImageFullError ? { kind: 'full' } : { kind: 'failed', error };
    }
  }

  /** Marks a zone that is no longer in Postgres. It is served until `remove`; if it is not served, it is deleted. */
  markGone(apex: Name): void {
    this.#forgetApex(apex);
    if (!this.isServed(apex)) this.#writer.remove(apex);
  }

  #forgetApex(apex: Name): void {
    const id = this.#idOf(apex);
    if (id !== undefined) this.#forget(id);
  }

  remove(apexes: readonly Name[]): void {
    for (const apex of apexes) {
      this.markGone(apex);
      if (!this.isServed(apex)) continue;
      this.#writer.remove(apex);
      this.#onApplied({ kind: 'removal', apex });
    }
  }

  isServed(apex: Name): boolean {
    return this.#writer.rootOf(apex) !== 0;
  }

  apexOf(id: number): Name | undefined {
    const unserved = this.#unserved.get(id);
    if (unserved !== undefined) return unserved.apex;
    const root = this.#ids.get(id);
    return root === 0 ? undefined : this.#writer.zoneAt(root).apex;
  }

  /** Returns the zones that are no longer in Postgres but are still served or marked as not served. */
  goneApexes(): Name[] {
    const gone: Name[] = [];
    for (const entries of [this.#writer.entries(), this.#writer.notServed()]) {
      for (const { apex } of entries) if (this.#idOf(apex) === undefined) gone.push(apex);
    }
    return gone;
  }

  /** Forgets all contents, whose versions and ids belong to another database history. The zones are still served. */
  forgetContents(): void {
    this.#ids.clear();
    this.#unserved.clear();
    this.#unservedIds.clear();
    this.#withoutRoom = 0;
    this.#fingerprints.fill(0);
  }

  /** Returns up to `limit` zones that did not fit, in the last state known from Postgres. */
  waitingForRoom(limit: number): ZoneState[] {
    const waiting: ZoneState[] = [];
    for (const zone of this.#unserved.values()) {
      if (waiting.length === limit) break;
      if (zone.why === 'full') waiting.push(zone);
    }
    return waiting;
  }

  /** Returns the buckets in which the zones of Postgres differ from those of this node. */
  differingBuckets(expected: Float64Array): number[] {
    const differing: number[] = [];
    for (let i = 0; i < BUCKETS; i++) if (expected[i] !== this.#fingerprints[i]) differing.push(i);
    return differing;
  }

  idsInBuckets(buckets: readonly number[]): number[] {
    const wanted = new Set(buckets);
    const ids: number[] = [];
    for (const id of this.#ids.ids()) if (wanted.has(id % BUCKETS)) ids.push(id);
    for (const id of this.#unserved.keys()) {
      if (wanted.has(id % BUCKETS) && this.#ids.get(id) === 0) ids.push(id);
    }
    return ids;
  }

  /** Returns the content that is served for a zone in Postgres. */
  #contentOf(id: number): ZoneContent | undefined {
    const root = this.#ids.get(id);
    return root === 0 ? undefined : this.#writer.zoneAt(root);
  }

  /** Returns the id of the zone in Postgres. Returns undefined if Postgres no longer has it. */
  #idOf(apex: Name): number | undefined {
    const unserved = this.#unservedIds.get(apex);
    if (unserved !== undefined) return unserved;
    const root = this.#writer.rootOf(apex);
    if (root === 0) return undefined;
    const { id } = this.#writer.zoneAt(root);
    return this.#ids.get(id) === root ? id : undefined;
  }

  /** Removes a zone from all tables about the content of Postgres. */
  #forget(id: number): void {
    const unserved = this.#unserved.get(id);
    const newest = unserved ?? this.#contentOf(id);
    if (newest === undefined) return;
    this.#addFingerprint(newest, -1);
    this.#ids.delete(id);
    this.#unserved.delete(id);
    if (unserved === undefined) return;
    this.#unservedIds.delete(unserved.apex);
    if (unserved.why === 'full') this.#withoutRoom--;
  }

  #addFingerprint(content: ZoneContent, sign: 1 | -1): void {
    const bucket = content.id % BUCKETS;
    this.#fingerprints[bucket] = (this.#fingerprints[bucket] as number) + sign * zoneFingerprint(content);
  }
}

function isSame(one: ZoneContent, other: ZoneContent): boolean {
  return one.version === other.version && one.mark === other.mark;
}
