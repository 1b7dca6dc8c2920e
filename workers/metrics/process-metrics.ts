// The metrics that workers processes and observers share.

import { Counter, Gauge, type Registry } from 'prom-client';

/** Returns a function that adds gauges whose values are read at each scrape. */
export function gaugesOf(registry: Registry): (name: string, help: string, read: () => number) => void {
  return (name, help, read) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
}

/** Adds the packets of the resolver. `packets` returns the totals since the start, by kind. */
export function addPackets(registry: Registry, packets: () => Readonly<Record<string, number>>): void {
  new Counter({
    name: 'zonefleet_resolver_packets_total',
    help: 'Packets of the resolver, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [kind, count] of Object.entries(packets())) this.inc({ kind }, count);
    },
  });
}
