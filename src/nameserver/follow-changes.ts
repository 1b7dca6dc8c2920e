// Keeps the served zones equal to Postgres's: loads everything once, then follows the change feed. Postgres may go away,
// lag, be restored or replaced: what is served stays, and is put right as soon as there is a server to read.
//
//   connect → read the feed ─ start, another epoch → load every zone ─┐
//                 ↑         ─ changes → load what changed ────────────┤→ swap → report → wait (NOTIFY, timer)
//                 │         ─ expired, now and then → compare ────────┘      │
//                 └──────────────────────────────────────────────────────────┘     any failure: connect again

import { randomUUID } from 'node:crypto';
import type { Name } from '../dns/name.ts';
import { CHANGES_CHANNEL } from '../store/announce-changes.ts';
import {
  cursorSnapshot,
  type FeedCursor,
  type FeedRead,
  newest,
  readFeed,
  type SeenChange,
  type ZoneState,
} from '../store/change-feed.ts';
import { type Connection, connect } from '../store/connection.ts';
import { openDatabase } from '../store/database.ts';
import {
  listBuckets,
  listZoneStates,
  loadChangedZones,
  loadFingerprints,
  type WantedZone,
} from '../store/load-changed-zones.ts';
import { checkSchema, SchemaError } from '../store/migrate.ts';
import type { NodeReport } from '../store/nodes.ts';
import type { Zone, Zones } from '../zone/zone.ts';
import { FollowedZones } from './followed-zones.ts';
import { RemovalHold } from './hold-removals.ts';
import { createBackoff, type Log, pauseUnless, Wakeup } from './reconnect.ts';
import { PositionReporter } from './report-position.ts';

export interface FollowOptions {
  /** The primary: reports go there. */
  databaseUrl: string;
  /** Where the feed and the zones are read; may be a standby. */
  readUrl?: string;
  nodeName: string;
  log: Log;
  /** Told after each swap, with the age of its oldest change. */
  onApplied?: (applied: { zones: number; delaySeconds: number }) => void;
}

export interface FollowState {
  /** All zones were loaded once, and the position in the feed is known. */
  loaded: boolean;
  connected: boolean;
  /** The newest change that is applied. */
  position: number | undefined;
  /** How long ago the feed was last read to its end; 0 while that happens at its usual pace. */
  lagSeconds: number | undefined;
  epoch: string | undefined;
  zones: number;
  records: number;
  /** Zones whose newest content cannot be built. */
  refused: number;
  held: { id: string; since: Date; zones: number } | undefined;
}

export interface Following {
  readonly zones: Zones & ReadonlyMap<Name, Zone>;
  state(): FollowState;
  stop(): Promise<void>;
}

/**
 * Starts following and returns at once; `state().loaded` tells when the zones are there. Throws `NodeNameTakenError`
 * when another live process has this name.
 */
export async function followChanges(options: FollowOptions): Promise<Following> {
  const follower = new Follower(options);
  await follower.start();
  return follower;
}

const PRIMARY_POLL_MS = 1000;
const STANDBY_POLL_MS = 50;
const PAGE_ZONES = 2000;
const BATCH_RECORDS = 20_000;
const COMPARE_FIRST_MS = 1000;
const COMPARE_EVERY_MS = 60_000;

class Follower implements Following {
  readonly #options: FollowOptions;
  readonly #followed = new FollowedZones();
  readonly #hold = new RemovalHold();
  readonly #wakeup = new Wakeup();
  readonly #reporter: PositionReporter;
  readonly #instance = randomUUID();
  readonly #startedAt = new Date();
  #running: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();
  #connection: Connection | undefined;
  #cursor: FeedCursor | undefined;
  #position: number | undefined;
  #loaded = false;
  #standby = false;
  #caughtUpAtMs: number | undefined;
  #compareAtMs = 0;
  #compareEveryMs = COMPARE_EVERY_MS;

  constructor(options: FollowOptions) {
    this.#options = options;
    const { databaseUrl, nodeName, log } = options;
    this.#reporter = new PositionReporter({ databaseUrl, nodeName, log, report: () => this.#report() });
  }

  get zones() {
    return this.#followed.zones;
  }

  async start(): Promise<void> {
    await checkReachableSchema(this.#options.databaseUrl);
    await this.#reporter.start();
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wakeup.wake();
    await Promise.all([this.#connection?.close(), this.#running, this.#reporter.stop()]);
  }

  state(): FollowState {
    return {
      loaded: this.#loaded,
      connected: this.#connection?.isOpen() ?? false,
      position: this.#position,
      lagSeconds: this.#lagSeconds(),
      epoch: this.#cursor?.epoch,
      zones: this.zones.size,
      records: this.#followed.records,
      refused: this.#followed.refused,
      held: this.#hold.state(),
    };
  }

  #lagSeconds(): number | undefined {
    if (this.#caughtUpAtMs === undefined) return undefined;
    const ageMs = Date.now() - this.#caughtUpAtMs;
    return ageMs <= 2 * PRIMARY_POLL_MS ? 0 : ageMs / 1000;
  }

  #report(): NodeReport {
    const cursor = this.#loaded ? this.#cursor : undefined;
    return {
      name: this.#options.nodeName,
      instance: this.#instance,
      startedAt: this.#startedAt,
      loaded: this.#loaded,
      epoch: cursor?.epoch,
      position: this.#position,
      snapshot: cursor === undefined ? undefined : cursorSnapshot(cursor),
      zones: this.zones.size,
      records: this.#followed.records,
      held: this.#hold.state(),
    };
  }

  async #run(): Promise<void> {
    const { log, nodeName, readUrl, databaseUrl } = this.#options;
    const backoff = createBackoff();
    while (!this.#stopping.signal.aborted) {
      try {
        this.#connection = await connect(readUrl ?? databaseUrl, {
          applicationName: `zonefleet feed ${nodeName}`,
          onNotification: () => this.#wakeup.wake(),
          signal: this.#stopping.signal,
        });
        this.#connection.ended.then(() => this.#wakeup.wake());
        await this.#follow(this.#connection, backoff.reset);
      } catch (error) {
        if (!this.#stopping.signal.aborted)
          log.warn({ err: error }, 'the change feed cannot be read: what is served stays');
      }
      await this.#connection?.close();
      await pauseUnless(this.#stopping.signal, backoff.nextMs());
    }
  }

  async #follow(connection: Connection, succeeded: () => void): Promise<void> {
    let listening = false;
    // Who was away compares once: a server that crashed can have used transaction ids again behind the cursor.
    this.#compareAtMs = 0;
    while (!this.#stopping.signal.aborted) {
      const isCaughtUp = await this.#catchUp(connection);
      if (isCaughtUp) {
        succeeded();
        this.#caughtUpAtMs = Date.now();
        if (this.#caughtUpAtMs >= this.#compareAtMs) await this.#compareNow(connection);
      }
      if (!listening && !this.#standby) {
        await connection.query(`listen ${CHANGES_CHANNEL}`); // a standby refuses it
        listening = true;
        continue; // for what was announced before
      }
      const pollMs = isCaughtUp && !this.#standby ? PRIMARY_POLL_MS : STANDBY_POLL_MS;
      await this.#wakeup.wait(pollMs);
    }
  }

  /** Applies all that the feed has. False: there is nothing to go by at the moment, ask again. */
  async #catchUp(connection: Connection): Promise<boolean> {
    let first: FeedRead | undefined;
    let after: SeenChange | undefined;
    let recent: readonly SeenChange[] = [];
    const gone = new Set<number>();
    for (;;) {
      const read = await readFeed(connection, this.#options.nodeName, this.#cursor, after);
      this.#standby = read.standby;
      first ??= read;
      if (read.kind !== 'changes') {
        // In the middle of a backlog the cursor still stands before it: begin again.
        return read === first ? this.#catchUpWithout(connection, read) : this.#catchUp(connection);
      }
      for (const id of await this.#applyChanges(connection, read)) gone.add(id);
      recent = newest([...recent, ...read.cursor.recent]);
      after = read.changes.at(-1);
      if (!read.more) break;
    }
    this.#removeIds(gone);
    this.#cursor = { ...first.cursor, recent };
    if (first.changes.length > 0) this.#reporter.changed();
    this.#remove(this.#hold.confirm(first.confirmedId), true);
    return true;
  }

  async #catchUpWithout(connection: Connection, read: FeedRead): Promise<boolean> {
    const { log } = this.#options;
    switch (read.kind) {
      case 'behind':
      case 'incomplete':
        return false;
      case 'expired':
        log.info({}, 'this node was away longer than the feed reaches back: it compares all zones');
        await this.#compare(connection);
        break;
      case 'another-epoch':
        log.warn(
          { from: this.#cursor?.epoch, to: read.cursor.epoch },
          'the database has another history: all zones are loaded again',
        );
        await this.#loadEverything(connection);
        break;
      case 'start':
        await this.#loadEverything(connection);
        break;
      case 'changes':
        throw new Error('unreachable');
      default:
        read.kind satisfies never;
    }
    this.#cursor = read.cursor;
    this.#reporter.changed();
    this.#position = read.cursor.recent[0]?.id ?? 0;
    return true;
  }

  async #applyChanges(connection: Connection, read: FeedRead): Promise<number[]> {
    const { changes } = read;
    const newestId = changes.reduce((id, change) => Math.max(id, change.id), 0);
    const states = new Map<number, ZoneState>();
    const gone: number[] = [];
    for (const { zoneId, zone } of changes) {
      if (zone === undefined) gone.push(zoneId);
      else states.set(zoneId, zone);
    }
    const applied = await this.#load(connection, [...states.values()]);
    this.#position = Math.max(this.#position ?? 0, newestId);
    if (applied.zones > 0) {
      const oldestMs = changes.reduce((ms, { at }) => Math.min(ms, at.getTime()), Number.POSITIVE_INFINITY);
      this.#options.onApplied?.({
        zones: applied.zones,
        delaySeconds: Math.max(0, Date.now() - oldestMs) / 1000,
      });
    }
    return [...gone, ...applied.gone];
  }

  /** Loads those of the zones that are not here in this state, in batches; tells which were deleted meanwhile. */
  async #load(
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
        this.#options.log.error(
          { zone: changed.apex, version: changed.version, problems },
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
  async #loadEverything(connection: Connection): Promise<void> {
    this.#cursor = undefined;
    this.#followed.forgetContents();
    const startedMs = Date.now();
    for (let after = 0; ; ) {
      const states = await listZoneStates(connection, after, PAGE_ZONES);
      const last = states.at(-1);
      if (last === undefined) break;
      await this.#load(connection, states);
      after = last.id;
    }
    this.#remove(this.#followed.goneApexes());
    this.#loaded = true;
    this.#compareEveryMs = COMPARE_FIRST_MS;
    this.#compareAtMs = Date.now() + this.#compareEveryMs;
    const { zones, records } = this.state();
    this.#options.log.info({ zones, records, ms: Date.now() - startedMs }, 'zones loaded');
  }

  /**
   * The feed tells of everything that is written through it. What is not (a restore of the rows alone, a server that
   * forgot commits) shows here: soon after a load or a reconnect, then once a minute.
   */
  async #compareNow(connection: Connection): Promise<void> {
    await this.#compare(connection);
    this.#compareAtMs = Date.now() + this.#compareEveryMs * (0.8 + Math.random() * 0.4);
    this.#compareEveryMs = Math.min(COMPARE_EVERY_MS, this.#compareEveryMs * 2);
  }

  async #compare(connection: Connection): Promise<void> {
    const buckets = this.#followed.differingBuckets(await loadFingerprints(connection));
    if (buckets.length === 0) return;
    const states = await listBuckets(connection, buckets);
    const { zones, gone } = await this.#load(connection, states);
    const there = new Set(states.map((state) => state.id));
    const missing = this.#followed.idsInBuckets(buckets).filter((id) => !there.has(id));
    this.#removeIds([...gone, ...missing]);
    if (zones + missing.length > 0) {
      this.#options.log.debug({ loaded: zones, missing: missing.length }, 'zones compared');
    }
  }

  #removeIds(ids: Iterable<number>): void {
    const apexes = [...ids].map((id) => this.#followed.apexOf(id)).filter((apex) => apex !== undefined);
    this.#remove(apexes);
  }

  /** Zones that Postgres no longer has: they go, or are held. */
  #remove(apexes: readonly Name[], confirmed = false): void {
    if (apexes.length === 0) return;
    for (const apex of apexes) this.#followed.markGone(apex);
    const wasHeld = this.#hold.state() !== undefined;
    const served = apexes.filter((apex) => this.zones.has(apex));
    this.#followed.remove(apexes.filter((apex) => !this.zones.has(apex)));
    this.#followed.remove(confirmed ? served : this.#hold.admit(served, this.zones.size));
    const held = this.#hold.state();
    if (held !== undefined && !wasHeld) {
      this.#options.log.error(
        { held: held.zones, zones: this.zones.size },
        'the feed would take away too many zones: they are held until `zonefleet node confirm`',
      );
    }
    this.#reporter.changed();
  }
}

/** Refuses a schema older than ours. A server that is away is waited for later. */
async function checkReachableSchema(url: string): Promise<void> {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    await checkSchema(db);
  } catch (error) {
    if (error instanceof SchemaError) throw error;
  } finally {
    await db.destroy();
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
