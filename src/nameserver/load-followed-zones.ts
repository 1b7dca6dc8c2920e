// Brings the followed zones to what Postgres has: some, all, or those that differ. Removals pass the hold.

import { type Name, printName } from '../dns/name.ts';
import type { ZoneState } from '../store/change-feed.ts';
import type { Connection } from '../store/connection.ts';
import {
  listBuckets,
  listZoneStates,
  loadChangedZones,
  loadFingerprints,
  type WantedZone,
} from '../store/load-changed-zones.ts';
import type { FollowedZones } from './followed-zones.ts';
import type { RemovalHold } from './hold-removals.ts';
import type { Log } from './reconnect.ts';

const PAGE_ZONES = 2000;
const BATCH_RECORDS = 20_000;

export class FollowedZonesLoader {
  readonly #followed: FollowedZones;
  readonly #hold: RemovalHold;
  readonly #log: Log;

  constructor(followed: FollowedZones, hold: RemovalHold, log: Log) {
    this.#followed = followed;
    this.#hold = hold;
    this.#log = log;
  }

  /** Loads those of the zones that are not here in this state, in batches; tells which were deleted meanwhile. */
  async load(
    connection: Connection,
    states: readonly ZoneState[],
  ): Promise<{ zones: number; gone: number[] }> {
    let zones = 0;
    const gone: number[] = [];
    for (const batch of batchesOf(states, (state) => this.#followed.wantedFor(state))) {
      const loaded = await loadChangedZones(connection, batch);
      const present = loaded.filter((zone) => !zone.deleted);
      const swaps = await this.#followed.build(present);
      this.#followed.swap(swaps);
      for (const { changed, built } of swaps) {
        this.#hold.dissolve(changed.apex);
        if (built.kind === 'built') continue;
        const problems = built.problems.slice(0, 5).map((problem) => problem.message);
        this.#log.error(
          { zone: printName(changed.apex), version: changed.version, problems },
          'a zone cannot be built',
        );
      }
      zones += present.length;
      const ids = new Set(present.map((zone) => zone.id));
      gone.push(...batch.filter((zone) => !ids.has(zone.id)).map((zone) => zone.id));
    }
    return { zones, gone };
  }

  /** Every zone anew, page by page; what is served stays until its successor is there. */
  async loadEverything(connection: Connection): Promise<void> {
    this.#followed.forgetContents();
    const startedMs = Date.now();
    for (let after = 0; ; ) {
      const states = await listZoneStates(connection, after, PAGE_ZONES);
      const last = states.at(-1);
      if (last === undefined) break;
      await this.load(connection, states);
      after = last.id;
    }
    this.remove(this.#followed.goneApexes());
    const { zones, records } = this.#followed;
    this.#log.info({ zones: zones.size, records, ms: Date.now() - startedMs }, 'zones loaded');
  }

  /** Loads the zones that differ from what is here, however that came about. */
  async compare(connection: Connection): Promise<void> {
    const buckets = this.#followed.differingBuckets(await loadFingerprints(connection));
    if (buckets.length === 0) return;
    const states = await listBuckets(connection, buckets);
    const { zones, gone } = await this.load(connection, states);
    const there = new Set(states.map((state) => state.id));
    const missing = this.#followed.idsInBuckets(buckets).filter((id) => !there.has(id));
    this.removeIds([...gone, ...missing]);
    if (zones + missing.length > 0) {
      this.#log.debug({ loaded: zones, missing: missing.length }, 'zones compared');
    }
  }

  /** As `remove`; ids that are not known are nothing. */
  removeIds(ids: Iterable<number>): void {
    const apexes = [...ids].map((id) => this.#followed.apexOf(id)).filter((apex) => apex !== undefined);
    this.remove(apexes);
  }

  /** Zones that Postgres no longer has: they go, or are held. */
  remove(apexes: readonly Name[], confirmed = false): void {
    if (apexes.length === 0) return;
    for (const apex of apexes) this.#followed.markGone(apex);
    const wasHeld = this.#hold.state() !== undefined;
    const served = apexes.filter((apex) => this.#followed.zones.has(apex));
    this.#followed.remove(apexes.filter((apex) => !this.#followed.zones.has(apex)));
    this.#followed.remove(confirmed ? served : this.#hold.admit(served, this.#followed.zones.size));
    const held = this.#hold.state();
    if (held !== undefined && !wasHeld) {
      this.#log.error(
        { held: held.zones, zones: this.#followed.zones.size },
        'the feed would take away too many zones: they are held until `zonefleet node confirm`',
      );
    }
  }
}

/** Zones to load together: one that is large alone, small ones up to a sum of records. */
function* batchesOf(
  states: readonly ZoneState[],
  wantedFor: (state: ZoneState) => WantedZone | undefined,
): Generator<WantedZone[]> {
  let batch: WantedZone[] = [];
  let records = 0;
  for (const state of states) {
    const wanted = wantedFor(state);
    if (wanted === undefined) continue;
    if (batch.length > 0 && records + state.records > BATCH_RECORDS) {
      yield batch;
      batch = [];
      records = 0;
    }
    batch.push(wanted);
    records += state.records;
  }
  if (batch.length > 0) yield batch;
}
