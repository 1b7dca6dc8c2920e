// Keeps the served zones equal to those in Postgres: loads everything once, then follows the change feed. If Postgres
// is unavailable, lags, is restored or replaced, the node continues to serve its zones, and corrects them as soon as it
// can read a server.
//
//   connect → read the feed ─ start, another epoch → load every zone ─┐
//                 ↑         ─ changes → load what changed ────────────┤→ image → report → wait (NOTIFY, timer)
//                 │         ─ expired, sometimes → compare all ───────┘      │
//                 └──────────────────────────────────────────────────────────┘     any failure: connect again

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createBackoff, pauseUnless, Wakeup, warnOncePerMinute } from '../../process/reconnect.ts';
import { cursorSnapshot } from '../../store/feed/change-feed.ts';
import { DNSSEC_ABILITY, type NodeReport } from '../../store/feed/nodes.ts';
import { CHANGES_CHANNEL } from '../../store/postgres/announce-changes.ts';
import { type Connection, connect } from '../../store/postgres/connection.ts';
import { openDatabase } from '../../store/postgres/database.ts';
import { isRejection } from '../../store/postgres/rejection.ts';
import { checkSchema, SchemaError } from '../../store/postgres/schema-version.ts';
import { noWriteFailures } from '../snapshot/write-failures.ts';
import type { Following, FollowOptions } from './follow-options.ts';
import { type FollowState, lagSecondsSince, PRIMARY_POLL_MS } from './follow-state.ts';
import { FollowedFeed } from './followed-feed.ts';
import { FollowedZones } from './followed-zones.ts';
import { RemovalHold } from './hold-removals.ts';
import { FollowedZonesLoader } from './load-followed-zones.ts';
import { NodeCounts } from './node-counts.ts';
import { countPublishDelay, noPublishDelays } from './publish-delays.ts';
import { NodeNameTakenError, PositionReporter } from './report-position.ts';

/**
 * Starts following and returns immediately; `state().loaded` is true once the zones are loaded. Throws `NodeNameTakenError` if
 * another live process has this name.
 */
export async function followChanges(options: FollowOptions): Promise<Following> {
  const follower = new Follower(options);
  await follower.start();
  return follower;
}

const STANDBY_POLL_MS = 50;
/** Minimum pause between two reads of the feed, so that changes in quick succession are read together. */
const SPACING_MS = 20;

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
  readonly #warn: ReturnType<typeof warnOncePerMinute>;
  readonly #loader: FollowedZonesLoader;
  readonly #feed: FollowedFeed;
  readonly #counts: NodeCounts;
  readonly #reporter: PositionReporter;
  readonly #delays = noPublishDelays();
  readonly #instance = randomUUID();
  readonly #startedAt = new Date();
  #running: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();
  #connection: Connection | undefined;
  #caughtUpAtMs: number | undefined;
  #isSchemaChecked = false;
  #isCurrent = false;
  #fault: string | undefined;
  #rejectedSinceMs: number | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    const { databaseUrl, nodeName, log, writer, snapshot } = options;
    this.#warn = warnOncePerMinute(log);
    this.#followed = new FollowedZones(writer, (entry) => {
      snapshot?.append(entry);
      if (this.#feed.loaded && (entry.kind === 'zone' || entry.kind === 'sets'))
        options.onServed?.({ id: entry.content.id, apex: entry.apex });
    });
    const bytesUsed = () => writer.bytesUsed;
    this.#loader = new FollowedZonesLoader(this.#followed, this.#hold, log, bytesUsed, options.progress);
    const reportSoon = () => this.#reporter.changed();
    this.#feed = new FollowedFeed({
      ...options,
      loader: this.#loader,
      hold: this.#hold,
      onMoved: reportSoon,
      onApplied: (applied) => countPublishDelay(this.#delays, applied, process.uptime()),
    });
    // The age of the snapshot is unknown, so the lag is counted from the start.
    if (options.place !== undefined) this.#caughtUpAtMs = Date.now();
    this.#counts = new NodeCounts({ ...options, onCounted: reportSoon });
    this.#reporter = new PositionReporter({
      databaseUrl,
      nodeName,
      log,
      isSuccessor: options.isSuccessor ?? false,
      report: () => this.#report(),
      asked: this.#counts.asked,
      counted: this.#counts.counted,
      onReached: () => options.onReached?.(),
    });
  }

  async start(): Promise<void> {
    this.#isSchemaChecked = await checkReachableSchema(this.#options.databaseUrl);
    await this.#reporter.start();
    this.#running = this.#run();
    this.#counts.start();
  }

  async stop(): Promise<void> {
    this.#counts.stop();
    this.#stopping.abort();
    this.#wakeup.wake();
    await Promise.all([this.#connection?.close(), this.#running, this.#reporter.stop()]);
  }

  state(): FollowState {
    return {
      loaded: this.#feed.loaded,
      isCurrent: this.#isCurrent,
      connected: this.#connection?.isOpen() ?? false,
      position: this.#feed.position,
      lagSeconds: lagSecondsSince(this.#caughtUpAtMs, Date.now()),
      caughtUpAtMs: this.#caughtUpAtMs,
      epoch: this.#feed.cursor?.epoch,
      zones: this.#followed.zones,
      records: this.#followed.records,
      refused: this.#followed.refused,
      withoutRoom: this.#followed.withoutRoom,
      held: this.#hold.state(),
      ...this.#counts.state(),
      publishDelays: this.#delays,
      writeFailures: { ...(this.#options.snapshot?.failures ?? noWriteFailures()) },
      rejectedSinceMs: this.#rejectedSinceMs,
      fault: this.#fault,
    };
  }

  #report(): NodeReport {
    const { loaded, position } = this.#feed;
    const cursor = loaded ? this.#feed.cursor : undefined;
    const { writer } = this.#options;
    return {
      name: this.#options.nodeName,
      instance: this.#instance,
      startedAt: this.#startedAt,
      loaded,
      epoch: cursor?.epoch,
      position,
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
    const { nodeName, readUrl, databaseUrl, place, checked } = this.#options;
    const backoff = createBackoff();
    if (place !== undefined) this.#followed.adopt();
    await Promise.race([checked, once(this.#stopping.signal, 'abort')]);
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
        // If the database was unavailable at the start, its schema has not been checked yet.
        if (!this.#isSchemaChecked) {
          this.#isSchemaChecked = await checkReachableSchema(readUrl ?? databaseUrl);
        }
        await this.#follow(this.#connection, backoff.reset);
      } catch (error) {
        if (!this.#stopping.signal.aborted) {
          this.#warn(error, 'the change feed cannot be read: serving the last known zones');
          this.#fault = explain(error);
          this.#rejectedSinceMs = isRejection(error) ? (this.#rejectedSinceMs ?? Date.now()) : undefined;
          this.#options.onState?.();
          this.#feed.doubtPlace(error);
        }
      }
      await this.#connection?.close();
      await pauseUnless(this.#stopping.signal, backoff.nextMs());
    }
  }

  async #follow(connection: Connection, succeeded: () => void): Promise<void> {
    let listening = false;
    this.#feed.compareSoon();
    while (!this.#stopping.signal.aborted) {
      const startedMs = performance.now();
      const isCaughtUp = await this.#feed.catchUp(connection);
      if (isCaughtUp) {
        succeeded();
        this.#fault = undefined;
        this.#isCurrent = true;
        this.#caughtUpAtMs = Date.now();
        await this.#feed.compareIfDue(connection, this.#caughtUpAtMs);
        await this.#loader.retryWithoutRoom(connection);
        await this.#options.edgeSets?.follow(connection);
        this.#keepSnapshot();
      }
      this.#options.onState?.();
      if (!listening && !this.#feed.standby) {
        await connection.query(`listen ${CHANGES_CHANNEL}`); // fails on a standby
        listening = true;
        continue; // reads changes announced before `listen`
      }
      const pollMs = isCaughtUp && !this.#feed.standby ? PRIMARY_POLL_MS : STANDBY_POLL_MS;
      await this.#wakeup.wait(pollMs);
      await pauseUnless(this.#stopping.signal, startedMs + SPACING_MS - performance.now());
    }
  }

  #keepSnapshot(): void {
    const { snapshot, writer } = this.#options;
    writer.reclaim();
    const { place } = this.#feed;
    if (snapshot === undefined || place === undefined) return;
    snapshot.reach(place);
    snapshot.writeIfDue(writer, place);
  }
}

function explain(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  // If several addresses all fail, Node's error has no message of its own.
  return message || String(code ?? error);
}

/** Throws `SchemaError` if the schema is older than this program's. Returns false if the server does not answer. */
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
