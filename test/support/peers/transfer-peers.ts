// Other servers as secondaries or primaries of zones, on loopback. Each gets a frame (port, folders) and a text that
// configures keys and zones as in docs/operating/transfers.md.

import { freePort } from '../processes/free-port.ts';
import { runProgram } from '../validators/run-program.ts';
import { startDaemon } from './daemon.ts';
import { askMany } from './peers.ts';

export type TransferPeerName = 'nsd' | 'knot' | 'bind' | 'powerdns' | 'yadifa';

export interface TransferKey {
  readonly name: string;
  /** hmac-sha256 … */
  readonly algorithm: string;
  /** In base64. */
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
}

export interface TransferPeer {
  readonly name: TransferPeerName;
  readonly port: number;
  readonly directory: string;
  /** Replaces the file of a zone and loads it. Only for primaries. */
  rewrite(zone: string, text: string): Promise<void>;
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
  const { directory, child, stop } = await startDaemon({
    program: TRANSFER_PROGRAMS[name],
    files: (inside) => ({ ...options.files, ...files({ ...options, directory: inside, port }) }),
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
  return {
    name,
    port,
    directory,
    async rewrite(zone, text) {
      const { writeFile } = await import('node:fs/promises');
      await writeFile(`${directory}/${zone}.zone`, text);
      if (reload === 'SIGHUP') child.kill('SIGHUP');
      else await reload(directory, zone);
    },
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
  readonly reload: 'SIGHUP' | ((directory: string, zone: string) => Promise<void>);
}

const LOCAL = '127.0.0.1';

const FRAMES: Readonly<Record<TransferPeerName, Frame>> = {
  nsd: {
    args: (directory) => ['-d', '-c', `${directory}/nsd.conf`],
    reload: 'SIGHUP',
    files: ({ directory, port, key, zones, primary, notified = [] }) => ({
      'nsd.conf': `
server:
  ip-address: ${LOCAL}@${port}
  username: ""
  server-count: 1
  zonesdir: "${directory}"
  database: ""
  pidfile: "${directory}/nsd.pid"
  xfrdfile: "${directory}/xfrd.state"
  zonelistfile: "${directory}/zone.list"
  xfrdir: "${directory}"
  rrl-ratelimit: 0
remote-control:
  control-enable: no
key:
  name: "${key.name}"
  algorithm: ${key.algorithm}
  secret: "${key.secret}"
${zones
  .map(
    (zone) => `zone:
  name: "${zone}"
  zonefile: "${zone}.zone"
  provide-xfr: ${LOCAL} NOKEY
  provide-xfr: ${LOCAL} "${key.name}"
${
  primary === undefined
    ? `  store-ixfr: yes\n  create-ixfr: yes\n${notified.map((to) => `  notify: ${LOCAL}@${to} "${key.name}"\n`).join('')}`
    : `  allow-notify: ${LOCAL} "${key.name}"\n  request-xfr: ${LOCAL}@${primary} "${key.name}"\n`
}`,
  )
  .join('')}`,
    }),
  },
  knot: {
    args: (directory) => ['-c', `${directory}/knot.conf`],
    reload: 'SIGHUP',
    files: ({ directory, port, key, zones, primary, notified = [] }) => ({
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
key:
  - id: ${key.name}
    algorithm: ${key.algorithm}
    secret: ${key.secret}
remote:
${primary === undefined ? '' : `  - id: primary\n    address: ${LOCAL}@${primary}\n    key: ${key.name}\n`}
${notified.map((to) => `  - id: to${to}\n    address: ${LOCAL}@${to}\n    key: ${key.name}\n`).join('')}
acl:
  - id: signed
    key: ${key.name}
    action: [transfer, notify]
  - id: local
    address: ${LOCAL}
    action: transfer
template:
  - id: default
    storage: ${directory}
    zonefile-sync: -1
    zonefile-load: difference
    journal-content: changes
zone:
${zones
  .map(
    (zone) => `  - domain: ${zone}
    file: ${zone}.zone
    acl: [signed, local]
${primary === undefined ? (notified.length > 0 ? `    notify: [${notified.map((to) => `to${to}`).join()}]\n` : '') : '    master: primary\n    zonefile-load: none\n    journal-content: all\n'}`,
  )
  .join('')}`,
    }),
  },
  bind: {
    args: (directory) => ['-f', '-n', '2', '-c', `${directory}/named.conf`],
    reload: 'SIGHUP',
    files: ({ directory, port, key, zones, primary, notified = [] }) => ({
      'named.conf': `
options {
  directory "${directory}"; pid-file "${directory}/named.pid"; session-keyfile "${directory}/session.key";
  lock-file none; listen-on port ${port} { ${LOCAL}; }; listen-on-v6 { none; };
  recursion no; allow-query { any; }; dnssec-validation no; empty-zones-enable no; notify explicit;
  transfers-in 100; transfers-per-ns 100; serial-query-rate 1000; notify-rate 1000; startup-notify-rate 1000;
};
controls { };
key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };
${zones
  .map((zone) =>
    primary === undefined
      ? `zone "${zone}" { type primary; file "${zone}.zone"; ixfr-from-differences yes;
  allow-transfer { key "${key.name}"; ${LOCAL}; };
  also-notify { ${notified.map((to) => `${LOCAL} port ${to} key "${key.name}";`).join(' ')} }; };\n`
      : `zone "${zone}" { type secondary; file "${zone}.zone"; allow-transfer { ${LOCAL}; };
  primaries { ${LOCAL} port ${primary} key "${key.name}"; }; allow-notify { key "${key.name}"; ${LOCAL}; };
  min-refresh-time 1; min-retry-time 1; };\n`,
  )
  .join('')}`,
    }),
  },
  powerdns: {
    args: (directory) => [`--config-dir=${directory}`],
    reload: (directory, zone) =>
      run(directory, 'pdns_control', [`--config-dir=${directory}`, 'bind-reload-now', zone]),
    files: ({ directory, port, zones, primary }) => ({
      'pdns.conf': `
launch=bind
bind-config=${directory}/named.conf
bind-dnssec-db=${directory}/dnssec.db
local-address=${LOCAL}:${port}
socket-dir=${directory}
daemon=no
guardian=no
setuid=
setgid=
${primary === undefined ? 'primary=yes' : 'secondary=yes'}
allow-axfr-ips=${LOCAL}
allow-notify-from=${LOCAL}
xfr-cycle-interval=1
bind-check-interval=1
query-cache-ttl=0
cache-ttl=0
negquery-cache-ttl=0
`,
      'named.conf': zones
        .map((zone) =>
          primary === undefined
            ? `zone "${zone}" { type master; file "${directory}/${zone}.zone"; };\n`
            : `zone "${zone}" { type slave; file "${directory}/${zone}.zone"; masters { ${LOCAL}:${primary}; }; };\n`,
        )
        .join(''),
    }),
    // A secondary asks for whole zones, its default: by IXFR, version 4.7 does not notice that a zone was signed.
    async prepare({ directory, key, zones, primary, notified = [] }) {
      const pdnsutil = (...args: string[]) =>
        run(directory, 'pdnsutil', [`--config-dir=${directory}`, ...args]);
      await pdnsutil('create-bind-db', `${directory}/dnssec.db`);
      await pdnsutil('import-tsig-key', key.name, key.algorithm, key.secret);
      for (const zone of zones) {
        await pdnsutil('activate-tsig-key', zone, key.name, primary === undefined ? 'primary' : 'secondary');
        if (primary === undefined)
          for (const to of notified) await pdnsutil('add-meta', zone, 'ALSO-NOTIFY', `${LOCAL}:${to}`);
      }
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

async function run(directory: string, program: string, args: readonly string[]): Promise<void> {
  const { code, text } = await runProgram(program, args, directory);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${text}`);
}
