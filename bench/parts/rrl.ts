// Response-rate limiting on: every answer is counted, and none is withheld. Clients on loopback addresses are exempt, so
// this part runs in a separate network namespace with other addresses on its loopback interface.

import { isInOwnNamespace, runInOwnNamespace } from '../own-namespace.ts';
import type { BenchOptions, Part, Section } from '../part.ts';
import { comparisonTable, cpuBars } from '../report/comparison.ts';
import { interleave, measure } from '../rounds.ts';
import { say } from '../say.ts';
import { serversNamed, startServers, stopServers } from '../servers/all.ts';
import { warmUp } from '../warm-up.ts';
import { makeOneZone } from '../zones/one-zone.ts';
import { writeQueries } from '../zones/query-file.ts';

const NAMES = 10_000;
// RFC 2544: for benchmarks.
const SERVER_ADDRESS = '198.18.0.53';
const CLIENT_ADDRESS = '198.18.7.1';
const SETUP = [SERVER_ADDRESS, CLIENT_ADDRESS].map((address) => `ip address add ${address}/32 dev lo`);

export const rrl: Part = {
  names: ['rrl'],
  run: (options) => (isInOwnNamespace() ? compare(options) : runInOwnNamespace('rrl', options, SETUP)),
};

async function compare(options: BenchOptions): Promise<Section[]> {
  const zone = makeOneZone('names', NAMES);
  const queries = writeQueries(options.directory, 'rrl', zone.questions(200_000, 1));
  // PowerDNS has no rate limits.
  const servers = serversNamed(options.servers, 'zonefleet', 'nsd', 'knot', 'bind');
  const start = { address: SERVER_ADDRESS, limitsRates: true };
  const contestants = await startServers(servers, zone.set, options, start);
  try {
    for (const { running } of contestants)
      await warmUp(running, { queries, source: CLIENT_ADDRESS }, options);
    say('response-rate limits on');
    const runs = await interleave(contestants, options, ({ running }) =>
      measure(running, { queries, seconds: options.seconds, source: CLIENT_ADDRESS }, options),
    );
    return [
      {
        part: 'rrl',
        title: 'With response-rate limits',
        blocks: [
          'The first part without EDNS, queried from a limited address, with limits that are too high to be reached: the cost of ' +
            'counting. BIND’s limit is at most 1 000 per second, so there it only counts (`log-only`). PowerDNS has no limit.',
          comparisonTable(runs),
        ],
        charts: [
          {
            name: 'rrl',
            title: 'CPU per query, response-rate limits on',
            unit: 'µs',
            digits: 2,
            bars: cpuBars(runs),
          },
        ],
      },
    ];
  } finally {
    await stopServers(contestants);
  }
}
