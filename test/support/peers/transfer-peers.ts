// Other servers as secondaries or primaries of zones, on loopback. Each gets a frame (port, folders, unsigned transfers for
// tests), and its keys and zones from the examples of docs/operating/transfers.md and transfers-over-tls.md, except yadifa.

import { writeFile } from 'node:fs/promises';
import { freePort } from '../processes/free-port.ts';
import { runIn } from '../validators/run-program.ts';
import { startDaemon } from './daemon.ts';
import { documented } from './documented-config.ts';
import { askMany } from './peers.ts';

export type TransferPeerName = 'nsd' | 'knot' | 'bind' | 'powerdns' | 'yadifa';

export interface TransferKey {
  readonly name: string;
  readonly algorithm: string;
  readonly secret: string;
}

interface TransferPeerStart {
  /** Zones without the final dot. */
  readonly zones: readonly string[];
  /** Port of 127.0.0.1 that answers transfers and receives NOTIFY; undefined if the server is a primary. */
  readonly primary: number | undefined;
  /** Ports of 127.0.0.1 that the primary notifies. */
  readonly notified?: readonly number[];
  readonly key: TransferKey;
  /** Zone files by name of the file, which is `ZONE.zone`. Only for primaries. */
  readonly files?: Readonly<Record<string, string>>;
  readonly port?: number;
  /** Transfers over TLS, by BIND and NSD. */
  readonly tls?: PeerTlsStart | undefined;
}

export interface PeerTlsStart {
  /** Port of 127.0.0.1 on which a primary serves TLS, or from which a secondary transfers. */
  readonly port: number;
  /** The certificates of authorities that a secondary trusts, in PEM. */
  readonly authorities: string;
  /** The name that a secondary requires of its primary. */
  readonly name: string;
  /** The certificate and key of a primary, in PEM. */
  readonly pem: string;
  readonly key: string;
}

export interface TransferPeer {
  readonly name: TransferPeerName;
  readonly port: number;
  readonly directory: string;
  /** Replaces the file of a zone and loads it. Only for primaries. */
  rewrite(zone: string, text: string): Promise<void>;
  /** Ends the server, does the work, and starts the server again with the same files. */
  restart(work?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export const TRANSFER_PROGRAMS: Readonly<Record<TransferPeerName, string>> = {
  nsd: 'nsd',
  knot: 'knotd',
  bind: 'named',
  powerdns: 'pdns_server',
  yadifa: 'yadifad',
};

export async function startTransferPeer(
  name: TransferPeerName,
  options: TransferPeerStart,
): Promise<TransferPeer> {
  const port = options.port ?? (await freePort());
  const { files, args, prepare, reload } = FRAMES[name];
  const daemon = await startDaemon({
    program: TRANSFER_PROGRAMS[name],
    files: (inside) => ({
      ...options.files,
      ...(options.tls && {
        'ca.pem': options.tls.authorities,
        'chain.pem': options.tls.pem,
        'key.pem': options.tls.key,
      }),
      ...files({ ...options, directory: inside, port }),
    }),
    args: (inside) => args(inside),
    prepare: (inside) => prepare?.({ ...options, directory: inside, port }) ?? Promise.resolve(),
    isReady: async () => {
      const [reply] = await askMany(port, [VERSION_QUERY], {
        address: '127.0.0.1',
        tries: 1,
        timeoutMs: 300,
      });
      return reply !== undefined;
    },
  });
  const { directory, restart, stop } = daemon;
  return {
    name,
    port,
    directory,
    async rewrite(zone, text) {
      await writeFile(`${directory}/${zone}.zone`, text);
      if (reload === 'SIGHUP') daemon.child.kill('SIGHUP');
      else await reload(directory, zone);
    },
    restart,
    stop,
  };
}

/** `. NS`, which every server answers, if only with REFUSED. */
const VERSION_QUERY = Buffer.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1]);

interface FrameOptions extends TransferPeerStart {
  readonly directory: string;
  readonly port: number;
}

interface Frame {
  readonly files: (options: FrameOptions) => Readonly<Record<string, string>>;
  readonly args: (directory: string) => readonly string[];
  readonly prepare?: (options: FrameOptions) => Promise<void>;
  readonly reload: 'SIGHUP' | ((directory: string, zone: string) => Promise<unknown>);
}

const LOCAL = '127.0.0.1';

/** Returns an example of the documents for this server. */
function example(file: string, { primary, notified = [], tls, ...values }: FrameOptions): string {
  const filled = { ...values, ...(tls && { tls: { ...tls, directory: values.directory } }) };
  const over = tls === undefined ? '' : ' over TLS';
  return primary === undefined
    ? documented(`${file} primary${over}`, { ...filled, nodes: notified })
    : documented(`${file} secondary${over}`, { ...filled, nodes: [primary] });
}

/** Divides an example for BIND into the lines of its options and the rest: the frame has options, too. */
function dividedExample(options: FrameOptions): { readonly own: string; readonly rest: string } {
  const text = example('named.conf', options).replaceAll('allow-transfer {', `$& ${LOCAL};`);
  const [block = '', own = ''] = /^options \{\n(.*\n)\};\n/m.exec(text) ?? [];
  return { own, rest: text.replace(block, '') };
}

const FRAMES: Readonly<Record<TransferPeerName, Frame>> = {
  nsd: {
    args: (directory) => ['-d', '-c', `${directory}/nsd.conf`],
    reload: 'SIGHUP',
    files: (options) => ({
      'nsd.conf': `
server:
  ip-address: ${LOCAL}@${options.port}${options.tls ? `\n  tls-port: ${options.tls.port}` : ''}
  username: ""
  server-count: 1
  zonesdir: "${options.directory}"
  database: ""
  pidfile: "${options.directory}/nsd.pid"
  xfrdfile: "${options.directory}/xfrd.state"
  zonelistfile: "${options.directory}/zone.list"
  xfrdir: "${options.directory}"
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${example('nsd.conf', options).replaceAll(/^zone:\n/gm, `$&  provide-xfr: ${LOCAL} NOKEY\n`)}`,
    }),
  },
  knot: {
    args: (directory) => ['-c', `${directory}/knot.conf`],
    reload: 'SIGHUP',
    files: (options) => ({
      'knot.conf': `
server:
  listen: ${LOCAL}@${options.port}
  rundir: ${options.directory}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 2
database:
  storage: ${options.directory}
log:
  - target: stderr
    any: info
acl:
  - id: unsigned
    address: ${LOCAL}
    action: transfer
template:
  - id: default
    storage: ${options.directory}
    zonefile-sync: -1
    journal-content: ${options.primary === undefined ? 'changes' : 'all'}
    zonefile-load: ${options.primary === undefined ? 'whole' : 'none'}
${example('knot.conf', options)
  .replaceAll(/^ +acl: /gm, '$&unsigned, ')
  .replaceAll(/unsigned, .*/g, '[$&]')}`,
    }),
  },
  bind: {
    args: (directory) => ['-f', '-n', '2', '-c', `${directory}/named.conf`],
    reload: 'SIGHUP',
    files: (options) => {
      const { own, rest } = dividedExample(options);
      return {
        'named.conf': `
options {
  directory "${options.directory}"; pid-file "${options.directory}/named.pid";
  session-keyfile "${options.directory}/session.key";
  lock-file none; listen-on port ${options.port} { ${LOCAL}; }; listen-on-v6 { none; }; allow-transfer { ${LOCAL}; };
  recursion no; allow-query { any; }; minimal-responses yes; dnssec-validation no; empty-zones-enable no; notify explicit;
  transfers-in 100; transfers-per-ns 100; serial-query-rate 1000; notify-rate 1000; startup-notify-rate 1000;
  min-refresh-time 1; min-retry-time 1;
${own}};
controls { };
${rest}`,
      };
    },
  },
  powerdns: {
    args: (directory) => [`--config-dir=${directory}`],
    reload: (directory, zone) =>
      runIn(directory, 'pdns_control', [`--config-dir=${directory}`, 'bind-reload-now', zone]),
    files: (options) => ({
      'pdns.conf': `
launch=bind
bind-config=${options.directory}/named.conf
bind-dnssec-db=${options.directory}/dnssec.db
local-address=${LOCAL}:${options.port}
socket-dir=${options.directory}
daemon=no
guardian=no
setuid=
setgid=
allow-axfr-ips=${LOCAL}
xfr-cycle-interval=1
bind-check-interval=1
query-cache-ttl=0
cache-ttl=0
negquery-cache-ttl=0
${example('pdns.conf', { ...options, zones: [''] })}`,
      'named.conf': options.zones
        .map((zone) => {
          const file = `file "${options.directory}/${zone}.zone";`;
          return options.primary === undefined
            ? `zone "${zone}" { type master; ${file} };\n`
            : `zone "${zone}" { type slave; ${file} masters { ${LOCAL}:${options.primary}; }; };\n`;
        })
        .join(''),
    }),
    // A secondary asks for whole zones, its default: by IXFR, version 4.7 does not notice that a zone was signed.
    async prepare(options) {
      const { directory } = options;
      const pdnsutil = (...args: string[]) =>
        runIn(directory, 'pdnsutil', [`--config-dir=${directory}`, ...args]);
      await pdnsutil('create-bind-db', `${directory}/dnssec.db`);
      // Only a database can create zones. The file named.conf lists those of this backend.
      for (const zone of options.zones)
        for (const line of example('pdnsutil', { ...options, zones: [zone] })
          .trim()
          .split('\n'))
          if (!/^pdnsutil (create|set)-/.test(line)) await pdnsutil(...line.split(' ').slice(1));
    },
  },
  yadifa: {
    args: (directory) => ['-c', `${directory}/yadifad.conf`],
    reload: 'SIGHUP',
    files: ({ directory, port, key, zones, primary, notified = [] }) => ({
      'yadifad.conf': `
<main>
  daemon off
  logpath "${directory}"
  pidfile "${directory}/yadifad.pid"
  datapath "${directory}"
  keyspath "${directory}"
  xfrpath "${directory}"
  port ${port}
  listen ${LOCAL} port ${port}
  allow-query any
  allow-transfer any
  allow-notify any
  xfr-connect-timeout 5
</main>
<rrl>
  enabled false
</rrl>
<key>
  name "${key.name.replace(/\.$/, '')}"
  algorithm ${key.algorithm}
  secret "${key.secret}"
</key>
${zones
  .map(
    (zone) => `<zone>
  domain ${zone}
  file "${zone}.zone"
${
  primary === undefined
    ? `  type master\n${notified.map((to) => `  notify ${LOCAL} port ${to} key "${key.name.replace(/\.$/, '')}"\n`).join('')}`
    : `  type slave\n  master ${LOCAL} port ${primary} key "${key.name.replace(/\.$/, '')}"\n`
}</zone>\n`,
  )
  .join('')}`,
    }),
  },
};
