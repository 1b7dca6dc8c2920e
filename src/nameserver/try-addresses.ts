// Detects an address in use before the zones are loaded, which may take a minute. The node must not listen that early:
// a client would wait for an answer instead of trying another node.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ListenAddress } from '../process/listen-address.ts';

/**
 * Binds each address over TCP, and over UDP unless `transport` is `tcp`, and closes it again. Rejects with the error of
 * the first address that fails.
 */
export async function tryAddresses(
  addresses: readonly ListenAddress[],
  transport: 'udp and tcp' | 'tcp' = 'udp and tcp',
): Promise<void> {
  for (const { address, port } of addresses) {
    const ipv6Only = address.includes(':');
    const server = createServer().listen({ host: address, port, ipv6Only, exclusive: true });
    await once(server, 'listening');
    server.close();
    if (transport === 'tcp') continue;
    const socket = createSocket({ type: ipv6Only ? 'udp6' : 'udp4', ipv6Only });
    socket.bind({ address, port, exclusive: true });
    await once(socket, 'listening').finally(() => socket.close());
  }
}
