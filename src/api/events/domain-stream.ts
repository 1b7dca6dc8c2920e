// One stream of the events of a domain: first those missed since the caller's cursor, then new ones. It only holds a position in
// the ring of the domain. While the database is unavailable, the stream stays open with heartbeats, and continues afterwards.

import { pauseUnless } from '../../process/reconnect.ts';
import { decodeEventCursor, type EventCursor, furtherOf, isBeyond } from '../../store/feed/domain-events.ts';
import { type DomainEvent, eventsOf, isNews, type NodesState } from './domain-watch.ts';
import type { EventFeed } from './event-feed.ts';
import type { Follower } from './followers.ts';

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1000;
/** A comment (HTML "Server-sent events"): nobody is told of it. */
const HEARTBEAT = ': heartbeat\n\n';

/** How each thing is told, as whole frames. */
export interface EventPrinter {
  open(cursor: EventCursor): string;
  event(event: DomainEvent): string;
  nodes(state: NodesState): string;
  progress(progress: object): string;
}

interface StreamOptions {
  /** What the caller knows, as text; undefined: it knows everything until now. */
  readonly after: string | undefined;
  /** The caller has gone, or this process stops. */
  readonly gone: AbortSignal;
  readonly printer: EventPrinter;
  /** Ends when everything that was missed is told. */
  readonly once: boolean;
  readonly heartbeatMs?: number;
}

/** Pieces of whole frames. */
export async function* streamEvents(
  feed: Pick<EventFeed, 'readHead' | 'readBehind' | 'mayTell'>,
  follower: Follower,
  { after, gone, printer, once, heartbeatMs = HEARTBEAT_MS }: StreamOptions,
): AsyncGenerator<string> {
  const { watch } = follower;
  const ended = AbortSignal.any([gone, follower.ended]);
  let toldAtMs = performance.now();
  async function* tell(piece: string): AsyncGenerator<string> {
    follower.unreadSinceMs = performance.now();
    yield piece;
    follower.unreadSinceMs = undefined;
    toldAtMs = performance.now();
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
    yield* tell(start);
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
          // What is read at once is told by kind: of another kind the caller may be further.
          cursor = event.kind === 'reset' ? event.cursor : furtherOf(cursor, event.cursor);
          piece += printer.event({ ...event, cursor });
        }
        if (progressNumber !== watch.progressNumber && watch.progress !== undefined)
          piece += printer.progress(watch.progress);
        if (nodesNumber !== watch.nodesNumber && watch.nodes !== undefined)
          piece += printer.nodes(watch.nodes);
        nodesNumber = watch.nodesNumber;
        progressNumber = watch.progressNumber;
        if (piece !== '') yield* tell(piece);
        continue;
      }
      const leftMs = Math.max(0, toldAtMs + heartbeatMs - performance.now());
      if (hasNews) await pauseUnless(ended, Math.min(leftMs, RETRY_MS));
      else await watch.waiting.wait(leftMs, ended);
      if (!ended.aborted && performance.now() - toldAtMs >= heartbeatMs) yield* tell(HEARTBEAT);
    }
  } finally {
    follower.leave();
  }
}
