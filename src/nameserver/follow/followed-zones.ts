// The zones of a node: which of them the image serves, and from which content of Postgres each was made. A zone that
// cannot be built, or for which there is no room, is served in its old version. Content is kept in the image itself, so
// that a million zones need only a table of ids here.

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

/** The outcome for a zone that was loaded. With the last three its content is not served. */
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
  /** The zones that are in Postgres and served, in whatever version. */
  readonly #ids = new ZoneIds();
  readonly #unserved = new Map<number, Unserved>();
  readonly #unservedIds = new Map<Name, number>();
  readonly #fingerprints = new Float64Array(BUCKETS);
  #withoutRoom = 0;

  /** `onApplied` is called for each change of what is served. */
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

  /** Zones whose newest content is not what is served. */
  unservedIds(): number[] {
    return [...this.#unserved.keys()];
  }

  /** Zones whose newest content cannot be built. */
  get refused(): number {
    return this.#unserved.size - this.#withoutRoom;
  }

  /** Zones for whose newest content there is no room. */
  get withoutRoom(): number {
    return this.#withoutRoom;
  }

  /**
   * Takes over an image read from a snapshot: its zones are regarded as those of Postgres until Postgres says
   * otherwise.
   */
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

  /** What to load for a zone that Postgres has in this state; undefined: there is nothing new. */
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

  /** Serves the content that was loaded, if possible. */
  apply(changed: ChangedZone): Applied {
    const { id, apex, version, mark } = changed;
    const content = { id, version, mark };
    // After a restore an id may mean another zone, and an apex have another id.
    this.#forgetApex(apex);
    this.#forget(id);
    const applied = this.#serve(changed, content);
    const root = this.#writer.rootOf(apex);
    if (root !== 0 && this.#writer.zoneAt(root).id === id) this.#ids.set(id, root);
    if (applied.kind !== 'served') {
      this.#unserved.set(id, { ...content, apex, records: changed.records.length, why: applied.kind });
      this.#unservedIds.set(apex, id);
      if (applied.kind === 'full') this.#withoutRoom++;
      this.#writer.markNotServed(apex, content); // but where an older version is served
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
      // One zone that meets a bug must not keep all others from being followed.
      return error instanceof ImageFullError ? { kind: 'full' } : { kind: 'failed', error };
    }
  }

  /** Marks a zone that Postgres no longer has; it is served until `remove`. If it is not served, it is forgotten. */
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

  /** The zones that Postgres no longer has and that are still served or marked as ours. */
  goneApexes(): Name[] {
    const gone: Name[] = [];
    for (const entries of [this.#writer.entries(), this.#writer.notServed()]) {
      for (const { apex } of entries) if (this.#idOf(apex) === undefined) gone.push(apex);
    }
    return gone;
  }

  /**
   * Forgets all contents, since the database has another history: versions and ids no longer mean anything. The zones
   * are still served.
   */
  forgetContents(): void {
    this.#ids.clear();
    this.#unserved.clear();
    this.#unservedIds.clear();
    this.#withoutRoom = 0;
    this.#fingerprints.fill(0);
  }

  /** Gives some of the zones for which there was no room, as Postgres had them last. */
  waitingForRoom(limit: number): ZoneState[] {
    const waiting: ZoneState[] = [];
    for (const zone of this.#unserved.values()) {
      if (waiting.length === limit) break;
      if (zone.why === 'full') waiting.push(zone);
    }
    return waiting;
  }

  /** The buckets in which the zones of Postgres differ from ours. */
  differingBuckets(theirs: Float64Array): number[] {
    const differing: number[] = [];
    for (let i = 0; i < BUCKETS; i++) if (theirs[i] !== this.#fingerprints[i]) differing.push(i);
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

  /** The content of Postgres's zone that is served. */
  #contentOf(id: number): ZoneContent | undefined {
    const root = this.#ids.get(id);
    return root === 0 ? undefined : this.#writer.zoneAt(root);
  }

  /** The id of the zone in Postgres; undefined: Postgres no longer has it. */
  #idOf(apex: Name): number | undefined {
    const unserved = this.#unservedIds.get(apex);
    if (unserved !== undefined) return unserved;
    const root = this.#writer.rootOf(apex);
    if (root === 0) return undefined;
    const { id } = this.#writer.zoneAt(root);
    return this.#ids.get(id) === root ? id : undefined;
  }

  /** Removes a zone from all tables of Postgres's content. */
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
