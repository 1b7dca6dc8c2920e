// Streams the configuration of one edge: everything, unless the edge has a cursor, then each change. Lines are
// produced as the edge reads them, so a slow edge costs no memory here. If it falls behind the ring, it reads the
// newest versions from PostgreSQL.
//
//     no cursor, or cursor of another history ──▶ begin, every domain by name, end ─┐
//     cursor within a snapshot ─────────────────▶ the remaining names, end ─────────┤
//     cursor after a snapshot ──────────────────▶ changes since then ◀──────────────┘ ◀─┐
//                                                      └──▶ the ring ──▶ too slow ──────┘

import { pauseUnless } from '../../process/reconnect.ts';
import {
  type EdgeCursor,
  encodeEdgeCursor,
  type FeedPlace,
  type SeenName,
} from '../../store/edges/edge-cursor.ts';
import type { EdgeFeedPage, EdgeLine } from '../../store/edges/read-edge-lines.ts';
import type { EdgeFeed } from './edge-feed.ts';

interface StreamOptions {
  readonly region: string;
  readonly cursor: EdgeCursor | undefined;
  /** Aborted if the edge disconnects, its token becomes invalid, or this process stops. */
  readonly ended: AbortSignal;
  readonly heartbeatMs?: number;
}

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1000;
const PIECE_CHARACTERS = 32_768;

/** Yields pieces of whole lines until `ended`. Throws only before the first piece. */
export async function* streamConfigs(feed: EdgeFeed, options: StreamOptions): AsyncGenerator<string> {
  const stream = new ConfigStream(feed, options);
  for await (const piece of stream.pieces()) {
    stream.note();
    yield piece;
    if (options.ended.aborted) return;
  }
}

type Pieces<T = void> = AsyncGenerator<string, T>;

class ConfigStream {
  readonly #feed: EdgeFeed;
  readonly #region: string;
  readonly #ended: AbortSignal;
  readonly #heartbeatMs: number;
  #place: FeedPlace | undefined;
  /** The last name that was sent of an unfinished snapshot. */
  #after: string | undefined;
  #sentAtMs: number | undefined;
  /** Value of the feed's counter at a time when the place was already known. */
  #mark: number;

  constructor(feed: EdgeFeed, { region, cursor, ended, heartbeatMs = HEARTBEAT_MS }: StreamOptions) {
    this.#feed = feed;
    this.#region = region;
    this.#ended = ended;
    this.#heartbeatMs = heartbeatMs;
    this.#mark = feed.mark();
    if (cursor?.region !== region) return; // an edge of another region has other domains
    this.#place = cursor.place;
    this.#after = cursor.after;
  }

  /** Records that a piece is being sent. */
  note(): void {
    this.#sentAtMs = performance.now();
  }

  async *pieces(): Pieces {
    if (this.#after !== undefined) yield* this.#judgePlace();
    while (!this.#ended.aborted) {
      // Later changes are added to the ring. Earlier ones are found in PostgreSQL.
      const isFollowed = this.#feed.place !== undefined;
      const { next, history } = this.#feed.position;
      yield* this.#catchUp();
      if (isFollowed) yield* this.#follow(next, history);
      else if (this.#feed.place === undefined)
        yield* this.#rest(() => this.#feed.changed(RETRY_MS, this.#ended));
    }
  }

  /** Before a snapshot continues, checks that it belongs to the same history. */
  async *#judgePlace(): Pieces {
    const page = yield* this.#read(() => this.#feed.readChanges(this.#place));
    if (page?.kind === 'another-epoch' || page?.kind === 'expired') this.#forget();
  }

  #forget(): void {
    this.#place = undefined;
    this.#after = undefined;
  }

  async *#catchUp(): Pieces {
    let from: FeedPlace | undefined;
    let seen: SeenName | undefined;
    let end: FeedPlace | undefined;
    while (!this.#ended.aborted) {
      if (this.#after !== undefined) yield* this.#sendNames();
      if (seen === undefined) from = this.#place;
      const page: EdgeFeedPage | undefined = yield* this.#read(() => this.#feed.readChanges(from, seen));
      if (page === undefined) return;
      if (page.kind === 'behind' || page.kind === 'incomplete') {
        yield* this.#rest(() => pauseUnless(this.#ended, RETRY_MS));
      } else if (page.kind === 'another-epoch' || page.kind === 'expired') {
        this.#forget();
        seen = undefined;
        end = undefined;
      } else if (page.kind === 'start') {
        this.#place = page.place;
        this.#after = '';
        this.#mark = this.#feed.mark();
        yield lineOf({ cursor: this.#cursor(), snapshot: 'begin' });
      } else {
        if (this.#sentAtMs === undefined) yield this.#heartbeat(); // confirms immediately that the cursor is valid
        end ??= page.place;
        yield* this.#send(page.lines, page.more ? (from as FeedPlace) : end);
        seen = page.last;
        if (page.more) continue;
        this.#place = end;
        return;
      }
    }
  }

  async *#sendNames(): Pieces {
    while (this.#after !== undefined) {
      const after: string = this.#after;
      const page = yield* this.#read(() => this.#feed.readNames(after, this.#mark));
      if (page === undefined) return;
      const place = this.#place as FeedPlace;
      yield* inPieces(
        page.lines.flatMap((line) => {
          const config = this.#configOf(line);
          if (config === undefined) return [];
          const cursor = encodeEdgeCursor({ region: this.#region, place, after: line.name });
          return [domainLine(line, cursor, config)];
        }),
      );
      this.#after = page.last;
    }
    yield lineOf({ cursor: this.#cursor(), snapshot: 'end' });
  }

  async *#follow(next: number, history: number): Pieces {
    for (let number = next; !this.#ended.aborted; ) {
      if (this.#feed.position.history !== history) return;
      const batch = this.#feed.batch(number);
      if (batch === 'lost') return;
      if (batch === undefined) {
        this.#place = this.#feed.place ?? this.#place;
        yield* this.#rest(() => this.#feed.changed(this.#leftMs(), this.#ended));
        continue;
      }
      yield* this.#send(batch.lines, batch.place);
      this.#place = batch.place;
      number++;
    }
  }

  /** Until the last line is sent, the cursor of the lines is the previous one. */
  *#send(lines: readonly EdgeLine[], end: FeedPlace): Generator<string> {
    const before = this.#cursor();
    const last = encodeEdgeCursor({ region: this.#region, place: end, after: undefined });
    yield* inPieces(
      lines.map((line, i) =>
        domainLine(line, i === lines.length - 1 ? last : before, this.#configOf(line) ?? 'null'),
      ),
    );
  }

  #configOf({ config, regions }: EdgeLine): string | undefined {
    return regions === null || regions.includes(this.#region) ? config : undefined;
  }

  #cursor(): string {
    const place = this.#place as FeedPlace;
    return encodeEdgeCursor({ region: this.#region, place, after: this.#after });
  }

  #heartbeat(): string {
    return lineOf({ cursor: this.#cursor() });
  }

  #leftMs(): number {
    if (this.#sentAtMs === undefined) return this.#heartbeatMs;
    return Math.max(0, this.#sentAtMs + this.#heartbeatMs - performance.now());
  }

  async *#rest(pause: () => Promise<void>): Pieces {
    await pause();
    if (this.#sentAtMs !== undefined && this.#place !== undefined && this.#leftMs() === 0)
      yield this.#heartbeat();
  }

  /** After the response has begun, an outage only delays it. Returns undefined if the stream has ended. */
  async *#read<T>(read: () => Promise<T>): Pieces<T | undefined> {
    while (!this.#ended.aborted) {
      try {
        return await read();
      } catch (error) {
        if (this.#sentAtMs === undefined) throw error;
        this.#feed.noteTrouble(error);
      }
      yield* this.#rest(() => pauseUnless(this.#ended, RETRY_MS));
    }
    return undefined;
  }
}

function lineOf(members: object): string {
  return `${JSON.stringify(members)}\n`;
}

function domainLine({ name, version }: EdgeLine, cursor: string, config: string): string {
  const domain = JSON.stringify(name.endsWith('.') ? name.slice(0, -1) : name);
  return `{"cursor":"${cursor}","domain":${domain},"version":${version},"config":${config}}\n`;
}

function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = '';
  for (const line of lines) {
    piece += line;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
