// Updates the followed zones to the state of Postgres: some, all, or those that differ. Removals can be held. One batch
// of zones is written to the image while the next one is requested, so that Postgres and the node work concurrently.

import { setImmediate as nextTick } from 'node:timers/promises';
import { type Name, printName } from '../../dns/name.ts';
import type { Log } from '../../process/reconnect.ts';
import type { ZoneState } from '../../store/feed/change-feed.ts';
import {
  type ChangedZone,
  countZones,
  listBuckets,
  listZoneStates,
  loadChangedZones,
  loadFingerprints,
  type WantedZone,
} from '../../store/feed/load-changed-zones.ts';
import type { Connection } from '../../store/postgres/connection.ts';
import { ImageProgress } from '../threads/image-progress.ts';
import type { Applied, FollowedZones } from './followed-zones.ts';
import type { RemovalHold } from './hold-removals.ts';

const PAGE_ZONES = 2000;
const BATCH_RECORDS = 20_000;
const BUSY_MS = 5;
const SHOWN_PROBLEMS = 5;
/** Maximum number of zones without space that the log names. */
const MAX_LOGGED_ZONES = 100;
/** Number of zones without space that are retried at a time, until one of them does not fit. */
const RETRY_ZONES = 100;
const RETRY_MS = 60_000;

export class FollowedZonesLoader {
  readonly #followed: FollowedZones;
  readonly #hold: RemovalHold;
  readonly #log: Log;
  readonly #bytesUsed: () => number;
  readonly #progress: ImageProgress;
  #bytesUsedWhenFull = 0;
  #retryAtMs = 0;
  #isFullLogged = false;
  /** Zones without space that the log has named. */
  readonly #loggedWithoutRoom = new Set<Name>();

  /** @param bytesUsed returns the bytes in use; if fewer than when the image was full, there is space again */
  constructor(
    followed: FollowedZones,
    hold: RemovalHold,
    log: Log,
    bytesUsed: () => number,
    progress = new ImageProgress(),
  ) {
    this.#followed = followed;
    this.#hold = hold;
    this.#log = log;
    this.#bytesUsed = bytesUsed;
    this.#progress = progress;
  }

  /** Loads the zones that differ from these states. Also returns those that were deleted in the meantime. */
  async load(
    connection: Connection,
    states: Iterable<ZoneState> | AsyncIterable<ZoneState>,
    isRetry = false,
  ): Promise<{ zones: number; gone: number[] }> {
    let zones = 0;
    const gone: number[] = [];
    const total = this.#progress.total;
    const batches = batchesOf(states, (state) => this.#followed.wantedFor(state, isRetry));
    for await (const { wanted, loaded } of loadAhead(connection, batches)) {
      const present = loaded.filter((zone) => !zone.deleted);
      await this.#apply(present);
      zones += present.length;
      if (total > 0) this.#progress.reach(Math.min(zones, total), total);
      const ids = new Set(present.map((zone) => zone.id));
      gone.push(...wanted.filter((zone) => !ids.has(zone.id)).map((zone) => zone.id));
    }
    this.#logIfFull();
    return { zones, gone };
  }

  /** Applies zones, with pauses for other tasks. */
  async #apply(zones: readonly ChangedZone[]): Promise<void> {
    let sinceMs = performance.now();
    this.#progress.begin('building zones');
    for (const changed of zones) {
      this.#progress.step();
      this.#logResult(changed, this.#followed.apply(changed));
      this.#hold.dissolve(changed.apex);
      if (performance.now() - sinceMs < BUSY_MS) continue;
      await nextTick();
      sinceMs = performance.now();
    }
    this.#progress.begin('waiting');
  }

  #logResult({ apex, version }: ChangedZone, applied: Applied): void {
    const zone = printName(apex);
    switch (applied.kind) {
      case 'served':
        return;
      case 'full':
        if (!this.#loggedWithoutRoom.has(apex) && this.#loggedWithoutRoom.size < MAX_LOGGED_ZONES) {
          this.#loggedWithoutRoom.add(apex);
          this.#log.warn({ zone, version }, 'a zone does not fit into the image');
        }
        this.#bytesUsedWhenFull = this.#bytesUsed();
        this.#retryAtMs = performance.now() + RETRY_MS;
        return;
      case 'refused': {
        const problems = applied.problems.slice(0, SHOWN_PROBLEMS).map((problem) => problem.message);
        this.#log.error(
          { zone, version, problems },
          'a zone cannot be built: its old version, if any, is still served',
        );
        return;
      }
      case 'failed':
        this.#log.error(
          { zone, version, err: applied.error },
          'unhandled error in a zone: its old version, if any, is still served',
        );
        return;
      default:
        applied satisfies never;
    }
  }

  #logIfFull(): void {
    const { withoutRoom, zones } = this.#followed;
    if (withoutRoom > 0 && !this.#isFullLogged) {
      this.#log.error(
        { withoutRoom, zones },
        'the zone image is full: increase IMAGE_BYTES; zones that do not fit are served in their old version or not at all',
      );
    } else if (withoutRoom === 0 && this.#isFullLogged) {
      this.#log.info({ zones }, 'all zones fit into the image again');
    }
    if (withoutRoom === 0) this.#loggedWithoutRoom.clear();
    this.#isFullLogged = withoutRoom > 0;
  }

  /** Reloads every zone, page by page. A zone is served until its successor is loaded. */
  async loadEverything(connection: Connection): Promise<void> {
    this.#followed.forgetContents();
    const startedMs = Date.now();
    this.#progress.reach(0, await countZones(connection));
    await this.load(connection, everyState(connection));
    this.#progress.reach(0, 0);
    this.remove(this.#followed.goneApexes());
    const { zones, records } = this.#followed;
    this.#log.info({ zones, records, ms: Date.now() - startedMs }, 'zones loaded');
  }

  /** Loads the zones that differ from this node's, for any reason. */
  async compare(connection: Connection): Promise<void> {
    const buckets = this.#followed.differingBuckets(await loadFingerprints(connection));
    if (buckets.length === 0) return;
    const states = await listBuckets(connection, buckets);
    const { zones, gone } = await this.load(connection, states);
    const present = new Set(states.map((state) => state.id));
    const missing = this.#followed.idsInBuckets(buckets).filter((id) => !present.has(id));
    this.removeIds([...gone, ...missing]);
    if (zones + missing.length > 0) {
      this.#log.debug({ loaded: zones, missing: missing.length }, 'zones compared');
    }
  }

  /** Retries the zones without space if space was freed, and regularly in any case. */
  async retryWithoutRoom(connection: Connection): Promise<void> {
    if (this.#followed.withoutRoom === 0) return;
    if (this.#bytesUsed() >= this.#bytesUsedWhenFull && performance.now() < this.#retryAtMs) return;
    for (let left = this.#followed.withoutRoom; left > 0; ) {
      this.removeIds((await this.load(connection, this.#followed.waitingForRoom(RETRY_ZONES), true)).gone);
      const stillLeft = this.#followed.withoutRoom;
      if (stillLeft > left - Math.min(left, RETRY_ZONES)) return;
      left = stillLeft;
    }
  }

  /** Removes zones by id, like `remove`; ignores unknown ids. */
  removeIds(ids: Iterable<number>): void {
    const apexes = [...ids].map((id) => this.#followed.apexOf(id)).filter((apex) => apex !== undefined);
    this.remove(apexes);
  }

  /** Removes, or holds, zones that are no longer in Postgres. */
  remove(apexes: readonly Name[], confirmed = false): void {
    if (apexes.length === 0) return;
    for (const apex of apexes) this.#followed.markGone(apex);
    const wasHeld = this.#hold.state() !== undefined;
    const served = apexes.filter((apex) => this.#followed.isServed(apex));
    this.#followed.remove(confirmed ? served : this.#hold.admit(served, this.#followed.zones));
    const held = this.#hold.state();
    if (held !== undefined && !wasHeld) {
      this.#log.error(
        { held: held.zones, zones: this.#followed.zones },
        'the feed removes too many zones: they are held until `zonefleet node confirm`',
      );
    }
  }
}

async function* everyState(connection: Connection): AsyncGenerator<ZoneState> {
  for (let after = 0; ; ) {
    const states = await listZoneStates(connection, after, PAGE_ZONES);
    const last = states.at(-1);
    if (last === undefined) return;
    yield* states;
    after = last.id;
  }
}

/** Groups zones to load together: a large zone alone, small ones up to a total number of records. */
async function* batchesOf(
  states: Iterable<ZoneState> | AsyncIterable<ZoneState>,
  wantedFor: (state: ZoneState) => WantedZone | undefined,
): AsyncGenerator<WantedZone[]> {
  let batch: WantedZone[] = [];
  let records = 0;
  for await (const state of states) {
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

interface LoadedBatch {
  readonly wanted: readonly WantedZone[];
  readonly loaded: ChangedZone[];
}

/** Loads each batch while the previous one is applied. */
async function* loadAhead(
  connection: Connection,
  batches: AsyncIterable<WantedZone[]>,
): AsyncGenerator<LoadedBatch> {
  let ahead: Promise<LoadedBatch> | undefined;
  for await (const wanted of batches) {
    const next = loadChangedZones(connection, wanted).then((loaded) => ({ wanted, loaded }));
    next.catch(() => undefined); // reported to the consumer, if it still awaits it
    if (ahead !== undefined) yield await ahead;
    ahead = next;
  }
  if (ahead !== undefined) yield await ahead;
}
