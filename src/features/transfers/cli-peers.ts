// Adds, lists, changes and removes peers of the operator.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import { DNS_PORT, printListenAddress } from '../../process/listen-address.ts';
import { loadKey, lockKeys } from '../../store/transfers/keys.ts';
import { DNS_OVER_TLS_PORT, type PeerTls } from '../../store/transfers/peer-tls.ts';
import { addPeer, listPeers, type Peer, removePeer, setPeerTls } from '../../store/transfers/peers.ts';
import { printTls, type TlsOptions, tlsFields, tlsOf } from './cli-peer-tls.ts';
import {
  isPeerPort,
  PEER_NAME,
  readKeyName,
  readNetwork,
  readServer,
  WRONG_PEER_NAME,
  WRONG_PORT,
} from './rules.ts';

const MOST_ADDRESSES = 8;
const MOST_NETWORKS = 16;

export interface AddPeerOptions extends TlsOptions {
  readonly to?: readonly string[];
  readonly from?: readonly string[];
  readonly key?: string;
}

export async function addPeerNamed(cli: Cli, name: string, options: AddPeerOptions): Promise<void> {
  const { to = [], from = [], key } = options;
  const tls = tlsOf(options);
  const servers = serversOf(to, tls);
  if (to.length === 0 && from.length === 0 && key === undefined)
    throw new Failure('usage', 'a peer needs an address (--to), a network (--from) or a key (--key)');
  if (to.length === 0 && from.length === 0 && tls.mode === 'strict')
    throw new Failure('usage', '--tls strict: a peer needs an address (--to) or a network (--from)');
  // A key alone does not identify a client over TLS (RFC 9103 §7.5).
  const sources = from.length === 0 && tls.mode === 'strict' ? servers.addresses : from;
  const peer = { name: peerName(name), ...servers, networks: networksOf(sources) };
  const keyName = key === undefined ? undefined : readKeyName(key);
  if (key !== undefined && keyName === undefined)
    throw new Failure('usage', `--key: "${key}" is not the name of a key`);
  const { output } = cli;
  await cli.withStore(async (db) => {
    const refusal = await cli.audited(db, 'peer.add', async (trx, tell) => {
      const found = keyName === undefined ? undefined : await loadKey(trx, null, { name: keyName });
      const keyId = found?.id ?? null;
      const isAbsent = keyId === null || !(await lockKeys(trx, null, [keyId])).has(keyId);
      if (keyName !== undefined && isAbsent) return `no such key: ${keyName}`;
      const id = await addPeer(trx, { ...peer, keyId, tls });
      if (id === undefined) return 'a peer with this name exists';
      tell({ target: { id, name }, after: { ...peer, tsig_key: keyName ?? null, ...tlsFields(tls) } });
      return undefined;
    });
    if (refusal !== undefined) return await output.refuse({ peer: name }, refusal);
    return await output.done({ peer: name }, 'added');
  });
}

export async function listAllPeers(cli: Cli): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const peers = await listPeers(db);
    if (output.json) {
      await output.print(JSON.stringify({ peers: peers.map(peerJson) }));
      return 0;
    }
    const rows = peers.map((peer) => [
      peer.name,
      peer.addresses.map((address) => printServer(address, peer.port)).join(' ') || '-',
      peer.networks.join(' ') || (peer.keyName === null ? '-' : 'any'),
      peer.keyName === null ? '-' : `${peer.keyName}${peer.isKeyRevoked ? ' (revoked)' : ''}`,
      printTls(peer.tls),
      peer.policies.join(' ') || '-',
      peer.primaryOf,
    ]);
    await output.print(printTable(['NAME', 'TO', 'FROM', 'KEY', 'TLS', 'POLICIES', 'PRIMARY OF'], rows));
    return 0;
  });
}

export async function setPeerNamed(cli: Cli, name: string, options: TlsOptions): Promise<void> {
  const tls = tlsOf(options);
  const { output } = cli;
  await cli.withStore(async (db) => {
    const set = await cli.audited(db, 'peer.set', async (trx, tell) => {
      const done = await setPeerTls(trx, name, tls);
      if (done.kind !== 'set') return done;
      const { before, networks } = done;
      tell({
        target: { id: before.id, name },
        before: { networks: before.networks, ...tlsFields(before.tls) },
        after: { networks, ...tlsFields(tls) },
      });
      return done;
    });
    if (set.kind === 'set') return await output.done({ peer: name }, 'set');
    return await output.refuse({ peer: name }, set.kind === 'absent' ? 'no such peer' : set.why);
  });
}

export async function removePeerNamed(cli: Cli, name: string): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const removed = await cli.audited(db, 'peer.remove', async (trx, tell) => {
      const done = await removePeer(trx, name);
      if (done.kind !== 'removed') return done;
      const { id, addresses, port, networks, keyName, tls } = done.peer;
      const before = { addresses, port, networks, tsig_key: keyName, ...tlsFields(tls) };
      tell({ target: { id, name }, before });
      return done;
    });
    if (removed.kind === 'absent') return await output.refuse({ peer: name }, 'no such peer');
    if (removed.kind === 'in_use') return await output.refuse({ peer: name }, usesOf(removed.peer));
    return await output.done({ peer: name }, 'removed');
  });
}

function usesOf({ policies, primaryOf }: Peer): string {
  const uses = [
    ...policies.map((policy) => `policy ${policy}`),
    ...(primaryOf === 0 ? [] : [`${primaryOf} zones whose primary it is`]),
  ];
  return `still used by ${uses.join(', ')}`;
}

function peerName(text: string): string {
  if (PEER_NAME.test(text)) return text;
  throw new Failure('usage', `"${text}": ${WRONG_PEER_NAME}`);
}

function serversOf(
  texts: readonly string[],
  { mode }: PeerTls,
): {
  readonly addresses: readonly string[];
  readonly port: number;
} {
  const servers = texts.map((text) => {
    const server = readServer(text);
    if (server === undefined) throw new Failure('usage', `--to: "${text}" is not an address`);
    return server;
  });
  const port = servers[0]?.port ?? DNS_PORT;
  if (servers.some((server) => server.port !== port))
    throw new Failure('usage', '--to: all addresses of a peer have the same port; add another peer');
  if (!isPeerPort(port)) throw new Failure('usage', `--to: the port ${port}: ${WRONG_PORT}`);
  if (mode !== 'off' && port === DNS_OVER_TLS_PORT)
    throw new Failure(
      'usage',
      `--to: with --tls, the port is that of NOTIFY, usually ${DNS_PORT}; transfers over TLS use --tls-port`,
    );
  if (servers.length > MOST_ADDRESSES)
    throw new Failure('usage', `--to: a peer has at most ${MOST_ADDRESSES} addresses`);
  return { addresses: [...new Set(servers.map(({ address }) => address))], port };
}

function networksOf(texts: readonly string[]): readonly string[] {
  const networks = texts.map((text) => {
    const network = readNetwork(text);
    if (network === undefined) throw new Failure('usage', `--from: "${text}" is not a network`);
    return network;
  });
  if (networks.length > MOST_NETWORKS)
    throw new Failure('usage', `--from: a peer has at most ${MOST_NETWORKS} networks`);
  return [...new Set(networks)];
}

function printServer(address: string, port: number): string {
  return port === DNS_PORT ? address : printListenAddress({ address, port });
}

function peerJson(peer: Peer) {
  const { name, addresses, port, networks, keyName, isKeyRevoked, policies, primaryOf, tls } = peer;
  return {
    ...{ name, addresses, port, networks, policies },
    tsig_key: keyName,
    tsig_key_revoked: isKeyRevoked,
    ...tlsFields(tls),
    primary_of: primaryOf,
  };
}
