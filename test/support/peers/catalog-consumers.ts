// Knot, BIND and PowerDNS on loopback, which consume a catalog. Keys, catalogs and members are configured as in the examples
// of docs/operating/catalogs.md.

import { join } from 'node:path';
import { runIn } from '../validators/run-program.ts';
import { startDaemon } from './daemon.ts';
import { documented } from './documented-config.ts';
import { askMany, isInstalled } from './peers.ts';
import type { TransferKey } from './transfer-peers.ts';

export type ConsumerName = 'knot' | 'bind' | 'powerdns';

const PROGRAMS: Readonly<Record<ConsumerName, string>> = {
  knot: 'knotd',
  bind: 'named',
  powerdns: 'pdns_server',
};
export const CONSUMERS = Object.keys(PROGRAMS) as ConsumerName[];
/** Programs that are not installed. */
export const MISSING_CONSUMERS = [
  ...Object.values(PROGRAMS),
  ...['sqlite3', '/usr/share/doc/pdns-backend-sqlite3'],
].filter((name) => !isInstalled(name));

interface ConsumerStart {
  readonly port: number;
  /** Port of the node. */
  readonly primary: number;
  readonly key: TransferKey;
}

export interface Consumer {
  readonly name: ConsumerName;
  readonly port: number;
  stop(): Promise<void>;
}

const LOCAL = '127.0.0.1';
const SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql';
/** `. NS`, which every server answers, if only with REFUSED. */
const READY_QUERY = Buffer.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1]);

/** Starts a server that consumes the catalog of the examples. */
export async function startConsumer(name: ConsumerName, options: ConsumerStart): Promise<Consumer> {
  const { port, primary, key } = options;
  const example = (file: string) => documented(`${file} catalog`, { zones: [''], nodes: [primary], key });
  const { files, args, prepare } = FRAMES[name]({ port, primary, example });
  const daemon = await startDaemon({
    program: PROGRAMS[name],
    files,
    args,
    ...(prepare && { prepare }),
    isReady: async () =>
      (await askMany(port, [READY_QUERY], { address: LOCAL, tries: 1, timeoutMs: 300 }))[0] !== undefined,
  });
  return { name, port, stop: daemon.stop };
}

interface Frame {
  readonly files: (directory: string) => Readonly<Record<string, string>>;
  readonly args: (directory: string) => readonly string[];
  readonly prepare?: (directory: string) => Promise<void>;
}

interface FrameOptions {
  readonly port: number;
  readonly primary: number;
  readonly example: (file: string) => string;
}

const FRAMES: Readonly<Record<ConsumerName, (options: FrameOptions) => Frame>> = {
  knot: ({ port, example }) => ({
    args: (directory) => ['-c', `${directory}/knot.conf`],
    files: (directory) => {
      const storage = `    storage: ${directory}\n    zonefile-sync: -1\n    zonefile-load: none\n    journal-content: all\n`;
      return {
        'knot.conf': `
server:
  listen: ${LOCAL}@${port}
  rundir: ${directory}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 2
database:
  storage: ${directory}
log:
  - target: stderr
    any: info
template:
  - id: default
${storage}${example('knot.conf').replace(/ {2}- id: member\n/, `$&${storage}`)}`,
      };
    },
  }),
  bind: ({ port, example }) => ({
    args: (directory) => ['-f', '-n', '2', '-c', `${directory}/named.conf`],
    files: (directory) => ({
      'named.conf': example('named.conf').replace(
        'options {\n',
        `$&
  directory "${directory}"; pid-file "${directory}/named.pid"; session-keyfile "${directory}/session.key"; lock-file none;
  listen-on port ${port} { ${LOCAL}; }; listen-on-v6 { none; };
  recursion no; allow-query { any; }; dnssec-validation no; empty-zones-enable no; notify no;
  transfers-in 100; transfers-per-ns 100; serial-query-rate 1000;
`,
      ),
    }),
  }),
  powerdns: ({ port, primary, example }) => ({
    args: (directory) => [`--config-dir=${directory}`],
    files: (directory) => ({
      'pdns.conf': `
launch=gsqlite3
gsqlite3-database=${directory}/pdns.db
gsqlite3-dnssec=yes
gsqlite3-pragma-synchronous=0
local-address=${LOCAL}:${port}
socket-dir=${directory}
daemon=no
guardian=no
setuid=
setgid=
xfr-cycle-interval=1
query-cache-ttl=0
cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
retrieval-threads=2
${example('pdns.conf')}`,
    }),
    async prepare(directory) {
      await runIn(directory, 'sqlite3', [join(directory, 'pdns.db'), `.read ${SCHEMA}`]);
      const commands = example('pdnsutil').replace(LOCAL, `$&:${primary}`);
      for (const line of commands.trim().split('\n'))
        await runIn(directory, 'pdnsutil', [`--config-dir=${directory}`, ...line.split(' ').slice(1)]);
    },
  }),
};
