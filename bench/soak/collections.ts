// Parses the output of `node --trace-gc`: the collections of each V8 heap (one per thread), their kinds and durations.
//   [4711:0x7f2c40000d50]    12345 ms: Scavenge 20.1 (25.3) -> 18.9 (26.1) MB, 1.2 / 0.0 ms …

export interface Collections {
  /** In the order of their first collection. */
  readonly name: string;
  readonly minor: number;
  readonly major: number;
  readonly longestMs: number;
}

const LINE =
  /^\[\d+:(0x[0-9a-f]+)\]\s+(\d+) ms: (?:\(\w+\) )?(Scavenge|Minor|Mark-Compact|Mark-sweep)[^,]*, ([\d.]+)/gm;

/** Ignores collections earlier than `sinceMs` after the start of their heap. */
export function readCollections(text: string, sinceMs: number): Collections[] {
  const heaps = new Map<string, { minor: number; major: number; longestMs: number }>();
  const names = new Map<string, string>();
  for (const [, heap, atMs, kind, pauseMs] of text.matchAll(LINE) as IterableIterator<string[]>) {
    if (heap === undefined) continue;
    if (!names.has(heap)) names.set(heap, `heap ${names.size + 1}`);
    if (Number(atMs) < sinceMs) continue;
    const sums = heaps.get(heap) ?? { minor: 0, major: 0, longestMs: 0 };
    if (kind?.startsWith('Mark')) sums.major++;
    else sums.minor++;
    sums.longestMs = Math.max(sums.longestMs, Number(pauseMs));
    heaps.set(heap, sums);
  }
  return [...heaps].map(([heap, sums]) => ({ name: names.get(heap) ?? heap, ...sums }));
}
