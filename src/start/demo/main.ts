// The demo process: a private internet, its registrar, and queries to our nameserver. It gets its options from `npm start`,
// has no access to the database or secrets, and listens only on loopback addresses.

import { once } from 'node:events';
import { join } from 'node:path';
import { dropRights } from '../../process/drop-rights.ts';
import { printListenAddress } from '../../process/listen-address.ts';
import { type ProcessLife, runProcess } from '../../process/run-process.ts';
import { AnsweringPlaces } from './answer-at.ts';
import {
  elsewhereZones,
  OUR_ADDRESSES,
  PLACES,
  type Registrations,
  registryZones,
  rootZone,
} from './demo-net.ts';
import { type DemoOptions, REGISTRY_FILE } from './demo-options.ts';
import { createRegistrar } from './registrar.ts';
import { Registry } from './registry.ts';
import { sendTraffic } from './send-traffic.ts';

async function start(options: DemoOptions, life: ProcessLife): Promise<void> {
  const { dnsPort: port, registrar } = options;
  dropRights(options.user, { warn: () => {}, debug: () => {} });
  const first: Registrations = new Map(options.registrations);
  const registry = new Registry(join(options.directory, REGISTRY_FILE), first);
  const places = async (nodeName: keyof typeof PLACES) => {
    const opened = new AnsweringPlaces({ addresses: PLACES[nodeName], port, nodeName }, (error) =>
      process.stderr.write(`zonefleet: demo: ${(error as Error).stack}\n`),
    );
    life.onStop(() => opened.close());
    await opened.listen();
    return opened;
  };
  const [root, ofRegistry, elsewhere] = await Promise.all([
    places('root'),
    places('registry'),
    places('elsewhere'),
  ]);
  let serial = Math.floor(Date.now() / 1000);
  const publish = () => {
    const registrations = registry.registrations();
    ofRegistry.serve(registryZones(registrations, serial++));
    elsewhere.serve(elsewhereZones(registrations));
  };
  root.serve([rootZone()]);
  publish();
  registry.onChange = publish;
  const server = createRegistrar(registry, () => printListenAddress(registrar));
  server.listen(registrar.port, registrar.address);
  await once(server, 'listening');
  life.onStop(async () => {
    server.close();
    server.closeAllConnections();
  });
  life.onStop(sendTraffic({ addresses: OUR_ADDRESSES, port }));
  life.ready({ addresses: [registrar] });
}

runProcess((life) => start(JSON.parse(process.env.DEMO ?? '{}') as DemoOptions, life));
