// The zones of a node: what is served, and which content of Postgres's each is made of. A zone that cannot be built
// keeps being served in its old version. Only `swap` changes what is served, without an await: no answer sees half of it.

import { setImmediate as nextTick } from 'node:timers/promises';
import type { Name } from '../dns/name.ts';
import type { ZoneState } from '../store/change-feed.ts';
import { BUCKETS, type ChangedZone, type WantedZone, zoneFingerprint } from '../store/load-changed-zones.ts';
import { type BuiltZone, buildZone } from '../zone/build-zone.ts';
import { MARK_TYPE, markOf, type Zone, type ZoneRecord } from '../zone/zone.ts';

interface Content {
  readonly version: number;
  readonly mark: number;
}

interface FollowedZone extends Content {
  readonly id: number;
  readonly apex: Name;
  /** What the served zone is made of: the same content, or an older one where that could not be built. */
  readonly built: Content | undefined;
  /** Held removals are gone for Postgres. */
  gone: boolean;
}

interface Swap {
  readonly changed: ChangedZone;
  readonly built: BuiltZone;
}

const BUSY_MS = 5;

export class FollowedZones {
  readonly #zones = new Map<Name, Zone>();
  readonly #byApex = new Map<Name, FollowedZone>();
  readonly #byId = new Map<number, FollowedZone>();
  readonly #fingerprints = new Float64Array(BUCKETS);
  #records = 0;
  #refused = 0;

  /** What is served. The map is always the same one. */
  get zones(): ReadonlyMap<Name, Zone> {
    return this.#zones;
  }

  get records(): number {
    return this.#records;
  }

  /** Zones whose newest content cannot be built. */
  get refused(): number {
    return this.#refused;
  }

  /** What to load for a zone that Postgres has in this state; undefined: it is here already. */
  wantedFor(state: ZoneState): WantedZone | undefined {
    const known = this.#byId.get(state.id);
    if (known === undefined) return { id: state.id, since: undefined };
    if (known.version === state.version && known.mark === state.mark) return undefined;
    const { built } = known;
    return { id: state.id, since: built !== undefined && built.version < state.version ? built : undefined };
  }

  /** Builds what was loaded, letting other work in between. */
  async build(zones: readonly ChangedZone[]): Promise<Swap[]> {
    const swaps: Swap[] = [];
    let sinceMs = performance.now();
    for (const changed of zones) {
      swaps.push({ changed, built: buildZone(changed.apex, this.#recordsFor(changed)) });
      if (performance.now() - sinceMs < BUSY_MS) continue;
      await nextTick();
      sinceMs = performance.now();
    }
    return swaps;
  }

  #recordsFor(changed: ChangedZone): Iterable<ZoneRecord> {
    const served = changed.partial ? this.#zones.get(changed.apex) : undefined;
    return served === undefined ? changed.records : withChangedSets(served, changed);
  }

  swap(swaps: readonly Swap[]): void {
    for (const { changed, built } of swaps) {
      const { id, apex, version, mark } = changed;
      const before = this.#byApex.get(apex);
      if (before !== undefined) this.#forget(before);
      // After a restore an id may mean another zone, whose own turn is yet to come.
      const namesake = this.#byId.get(id);
      if (namesake !== undefined) this.#setGone(namesake);
      const content = built.kind === 'built' ? { version, mark } : before?.built;
      const zone: FollowedZone = { id, apex, version, mark, built: content, gone: false };
      this.#byApex.set(apex, zone);
      this.#byId.set(id, zone);
      this.#count(zone, 1);
      if (built.kind === 'refused') continue;
      this.#records += built.zone.records - (this.#zones.get(apex)?.records ?? 0);
      this.#zones.set(apex, built.zone);
    }
  }

  /** No longer in Postgres, but still served until `remove`. */
  markGone(apex: Name): void {
    const zone = this.#byApex.get(apex);
    if (zone !== undefined) this.#setGone(zone);
  }

  remove(apexes: readonly Name[]): void {
    for (const apex of apexes) {
      const zone = this.#byApex.get(apex);
      if (zone !== undefined) this.#forget(zone);
      this.#byApex.delete(apex);
      this.#records -= this.#zones.get(apex)?.records ?? 0;
      this.#zones.delete(apex);
    }
  }

  apexOf(id: number): Name | undefined {
    return this.#byId.get(id)?.apex;
  }

  /** What Postgres no longer has. */
  goneApexes(): Name[] {
    return [...this.#byApex.values()].filter((zone) => zone.gone).map((zone) => zone.apex);
  }

  /** Everything is another history's: versions and ids mean nothing any more, the zones stay served. */
  forgetContents(): void {
    for (const zone of this.#byApex.values()) this.#setGone(zone);
  }

  /** The buckets in which Postgres's zones are others than ours. */
  differingBuckets(theirs: Float64Array): number[] {
    const differing: number[] = [];
    for (let i = 0; i < BUCKETS; i++) if (theirs[i] !== this.#fingerprints[i]) differing.push(i);
    return differing;
  }

  idsInBuckets(buckets: readonly number[]): number[] {
    const wanted = new Set(buckets);
    return [...this.#byId.keys()].filter((id) => wanted.has(id % BUCKETS));
  }

  #setGone(zone: FollowedZone): void {
    if (zone.gone) return;
    this.#forget(zone);
    zone.gone = true;
  }

  /** Takes a zone out of everything that speaks of Postgres's content. */
  #forget(zone: FollowedZone): void {
    if (zone.gone) return;
    this.#count(zone, -1);
    if (this.#byId.get(zone.id) === zone) this.#byId.delete(zone.id);
  }

  #count(zone: FollowedZone, sign: 1 | -1): void {
    const bucket = zone.id % BUCKETS;
    this.#fingerprints[bucket] = (this.#fingerprints[bucket] as number) + sign * zoneFingerprint(zone);
    if (zone.built?.version !== zone.version || zone.built.mark !== zone.mark) this.#refused += sign;
  }
}

function* withChangedSets(served: Zone, changed: ChangedZone): Generator<ZoneRecord> {
  const touched = new Map<Name, Set<number>>();
  const touch = ({ owner, type }: { owner: Name; type: number }) => {
    const types = touched.get(owner);
    if (types === undefined) touched.set(owner, new Set([type]));
    else types.add(type);
  };
  changed.gone.forEach(touch);
  changed.records.forEach(touch);
  for (const { name, sets } of served.nodes.values()) {
    const types = touched.get(name);
    for (const { owner, type, ttl, rdata } of sets.values()) {
      if (types?.has(type)) continue;
      for (const one of rdata) yield { owner, type, ttl, rdata: one };
    }
  }
  for (const name of served.marked) if (!touched.get(name)?.has(MARK_TYPE)) yield markOf(name);
  yield* changed.records;
}
