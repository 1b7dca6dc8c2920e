// Answer times at half load: each server runs at half of its previous maximum, and every answer is timed.

import type { Part } from '../part.ts';
import { count, fixed, table } from '../report/table.ts';
import { interleave, measure, mediansOf } from '../rounds.ts';
import { say } from '../say.ts';
import { type Contestant, startServers, stopServers } from '../servers/all.ts';
import { warmUp } from '../warm-up.ts';
import { makeOneZone } from '../zones/one-zone.ts';
import { writeQueries } from '../zones/query-file.ts';

const NAMES = 10_000;

export const latency: Part = {
  names: ['latency'],
  async run(options) {
    const zone = makeOneZone('names', NAMES);
    const queries = writeQueries(options.directory, 'latency', zone.questions(200_000, 3));
    const contestants = await startServers(options.servers, zone.set, options);
    try {
      const rates = new Map<Contestant, number>();
      for (const contestant of contestants) {
        await warmUp(contestant.running, { queries }, options);
        const { queriesPerSecond } = await measure(
          contestant.running,
          { queries, seconds: options.seconds },
          options,
        );
        rates.set(contestant, queriesPerSecond / 2);
        say(`${contestant.label} reaches ${Math.round(queriesPerSecond)} q/s`);
      }
      const runs = await interleave(contestants, options, (contestant) => {
        const rate = rates.get(contestant) as number;
        return measure(
          contestant.running,
          { queries, seconds: options.seconds, rate, withLatency: true },
          options,
        );
      });
      const rows = [...runs].map(([{ server }, list]) => {
        const { queriesPerSecond, cpuMicros, latency: times } = mediansOf(list);
        return [
          server.name === 'zonefleet' ? `**${server.title}**` : server.title,
          count(queriesPerSecond),
          fixed(cpuMicros, 2),
          fixed(times?.p50Ms, 3),
          fixed(times?.p99Ms, 3),
          fixed(times?.p999Ms, 3),
        ];
      });
      const bars = [...runs].map(([{ server }, list]) => ({
        label: server.title,
        value: mediansOf(list).latency?.p99Ms ?? Number.NaN,
        isOurs: server.name === 'zonefleet',
      }));
      return [
        {
          part: 'latency',
          title: 'Latency at half load',
          blocks: [
            'The zone and queries of the first part without EDNS. Each server runs at half of its own maximum. `dnsperf -v` measures the times.',
            table(['', 'q/s', 'CPU µs per query', 'p50 ms', 'p99 ms', 'p99.9 ms'], rows),
          ],
          charts: [{ name: 'latency', title: 'p99 at half load', unit: 'ms', digits: 3, bars }],
        },
      ];
    } finally {
      await stopServers(contestants);
    }
  },
};
