// BIND as an authoritative server: one thread. Its rate limit is at most 1,000 per second, so it only counts there.

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

export const bind: Server = {
  name: 'bind',
  title: 'BIND',
  version: () => versionOf(['named', '-v'], /BIND (\d[\d.]+)/),
  async start(options) {
    const directory = makeDirectory('bind');
    const port = await freePort();
    const encrypted = await encryptedPorts(options);
    const file = join(directory.path, 'named.conf');
    writeConfiguration(
      file,
      headOf(options, directory.path, port, encrypted),
      writeZoneFiles(options.set, directory.path),
      (zone) => `zone "${zone.apex}" { type primary; file "${zone.file}"; };`,
    );
    const running = await launch('bind', ['named', '-f', '-n', '1', '-U', '1', '-c', file], {
      ...options,
      port,
      onStop: directory.remove,
    });
    return { ...running, ...(encrypted && { encrypted }) };
  },
};

function headOf(
  { address, limitsRates, transferKey: key, tls }: StartOptions,
  path: string,
  port: number,
  encrypted: EncryptedPorts | undefined,
): string[] {
  const limit =
    'rate-limit { responses-per-second 1000; nodata-per-second 1000; nxdomains-per-second 1000; log-only yes; };';
  return [
    ...(tls === undefined ? [] : [`tls bench { cert-file "${tls.cert}"; key-file "${tls.key}"; };`]),
    'options {',
    ` directory "${path}";`,
    ` pid-file "${path}/named.pid";`,
    ` session-keyfile "${path}/session.key";`,
    ` lock-file none;`,
    ` listen-on port ${port} { ${address}; };`,
    ...(encrypted === undefined
      ? []
      : [
          ` listen-on port ${encrypted.dot} tls bench { ${address}; };`,
          ` listen-on port ${encrypted.doh} tls bench http default { ${address}; };`,
        ]),
    ' listen-on-v6 { none; };',
    ' recursion no; allow-query { any; }; notify no;',
    ' minimal-responses yes; minimal-any yes; querylog no;',
    ' max-udp-size 1232; edns-udp-size 1232; tcp-clients 200;',
    ' answer-cookie yes; cookie-algorithm siphash24; cookie-secret "000102030405060708090a0b0c0d0e0f";',
    ...(key === undefined ? [] : [` allow-transfer { key "${key.name}"; 127.0.0.1; };`]),
    ' dnssec-validation no; empty-zones-enable no; zone-statistics none;',
    ...(limitsRates ? [` ${limit}`] : []),
    '};',
    'logging { category default { null; }; category rate-limit { null; }; };',
    'controls { };',
    ...(key === undefined
      ? []
      : [`key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };`]),
  ];
}
