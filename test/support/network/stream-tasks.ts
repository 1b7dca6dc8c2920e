// Tasks of two agents that send and receive a stream over TCP.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Endpoint } from './datagrams.ts';

const CHUNK_OCTETS = 1 << 20;
const TRIES = 100;
const PAUSE_MS = 50;

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
  const socket = await connected(to);
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

/** Connects as soon as the other agent listens. */
async function connected({ port, address }: Endpoint): Promise<Socket> {
  for (let tries = 1; ; tries++) {
    const socket = connect(port, address);
    try {
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      if (tries === TRIES) throw error;
      await pause(PAUSE_MS);
    }
  }
}
