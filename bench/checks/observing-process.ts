// Observes and evaluates delegations as a worker does, without a queue and Postgres. Each message requests a number of
// names, and is answered with the time and processor time that they took.
//   observing-process.ts PORT HINTS_FILE

import type { Expected } from '../../src/checks/delegation/check-state.ts';
import { judgeDelegation } from '../../src/checks/delegation/judge-delegation.ts';
import { parseName } from '../../src/dns/name.ts';
import { type Network, parseNetwork } from '../../src/dns/record/network.ts';
import { createExchange } from '../../src/resolver/exchange/exchange.ts';
import { createResolver } from '../../src/resolver/resolver.ts';
import { AddressRates } from '../../src/resolver/state/rate-leases.ts';
import { loadRootHints } from '../../src/resolver/state/root-hints.ts';
import { percentile } from '../statistics.ts';
import type { Observed, Order } from './measure-observing.ts';
import { OUR_NAMESERVERS, PARENT_NETWORK, parentedName } from './parents.ts';

const [port = '', hintsFile] = process.argv.slice(2);
const rootServers = await loadRootHints(hintsFile);
const set = OUR_NAMESERVERS.map((name) => parseName(`${name}.`)).sort();
const expected: Expected = { sets: [set], ours: new Set(set) };

/** Replaced by each order, so that the resolver keeps its caches. */
let rates = new AddressRates(1, undefined, Date.now);
const resolver = createResolver({
  exchange: createExchange({ port: Number(port) }),
  rootServers,
  allowed: [parseNetwork(PARENT_NETWORK) as Network],
  rates: { take: (address, signal) => rates.take(address, signal) },
  hasIpv6: () => false,
});

async function observe({ first, seconds, concurrency, perSecond }: Order): Promise<Observed> {
  rates = new AddressRates(perSecond, undefined, Date.now);
  const packets: number[] = [];
  const millis: number[] = [];
  let next = first;
  let others = 0;
  const startedMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const endMs = startedMs + seconds * 1000;
  const inTurn = async () => {
    while (performance.now() < endMs) {
      const evidence = await resolver.observeDelegation(parseName(`${parentedName(next++)}.`));
      if (judgeDelegation(evidence, expected).verdict !== 'match') others++;
      packets.push(evidence.queries);
      millis.push(evidence.finishedAt - evidence.startedAt);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, inTurn));
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    checks: packets.length,
    seconds: (performance.now() - startedMs) / 1000,
    cpuSeconds: (user + system) / 1e6,
    packets: { median: percentile(packets, 0.5), p99: percentile(packets, 0.99) },
    millis: { median: percentile(millis, 0.5), p99: percentile(millis, 0.99) },
    others,
  };
}

process.on('message', async (order: Order) => process.send?.(await observe(order)));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
