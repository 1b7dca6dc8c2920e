// A stream over TCP between two agents, and its digest at both ends.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Endpoint } from './datagrams.ts';

const CHUNK_OCTETS = 1 << 20;

/** Returns the digest of everything that one client sends. */
export async function receiveStream(at: Endpoint): Promise<string> {
  const server = createServer().listen(at.port, at.address);
  const [socket] = await once(server, 'connection');
  const hash = createHash('sha256');
  for await (const chunk of socket) hash.update(chunk);
  server.close();
  return hash.digest('hex');
}

/** Sends `chunks` of 1 MiB, and returns their digest. */
export async function sendStream(to: Endpoint, chunks: number): Promise<string> {
  const socket = connect(to.port, to.address);
  await once(socket, 'connect');
  const hash = createHash('sha256');
  for (let i = 0; i < chunks; i++) {
    const chunk = Buffer.alloc(CHUNK_OCTETS, `chunk ${i}`);
    hash.update(chunk);
    if (!socket.write(chunk)) await once(socket, 'drain');
  }
  socket.end();
  await once(socket, 'close');
  return hash.digest('hex');
}
