// Keeps the served zones equal to Postgres's: loads everything once, then follows the change feed. Postgres may go away,
// lag, be restored or replaced: what is served stays, and is put right as soon as there is a server to read.
//
//   connect → read the feed ─ start, another epoch → load every zone ─┐
//                 ↑         ─ changes → load what changed ────────────┤→ image → report → wait (NOTIFY, timer)
//                 │         ─ expired, now and then → compare ────────┘      │
//                 └──────────────────────────────────────────────────────────┘     any failure: connect again

import { randomUUID } from 'node:crypto';
import { createBackoff, type Log, pauseUnless, Wakeup } from '../../process/reconnect.ts';
import {
  cursorSnapshot,
  type FeedCursor,
  type FeedRead,
  newest,
  readFeed,
  type SeenChange,
  type ZoneState,
} from '../../store/feed/change-feed.ts';
import { DNSSEC_ABILITY, type NodeReport } from '../../store/feed/nodes.ts';
import { CHANGES_CHANNEL } from '../../store/postgres/announce-changes.ts';
import { type Connection, connect } from '../../store/postgres/connection.ts';
import { openDatabase } from '../../store/postgres/database.ts';
import { isRejection } from '../../store/postgres/outage.ts';
import { checkSchema, SchemaError } from '../../store/postgres/schema-version.ts';
import { CountedMinutes } from '../counts/counted-minutes.ts';
import type { ZoneCounts } from '../counts/zone-counts.ts';
import type { AskedMarks } from '../image/find/asked-marks.ts';
import type { ImageWriter } from '../image/write-image.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { FeedPlace } from '../snapshot/snapshot-entry.ts';
import { noWriteFailures } from '../snapshot/write-failures.ts';
import type { ImageProgress } from '../threads/image-progress.ts';
import { AskedZones } from './asked-zones.ts';
import { type FollowState, lagSecondsSince, PRIMARY_POLL_MS } from './follow-state.ts';
import type { FollowedEdgeSets } from './followed-edge-sets.ts';
import { FollowedZones } from './followed-zones.ts';
import { RemovalHold } from './hold-removals.ts';
import { FollowedZonesLoader } from './load-followed-zones.ts';
import { NodeNameTakenError, PositionReporter } from './report-position.ts';

export interface FollowOptions {
  /** The primary, which receives the reports of this node. */
  databaseUrl: string;
  /** The server that the feed and the zones are read from; it may be a standby. */
  readUrl?: string;
  nodeName: string;
  version?: string;
  log: Log;
  /** Writes the zones into the image. It must be the only writer. */
  writer: ImageWriter;
  /** The unproven zones that were asked for, as the threads that answer note them. */
  asked?: AskedMarks;
  /** What the threads that answer count by zone. */
  zoneCounts?: readonly ZoneCounts[];
  /** What the threads that answer count, for the reports. */
  traffic?: () => NodeReport['traffic'];
  /** The snapshot, which is kept up to date. */
  snapshot?: Snapshot;
  /** The place in the feed of what the image holds already. */
  place?: FeedPlace | undefined;
  /** True if the node's name still belongs to the process that this one replaces. */
  isSuccessor?: boolean;
  /** Keeps the sets of regions. */
  edgeSets?: FollowedEdgeSets;
  /** Receives what is being done with the image. */
  progress?: ImageProgress;
  /** Called after zones were changed, with the age of the oldest change. */
  onApplied?: (applied: { zones: number; delaySeconds: number }) => void;
  /** Called when `state()` may have changed. */
  onState?: () => void;
  /** Called at the start when the primary answers: whether the name is free will be known soon. */
  onReached?: () => void;
}

export interface Following {
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

const STANDBY_POLL_MS = 50;
/** The pause between two reads of the feed: changes that come one by one are read together. */
const SPACING_MS = 20;
const COMPARE_FIRST_MS = 1000;
const COMPARE_EVERY_MS = 60_000;
/** How often the marks of zones that are asked for are taken: a look at 128 KiB. */
const ASKED_MS = 250;
/** How often somebody looks whether a thread's table of counts by zone is filling. */
const COUNTED_MS = 250;
/** With every so many looks all counts are taken: half a MiB of each thread is read. */
const LOOKS_A_TAKE = 8;

/** Returns the reason if the operator can remove the cause of a failed start. */
export function explainStart(error: unknown): string | undefined {
  if (error instanceof SchemaError) return error.message;
  return error instanceof NodeNameTakenError ? `NODE_NAME: ${error.message}` : undefined;
}

class Follower implements Following {
  readonly #options: FollowOptions;
  readonly #followed: FollowedZones;
  readonly #hold = new RemovalHold();
  readonly #wakeup = new Wakeup();
  readonly #loader: FollowedZonesLoader;
  readonly #reporter: PositionReporter;
  readonly #asked = new AskedZones();
  #askedTimer: NodeJS.Timeout | undefined;
  readonly #counted = new CountedMinutes(Date.now());
  #countedTimer: NodeJS.Timeout | undefined;
  #looks = 0;
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
  #isSchemaChecked = false;
  #isCurrent = false;
  #fault: string | undefined;
  #rejectedSinceMs: number | undefined;
  /** The feed has not been read since the snapshot gave the place. */
  #isPlaceUntried = false;

  constructor(options: FollowOptions) {
    this.#options = options;
    const { databaseUrl, nodeName, log, writer, snapshot, place } = options;
    this.#followed = new FollowedZones(writer, (entry) => snapshot?.append(entry));
    const bytesUsed = () => writer.bytesUsed;
    this.#loader = new FollowedZonesLoader(this.#followed, this.#hold, log, bytesUsed, options.progress);
    if (place !== undefined) {
      this.#cursor = place.cursor;
      this.#position = place.position;
      this.#loaded = true;
      this.#isPlaceUntried = true;
      // From a snapshot: how old that is nobody knows, but from now on it lags.
      this.#caughtUpAtMs = Date.now();
    }
    this.#reporter = new PositionReporter({
      databaseUrl,
      nodeName,
      log,
      isSuccessor: options.isSuccessor ?? false,
      report: () => this.#report(),
      asked: this.#asked,
      counted: this.#counted,
      onReached: () => options.onReached?.(),
    });
  }

  async start(): Promise<void> {
    this.#isSchemaChecked = await checkReachableSchema(this.#options.databaseUrl);
    await this.#reporter.start();
    this.#running = this.#run();
    this.#askedTimer = setInterval(() => this.#takeAsked(), ASKED_MS).unref();
    this.#countedTimer = setInterval(() => this.#lookAtCounts(), COUNTED_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#askedTimer);
    clearInterval(this.#countedTimer);
    this.#takeCounts();
    this.#counted.close();
    this.#stopping.abort();
    this.#wakeup.wake();
    await Promise.all([this.#connection?.close(), this.#running, this.#reporter.stop()]);
  }

  state(): FollowState {
    return {
      loaded: this.#loaded,
      isCurrent: this.#isCurrent,
      connected: this.#connection?.isOpen() ?? false,
      position: this.#position,
      lagSeconds: lagSecondsSince(this.#caughtUpAtMs, Date.now()),
      caughtUpAtMs: this.#caughtUpAtMs,
      epoch: this.#cursor?.epoch,
      zones: this.#followed.zones,
      records: this.#followed.records,
      refused: this.#followed.refused,
      withoutRoom: this.#followed.withoutRoom,
      held: this.#hold.state(),
      asked: { reported: this.#asked.reported, dropped: this.#asked.dropped },
      counted: {
        reported: this.#counted.reported,
        other: this.#counted.other,
        dropped: this.#counted.dropped,
      },
      writeFailures: { ...(this.#options.snapshot?.failures ?? noWriteFailures()) },
      rejectedSinceMs: this.#rejectedSinceMs,
      fault: this.#fault,
    };
  }

  #takeAsked(): void {
    const { asked, writer } = this.#options;
    const now = Date.now();
    const { dropped } = this.#asked;
    for (const apexHash of asked?.take() ?? []) this.#asked.note(writer.unprovenIds(apexHash), now);
    if (this.#asked.hasNext(now)) this.#reporter.changed();
    if (this.#asked.dropped !== dropped) this.#options.onState?.();
  }

  #lookAtCounts(): void {
    this.#looks = (this.#looks + 1) % LOOKS_A_TAKE;
    if (this.#looks === 0 || this.#counted.isOver(Date.now())) this.#takeCounts();
    else for (const counts of this.#options.zoneCounts ?? []) counts.takeEarly(this.#counted);
  }

  #takeCounts(): void {
    for (const counts of this.#options.zoneCounts ?? []) counts.take(this.#counted);
    this.#counted.turn(Date.now());
    if (this.#counted.hasNext) this.#reporter.changed();
  }

  #report(): NodeReport {
    const cursor = this.#loaded ? this.#cursor : undefined;
    const { writer } = this.#options;
    return {
      name: this.#options.nodeName,
      instance: this.#instance,
      startedAt: this.#startedAt,
      loaded: this.#loaded,
      epoch: cursor?.epoch,
      position: this.#position,
      snapshot: cursor === undefined ? undefined : cursorSnapshot(cursor),
      zones: this.#followed.zones,
      records: this.#followed.records,
      held: this.#hold.state(),
      unserved: this.#followed.unservedIds(),
      abilities: [DNSSEC_ABILITY],
      version: this.#options.version ?? '',
      traffic: this.#options.traffic?.() ?? { answered: 0, dropped: 0 },
      image: { used: writer.bytesUsed, capacity: writer.image.capacityBytes },
    };
  }

  async #run(): Promise<void> {
    const { log, nodeName, readUrl, databaseUrl, place } = this.#options;
    const backoff = createBackoff();
    if (place !== undefined) this.#followed.adopt();
    while (!this.#stopping.signal.aborted) {
      try {
        this.#connection = await connect(readUrl ?? databaseUrl, {
          applicationName: `zonefleet feed ${nodeName}`,
          onNotification: () => this.#wakeup.wake(),
          signal: this.#stopping.signal,
        });
        this.#rejectedSinceMs = undefined;
        this.#connection.ended.then(() => {
          this.#wakeup.wake();
          this.#options.onState?.();
        });
        // With the database away at the start this is the first look at its schema.
        if (!this.#isSchemaChecked) {
          this.#isSchemaChecked = await checkReachableSchema(readUrl ?? databaseUrl);
        }
        await this.#follow(this.#connection, backoff.reset);
      } catch (error) {
        if (!this.#stopping.signal.aborted) {
          log.warn({ err: error }, 'the change feed cannot be read: what is served stays');
          this.#fault = explain(error);
          this.#rejectedSinceMs = isRejection(error) ? (this.#rejectedSinceMs ?? Date.now()) : undefined;
          this.#options.onState?.();
          this.#doubtPlace(error);
        }
      }
      await this.#connection?.close();
      await pauseUnless(this.#stopping.signal, backoff.nextMs());
    }
  }

  /** Doubts a place from a snapshot: one that the server does not accept would be refused at every attempt. */
  #doubtPlace(error: unknown): void {
    if (!this.#isPlaceUntried || !isDataException(error)) return;
    this.#isPlaceUntried = false;
    this.#cursor = undefined;
    this.#options.log.warn({}, "the snapshot's feed cursor is invalid: all zones are loaded again");
  }

  async #follow(connection: Connection, succeeded: () => void): Promise<void> {
    let listening = false;
    // Who was away compares once: a server that crashed can have used transaction ids again behind the cursor.
    this.#compareAtMs = 0;
    while (!this.#stopping.signal.aborted) {
      const startedMs = performance.now();
      const isCaughtUp = await this.#catchUp(connection);
      if (isCaughtUp) {
        succeeded();
        this.#fault = undefined;
        this.#isCurrent = true;
        this.#isPlaceUntried = false;
        this.#caughtUpAtMs = Date.now();
        if (this.#caughtUpAtMs >= this.#compareAtMs) await this.#compareNow(connection);
        await this.#loader.retryWithoutRoom(connection);
        await this.#options.edgeSets?.follow(connection);
        this.#keepSnapshot();
      }
      this.#options.onState?.();
      if (!listening && !this.#standby) {
        await connection.query(`listen ${CHANGES_CHANNEL}`); // a standby refuses it
        listening = true;
        continue; // for what was announced before
      }
      const pollMs = isCaughtUp && !this.#standby ? PRIMARY_POLL_MS : STANDBY_POLL_MS;
      await this.#wakeup.wait(pollMs);
      await pauseUnless(this.#stopping.signal, startedMs + SPACING_MS - performance.now());
    }
  }

  /** Applies all changes that the feed has. False: the feed cannot be read at the moment, ask again. */
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
      await this.#applyChanges(connection, read, gone);
      recent = newest([...recent, ...read.cursor.recent]);
      after = read.changes.at(-1);
      if (!read.more) break;
    }
    this.#loader.removeIds(gone);
    this.#cursor = { ...first.cursor, recent };
    const confirmed = this.#hold.confirm(first.confirmedId);
    this.#loader.remove(confirmed, true);
    if (first.changes.length + confirmed.length > 0) this.#reporter.changed();
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
        await this.#loader.compare(connection);
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

  async #loadEverything(connection: Connection): Promise<void> {
    this.#cursor = undefined;
    this.#options.snapshot?.abandon();
    await this.#loader.loadEverything(connection);
    this.#loaded = true;
    this.#compareEveryMs = COMPARE_FIRST_MS;
    this.#compareAtMs = Date.now() + this.#compareEveryMs;
  }

  /** `gone`: the zones that have no successor so far. A zone that comes back on a later page is removed from it. */
  async #applyChanges(connection: Connection, read: FeedRead, gone: Set<number>): Promise<void> {
    const { changes } = read;
    const newestId = changes.reduce((id, change) => Math.max(id, change.id), 0);
    const states = new Map<number, ZoneState>();
    for (const { zoneId, zone } of changes) {
      if (zone === undefined) gone.add(zoneId);
      else states.set(zoneId, zone);
    }
    for (const id of states.keys()) gone.delete(id);
    const applied = await this.#loader.load(connection, [...states.values()]);
    for (const id of applied.gone) gone.add(id);
    this.#position = Math.max(this.#position ?? 0, newestId);
    if (applied.zones > 0) {
      const oldestMs = changes.reduce((ms, { at }) => Math.min(ms, at.getTime()), Number.POSITIVE_INFINITY);
      this.#options.onApplied?.({
        zones: applied.zones,
        delaySeconds: Math.max(0, Date.now() - oldestMs) / 1000,
      });
    }
  }

  #keepSnapshot(): void {
    const { snapshot, writer } = this.#options;
    writer.reclaim();
    if (snapshot === undefined || this.#cursor === undefined) return;
    const place = { cursor: this.#cursor, position: this.#position ?? 0 };
    snapshot.reach(place);
    snapshot.writeIfDue(writer, place);
  }

  /**
   * Whether to compare all zones now. The feed reports everything that is written through it. Other changes (a restore
   * of the rows alone, a server that forgot commits) show in the comparison: soon after a load or a reconnect, then
   * once a minute.
   */
  async #compareNow(connection: Connection): Promise<void> {
    await this.#loader.compare(connection);
    this.#compareAtMs = Date.now() + this.#compareEveryMs * (0.8 + Math.random() * 0.4);
    this.#compareEveryMs = Math.min(COMPARE_EVERY_MS, this.#compareEveryMs * 2);
  }
}

/** Whether the error has an SQLSTATE of class 22: a value of the query is not valid for its type. */
function isDataException(error: unknown): boolean {
  return /^22/.test(String((error as { code?: unknown }).code));
}

function explain(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  // Node tells of several addresses that all fail without a message of its own.
  return message || String(code ?? error);
}

/** Refuses a schema older than ours. False: the server does not answer, ask again. */
async function checkReachableSchema(url: string): Promise<boolean> {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    await checkSchema(db);
    return true;
  } catch (error) {
    if (error instanceof SchemaError) throw error;
    return false;
  } finally {
    await db.destroy();
  }
}
