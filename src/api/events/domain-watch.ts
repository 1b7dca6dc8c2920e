// State shared by the streams of one domain: a short ring of past events, and the newest state of operations in
// progress. A stream has no queue of its own. If it is too slow for the ring, it receives an event that it has missed
// others.

import type { SavedRun } from '../../store/checks/check-runs.ts';
import type { DomainEvents, ToldChange, ToldVerification } from '../../store/feed/domain-events.ts';
import { type EventCursor, isCheckBehind } from '../../store/feed/domain-events.ts';
import type { InSync } from '../../store/feed/in-sync.ts';
import { Waiting } from '../edge/waiting.ts';

export type DomainEvent =
  | { readonly kind: 'change'; readonly change: ToldChange; readonly cursor: EventCursor }
  | { readonly kind: 'check'; readonly run: SavedRun; readonly cursor: EventCursor }
  | { readonly kind: 'verification'; readonly run: ToldVerification; readonly cursor: EventCursor }
  /** Events were missed: the client must read everything again. */
  | { readonly kind: 'reset'; readonly cursor: EventCursor };

/** `ms` is the time from the change to this state, undefined if it was already so at the first query. */
export interface NodesState extends InSync {
  readonly changeId: number;
  readonly ms: number | undefined;
}

const RING_EVENTS = 16;

/** Returns the events in the order of sending: first the results of checks, then the changes they caused. */
export function eventsOf(events: DomainEvents, cursor: EventCursor, head: EventCursor): DomainEvent[] {
  if (events.isCut) return [{ kind: 'reset', cursor: head }];
  let at = cursor;
  const sent: DomainEvent[] = [];
  for (const run of events.verifications) {
    at = { ...at, verification: run.id };
    sent.push({ kind: 'verification', run, cursor: at });
  }
  for (const run of events.checks) {
    at = { ...at, check: run.id, repeated: run.repeated };
    sent.push({ kind: 'check', run, cursor: at });
  }
  for (const change of events.changes) {
    at = { ...at, change: change.id };
    sent.push({ kind: 'change', change, cursor: at });
  }
  return sent;
}

/** Returns true if a stream at `cursor` has not sent the event yet. */
export function isNews(event: DomainEvent, cursor: EventCursor): boolean {
  switch (event.kind) {
    case 'change':
      return event.cursor.change > cursor.change;
    case 'check':
      return isCheckBehind(cursor, event.cursor);
    case 'verification':
      return event.cursor.verification > cursor.verification;
    case 'reset':
      return true;
    default:
      return event satisfies never;
  }
}

export class DomainWatch {
  readonly domainId: number;
  readonly waiting = new Waiting();
  /** The cursor up to which the ring is filled. Undefined before the first read. */
  cursor: EventCursor | undefined;
  #ring: DomainEvent[] = [];
  #next = 0;
  #nodes: NodesState | undefined;
  #progress: object | undefined;
  /** Incremented with each new state. */
  nodesNumber = 0;
  progressNumber = 0;

  constructor(domainId: number) {
    this.domainId = domainId;
  }

  /** Number of the next event. */
  get next(): number {
    return this.#next;
  }

  get nodes(): NodesState | undefined {
    return this.#nodes;
  }

  get progress(): object | undefined {
    return this.#progress;
  }

  push(events: readonly DomainEvent[]): void {
    if (events.length === 0) return;
    this.#ring = [...this.#ring, ...events].slice(-RING_EVENTS);
    this.#next += events.length;
    this.waiting.tell();
  }

  /** Returns the events from this number on, or `lost` if some of them are no longer in the ring. */
  from(number: number): readonly DomainEvent[] | 'lost' {
    const missing = this.#next - number;
    return missing > this.#ring.length ? 'lost' : this.#ring.slice(this.#ring.length - missing);
  }

  noteNodes(state: NodesState): void {
    this.#nodes = state;
    this.nodesNumber++;
    this.waiting.tell();
  }

  noteProgress(progress: object): void {
    this.#progress = progress;
    this.progressNumber++;
    this.waiting.tell();
  }
}
