// Listens on TCP addresses, with buffers of limited size.

import type { Server } from 'node:net';
import type { ListenAddress } from '../../process/listen-address.ts';
import { descriptorOf, findInherited, type InheritedAddress } from '../handover/inherited.ts';
import { type Libc, openLibc, SO_RCVBUF, SO_SNDBUF, SOL_SOCKET } from '../threads/libc.ts';

/** Maximum number of connections waiting to be accepted. With fewer, many clients would wait a second to repeat their SYN. */
const BACKLOG = 4096;

/**
 * Sizes of the system's buffers for the answers and queries of a connection, which use twice as much with overhead
 * (tcp(7)). The default is megabytes, while an answer has at most 64 KiB.
 */
const SEND_BUFFER_BYTES = 1 << 16;
const RECEIVE_BUFFER_BYTES = 1 << 15;
/** Memory of the system for a connection that is not read: its send buffer is full. */
export const HELD_BY_SYSTEM_BYTES = 2 * SEND_BUFFER_BYTES;

interface ServerMaker {
  create(): Server;
  /** Called for errors while the server listens. */
  onError(): void;
}

/** Listens on all addresses, with buffers of limited size. If one of them fails, rejects and listens on none. */
export async function openServers(
  addresses: readonly ListenAddress[],
  inherited: readonly InheritedAddress[],
  { create, onError }: ServerMaker,
): Promise<Server[]> {
  const libc = await openLibc().catch(() => undefined);
  const servers: Server[] = [];
  try {
    for (const address of addresses) {
      const server = create();
      await listen(server, address, findInherited(inherited, address)?.tcp);
      servers.push(server);
      if (libc !== undefined) boundBuffers(libc, server);
      server.removeAllListeners('error');
      server.on('error', onError);
    }
  } catch (error) {
    await closeServers(servers);
    throw error;
  }
  return servers;
}

async function listen(
  server: Server,
  { address, port }: ListenAddress,
  inherited: number | undefined,
): Promise<void> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    const where =
      inherited === undefined
        ? { host: address, port, ipv6Only: address.includes(':'), exclusive: true }
        : { fd: inherited };
    server.listen(where, BACKLOG, done); // `backlog` among the options is ignored with `fd`
  });
}

/**
 * Sets the sizes of the buffers, which Node cannot do. Connections inherit those of the listening socket. Without libc,
 * the system's defaults apply.
 */
function boundBuffers(libc: Libc, server: Server): void {
  const descriptor = descriptorOf(server);
  for (const [option, bytes] of [
    [SO_SNDBUF, SEND_BUFFER_BYTES],
    [SO_RCVBUF, RECEIVE_BUFFER_BYTES],
  ] as const) {
    const value = new Uint8Array(Int32Array.of(bytes).buffer);
    libc.setsockopt(descriptor, SOL_SOCKET, option, value, value.length);
  }
}

/** Resolves when the servers have no connection. */
export async function closeServers(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map((server) => new Promise<void>((done) => server.close(() => done()))));
}
