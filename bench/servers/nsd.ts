// NSD with one server process. A second process reloads and a third transfers zones; they are idle but use memory.

import { join } from 'node:path';
import { freePort } from '../../test/support/processes/free-port.ts';
import { versionOf } from './installed.ts';
import {
  type EncryptedPorts,
  encryptedPorts,
  launch,
  makeDirectory,
  type Server,
  type StartOptions,
} from './server.ts';
import { writeConfiguration, writeZoneFiles } from './zone-files.ts';

export const nsd: Server = {
  name: 'nsd',
  title: 'NSD',
  version: () => versionOf(['nsd', '-v'], /NSD version (\S+)/),
  async start(options) {
    const directory = makeDirectory('nsd');
    const port = await freePort();
    const file = join(directory.path, 'nsd.conf');
    const encrypted = await encryptedPorts(options);
    const head = headOf(options, directory.path, port, encrypted);
    const { transferKey } = options;
    const transfers =
      transferKey === undefined
        ? []
        : ['NOKEY', transferKey.name].map((key) => ` provide-xfr: 127.0.0.1 ${key}`);
    writeConfiguration(file, head, writeZoneFiles(options.set, directory.path), (zone) =>
      [`zone:\n name: "${zone.apex}"\n zonefile: "${zone.file}"`, ...transfers].join('\n'),
    );
    const command = ['nsd', '-d', '-c', file];
    const running = await launch('nsd', command, { ...options, port, onStop: directory.remove });
    return { ...running, ...(encrypted && { encrypted }) };
  },
};

function headOf(
  { address, limitsRates, transferKey: key, tls }: StartOptions,
  path: string,
  port: number,
  encrypted: EncryptedPorts | undefined,
): string[] {
  return [
    'server:',
    ` ip-address: ${address}@${port}`,
    ...(tls === undefined || encrypted === undefined
      ? []
      : [
          ` ip-address: ${address}@${encrypted.dot}`,
          ` tls-port: ${encrypted.dot}`,
          ` tls-service-pem: "${tls.cert}"`,
          ` tls-service-key: "${tls.key}"`,
        ]),
    ' username: ""',
    ' server-count: 1',
    ' tcp-count: 200',
    ` zonesdir: "${path}"`,
    ' database: ""',
    ` pidfile: "${path}/nsd.pid"`,
    ` xfrdfile: "${path}/xfrd.state"`,
    ` zonelistfile: "${path}/zone.list"`,
    ` xfrdir: "${path}"`,
    ` rrl-ratelimit: ${limitsRates ? 100_000_000 : 0}`,
    ` rrl-whitelist-ratelimit: ${limitsRates ? 100_000_000 : 0}`,
    ' minimal-responses: yes',
    ' ipv4-edns-size: 1232',
    ' answer-cookie: yes',
    ' cookie-secret: "000102030405060708090a0b0c0d0e0f"',
    'remote-control:',
    ' control-enable: no',
    ...(key === undefined
      ? []
      : ['key:', ` name: ${key.name}`, ` algorithm: ${key.algorithm}`, ` secret: "${key.secret}"`]),
  ];
}
