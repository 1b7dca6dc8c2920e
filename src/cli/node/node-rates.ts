// What nodes do a second, out of the totals that two looks show.

import type { ListedNode } from '../../store/feed/nodes.ts';

interface Rates {
  readonly answered: number;
  readonly dropped: number;
}

export type RatesByName = ReadonlyMap<string, Rates>;

/** A second, between two looks. Left out: nodes that are new, were started anew, or did not report in between. */
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
