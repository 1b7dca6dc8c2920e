// Finds the peer that a message comes from, by its source address and its TSIG key.

import { printAddress } from '../../dns/record/ip-address.ts';
import { isInNetwork, type Network } from '../../dns/record/network.ts';

/** The part of a peer that identifies its messages. */
export interface KnownPeer {
  readonly networks: readonly Network[];
  /** Where the peer listens. Of peers with the same key, the one that listens at the source has sent the message. */
  readonly addresses?: readonly string[];
  /** Undefined if the peer signs nothing. */
  readonly keyId: number | undefined;
}

interface Sender {
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
  /** The key of a verified signature. Undefined if the message is not signed. */
  readonly keyId: number | undefined;
}

/**
 * Returns the peer that the message comes from, one with a key first, and one that listens at the source before others.
 * The source must be in the peer's networks, if it has any, and the message must be signed with its key, if it has one.
 * A peer with neither matches nothing.
 */
export function findPeer<P extends KnownPeer>(peers: Iterable<P>, sender: Sender): P | undefined {
  const address = unmapped(sender.address);
  const text = addressText(address);
  let found: P | undefined;
  let foundRank = 0;
  for (const peer of peers) {
    const { networks, keyId, addresses = [] } = peer;
    if (networks.length === 0 && keyId === undefined) continue;
    if (keyId !== undefined && keyId !== sender.keyId) continue;
    if (networks.length > 0 && !networks.some((network) => isInNetwork(network, address))) continue;
    const rank = 1 + (addresses.includes(text) ? 1 : 0) + (keyId === undefined ? 0 : 2);
    if (rank <= foundRank) continue;
    found = peer;
    foundRank = rank;
  }
  return found;
}

/** Returns the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2), which a socket for both families reports. */
function unmapped(address: Uint8Array): Uint8Array {
  if (address.length !== 16 || address[10] !== 0xff || address[11] !== 0xff) return address;
  return address.subarray(0, 10).some((octet) => octet !== 0) ? address : address.subarray(12);
}

/** Returns the text of an address of 4 or 16 octets. */
export function addressText(address: Uint8Array): string {
  return printAddress(unmapped(address));
}
