// Follows the feed of edge configurations, once for all streams of this process. Each change is read and converted to
// JSON once, and stored in a bounded ring that all streams read. A new stream, or one that is too slow for the ring,
// reads from PostgreSQL, which has the newest version of each domain. Without streams, nothing is read.

import { type Backoff, createBackoff, type Log } from '../../process/reconnect.ts';
import type { FeedPlace, SeenName } from '../../store/edges/edge-cursor.ts';
import { loadLiveTokens } from '../../store/edges/edges.ts';
import { type EdgeFeedPage, type EdgeLine, EdgeLines } from '../../store/edges/read-edge-lines.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type Listening, listenChanges } from '../../store/postgres/listen-changes.ts';
import { Gate, Waiting } from './waiting.ts';

/** The result of one read. `place` is the place of a stream that has sent it. */
interface EdgeBatch {
  readonly number: number;
  readonly lines: readonly EdgeLine[];
  readonly place: FeedPlace;
  readonly bytes: number;
}

interface FollowingEdge {
  readonly id: number;
  readonly tokenHash: Buffer;
}

interface Follower extends FollowingEdge {
  readonly ended: AbortController;
}

/** A change whose notification was lost is found after this time. */
const POLL_MS = 1000;
/** Maximum time until the streams of a revoked token end. */
const TOKENS_MS = 400;
const RING_BYTES = 16 * 1024 * 1024;
const RING_BATCHES = 1000;
/** Streams per edge in this process. An edge needs one, and a second one while the previous one has not ended. */
const STREAMS_PER_EDGE = 4;
const TROUBLE_MS = 60_000;
/** Pages that streams read concurrently, each on a connection of the pool. */
const CONCURRENT_READS = 3;

interface FeedOptions {
  readonly db: Database;
  /** Undefined if changes are found by the timer only. */
  readonly databaseUrl?: string | undefined;
  readonly log: Log;
}

export class EdgeFeed {
  readonly #options: FeedOptions;
  readonly #lines: EdgeLines;
  readonly #followers = new Set<Follower>();
  readonly #reads = new Gate(CONCURRENT_READS);
  #ring: EdgeBatch[] = [];
  #ringBytes = 0;
  #next = 0;
  #place: FeedPlace | undefined;
  /** Incremented when the database's history is replaced: what streams have sent may then be wrong. */
  #history = 0;
  readonly #waiting = new Waiting();
  #running: Promise<void> | undefined;
  #wake: () => void = () => {};
  #isWoken = false;
  #listening: Listening | undefined;
  #tokensTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #troubleAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#lines = new EdgeLines(options.db);
  }

  /** Number of streams. */
  get streams(): number {
    return this.#followers.size;
  }

  /** `ended` is aborted if the token becomes invalid, if the edge has too many newer streams, and at the end. */
  join(edge: FollowingEdge): { readonly ended: AbortSignal; leave(): void } {
    const follower: Follower = { ...edge, ended: new AbortController() };
    const own = [...this.#followers].filter(({ id }) => id === edge.id);
    for (const oldest of own.slice(0, Math.max(0, own.length - STREAMS_PER_EDGE + 1))) this.#end(oldest);
    this.#followers.add(follower);
    if (this.#isClosed) this.#end(follower);
    else this.#start();
    return { ended: follower.ended.signal, leave: () => this.#followers.delete(follower) };
  }

  /** Current position of the ring. A stream that then reads from PostgreSQL and continues here misses nothing. */
  get position(): { readonly next: number; readonly history: number } {
    return { next: this.#next, history: this.#history };
  }

  /** Place of a stream that has sent every batch. Undefined if changes are not yet added to the ring. */
  get place(): FeedPlace | undefined {
    return this.#place;
  }

  /** Returns undefined if the batch does not exist yet, and `lost` if it is no longer in the ring. */
  batch(number: number): EdgeBatch | 'lost' | undefined {
    if (number >= this.#next) return undefined;
    const [oldest] = this.#ring;
    return (oldest === undefined ? undefined : this.#ring[number - oldest.number]) ?? 'lost';
  }

  async readChanges(place: FeedPlace | undefined, after?: SeenName): Promise<EdgeFeedPage> {
    return await this.#reads.run(() => this.#lines.readChanges(place, after));
  }

  mark(): number {
    return this.#lines.mark();
  }

  /** `since` is the mark that was taken when the place of the stream was known. */
  async readNames(after: string, since: number): ReturnType<EdgeLines['readNames']> {
    return await this.#reads.run(() => this.#lines.readNames(after, since));
  }

  /** Waits until something may have changed here, or until the time is over. */
  async changed(timeoutMs: number, signal: AbortSignal): Promise<void> {
    await this.#waiting.wait(timeoutMs, signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const follower of [...this.#followers]) this.#end(follower);
    this.#wakeUp();
    await this.#running;
  }

  #end(follower: Follower): void {
    this.#followers.delete(follower);
    follower.ended.abort();
  }

  #start(): void {
    if (this.#running !== undefined) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#followers.size > 0) this.#start(); // a stream joined while the last one left
    });
  }

  async #run(): Promise<void> {
    const { databaseUrl } = this.#options;
    if (databaseUrl !== undefined) {
      const onChange = () => this.#wakeUp();
      this.#listening = listenChanges(databaseUrl, { applicationName: 'zonefleet edges', onChange });
    }
    let judging: Promise<void> | undefined;
    this.#tokensTimer = setInterval(() => {
      judging ??= this.#checkTokens().finally(() => {
        judging = undefined;
      });
    }, TOKENS_MS);
    const backoff = createBackoff();
    while (this.#followers.size > 0) {
      const trouble = await this.#follow(backoff).catch((error: unknown) => ({ error }));
      if (trouble !== undefined) this.noteTrouble(trouble.error);
      await this.#pause(trouble === undefined ? POLL_MS : backoff.nextMs());
    }
    clearInterval(this.#tokensTimer);
    await judging;
    await this.#listening?.stop();
    // Nobody follows changes from now on.
    this.#place = undefined;
    this.#ring = [];
    this.#ringBytes = 0;
    this.#next++;
  }

  /** Logs at most once per minute that streams wait until PostgreSQL can be read again. */
  noteTrouble(error: unknown): void {
    if (performance.now() - this.#troubleAtMs < TROUBLE_MS) return;
    this.#troubleAtMs = performance.now();
    this.#options.log.warn(
      { err: error },
      'the feed of edges cannot be read: edges keep their current configuration',
    );
  }

  /** Reads all changes that are new. If it fails midway, they are all read again. */
  async #follow(backoff: Backoff): Promise<void> {
    const from = this.#place;
    let after: SeenName | undefined;
    let end: FeedPlace | undefined;
    for (;;) {
      const read = await this.#lines.readChanges(from, after);
      backoff.reset();
      if (read.kind === 'behind' || read.kind === 'incomplete') return;
      if (read.kind === 'another-epoch' || read.kind === 'expired') {
        this.#history++;
        this.#place = undefined;
        this.#wakeUp();
        return;
      }
      // The first of several reads returns the place at which all of them end.
      end ??= read.place;
      if (read.lines.length > 0) this.#publish(read.lines, read.more && from !== undefined ? from : end);
      if (!read.more) break;
      after = read.last;
    }
    this.#place = end;
    this.#notify();
  }

  #publish(lines: readonly EdgeLine[], place: FeedPlace): void {
    const bytes = lines.reduce((sum, { config = '' }) => sum + config.length + 200, 0);
    this.#ring.push({ number: this.#next++, lines, place, bytes });
    this.#ringBytes += bytes;
    while (this.#ring.length > 1 && (this.#ringBytes > RING_BYTES || this.#ring.length > RING_BATCHES)) {
      this.#ringBytes -= (this.#ring.shift() as EdgeBatch).bytes;
    }
    this.#notify();
  }

  #notify(): void {
    this.#waiting.tell();
  }

  /** While PostgreSQL is unavailable, tokens stay valid. */
  async #checkTokens(): Promise<void> {
    const followers = [...this.#followers];
    const live = await loadLiveTokens(this.#options.db, [...new Set(followers.map(({ id }) => id))]).catch(
      () => undefined,
    );
    if (live === undefined) return;
    for (const follower of followers) {
      if (live.get(follower.id)?.equals(follower.tokenHash) !== true) this.#end(follower);
    }
    if (this.#followers.size === 0) this.#wakeUp();
  }

  #wakeUp(): void {
    this.#isWoken = true;
    this.#wake();
  }

  async #pause(ms: number): Promise<void> {
    if (!this.#isWoken && this.#followers.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#isWoken = false;
  }
}
