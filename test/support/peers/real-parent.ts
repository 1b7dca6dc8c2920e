// A root and a TLD on real nameservers in a separate loopback network: the root on NSD, and the TLD `zz` on NSD and Knot,
// so that two programs must agree on each delegation. Delegations change while they run.

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { parseName, ROOT } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../answer/queries.ts';
import { signZoneText } from '../dnssec/sign-zone-text.ts';
import { dsOf, makeKey } from '../dnssec/signing.ts';
import { freePort } from '../processes/free-port.ts';
import { startTogether } from '../tests/start-together.ts';
import { until } from '../tests/until.ts';
import { askMany, isInstalled, type Peer, type PeerAddress, startPeer, type ZoneText } from './peers.ts';

export interface RealParent {
  /** The port of all listeners in this network. */
  readonly port: number;
  /** The addresses of `ns1.fleet.zz` (and of `ns3`), and of `ns2.fleet.zz` (and of `ns4`), unless there are more. */
  readonly ours: readonly PeerAddress[];
  /** In the format of IANA's file. */
  readonly rootHints: string;
  /** Settings for Zonefleet processes that use this root. */
  readonly settings: Readonly<Record<string, string>>;
  /** Changes delegations, by label below `zz`. Resolves when every server returns them. */
  delegate(changes: Readonly<Record<string, readonly string[]>>): Promise<void>;
  /** Replaces the DS records of a label in the TLD, in zone-file format. Without any, removes them. */
  showDs(label: string, ...ds: readonly (string | undefined)[]): Promise<void>;
  showAllDs(changes: Readonly<Record<string, readonly string[]>>): Promise<void>;
  stop(): Promise<void>;
}

export const FLEET_SETS = [
  ['ns1.fleet.zz', 'ns2.fleet.zz'],
  ['ns3.fleet.zz', 'ns4.fleet.zz'],
] as const;

const missing = [
  ...(process.platform === 'linux' ? [] : ['Linux']), // on other systems, loopback has only one address
  ...['nsd', 'knotd'].filter((program) => !isInstalled(program)),
];
export const NEEDS_PARENT = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

const TLD = 'zz.';
const TTL = 30;
/** Last octet of the fleet's first address. */
const FIRST_HOST = 4;

/**
 * `delegated` is as for `delegate`. With `isSigned`, root and TLD are signed, and the Zonefleet processes validate.
 * `addresses`: number of addresses of the fleet, which its nameserver names take in turn.
 */
export async function startRealParent(
  delegated: Readonly<Record<string, readonly string[]>>,
  { isSigned = false, addresses = 2 }: { readonly isSigned?: boolean; readonly addresses?: number } = {},
): Promise<RealParent> {
  const network = `127.${randomInt(64, 250)}.${randomInt(1, 250)}`;
  const port = await freePort();
  const has53 = await canListen(`${network}.1`, 53);
  const at = (host: number): PeerAddress[] =>
    [port, ...(has53 ? [53] : [])].map((each) => ({ address: `${network}.${host}`, port: each }));
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-parent-'));
  const rootHints = `. 3600000 NS a.root.\na.root. 3600000 A ${network}.1\n`;
  await writeFile(join(directory, 'root.hints'), rootHints);

  const delegations = new Map(Object.entries(delegated));
  const dsOfLabels = new Map<string, readonly string[]>();
  let serial = 1;
  const keys = isSigned ? { root: makeKey(13), tld: makeKey(13) } : undefined;
  const nowSeconds = Math.floor(Date.now() / 1000);
  const time = { inception: nowSeconds - 3600, expiration: nowSeconds + 30 * 86_400 };
  const tld = () => {
    const zone = tldZone({ network, addresses }, serial, delegations, dsOfLabels);
    return keys === undefined ? zone : signZoneText(zone, keys.tld, time);
  };
  let rootText = rootZone(network);
  if (keys !== undefined) {
    const ds = printRdata(TYPE.DS, dsOf(parseName(TLD), keys.tld));
    rootText = signZoneText(
      { ...rootText, text: `${rootText.text}\n${TLD} 86400 DS ${ds}` },
      keys.root,
      time,
    );
    const anchor = printRdata(TYPE.DS, dsOf(ROOT, keys.root));
    await writeFile(join(directory, 'root.anchors'), `. IN DS ${anchor}\n`);
  }
  const publish = async () => {
    serial++;
    for (const peer of registry) await peer.rewrite(tld());
    for (const host of [2, 3]) {
      const [place] = at(host) as [PeerAddress];
      await until(async () => (await serialAt(place)) === serial, `${place.address} has serial ${serial}`);
    }
  };
  const [root, ...registry] = await startTogether<[Peer, Peer, Peer]>([
    startPeer('nsd', [rootText], at(1)),
    startPeer('nsd', [tld()], at(2)),
    startPeer('knot', [tld()], at(3)),
  ]);
  const showAllDs: RealParent['showAllDs'] = async (changes) => {
    for (const [label, ds] of Object.entries(changes)) dsOfLabels.set(label, ds);
    await publish();
  };
  return {
    port,
    ours: Array.from({ length: addresses }, (_, i) => at(FIRST_HOST + i)).flat(),
    rootHints,
    settings: {
      ROOT_HINTS: join(directory, 'root.hints'),
      DNS_PORT_OUT: String(port),
      RESOLVER_ALLOW: '127.0.0.0/8',
      ...(isSigned && { TRUST_ANCHORS: join(directory, 'root.anchors') }),
    },
    async delegate(changes) {
      for (const [label, names] of Object.entries(changes)) delegations.set(label, names);
      await publish();
    },
    showDs: (label, ...ds) => showAllDs({ [label]: ds.flatMap((each) => each ?? []) }),
    showAllDs,
    async stop() {
      await Promise.all([root, ...registry].map((peer) => peer.stop()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function rootZone(network: string): ZoneText {
  const text = [
    '@ 86400 SOA a.root. hostmaster.root. 1 1800 900 604800 30',
    '@ 86400 NS a.root.',
    `a.root. 86400 A ${network}.1`,
    'zz. 86400 NS a.nic.zz.',
    'zz. 86400 NS b.nic.zz.',
    `a.nic.zz. 86400 A ${network}.2`,
    `b.nic.zz. 86400 A ${network}.3`,
  ];
  return { apex: '.', text: text.join('\n') };
}

/** `fleet.zz` is Zonefleet's. No server listens for `other.zz`. */
function tldZone(
  { network, addresses }: { network: string; addresses: number },
  serial: number,
  delegations: ReadonlyMap<string, readonly string[]>,
  dsOfLabels: ReadonlyMap<string, readonly string[]>,
): ZoneText {
  const text = [
    `@ ${TTL} SOA a.nic hostmaster.nic ${serial} 1800 900 604800 ${TTL}`,
    `@ ${TTL} NS a.nic`,
    `@ ${TTL} NS b.nic`,
    ...FLEET_SETS.flat().map((name, i) => `${name}. ${TTL} A ${network}.${FIRST_HOST + (i % addresses)}`),
    ...[
      ['a.nic', 2],
      ['b.nic', 3],
      ['ns1.other', 9],
      ['ns2.other', 9],
    ].map(([name, host]) => `${name} ${TTL} A ${network}.${host}`),
    ...[...delegations].flatMap(([label, names]) => names.map((name) => `${label} ${TTL} NS ${name}.`)),
    ...[...dsOfLabels].flatMap(([label, ds]) => ds.map((each) => `${label} ${TTL} DS ${each}`)),
  ];
  return { apex: TLD, text: text.join('\n') };
}

const SOA = queryFor({ name: parseName(TLD), type: TYPE.SOA, udpPayloadSize: 1232 });

async function serialAt({ address, port }: PeerAddress): Promise<number | undefined> {
  const [reply] = await askMany(port, [SOA], { address, tries: 1 });
  const rdata = reply === undefined ? undefined : decodeMessage(reply).answers[0]?.rdata;
  return rdata && Buffer.from(rdata).readUInt32BE(rdata.length - 20); // RFC 1035 §3.3.13
}

async function canListen(address: string, port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  const can = await new Promise<boolean>((done) => {
    socket.once('error', () => done(false));
    socket.bind(port, address, () => done(true));
  });
  socket.close();
  return can;
}
