// Runs the generated internet in its own process, and the resolvers that know all of it.
//   scan-servers.ts ORDER

import { makeCorpus } from '../../test/support/corpus/scan-corpus.ts';
import { scanWorld } from '../../test/support/corpus/scan-internet.ts';
import { FakeInternet } from '../../test/support/world/fake-internet.ts';
import type { ServersOrder, ServersReady } from './orders.ts';
import { type RecursiveServer, startRecursive } from './scan-recursive.ts';

const order = JSON.parse(process.argv[2] ?? '') as ServersOrder;
const corpus = makeCorpus(order);
const silentHosters = new Set(order.areSilent ? corpus.map(({ hoster }) => hoster.domain) : []);
const world = scanWorld(corpus, { delayMs: order.delayMs, silentHosters });
const internet = await FakeInternet.start(world);
const forget = setInterval(() => {
  internet.seen.length = 0;
}, 1000);
const resolvers = await Promise.all(
  Array.from({ length: order.resolvers }, () =>
    startRecursive(corpus, { address: '127.0.0.1', port: 0 }, order.delayMs),
  ),
);
let at53: RecursiveServer | undefined;
if (order.at53 !== undefined)
  at53 = await startRecursive(corpus, { address: order.at53, port: 53 }, order.delayMs);

/** Returns the number of queries since the last call, and any invalid queries. */
process.on('message', () => {
  process.send?.({ asked: at53?.asked ?? 0, violations: internet.violations });
  if (at53 !== undefined) at53.asked = 0;
});
process.on('disconnect', () => {
  clearInterval(forget);
  process.exit(0);
});
const ready: ServersReady = {
  rootServers: internet.rootServers(),
  places: Object.fromEntries([...world.servers.keys()].map((address) => [address, internet.route(address)])),
  resolvers: resolvers.map(({ place }) => place),
};
process.send?.(ready);
