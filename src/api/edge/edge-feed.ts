// Follows the feed of edge config, once for all streams of this process: each change is read and printed as JSON once, and kept in a
// bounded ring that all streams read. A new stream, or one that is too slow for the ring, reads from Postgres, which has the newest
// version of each domain. Without streams nothing is read.

import { type Backoff, createBackoff, type Log } from '../../process/reconnect.ts';
import type { FeedPlace, SeenName } from '../../store/edges/edge-cursor.ts';
import { loadLiveTokens } from '../../store/edges/edges.ts';
import { type EdgeFeedPage, type EdgeLine, EdgeLines } from '../../store/edges/read-edge-lines.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type Listening, listenChanges } from '../../store/postgres/listen-changes.ts';
import { Gate, Waiting } from './waiting.ts';

/** What was read at once. `place`: where a stream stands that has told it. */
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

/** Changes are announced; one whose announcement was lost is found after this time. */
const POLL_MS = 1000;
/** Tokens that were revoked end their streams after this time at the latest. */
const TOKENS_MS = 400;
const RING_BYTES = 16 * 1024 * 1024;
const RING_BATCHES = 1000;
/** Streams of one edge in this process: it needs one, and another while the one before has not ended. */
const STREAMS_OF_AN_EDGE = 4;
const TROUBLE_MS = 60_000;
/** Pages that streams read at a time, each on a connection of the pool. */
const READS_AT_ONCE = 3;

interface FeedOptions {
  readonly db: Database;
  /** Undefined: changes are found by the timer alone. */
  readonly databaseUrl?: string | undefined;
  readonly log: Log;
}

export class EdgeFeed {
  readonly #options: FeedOptions;
  readonly #lines: EdgeLines;
  readonly #followers = new Set<Follower>();
  readonly #reads = new Gate(READS_AT_ONCE);
  #ring: EdgeBatch[] = [];
  #ringBytes = 0;
  #next = 0;
  #place: FeedPlace | undefined;
  /** Grows when the history of the database is another: what streams have told may be wrong. */
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

  /** How many streams there are. */
  get streams(): number {
    return this.#followers.size;
  }

  /** Aborted when the edge's token counts no more, when it has too many newer streams, and when this process stops. */
  join(edge: FollowingEdge): { readonly ended: AbortSignal; leave(): void } {
    const follower: Follower = { ...edge, ended: new AbortController() };
    const own = [...this.#followers].filter(({ id }) => id === edge.id);
    for (const oldest of own.slice(0, Math.max(0, own.length - STREAMS_OF_AN_EDGE + 1))) this.#end(oldest);
    this.#followers.add(follower);
    if (this.#isClosed) this.#end(follower);
    else this.#start();
    return { ended: follower.ended.signal, leave: () => this.#followers.delete(follower) };
  }

  /** Where the ring is now. Whoever reads from Postgres after this has missed nothing when it goes on from here. */
  get position(): { readonly next: number; readonly history: number } {
    return { next: this.#next, history: this.#history };
  }

  /** Where a stream stands that has told every batch. Undefined: changes do not get into the ring yet. */
  get place(): FeedPlace | undefined {
    return this.#place;
  }

  /** Undefined: it has not come yet. `lost`: it is no longer in the ring. */
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

  /** `since`: the mark that was taken when the place of the stream was known. */
  async readNames(after: string, since: number): ReturnType<EdgeLines['readNames']> {
    return await this.#reads.run(() => this.#lines.readNames(after, since));
  }

  /** Until something may have changed here, or the time is over. */
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
      if (this.#followers.size > 0) this.#start(); // one came while the last one left
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
      judging ??= this.#judgeTokens().finally(() => {
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
    // Nobody knows what changes from now on.
    this.#place = undefined;
    this.#ring = [];
    this.#ringBytes = 0;
    this.#next++;
  }

  /** Streams wait until Postgres can be read again. Told once in a while, however many meet it. */
  noteTrouble(error: unknown): void {
    if (performance.now() - this.#troubleAtMs < TROUBLE_MS) return;
    this.#troubleAtMs = performance.now();
    this.#options.log.warn({ err: error }, 'the feed of edges cannot be read: edges keep what they have');
  }

  /** Reads all that is new. If it fails midway, all of it is read again. */
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
      // The first of several reads has the place at which all of them end.
      end ??= read.place;
      if (read.lines.length > 0) this.#publish(read.lines, read.more && from !== undefined ? from : end);
      if (!read.more) break;
      after = read.last;
    }
    this.#place = end;
    this.#tell();
  }

  #publish(lines: readonly EdgeLine[], place: FeedPlace): void {
    const bytes = lines.reduce((sum, { config = '' }) => sum + config.length + 200, 0);
    this.#ring.push({ number: this.#next++, lines, place, bytes });
    this.#ringBytes += bytes;
    while (this.#ring.length > 1 && (this.#ringBytes > RING_BYTES || this.#ring.length > RING_BATCHES)) {
      this.#ringBytes -= (this.#ring.shift() as EdgeBatch).bytes;
    }
    this.#tell();
  }

  #tell(): void {
    this.#waiting.tell();
  }

  /** While Postgres is away, tokens count as they did. */
  async #judgeTokens(): Promise<void> {
    const held = [...this.#followers];
    const live = await loadLiveTokens(this.#options.db, [...new Set(held.map(({ id }) => id))]).catch(
      () => undefined,
    );
    if (live === undefined) return;
    for (const follower of held) {
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
