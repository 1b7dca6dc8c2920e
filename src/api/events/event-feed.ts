// Follows the events of domains, once for all streams of this process. One connection listens, one statement reads
// the newest event of every followed domain, and each event is read once. Without streams, nothing is read.

import { createBackoff, type Log } from '../../process/reconnect.ts';
import {
  type DomainEvents,
  type EventCursor,
  type EventHead,
  isBehind,
  isBeyond,
  loadEventHeads,
  loadEventsBehind,
} from '../../store/feed/domain-events.ts';
import { inSync } from '../../store/feed/in-sync.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type Listening, listenChanges } from '../../store/postgres/listen-changes.ts';
import { Gate } from '../edge/waiting.ts';
import { DomainWatch, eventsOf } from './domain-watch.ts';
import { type EventLimits, type Follower, Followers, type NewFollower } from './followers.ts';
import { SyncStates } from './sync-states.ts';

/** Changes are notified. Checks, and changes whose notification was lost, are found after this time. */
const POLL_MS = 1000;
const LEAST_PAUSE_MS = 40;
/** The pause after a read is at least this many times its duration. */
const PAUSE_FOR_EACH = 4;
const DOMAINS_PER_READ = 500;
const CONCURRENT_READS = 3;
const TICK_MS = 500;
/** A page that is reloaded within this time finds the connection still open. */
const LINGER_MS = 5000;
const TROUBLE_MS = 60_000;
/** A client that missed more events must read everything again. */
const MOST_MISSED = 50;

interface FeedOptions {
  readonly db: Database;
  /** Undefined if changes are found by the timer only. */
  readonly databaseUrl?: string | undefined;
  readonly log: Log;
  readonly limits?: Partial<EventLimits>;
}

export class EventFeed {
  readonly #options: FeedOptions;
  readonly #followers: Followers;
  readonly #watches = new Map<number, DomainWatch>();
  readonly #reads = new Gate(CONCURRENT_READS);
  readonly #sync: SyncStates;
  #running: Promise<void> | undefined;
  #ticking: NodeJS.Timeout | undefined;
  #wake: () => void = () => {};
  #isWoken = false;
  #isClosed = false;
  #troubleAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#followers = new Followers(options.limits, {
      onLeave: (watch) => this.#leave(watch),
      onTrouble: (error) => this.noteTrouble(error),
    });
    this.#sync = new SyncStates((ids) => inSync(options.db, ids));
  }

  /** Number of streams. */
  get streams(): number {
    return this.#followers.size;
  }

  /** Number of followed domains. */
  get domains(): number {
    return this.#watches.size;
  }

  /** Returns the follower, or the holder of the limit that is reached. */
  join(follower: NewFollower): Follower | 'holder' | 'account' | 'process' {
    if (this.#isClosed) return 'process';
    const watch = this.#watches.get(follower.domainId) ?? new DomainWatch(follower.domainId);
    const joined = this.#followers.join(follower, watch);
    if (typeof joined === 'string') return joined;
    this.#watches.set(watch.domainId, watch);
    this.#start();
    return joined;
  }

  /** Returns the current position of the domain. From now on, later events are added to the ring. */
  async readHead(watch: DomainWatch): Promise<EventHead | undefined> {
    const heads = await this.#reads.run(() => loadEventHeads(this.#options.db, [watch.domainId]));
    const head = heads.get(watch.domainId);
    if (head !== undefined && watch.cursor === undefined) this.#begin(watch, head);
    return head;
  }

  async readBehind(watch: DomainWatch, cursor: EventCursor, head: EventCursor): Promise<DomainEvents> {
    const bounds = { cursor, head, most: MOST_MISSED };
    return await this.#reads.run(() => loadEventsBehind(this.#options.db, watch.domainId, bounds));
  }

  /** Returns true if events may be sent to the follower now. Repeats a check of its rights that is too old. */
  mayTell(follower: Follower): Promise<boolean> {
    return this.#followers.mayTell(follower);
  }

  /** Logs at most once per minute, for any number of errors. */
  noteTrouble(error: unknown): void {
    if (performance.now() - this.#troubleAtMs < TROUBLE_MS) return;
    this.#troubleAtMs = performance.now();
    this.#options.log.warn({ err: error }, 'events of domains cannot be read: their streams wait');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#followers.endAll();
    this.#wakeUp();
    await this.#running;
  }

  #leave(watch: DomainWatch): void {
    if (this.#followers.follow(watch)) return;
    this.#watches.delete(watch.domainId);
    this.#sync.drop(watch);
    if (this.#followers.size === 0) this.#wakeUp();
  }

  #start(): void {
    if (this.#running !== undefined) {
      this.#wakeUp();
      return;
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#followers.size > 0 && !this.#isClosed) this.#start(); // a stream joined while the last one left
    });
  }

  async #run(): Promise<void> {
    const { databaseUrl } = this.#options;
    let listening: Listening | undefined;
    if (databaseUrl !== undefined) {
      listening = listenChanges(databaseUrl, {
        applicationName: 'zonefleet events',
        onChange: () => this.#wakeUp(),
        onProgress: (text) => this.#noteProgress(text),
      });
    }
    this.#ticking = setInterval(() => this.#followers.tick(), TICK_MS);
    const backoff = createBackoff();
    let leftAtMs: number | undefined;
    for (;;) {
      if (this.#isClosed) break;
      if (this.#followers.size > 0) leftAtMs = undefined;
      else leftAtMs ??= performance.now();
      const lingersMs = leftAtMs === undefined ? 0 : leftAtMs + LINGER_MS - performance.now();
      if (leftAtMs !== undefined && lingersMs <= 0) break;
      if (leftAtMs !== undefined) {
        await this.#pause(lingersMs);
        continue;
      }
      const begunMs = performance.now();
      const trouble = await this.#follow().catch((error: unknown) => ({ error }));
      if (trouble === undefined) backoff.reset();
      else this.noteTrouble(trouble.error);
      const tookMs = performance.now() - begunMs;
      await pause(Math.max(LEAST_PAUSE_MS, tookMs * PAUSE_FOR_EACH));
      await this.#pause(trouble === undefined ? POLL_MS : backoff.nextMs());
    }
    clearInterval(this.#ticking);
    await listening?.stop();
  }

  async #follow(): Promise<undefined> {
    this.#isWoken = false;
    const watches = [...this.#watches.values()];
    for (let i = 0; i < watches.length; i += DOMAINS_PER_READ) {
      const part = watches.slice(i, i + DOMAINS_PER_READ);
      const heads = await loadEventHeads(
        this.#options.db,
        part.map(({ domainId }) => domainId),
      );
      await Promise.all(part.map((watch) => this.#advance(watch, heads.get(watch.domainId))));
    }
  }

  async #advance(watch: DomainWatch, head: EventHead | undefined): Promise<void> {
    if (head === undefined) return; // the domain was deleted: the checks of its followers end their streams
    if (watch.cursor === undefined) return this.#begin(watch, head);
    const { cursor } = watch;
    if (isBeyond(cursor, head)) {
      watch.cursor = head;
      watch.push([{ kind: 'reset', cursor: head }]);
    } else if (isBehind(cursor, head)) {
      const events = await this.readBehind(watch, cursor, head);
      if (watch.cursor !== cursor) return;
      const sent = eventsOf(events, cursor, head);
      watch.cursor = sent.at(-1)?.cursor ?? head;
      watch.push(sent);
    }
    if (cursor.change !== head.change) this.#sync.track(watch, head.change, head.changeAgeMs);
  }

  #begin(watch: DomainWatch, head: EventHead): void {
    watch.cursor = head;
    if (head.change > 0 && this.#watches.get(watch.domainId) === watch)
      this.#sync.track(watch, head.change, head.changeAgeMs);
  }

  #noteProgress(text: string): void {
    try {
      const { domain_id: id, ...progress } = JSON.parse(text) as { readonly domain_id: number };
      this.#watches.get(id)?.noteProgress(progress);
    } catch {
      // not a notification of this project
    }
  }

  #wakeUp(): void {
    this.#isWoken = true;
    this.#wake();
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isWoken || this.#isClosed) {
      this.#isWoken = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#isWoken = false;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
