// What happens to one simulated name, in the order of virtual time.

interface Event {
  readonly at: number;
  readonly run: () => void;
}

export class EventQueue {
  private readonly heap: Event[] = [];

  get next(): number {
    return this.heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  add(at: number, run: () => void): void {
    const { heap } = this;
    const event = { at, run };
    let i = heap.push(event) - 1;
    for (let up = (i - 1) >> 1; i > 0 && (heap[up] as Event).at > at; up = (i - 1) >> 1) {
      heap[i] = heap[up] as Event;
      i = up;
    }
    heap[i] = event;
  }

  take(): Event | undefined {
    const { heap } = this;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let i = 0;
    for (;;) {
      let down = 2 * i + 1;
      if (down + 1 < heap.length && (heap[down + 1] as Event).at < (heap[down] as Event).at) down++;
      if (down >= heap.length || (heap[down] as Event).at >= last.at) break;
      heap[i] = heap[down] as Event;
      i = down;
    }
    heap[i] = last;
    return top;
  }
}
