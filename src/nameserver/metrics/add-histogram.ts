// Histograms computed from counters: prom-client's own costs more than an answer.

import type { Counter, Registry } from 'prom-client';

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Observations per bucket. One more bucket than bounds has those above all bounds; by default there are none. */
  readonly buckets: Float64Array;
  readonly sum: number;
}

export function addHistogram(
  registry: Registry,
  {
    name,
    help,
    bounds,
  }: { readonly name: string; readonly help: string; readonly bounds: readonly number[] },
  read: () => readonly Series[],
): void {
  const histogram = {
    name,
    help,
    aggregator: 'sum',
    type: 'histogram',
    reset() {},
    async get() {
      const values = read().flatMap(({ labels, buckets, sum }) => {
        let count = 0;
        const cumulative = [...bounds, '+Inf'].map((le, bucket) => {
          count += buckets[bucket] ?? 0;
          return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
        });
        return [
          ...cumulative,
          { metricName: `${name}_sum`, labels, value: sum },
          { metricName: `${name}_count`, labels, value: count },
        ];
      });
      return { name, help, type: this.type, aggregator: this.aggregator, values };
    },
  };
  registry.registerMetric(histogram as unknown as Counter);
}
