// Adds metrics whose values are read at each scrape.

import { Counter, Gauge, type Registry } from 'prom-client';

/** A number with the values of its labels. */
export type LabelledCount = Readonly<Record<string, string | number>> & { readonly count: number };

interface Description {
  readonly name: string;
  readonly help: string;
}

/** The metric is a counter if its name ends in `_total`, else a gauge. It has no values while `read` returns undefined. */
export function addLabelled(
  registry: Registry,
  { name, help }: Description,
  labelNames: string[],
  read: () => readonly LabelledCount[] | undefined,
): void {
  const Metric: typeof Counter | typeof Gauge = name.endsWith('_total') ? Counter : Gauge;
  new Metric({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      const values = read();
      if (values === undefined && labelNames.length === 0) this.remove(); // `reset` has set it to 0
      for (const { count, ...labels } of values ?? []) this.inc(labels, count);
    },
  });
}

/** Adds a metric with one label, whose values are the keys of what `read` returns. */
export function addCounts(
  registry: Registry,
  description: Description,
  label: string,
  read: () => Readonly<Record<string, number>> | undefined,
): void {
  addLabelled(registry, description, [label], () =>
    Object.entries(read() ?? {}).map(([value, count]) => ({ [label]: value, count })),
  );
}

/** Adds a metric without labels. */
export function addNumber(
  registry: Registry,
  description: Description,
  read: () => number | undefined,
): void {
  addLabelled(registry, description, [], () => {
    const count = read();
    return count === undefined ? undefined : [{ count }];
  });
}
