// Zonefleet's nameserver as an operator runs it (`zonefleet run nameserver`): one UDP thread, zones in the
// benchmark's Postgres, snapshots in a separate directory.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printListenAddress } from '../../src/process/listen-address.ts';
import { freePort } from '../../test/support/processes/free-port.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { fleetCommand } from '../program.ts';
import {
  encryptedPorts,
  launch,
  makeDirectory,
  type RunningServer,
  type Server,
  type StartOptions,
} from './server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NODE_NAME = 'bench';

export interface ZonefleetOptions extends StartOptions {
  /** Location of an already stored set. By default, the set is stored. */
  readonly databaseUrl?: string;
  /** The checkout to run. By default, this tree. */
  readonly root?: string;
  /** Location of its snapshots. By default, a new one. */
  readonly dataDirectory?: string;
  readonly nodeFlags?: readonly string[];
  /** Database of the countries of addresses. Default: that of the package. */
  readonly countryDb?: string;
  /** True if answers are counted by zone. Default: the setting's default. */
  readonly dnsCounts?: boolean;
  /** Addresses to listen on in addition to `address`. */
  readonly moreAddresses?: readonly string[];
  /** Further settings. */
  readonly environment?: Readonly<Record<string, string>>;
  /** File for its standard output, if `nodeFlags` make it long. */
  readonly outputFile?: string;
}

export interface RunningZonefleet extends RunningServer {
  /** Returns the value of a metric without labels. Returns undefined if it does not exist. */
  metric(name: string): Promise<number | undefined>;
}

export const zonefleet: Server = {
  name: 'zonefleet',
  title: 'Zonefleet',
  version: () => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version as string,
  start: startZonefleet,
};

export async function startZonefleet(options: ZonefleetOptions): Promise<RunningZonefleet> {
  const url = options.databaseUrl ?? (await zonefleetDatabase(options.set));
  const [port, metricsPort] = [await freePort(), await freePort()];
  const made = options.dataDirectory === undefined ? makeDirectory('node') : undefined;
  const encrypted = await encryptedPorts(options);
  const env = {
    DATABASE_URL: url,
    DATA_DIR: options.dataDirectory ?? made?.path,
    DNS_LISTEN: [options.address, ...(options.moreAddresses ?? [])]
      .map((address) => printListenAddress({ address, port }))
      .join(),
    METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
    NODE_NAME,
    RUN_AS: 'off', // it reads files of the benchmark
    DNS_THREADS: '1',
    COOKIE_SECRETS: '000102030405060708090a0b0c0d0e0f',
    RRL: options.limitsRates ? '100000000' : 'off',
    RRL_OCTETS: options.limitsRates ? '100000000' : 'off',
    LOG_LEVEL: 'warn',
    ...(options.countryDb === undefined ? {} : { COUNTRY_DB: options.countryDb }),
    ...(options.dnsCounts === undefined ? {} : { DNS_COUNTS: options.dnsCounts ? 'on' : 'off' }),
    ...(encrypted === undefined
      ? {}
      : {
          DOT_LISTEN: `${options.address}:${encrypted.dot}`,
          DOH_LISTEN: `${options.address}:${encrypted.doh}`,
          DNS_TLS_CERT: options.tls?.cert,
          DNS_TLS_KEY: options.tls?.key,
        }),
    ...(options.xdpInterface === undefined ? {} : { DNS_IO: 'xdp', XDP_INTERFACES: options.xdpInterface }),
    ...options.environment,
    ...(process.env.IMAGE_BYTES === undefined ? {} : { IMAGE_BYTES: process.env.IMAGE_BYTES }),
  };
  const command = fleetCommand('src/nameserver/main.ts', options.nodeFlags);
  const server = await launch('zonefleet', command, {
    ...options,
    port,
    program: {
      cwd: options.root ?? ROOT,
      env,
      ...(options.outputFile === undefined ? {} : { outputFile: options.outputFile }),
    },
    onStop: async () => made?.remove(),
  });
  const metric = async (name: string): Promise<number | undefined> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  return { ...server, ...(encrypted && { encrypted }), metric };
}
