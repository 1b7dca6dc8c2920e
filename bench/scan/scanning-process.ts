// Scans generated zones as a worker does, without a queue and Postgres.
//   scanning-process.ts CORPUS_ORDER, then a message with all locations, then orders

import type { Name } from '../../src/dns/name.ts';
import { openPublicResolvers } from '../../src/resolver/state/public-resolvers.ts';
import { AddressRates } from '../../src/resolver/state/rate-leases.ts';
import { makeCorpus } from '../../test/support/corpus/scan-corpus.ts';
import { scanEach, startScanning } from '../../test/support/corpus/scan-run.ts';
import { exactKey } from '../../test/support/corpus/scan-tally.ts';
import type { CorpusOrder, ScanOrder, ScanReport, ServersReady } from './orders.ts';

const corpus = makeCorpus(JSON.parse(process.argv[2] ?? '') as CorpusOrder);
const CLOSED_PORT = 1;

/** Scans with a new resolver, whose cache is empty. */
async function scan(order: ScanOrder, { rootServers, places, resolvers }: ServersReady): Promise<ScanReport> {
  const rates = new AddressRates(order.perSecond, undefined, Date.now);
  const publicResolvers = openPublicResolvers(resolvers, undefined);
  let violations = 0;
  const { resolver, meter } = startScanning({
    rootServers: rootServers.map(({ name, addresses }) => ({
      name: name as Name,
      addresses: [...addresses],
    })),
    route: (address) => {
      const place = places[address];
      if (place === undefined) violations++;
      return place ?? { address: '127.0.0.1', port: CLOSED_PORT };
    },
    rates,
    ...(publicResolvers !== undefined && { publicResolvers }),
  });
  const scans: ScanReport['scans'][number][] = [];
  const startedMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const zones = corpus.slice(order.first, order.first + order.zones);
  await scanEach(resolver, zones, order.atOnce, ({ zone, scan: made, seconds }) => {
    scans.push({
      zone: corpus.indexOf(zone),
      keys: made.records.map((record) => exactKey({ ...record, owner: record.name })),
      seconds,
      queries: made.queries,
      isComplete: made.complete,
    });
  });
  const { user, system } = process.cpuUsage(cpuBefore);
  await resolver.close();
  // Count the packets that the limits concern: with public resolvers, only those to them.
  const watched = meter.addresses.filter((address) => resolvers.length === 0 || address.includes('#'));
  return {
    scans,
    seconds: (performance.now() - startedMs) / 1000,
    cpuSeconds: (user + system) / 1e6,
    peak: Math.max(0, ...watched.map((address) => meter.peak(address))),
    mean: Math.max(0, ...watched.map((address) => meter.mean(address))),
    violations,
  };
}

let ready: ServersReady | undefined;
process.on('message', async (message: ServersReady | ScanOrder) => {
  if ('places' in message) ready = message;
  else if (ready !== undefined) process.send?.(await scan(message, ready));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
