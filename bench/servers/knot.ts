// Knot DNS with one UDP worker. Cookies and rate limits are modules; rate limits apply to all zones together.

import { join } from 'node:path';
import { freePort } from '../../test/support/processes/free-port.ts';
import { versionOf } from './installed.ts';
import { launch, makeDirectory, type Server, type StartOptions } from './server.ts';
import { writeConfiguration, writeZoneFiles } from './zone-files.ts';

export const knot: Server = {
  name: 'knot',
  title: 'Knot DNS',
  version: () => versionOf(['knotd', '--version'], /version (\S+)/),
  async start(options) {
    const directory = makeDirectory('knot');
    const port = await freePort();
    const file = join(directory.path, 'knot.conf');
    const head = headOf(options, directory.path, port);
    writeConfiguration(
      file,
      head,
      writeZoneFiles(options.set, directory.path),
      (zone) => ` - domain: ${zone.apex}\n   file: ${zone.file}`,
    );
    return launch('knot', ['knotd', '-c', file], { ...options, port, onStop: directory.remove });
  },
};

function headOf(
  { address, limitsRates, set, transferKey: key, xdpInterface }: StartOptions,
  path: string,
  port: number,
): string[] {
  const modules = ['mod-cookies/default', ...(limitsRates ? ['mod-rrl/default'] : [])];
  const zones = set.zones.length + (set.recipe?.count ?? 0);
  return [
    'server:',
    ` listen: ${address}@${port}`,
    ` rundir: ${path}/run`,
    ' udp-workers: 1',
    ' tcp-workers: 1',
    ' background-workers: 1',
    ' udp-max-payload: 1232',
    ...(xdpInterface === undefined ? [] : ['xdp:', ` listen: ${xdpInterface}@${port}`]),
    'database:',
    ` storage: ${path}/run`,
    // Default 500 MB; each zone has an entry for its timers.
    ` timer-db-max-size: ${zones > 100_000 ? '1G' : '100M'}`,
    'log:',
    ' - target: stderr',
    '   any: warning',
    'mod-cookies:',
    ' - id: default',
    '   secret: 0x000102030405060708090a0b0c0d0e0f',
    ...(limitsRates ? ['mod-rrl:', ' - id: default', '   rate-limit: 100000000'] : []),
    ...(key === undefined
      ? []
      : [
          ...['key:', ` - id: ${key.name}`, `   algorithm: ${key.algorithm}`, `   secret: ${key.secret}`],
          ...['acl:', ' - id: local', '   address: 127.0.0.1', '   action: transfer'],
          ...[' - id: signed', `   key: ${key.name}`, '   action: transfer'],
        ]),
    'template:',
    ' - id: default',
    `   storage: ${path}`,
    '   zonefile-sync: -1',
    '   zonefile-load: whole',
    '   journal-content: none',
    '   semantic-checks: off',
    `   global-module: [${modules.join(', ')}]`,
    ...(key === undefined ? [] : ['   acl: [local, signed]']),
    'zone:',
  ];
}
