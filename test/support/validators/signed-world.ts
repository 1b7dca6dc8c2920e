// A signed private internet in a separate loopback network on port 53: a root, the TLDs `zz` (NSEC) and `yy` (NSEC3 with
// opt-out), zones below them on the tested server, and their children on another one.

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { type SignedText, signWith } from '../dnssec/signing-programs.ts';
import { type Peer, type PeerAddress, startPeer, type ZoneText } from '../peers/peers.ts';
import { startTogether } from '../tests/start-together.ts';
import type { RootSpace } from './validator.ts';

export const TLDS = ['zz.', 'yy.'] as const;

export interface SignedWorld {
  readonly space: RootSpace;
  readonly subject: PeerAddress;
  stop(): Promise<void>;
}

/** Addresses that zones contain before any server listens there. */
export interface Network {
  readonly root: string;
  readonly tlds: string;
  readonly subject: string;
  readonly children: string;
}

export function chooseNetwork(): Network {
  const network = `127.${randomInt(64, 250)}.${randomInt(1, 250)}`;
  return {
    root: `${network}.1`,
    tlds: `${network}.2`,
    subject: `${network}.4`,
    children: `${network}.5`,
  };
}

/** Name of the tested server for a zone's NS records. */
export function subjectName(tld: string): string {
  return `ours.nic.${tld}`;
}

/** `zones` are delegated by their TLD to the tested server, with their DS. */
export async function startSignedWorld(
  network: Network,
  zones: readonly SignedText[],
  children: readonly ZoneText[],
): Promise<SignedWorld> {
  const tlds = await Promise.all(TLDS.map((tld) => signTld(network, tld, zones)));
  const root = await signWith(
    { name: 'root', program: 'dnssec-signzone', algorithm: 8, isSplit: true },
    { apex: '.', text: rootText(network, tlds) },
  );
  const at = (address: string): PeerAddress[] => [{ address, port: 53 }];
  const servers = await startTogether<[Peer, Peer, Peer]>([
    startPeer('nsd', [root], at(network.root)),
    startPeer('nsd', tlds, at(network.tlds)),
    startPeer('nsd', children, at(network.children)),
  ]);
  return {
    space: { anchors: [root.ds], reached: { root: network.root } },
    subject: { address: network.subject, port: 53 },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function signTld(network: Network, tld: string, zones: readonly SignedText[]): Promise<SignedText> {
  const text = [
    '@ 3600 SOA a.nic hostmaster.nic 1 1800 900 604800 60',
    '@ 3600 NS a.nic',
    `a.nic 3600 A ${network.tlds}`,
    `ours.nic 3600 A ${network.subject}`,
    ...zones
      .filter(({ apex }) => apex.endsWith(`.${tld}`))
      .flatMap(({ apex, ds }) => [`${apex} 3600 NS ${subjectName(tld)}`, ds]),
  ];
  const nsec3 = tld === 'yy.' ? { iterations: 0, salt: '', optOut: true } : undefined;
  return signWith(
    { name: tld, program: 'dnssec-signzone', algorithm: 13, ...(nsec3 && { nsec3 }) },
    { apex: tld, text: `$TTL 3600\n${text.join('\n')}` },
  );
}

function rootText(network: Network, tlds: readonly SignedText[]): string {
  const lines = [
    '$TTL 3600',
    '@ 3600 SOA a.root. hostmaster.root. 1 1800 900 604800 60',
    '@ 3600 NS a.root.',
    `a.root. 3600 A ${network.root}`,
    ...tlds.flatMap(({ apex, ds }) => [
      `${apex} 3600 NS a.nic.${apex}`,
      `a.nic.${apex} 3600 A ${network.tlds}`,
      ds,
    ]),
  ];
  return lines.join('\n');
}

/** Port 53 requires root, and loopback has more than one address only on Linux. */
export function canListenOn53(): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false);
  const socket = createSocket('udp4');
  return new Promise<boolean>((done) => {
    socket.once('error', () => done(false));
    socket.bind(53, '127.61.1.1', () => done(true));
  }).finally(() => socket.close());
}
