// Finds the peer that a message comes from, by its source address and its TSIG key, and decides over which transports it
// may transfer zones.

import { printAddress } from '../../dns/record/ip-address.ts';
import { isInNetwork, type Network } from '../../dns/record/network.ts';
import type { PeerTlsMode } from '../../store/transfers/peer-tls.ts';
import { TRANSPORT } from '../answer/transports.ts';
import type { SlowMessage } from './messages.ts';

/** The part of a peer that identifies its messages. */
export interface KnownPeer {
  readonly networks: readonly Network[];
  /** Addresses at which the peer listens. Of several peers with the same key, the one that listens at the source is the sender. */
  readonly addresses?: readonly string[];
  /** Undefined if the peer signs nothing. */
  readonly keyId: number | undefined;
  /** Undefined for a primary, which transfers nothing. */
  readonly tls?: PeerTlsMode;
}

interface Sender {
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
  /** The key of a verified signature. Undefined if the message is not signed. */
  readonly keyId: number | undefined;
}

/**
 * Returns the peer that the message comes from, one with a key first, and one that listens at the source before others.
 * Among equals, a strict one is first, so that another peer does not allow it to transfer without TLS.
 * The source must be in the peer's networks, if it has any, and the message must be signed with its key, if it has one.
 * A peer with neither matches nothing.
 */
export function findPeer<P extends KnownPeer>(peers: Iterable<P>, sender: Sender): P | undefined {
  const address = unmapped(sender.address);
  const text = addressText(address);
  let found: P | undefined;
  let foundRank = 0;
  for (const peer of peers) {
    const { networks, keyId, addresses = [], tls } = peer;
    if (networks.length === 0 && keyId === undefined) continue;
    if (keyId !== undefined && keyId !== sender.keyId) continue;
    if (networks.length > 0 && !networks.some((network) => isInNetwork(network, address))) continue;
    const rank =
      1 + (tls === 'strict' ? 1 : 0) + (addresses.includes(text) ? 2 : 0) + (keyId === undefined ? 0 : 4);
    if (rank <= foundRank) continue;
    found = peer;
    foundRank = rank;
  }
  return found;
}

/** Returns why the peer may not transfer a zone over the transport of its message, or undefined if it may. */
export function transportRefusal(
  { tls }: Pick<KnownPeer, 'tls'>,
  { transport, isXot = false }: Pick<SlowMessage, 'transport' | 'isXot'>,
): string | undefined {
  const isEncrypted = transport !== TRANSPORT.UDP && transport !== TRANSPORT.TCP;
  // RFC 9103 §7.1, §7.2
  if (isEncrypted && !isXot)
    return 'a zone transfer over TLS is refused: it needs TLS 1.3 and the ALPN protocol "dot"';
  if (!isEncrypted && tls === 'strict')
    return 'a zone transfer without TLS is refused: TLS of the peer is strict';
  return undefined;
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
