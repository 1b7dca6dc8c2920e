// The same zone and queries over TCP: a few permanent connections, each with many queries in flight.

import type { Part } from '../part.ts';
import { comparisonTable, cpuBars } from '../report/comparison.ts';
import { interleave, measure } from '../rounds.ts';
import { startServers, stopServers } from '../servers/all.ts';
import { warmUp } from '../warm-up.ts';
import { makeOneZone } from '../zones/one-zone.ts';
import { writeQueries } from '../zones/query-file.ts';

const NAMES = 10_000;
const CONNECTIONS = 10;

export const tcp: Part = {
  names: ['tcp'],
  async run(options) {
    const zone = makeOneZone('names', NAMES);
    const queries = writeQueries(options.directory, 'tcp', zone.questions(100_000, 2));
    const servers = options.servers.filter((server) => !server.isEcho);
    const contestants = await startServers(servers, zone.set, options);
    try {
      for (const { running } of contestants) await warmUp(running, { queries }, options);
      const runs = await interleave(contestants, options, ({ running }) =>
        measure(
          running,
          {
            queries,
            seconds: options.seconds,
            transport: 'tcp',
            clients: CONNECTIONS,
            edns: { kind: 'edns' },
          },
          options,
        ),
      );
      const blocks = [
        `The zone and queries of the first part with EDNS, over ${CONNECTIONS} permanent TCP connections.`,
        comparisonTable(runs),
      ];
      const charts = [
        { name: 'tcp', title: 'CPU per query over TCP', unit: 'µs', digits: 1, bars: cpuBars(runs) },
      ];
      return [{ part: 'tcp', title: 'TCP', blocks, charts }];
    } finally {
      await stopServers(contestants);
    }
  },
};
