// Unbound as a validator on loopback: what it makes of our zones.

import { connect } from 'node:net';
import { join } from 'node:path';
import { startDaemon } from '../peers/daemon.ts';
import { freePort } from '../processes/free-port.ts';
import {
  answers,
  askResolver,
  BARE_WILDCARD_ROW,
  DNAME_CNAME_ROW,
  type Space,
  type ValidatingResolver,
  WILDCARD_NAME_ROW,
} from './validator.ts';

export type UnboundKind = 'plain' | 'strict' | 'aggressive' | 'minimising';

/** What each kind differs in. `strict` wants a signature by every algorithm of the DS set (RFC 4035 §2.2). */
const KINDS: Readonly<Record<UnboundKind, readonly string[]>> = {
  plain: [],
  strict: ['harden-algo-downgrade: yes', 'harden-below-nxdomain: yes', 'harden-referral-path: yes'],
  aggressive: ['aggressive-nsec: yes', 'harden-below-nxdomain: yes'], // RFC 8198, RFC 8020
  minimising: ['qname-minimisation: yes', 'qname-minimisation-strict: yes'], // RFC 9156
};
const DEFAULTS: readonly string[] = [
  'harden-algo-downgrade: no',
  'harden-below-nxdomain: no',
  'aggressive-nsec: no',
  'qname-minimisation: no',
];

interface UnboundOptions {
  readonly kind?: UnboundKind;
  /** False: nothing is taken from a cache. */
  readonly keeps?: boolean;
  /** Further settings of the server. */
  readonly settings?: readonly string[];
}

/** The limit of NSEC3 iterations is ours, 100. */
export async function startUnbound(
  space: Space,
  { kind = 'plain', keeps = true, settings = [] }: UnboundOptions = {},
): Promise<ValidatingResolver> {
  const port = await freePort();
  const own = KINDS[kind].map((line) => line.split(':')[0]);
  const lines = (directory: string) => [
    'server:',
    `  directory: "${directory}"`,
    '  chroot: ""',
    '  username: ""',
    '  pidfile: ""',
    '  use-syslog: no',
    '  verbosity: 0',
    '  interface: 127.0.0.1',
    `  port: ${port}`,
    '  do-not-query-localhost: no',
    '  do-ip6: no',
    '  unblock-lan-zones: yes',
    '  num-threads: 1',
    '  num-queries-per-thread: 4096',
    '  outgoing-range: 1024',
    '  ede: yes',
    '  module-config: "validator iterator"',
    '  val-nsec3-keysize-iterations: "1024 100 2048 100 4096 100"',
    ...(keeps ? [] : ['  cache-max-ttl: 0', '  cache-max-negative-ttl: 0']),
    ...[...DEFAULTS.filter((line) => !own.includes(line.split(':')[0])), ...KINDS[kind], ...settings].map(
      (line) => `  ${line}`,
    ),
    ...space.anchors.map((anchor) => `  trust-anchor: "${anchor}"`),
    ...('root' in space.reached ? [`  root-hints: "${directory}/root.hints"`] : []),
    'remote-control:',
    '  control-enable: yes',
    `  control-interface: "${directory}/control"`,
    '  control-use-cert: no',
    ...('root' in space.reached ? [] : space.reached.stubs).flatMap(
      ({ zone, address = '127.0.0.1', port: at }) => [
        'stub-zone:',
        `  name: "${zone}"`,
        `  stub-addr: ${address}@${at}`,
        '  stub-prime: no',
      ],
    ),
  ];
  const daemon = await startDaemon({
    program: 'unbound',
    isReady: () => answers(port),
    files: (directory) => ({
      'unbound.conf': `${lines(directory).join('\n')}\n`,
      ...('root' in space.reached && {
        'root.hints': `. 3600000 NS a.root.\na.root. 3600000 A ${space.reached.root}\n`,
      }),
    }),
    args: (directory) => ['-d', '-c', join(directory, 'unbound.conf')],
  });
  return {
    name: kind === 'plain' ? 'unbound' : `unbound (${kind})`,
    port,
    // A covered wildcard is none for its cache, also where the record's next name lies below the wildcard; and it rejects that
    // record where its owner is a wildcard's name. BIND judges these.
    judges: ({ row }) => ![WILDCARD_NAME_ROW, DNAME_CNAME_ROW, BARE_WILDCARD_ROW].includes(row),
    ask: (questions) => askResolver(port, questions),
    forget: () => command(join(daemon.directory, 'control'), 'flush_zone .'),
    stop: daemon.stop,
  };
}

function command(socketPath: string, words: string): Promise<void> {
  return new Promise((done, fail) => {
    const socket = connect(socketPath, () => socket.write(`UBCT1 ${words}\n`));
    let told = '';
    socket.on('data', (text) => (told += text.toString()));
    socket.on('error', fail);
    socket.on('close', () => {
      if (told.startsWith('ok')) done();
      else fail(new Error(`unbound: ${words}: ${told}`));
    });
  });
}
