// Streams the events of a domain: first those missed since the client's cursor, then new ones. A stream holds only a
// position in the ring of the domain. While the database is unavailable, the stream stays open with heartbeats, and
// continues afterwards.

import { pauseUnless } from '../../process/reconnect.ts';
import { decodeEventCursor, type EventCursor, furtherOf, isBeyond } from '../../store/feed/domain-events.ts';
import { type DomainEvent, eventsOf, isNews, type NodesState } from './domain-watch.ts';
import type { EventFeed } from './event-feed.ts';
import type { Follower } from './followers.ts';

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1000;
/** A comment line (HTML "Server-sent events"), which clients ignore. */
const HEARTBEAT = ': heartbeat\n\n';

/** Formats each item as whole frames. */
export interface EventPrinter {
  open(cursor: EventCursor): string;
  event(event: DomainEvent): string;
  nodes(state: NodesState): string;
  progress(progress: object): string;
}

interface StreamOptions {
  /** The client's cursor as text. Undefined if the client has missed nothing so far. */
  readonly after: string | undefined;
  /** Aborted if the client disconnects, or this process stops. */
  readonly gone: AbortSignal;
  readonly printer: EventPrinter;
  /** True if the stream ends after the missed events. */
  readonly once: boolean;
  readonly heartbeatMs?: number;
}

/** Yields pieces of whole frames. */
export async function* streamEvents(
  feed: Pick<EventFeed, 'readHead' | 'readBehind' | 'mayTell'>,
  follower: Follower,
  { after, gone, printer, once, heartbeatMs = HEARTBEAT_MS }: StreamOptions,
): AsyncGenerator<string> {
  const { watch } = follower;
  const ended = AbortSignal.any([gone, follower.ended]);
  let sentAtMs = performance.now();
  async function* send(piece: string): AsyncGenerator<string> {
    follower.unreadSinceMs = performance.now();
    yield piece;
    follower.unreadSinceMs = undefined;
    sentAtMs = performance.now();
  }
  try {
    let next = watch.next;
    const head = await feed.readHead(watch);
    if (head === undefined) return;
    let cursor: EventCursor = head;
    const known = after === undefined ? head : decodeEventCursor(after);
    const missed: readonly DomainEvent[] =
      known === undefined || isBeyond(known, head)
        ? [{ kind: 'reset', cursor: head }]
        : eventsOf(await feed.readBehind(watch, known, head), known, head);
    const start =
      missed.length === 0 ? printer.open(head) : missed.map((event) => printer.event(event)).join('');
    yield* send(start);
    if (once) return;
    let nodesNumber = -1;
    let { progressNumber } = watch;
    while (!ended.aborted) {
      const hasNews =
        next !== watch.next || nodesNumber !== watch.nodesNumber || progressNumber !== watch.progressNumber;
      const mayTell = hasNews && (await feed.mayTell(follower));
      if (mayTell) {
        const events = watch.from(next);
        next = watch.next;
        const lost = watch.cursor ?? cursor;
        const news: readonly DomainEvent[] = events === 'lost' ? [{ kind: 'reset', cursor: lost }] : events;
        let piece = '';
        for (const event of news) {
          if (!isNews(event, cursor)) continue;
          // The events of one read are sorted by kind, so the cursor may already be further for another kind.
          cursor = event.kind === 'reset' ? event.cursor : furtherOf(cursor, event.cursor);
          piece += printer.event({ ...event, cursor });
        }
        if (progressNumber !== watch.progressNumber && watch.progress !== undefined)
          piece += printer.progress(watch.progress);
        if (nodesNumber !== watch.nodesNumber && watch.nodes !== undefined)
          piece += printer.nodes(watch.nodes);
        nodesNumber = watch.nodesNumber;
        progressNumber = watch.progressNumber;
        if (piece !== '') yield* send(piece);
        continue;
      }
      const leftMs = Math.max(0, sentAtMs + heartbeatMs - performance.now());
      if (hasNews) await pauseUnless(ended, Math.min(leftMs, RETRY_MS));
      else await watch.waiting.wait(leftMs, ended);
      if (!ended.aborted && performance.now() - sentAtMs >= heartbeatMs) yield* send(HEARTBEAT);
    }
  } finally {
    follower.leave();
  }
}
