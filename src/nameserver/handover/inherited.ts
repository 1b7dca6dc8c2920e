// The sockets that a process inherited from the one that it replaces.

import type { ListenAddress } from '../../process/listen-address.ts';

/** The sockets of one address, as descriptors. */
export interface InheritedAddress {
  readonly listen: ListenAddress;
  /** One per UDP thread of the process that opened them. None for the addresses of TLS. */
  readonly udp: readonly number[];
  readonly tcp: number;
}

/** Returns undefined if the other process did not listen on the address. */
export function findInherited(
  inherited: readonly InheritedAddress[],
  { address, port }: ListenAddress,
): InheritedAddress | undefined {
  return inherited.find(({ listen }) => listen.address === address && (port === 0 || listen.port === port));
}

/** Returns the descriptor of a connection or a listening socket of node:net. */
export function descriptorOf(socket: object): number {
  const { _handle: handle } = socket as { _handle?: { fd?: number } };
  if (handle?.fd === undefined || handle.fd < 0) throw new Error('the socket is closed');
  return handle.fd;
}
