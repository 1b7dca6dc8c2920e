// Other operators of a domain below a real parent, each with a server that signs the zone itself, at the address of `ns1.other.zz`
// and `ns2.other.zz`: PowerDNS and BIND, which make keys of their own, and Knot, which signs with keys that it is given.

import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../answer/queries.ts';
import { startDaemon } from '../peers/daemon.ts';
import { askMany, startPeer } from '../peers/peers.ts';
import { dsOfPowerDns, startPowerDns as startServer } from '../peers/power-dns.ts';
import type { RealParent } from '../peers/real-parent.ts';
import { freePort } from '../processes/free-port.ts';
import { runIn } from './run-program.ts';

export interface SigningOperator {
  readonly address: string;
  /** Files that the server, or its tools, wrote with its private keys, and the flags of those that do not say them. */
  readonly keyFiles: readonly string[];
  readonly flags: readonly number[];
  /** The rdata of its DS, as in a zone file. */
  readonly ds: string;
  stop(): Promise<void>;
}

export interface GivenPem {
  readonly pem: string;
  readonly algorithm: number;
  readonly role: 'csk' | 'ksk' | 'zsk';
}

const LAST_LABEL = /\.\d+$/;

async function placeOf(parent: RealParent, apex: string) {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-operator-'));
  await chmod(directory, 0o755);
  const [{ address: ours }] = parent.ours as [(typeof parent.ours)[number]];
  const address = ours.replace(LAST_LABEL, '.9');
  const lines = [
    `$ORIGIN ${apex}`,
    '@ 30 SOA ns1.other.zz. hostmaster.zz. 1 1800 900 604800 30',
    '@ 30 NS ns1.other.zz.',
    '@ 30 NS ns2.other.zz.',
    'www 30 A 198.51.100.7',
  ];
  await writeFile(join(directory, 'zone'), `${lines.join('\n')}\n`);
  return { directory, address, ports: [53, parent.port] };
}

export async function startPowerDns(parent: RealParent, apex: string): Promise<SigningOperator> {
  const { directory, address, ports } = await placeOf(parent, apex);
  const zone = apex.slice(0, -1);
  const listen = ports.map((port) => ({ address, port }));
  const text = await readFile(join(directory, 'zone'), 'utf8');
  const server = await startServer({ zones: [{ apex, text }], signed: [zone], listen });
  const key = join(directory, 'key');
  await writeFile(key, await server.pdnsutil('export-zone-key', zone, '1'));
  return {
    address,
    keyFiles: [key],
    flags: [257],
    ds: await dsOfPowerDns(server, zone),
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** With a policy of one key for keys and another for the data. BIND listens on no address of a network of its own: NSD serves what it signed. */
export async function startBind(parent: RealParent, apex: string): Promise<SigningOperator> {
  const { directory, address, ports } = await placeOf(parent, apex);
  const port = await freePort();
  const config = [
    'dnssec-policy "split" {',
    '  keys { ksk lifetime unlimited algorithm 13; zsk lifetime unlimited algorithm 13; };',
    '};',
    'options {',
    `  directory "${directory}";`,
    `  pid-file "${directory}/named.pid";`,
    `  session-keyfile "${directory}/session.key";`,
    `  listen-on port ${port} { 127.0.0.1; };`,
    '  listen-on-v6 { none; };',
    '  recursion no;',
    '  allow-transfer { any; };',
    '};',
    'controls { };',
    `zone "${apex}" {`,
    '  type primary;',
    '  file "zone";',
    `  key-directory "${directory}";`,
    '  dnssec-policy "split";',
    '  inline-signing yes;',
    '};',
  ];
  await writeFile(join(directory, 'config'), `${config.join('\n')}\n`);
  let text = '';
  const transfer = ['@127.0.0.1', '-p', `${port}`, apex, 'AXFR', '+onesoa', '+noall', '+answer'];
  const daemon = await startDaemon({
    program: 'named',
    files: () => ({}),
    args: () => ['-g', '-c', join(directory, 'config')],
    isReady: async () => {
      text = await runIn(directory, 'dig', transfer).catch(() => '');
      return ['A', 'NS', 'SOA', 'DNSKEY', 'NSEC'].every((type) => text.includes(`RRSIG\t${type} `));
    },
  });
  await daemon.stop();
  const listen = ports.map((each) => ({ address, port: each }));
  const peer = await startPeer('nsd', [{ apex, text }], listen);
  const files = (await readdir(directory)).filter((file) => file.startsWith('K'));
  let ds = '';
  for (const file of files.filter((each) => each.endsWith('.key'))) {
    const key = await readFile(join(directory, file), 'utf8');
    // the program makes a DS of a zone-signing key too
    if (key.includes(' DNSKEY 257 ')) ds = await runIn(directory, 'dnssec-dsfromkey', ['-2', file]);
  }
  return {
    address,
    ds: / DS (\d+ \d+ 2 [0-9A-F]+)/.exec(ds)?.[1] ?? '',
    keyFiles: files.map((file) => join(directory, file)),
    flags: [],
    async stop() {
      await peer.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** With the keys that `keymgr import-pem` takes in. */
export async function startKnot(
  parent: RealParent,
  apex: string,
  keys: readonly GivenPem[],
): Promise<SigningOperator> {
  const { directory, address, ports } = await placeOf(parent, apex);
  const config = [
    'server:',
    ...ports.map((port) => `  listen: ${address}@${port}`),
    `  rundir: ${directory}`,
    'database:',
    `  storage: ${directory}`,
    'log:',
    '  - target: stderr',
    '    any: info',
    'policy:',
    '  - id: given',
    '    manual: on',
    `    single-type-signing: ${keys.length === 1 ? 'on' : 'off'}`,
    'zone:',
    `  - domain: ${apex}`,
    `    file: ${directory}/zone`,
    '    zonefile-sync: -1',
    '    zonefile-load: difference-no-serial',
    '    journal-content: all',
    '    dnssec-signing: on',
    '    dnssec-policy: given',
  ];
  await writeFile(join(directory, 'config'), `${config.join('\n')}\n`);
  const keymgr = (...args: string[]) =>
    runIn(directory, 'keymgr', ['-c', join(directory, 'config'), apex, ...args]);
  for (const [i, { pem, algorithm, role }] of keys.entries()) {
    await writeFile(join(directory, `${i}.pem`), pem);
    const uses = [`ksk=${role === 'zsk' ? 'no' : 'yes'}`, `zsk=${role === 'ksk' ? 'no' : 'yes'}`];
    const times = ['created', 'publish', 'ready', 'active'].map((time) => `${time}=-1h`);
    await keymgr('import-pem', join(directory, `${i}.pem`), `algorithm=${algorithm}`, ...uses, ...times);
  }
  const [, ds = ''] = / DS (\d+ \d+ 2 [0-9A-Fa-f]+)/.exec(await keymgr('ds')) ?? [];
  const query = queryFor({ name: parseName(apex), type: TYPE.DNSKEY, udpPayloadSize: 1232 });
  const daemon = await startDaemon({
    program: 'knotd',
    files: () => ({}),
    args: () => ['-c', join(directory, 'config')],
    isReady: async () => {
      const [reply] = await askMany(parent.port, [query], { address, tries: 1, timeoutMs: 300 });
      return reply !== undefined && Buffer.from(reply).readUInt16BE(6) > 0; // RFC 1035 §4.1.1: ANCOUNT
    },
  });
  return {
    address,
    ds,
    keyFiles: [],
    flags: [],
    async stop() {
      await daemon.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
