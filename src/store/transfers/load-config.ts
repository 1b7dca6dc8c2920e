// Loads the configuration of zone transfers for a node: keys, peers, which peers get which zones, and which keys have
// grants for dynamic updates.

import type { TsigAlgorithm } from '../../dns/message/tsig.ts';
import type { Name } from '../../dns/name.ts';
import type { Connection } from '../postgres/connection.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { SealedTsigKey } from '../secrets/tsig-secrets.ts';
import type { PeerTlsMode } from './peer-tls.ts';

interface StoredKey extends SealedTsigKey {
  readonly id: number;
  readonly algorithm: TsigAlgorithm;
  /** True if peers sign with the key. False if a primary has chosen it. */
  readonly isServed: boolean;
  readonly expiresAtMs: number | undefined;
}

export interface StoredPeer {
  readonly id: number;
  /** Undefined for a peer of a domain. */
  readonly name: string | undefined;
  /** The owner of the domain. Undefined for a peer of the operator. */
  readonly accountId: number | undefined;
  readonly addresses: readonly string[];
  readonly port: number;
  /** In CIDR notation. Empty for any source. */
  readonly networks: readonly string[];
  readonly keyId: number | undefined;
  readonly tls: PeerTlsMode;
}

export interface StoredGrant {
  readonly peerId: number;
  /** True if the peer may transfer the zone. */
  readonly transfers: boolean;
  /** True if the peer is notified of changes. */
  readonly notified: boolean;
}

export interface StoredTransferConfig {
  readonly version: number;
  /** All keys that are not revoked, except those of primaries that no peer uses. */
  readonly keys: readonly StoredKey[];
  readonly peers: readonly StoredPeer[];
  readonly policies: ReadonlyMap<number, readonly StoredGrant[]>;
  readonly defaultPolicy: number | undefined;
  /** Policies of zones that do not have the default one, by zone id. */
  readonly policyOfZone: ReadonlyMap<number, number>;
  /** Peers of single zones, in addition to those of the policy. */
  readonly peersOfZone: ReadonlyMap<number, readonly StoredGrant[]>;
  /** The primaries of the zones of which this fleet is a secondary. */
  readonly primaries: ReadonlyMap<Name, readonly number[]>;
  /** The keys with grants for dynamic updates, by zone. Empty if the node takes none. */
  readonly updateKeys: ReadonlyMap<Name, ReadonlySet<number>>;
}

/** Returns undefined if the configuration still has version `known`. */
export async function loadTransferConfig(
  connection: Connection,
  known: number | undefined,
  { takesUpdates }: { readonly takesUpdates: boolean },
): Promise<StoredTransferConfig | undefined> {
  // The version is read first: a change that commits meanwhile has another one, and is loaded again.
  const [[version] = []] = await connection.query('select version from transfer_config');
  if (version === known) return undefined;
  const keys = await connection.query(
    `select k.id, k.name, k.algorithm, k.use = 'serve', k.wrap, k.sealed,
       (extract(epoch from k.expires_at) * 1000)::float8
     from tsig_keys k
     where k.revoked_at is null and (k.use = 'serve' or exists (select from peers p where p.key_id = k.id))`,
  );
  const peers = await connection.query(
    `select p.id, p.name, array(select host(a) from unnest(p.addresses) with ordinality u(a, n) order by n),
       p.port, p.networks::text[], p.key_id, p.tls, z.account_id
     from peers p left join zone_peers z on z.peer_id = p.id`,
  );
  const policies = await connection.query(
    `select t.id, t.is_default, p.peer_id, p.transfers, p.notified
     from transfer_policies t left join policy_peers p on p.policy_id = t.id order by t.id, p.peer_id`,
  );
  // With deleted zones: one that is loaded again keeps its policy, and no change of the configuration follows.
  const policyOfZone = await connection.query('select id, policy_id from zones where policy_id is not null');
  const peersOfZone = await connection.query(
    'select zone_id, peer_id, transfers, notified from zone_peers order by zone_id, peer_id',
  );
  const primaries = await connection.query('select zone, peers from secondary_zones');
  const updateKeys = takesUpdates
    ? await connection.query('select zone, array_agg(key_id) from update_grant_zones group by zone')
    : [];
  return {
    version: version as number,
    keys: keys.map(decodeKey),
    peers: peers.map(decodePeer),
    policies: grantsBy(policies.map(([id, , ...grant]) => [id, ...grant])),
    defaultPolicy: policies.find(([, isDefault]) => isDefault)?.[0] as number | undefined,
    policyOfZone: new Map(policyOfZone as [number, number][]),
    peersOfZone: grantsBy(peersOfZone),
    primaries: idsByZone(primaries),
    updateKeys: new Map([...idsByZone(updateKeys)].map(([zone, ids]) => [zone, new Set(ids)])),
  };
}

function idsByZone(rows: readonly unknown[][]): Map<Name, number[]> {
  return new Map(
    rows.map(([zone, ids]) => [decodeNameColumn(zone as string), (ids as unknown[]).map(Number)]),
  );
}

function decodeKey(row: readonly unknown[]): StoredKey {
  const [id, name, algorithm, isServed, wrap, sealed, expiresAtMs] = row as [
    number,
    string,
    TsigAlgorithm,
    boolean,
    string,
    Uint8Array,
    number | null,
  ];
  return { id, name, algorithm, isServed, wrap, sealed, expiresAtMs: expiresAtMs ?? undefined };
}

function decodePeer(row: readonly unknown[]): StoredPeer {
  const [id, name, addresses, port, networks, keyId, tls, accountId] = row as [
    number,
    string | null,
    string[],
    number,
    string[],
    number | null,
    PeerTlsMode,
    number | null,
  ];
  const optional = { name: name ?? undefined, keyId: keyId ?? undefined, accountId: accountId ?? undefined };
  return { id, addresses, port, networks, tls, ...optional };
}

/** Groups rows of id, peer, transfers, notified. A row without a peer only names the group. */
function grantsBy(rows: readonly unknown[][]): Map<number, StoredGrant[]> {
  const groups = new Map<number, StoredGrant[]>();
  for (const [id, peerId, transfers, notified] of rows as [number, number | null, boolean, boolean][]) {
    const group = groups.get(id);
    const grants = peerId === null ? [] : [{ peerId, transfers, notified }];
    if (group === undefined) groups.set(id, grants);
    else group.push(...grants);
  }
  return groups;
}
