// A process for a network namespace: small internets at their own addresses and port 53, each looked at by our own check of
// the delegated zone. A line of its input is `FOLDER [NAME/ADDRESS…]`, with servers for a test before they are delegated to;
// it answers with a line of JSON and serves that world until the next line.

import { createInterface } from 'node:readline';
import { judgeChild } from '../../../src/checks/child/judge-child.ts';
import { createExchange } from '../../../src/resolver/exchange/exchange.ts';
import { createResolver } from '../../../src/resolver/resolver.ts';
import { AddressRates } from '../../../src/resolver/state/rate-leases.ts';
import { FakeInternet } from '../world/fake-internet.ts';
import { readChildExpectations } from '../world/read-child-expectations.ts';
import { nameOf, readWorld } from '../world/read-world.ts';

const TIMEOUT_MS = 500;

let internet: FakeInternet | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  const [folder = '', ...servers] = line.split(' ');
  await internet?.close();
  internet = await FakeInternet.start(readWorld(folder, 'child-worlds'), { port: 53 });
  process.stdout.write(`${JSON.stringify(await look(internet, folder, servers))}\n`);
}
process.exit(0);

async function look({ rootServers }: FakeInternet, folder: string, servers: readonly string[]) {
  const resolver = createResolver({
    exchange: createExchange({ port: 53, timeoutMs: TIMEOUT_MS }),
    rootServers: rootServers.call(internet),
    allowed: [],
    rates: new AddressRates(50, undefined, Date.now),
    hasIpv6: () => true,
  });
  const glue = servers.map((text) => {
    const [name, address = ''] = text.split('/');
    return { name: nameOf(name), address };
  });
  const ns = [...new Set(glue.map(({ name }) => name))];
  const given = glue.length === 0 ? undefined : { ns, glue };
  const evidence = await resolver.observeChild(readChildExpectations(folder).domain, { given });
  await resolver.close();
  return {
    codes: judgeChild(evidence, { own: new Set() }).map(({ code }) => code),
    /** Only then there is a set of the zone to be compared with. */
    isAnswered: evidence.addresses.some((address) => address.ns.outcome === 'answer'),
    /** The addresses of every server were found, or that there are none. */
    isKnown: evidence.servers.every(({ found }) => found.kind !== 'unknown'),
  };
}
