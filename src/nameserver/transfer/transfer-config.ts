// The configuration of zone transfers, prepared for lookups: keys with their secrets, and the peers of each zone.

import type { TsigAlgorithm, TsigKey } from '../../dns/message/tsig.ts';
import type { Name } from '../../dns/name.ts';
import { type Network, parseNetwork } from '../../dns/record/network.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import type { KeySecret } from '../../store/secrets/key-boxes.ts';
import { unsealTsigKey } from '../../store/secrets/tsig-secrets.ts';
import type { StoredGrant, StoredPeer, StoredTransferConfig } from '../../store/transfers/load-config.ts';
import type { KnownPeer } from './access.ts';
import type { NotifiedPeer } from './notify-sender.ts';

export interface ServedKey {
  readonly id: number;
  readonly name: Name;
  readonly algorithm: TsigAlgorithm;
  readonly expiresAtMs: number | undefined;
  /** Undefined if TSIG_SECRETS does not open the key. */
  readonly key: TsigKey | undefined;
}

export interface TransferPeer
  extends Omit<KnownPeer, 'addresses' | 'tls'>,
    Omit<NotifiedPeer, 'key'>,
    Pick<StoredPeer, 'accountId' | 'tls'> {
  /** The key that signs messages to and from the peer. Undefined if there is none, or if it cannot be used. */
  readonly key: ServedKey | undefined;
}

/** A server that a zone is copied from. Its networks include its addresses. */
type Primary = Pick<TransferPeer, 'networks' | 'keyId' | 'key'>;

/** A peer and its rights to one zone. */
interface Grant extends Omit<StoredGrant, 'peerId'> {
  readonly peer: TransferPeer;
}

const NONE: readonly Grant[] = [];

export class TransferConfig {
  readonly version: number;
  readonly peers: readonly TransferPeer[];
  /** True if a peer is notified of changes of any zone. */
  readonly notifies: boolean;
  /** Names of keys that TSIG_SECRETS does not open. */
  readonly unreadable: readonly string[];
  readonly #served = new Map<Name, ServedKey>();
  readonly #policies: ReadonlyMap<number, readonly Grant[]>;
  readonly #defaultPolicy: readonly Grant[];
  readonly #policyOfZone: ReadonlyMap<number, number>;
  readonly #peersOfZone: ReadonlyMap<number, readonly Grant[]>;
  readonly #primaries: ReadonlyMap<Name, readonly Primary[]>;
  readonly #updateKeys: StoredTransferConfig['updateKeys'];

  constructor(stored: StoredTransferConfig, secrets: readonly KeySecret[]) {
    this.version = stored.version;
    const keys = new Map<number, ServedKey>();
    for (const sealed of stored.keys) {
      const { id, algorithm, expiresAtMs } = sealed;
      const name = decodeNameColumn(sealed.name);
      const secret = unsealTsigKey(secrets, sealed);
      const key = { id, name, algorithm, expiresAtMs, key: secret && { name, algorithm, secret } };
      keys.set(id, key);
      if (sealed.isServed) this.#served.set(name, key);
    }
    this.unreadable = stored.keys.filter(({ id }) => keys.get(id)?.key === undefined).map(({ name }) => name);
    const peers = new Map(stored.peers.map((peer) => [peer.id, preparePeer(peer, keys)]));
    this.peers = [...peers.values()];
    this.#policies = grantsOf(stored.policies, peers);
    this.#defaultPolicy =
      (stored.defaultPolicy === undefined ? undefined : this.#policies.get(stored.defaultPolicy)) ?? NONE;
    this.#policyOfZone = stored.policyOfZone;
    this.#peersOfZone = grantsOf(stored.peersOfZone, peers);
    const groups = [...this.#policies.values(), ...this.#peersOfZone.values()];
    this.notifies = groups.some((grants) => grants.some(({ notified }) => notified));
    this.#primaries = new Map(
      [...stored.primaries].map(([zone, ids]) => [zone, ids.flatMap((id) => asPrimary(peers.get(id)))]),
    );
    this.#updateKeys = stored.updateKeys;
  }

  /** Networks and addresses of the operator's peers. Those that customers have chosen are not exempt from limits. */
  get operatorNetworks(): readonly Network[] {
    return this.peers.filter(({ name }) => name !== undefined).flatMap(sourcesOf);
  }

  /** Returns the key with this name that peers sign with. */
  keyNamed(name: Name): ServedKey | undefined {
    return this.#served.get(name);
  }

  /** Returns the peers of a zone: those of its policy, and its own. */
  grantsOf(zoneId: number): readonly Grant[] {
    const policy = this.#policyOfZone.get(zoneId);
    const shared = policy === undefined ? this.#defaultPolicy : (this.#policies.get(policy) ?? NONE);
    const own = this.#peersOfZone.get(zoneId) ?? NONE;
    if (own.length === 0) return shared;
    return shared.length === 0 ? own : [...shared, ...own];
  }

  /** Returns the primaries of a zone of which this fleet is a secondary, or undefined. */
  primariesOf(apex: Name): readonly Primary[] | undefined {
    return this.#primaries.get(apex);
  }

  /** Returns true if the key has a grant for dynamic updates in the zone. The API also checks what it may change. */
  mayUpdate(keyId: number, apex: Name): boolean {
    return this.#updateKeys.get(apex)?.has(keyId) ?? false;
  }

  /** Returns the peers of a zone that can be notified: they have an address, and their key can be used. */
  notifiedPeersOf(zoneId: number, nowMs: number): NotifiedPeer[] {
    return this.grantsOf(zoneId).flatMap(({ notified, peer }) => {
      const notifiable = notified ? asNotified(peer, nowMs) : undefined;
      return notifiable === undefined ? [] : [notifiable];
    });
  }

  /** Returns all peers that can be notified. */
  notifiablePeers(nowMs: number): NotifiedPeer[] {
    return this.peers.map((peer) => asNotified(peer, nowMs)).filter((peer) => peer !== undefined);
  }
}

/** Returns true if the key may still be used. */
export function isValidAt({ expiresAtMs }: ServedKey, nowMs: number): boolean {
  return expiresAtMs === undefined || nowMs < expiresAtMs;
}

function asNotified(peer: TransferPeer, nowMs: number): NotifiedPeer | undefined {
  const { id, name, addresses, port, keyId, key } = peer;
  if (addresses.length === 0) return undefined;
  const signed = key !== undefined && isValidAt(key, nowMs) ? key.key : undefined;
  return keyId !== undefined && signed === undefined ? undefined : { id, name, addresses, port, key: signed };
}

function asPrimary(peer: TransferPeer | undefined): Primary[] {
  if (peer === undefined) return [];
  const { keyId, key } = peer;
  return [{ networks: sourcesOf(peer), keyId, key }];
}

function sourcesOf({ networks, addresses }: TransferPeer): Network[] {
  return [...networks, ...parseNetworks(addresses)];
}

function parseNetworks(texts: readonly string[]): Network[] {
  return texts.map(parseNetwork).filter((network) => network !== undefined);
}

function preparePeer(peer: StoredPeer, keys: ReadonlyMap<number, ServedKey>): TransferPeer {
  const { keyId } = peer;
  return {
    ...peer,
    networks: parseNetworks(peer.networks),
    key: keyId === undefined ? undefined : keys.get(keyId),
  };
}

function grantsOf(
  stored: ReadonlyMap<number, readonly StoredGrant[]>,
  peers: ReadonlyMap<number, TransferPeer>,
): Map<number, readonly Grant[]> {
  return new Map(
    [...stored].map(([id, grants]) => [
      id,
      grants.flatMap(({ peerId, transfers, notified }) => {
        const peer = peers.get(peerId);
        return peer === undefined ? [] : [{ peer, transfers, notified }];
      }),
    ]),
  );
}
