// The metrics that a workers process and an observer both have.

import { Counter, Gauge, type Registry } from 'prom-client';

/** Adds gauges whose values are read at each scrape; the resident memory is one from the start. */
export function gaugesOf(registry: Registry): (name: string, help: string, read: () => number) => void {
  const gauge = (name: string, help: string, read: () => number) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  return gauge;
}

/** Adds the packets of the resolver; `packets` gives the totals since the start, by kind. */
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
