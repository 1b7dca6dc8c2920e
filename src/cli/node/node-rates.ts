// Rates of nodes, from the totals of two reports.

import type { ListedNode } from '../../store/feed/nodes.ts';

interface Rates {
  readonly answered: number;
  readonly dropped: number;
}

export type RatesByName = ReadonlyMap<string, Rates>;

/** Returns rates per second. Nodes that started or did not report between the two reports are omitted. */
export function ratesOf(before: readonly ListedNode[], after: readonly ListedNode[]): RatesByName {
  const earlier = new Map(before.map((node) => [node.name, node]));
  const rates = new Map<string, Rates>();
  for (const { name, startedAt, seenAt, traffic } of after) {
    const last = earlier.get(name);
    if (!last?.traffic || !traffic || last.startedAt.getTime() !== startedAt.getTime()) continue;
    const seconds = (seenAt.getTime() - last.seenAt.getTime()) / 1000;
    const [answered, dropped] = [
      traffic.answered - last.traffic.answered,
      traffic.dropped - last.traffic.dropped,
    ];
    if (seconds > 0 && answered >= 0 && dropped >= 0)
      rates.set(name, { answered: answered / seconds, dropped: dropped / seconds });
  }
  return rates;
}
