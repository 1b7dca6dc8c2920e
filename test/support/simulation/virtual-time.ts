// Virtual time: durations, and events in the order of their times, with simultaneous ones in any order.

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface Span {
  readonly from: number;
  readonly to: number;
}

export function isWithin(spans: readonly Span[], at: number): boolean {
  return spans.some(({ from, to }) => at >= from && at < to);
}

export function overlaps(spans: readonly Span[], from: number, to: number): boolean {
  return spans.some((span) => span.from <= to && span.to >= from);
}

interface Entry {
  readonly at: number;
  readonly item: () => void;
}

export class EventQueue {
  readonly #heap: Entry[] = [];

  get next(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  add(at: number, item: () => void): void {
    const heap = this.#heap;
    const entry = { at, item };
    let i = heap.push(entry) - 1;
    for (let up = (i - 1) >> 1; i > 0 && this.#at(up) > at; up = (i - 1) >> 1) {
      heap[i] = heap[up] as Entry;
      i = up;
    }
    heap[i] = entry;
  }

  take(): Entry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let i = 0;
    for (;;) {
      const left = 2 * i + 1;
      const down = this.#at(left + 1) < this.#at(left) ? left + 1 : left;
      if (down >= heap.length || this.#at(down) >= last.at) break;
      heap[i] = heap[down] as Entry;
      i = down;
    }
    heap[i] = last;
    return top;
  }

  #at(index: number): number {
    return this.#heap[index]?.at ?? Number.POSITIVE_INFINITY;
  }
}
