// State shared by the streams of one domain: a short ring of past events, and the newest state of what is in progress. A stream has
// no queue of its own; one that is too slow for the ring is notified that it has missed events.

import type { SavedRun } from '../../store/checks/check-runs.ts';
import type { DomainEvents, ToldChange, ToldVerification } from '../../store/feed/domain-events.ts';
import { type EventCursor, isCheckBehind } from '../../store/feed/domain-events.ts';
import type { InSync } from '../../store/feed/in-sync.ts';
import { Waiting } from '../edge/waiting.ts';

export type DomainEvent =
  | { readonly kind: 'change'; readonly change: ToldChange; readonly cursor: EventCursor }
  | { readonly kind: 'check'; readonly run: SavedRun; readonly cursor: EventCursor }
  | { readonly kind: 'verification'; readonly run: ToldVerification; readonly cursor: EventCursor }
  /** Something was missed: whoever follows reads everything again. */
  | { readonly kind: 'reset'; readonly cursor: EventCursor };

/** How many nodes have the newest change. `ms`: how long after it that was so; undefined: it was so before anybody looked. */
export interface NodesState extends InSync {
  readonly changeId: number;
  readonly ms: number | undefined;
}

const RING_EVENTS = 16;

/** In the order in which they are told: what a check has seen, then what followed from it. */
export function eventsOf(events: DomainEvents, cursor: EventCursor, head: EventCursor): DomainEvent[] {
  if (events.isCut) return [{ kind: 'reset', cursor: head }];
  let at = cursor;
  const told: DomainEvent[] = [];
  for (const run of events.verifications) {
    at = { ...at, verification: run.id };
    told.push({ kind: 'verification', run, cursor: at });
  }
  for (const run of events.checks) {
    at = { ...at, check: run.id, repeated: run.repeated };
    told.push({ kind: 'check', run, cursor: at });
  }
  for (const change of events.changes) {
    at = { ...at, change: change.id };
    told.push({ kind: 'change', change, cursor: at });
  }
  return told;
}

/** Whether somebody at `cursor` has not been told it yet. */
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
  /** Up to where the ring has been filled; undefined: nobody has looked yet. */
  cursor: EventCursor | undefined;
  #ring: DomainEvent[] = [];
  #next = 0;
  #nodes: NodesState | undefined;
  #progress: object | undefined;
  /** Grow with each new state. */
  nodesNumber = 0;
  progressNumber = 0;

  constructor(domainId: number) {
    this.domainId = domainId;
  }

  /** The number that the next event gets. */
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

  /** The events from this number on. `lost`: some of them are no longer in the ring. */
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
