// Sends one query over UDP to a primary, from an own port, and waits for its reply.

import { createSocket } from 'node:dgram';
import { unwatchAbort, watchAbort } from '../exchange/abort-watch.ts';
import type { Route } from './primary.ts';

interface UdpOptions {
  readonly signal: AbortSignal;
  /** Reads a packet of the server. Returns true if it is the reply, or ends the wait for it. */
  readonly accept: (message: Uint8Array) => boolean;
  readonly timeoutMs: number;
}

/** Returns 'silent' after the timeout, 'closed' if no program listens. Rejects only with the signal's reason. */
export function askUdp(
  { target, localAddress }: Route,
  query: Uint8Array,
  { signal, accept, timeoutMs }: UdpOptions,
): Promise<'accepted' | 'silent' | 'closed'> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const socket = createSocket({ type: target.family === 6 ? 'udp6' : 'udp4' });
    let isOver = false;
    const end = (result: 'accepted' | 'silent' | 'closed' | undefined) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      unwatchAbort(signal, onAbort);
      socket.close();
      if (result === undefined) reject(signal.reason);
      else resolve(result);
    };
    const onAbort = () => end(undefined);
    const timer = setTimeout(() => end('silent'), timeoutMs);
    watchAbort(signal, onAbort);
    // A connected socket receives only packets of the server. The test excludes those that came before.
    socket.on('message', (octets, from) => {
      if (isOver || from.port !== target.port || from.address !== target.address) return;
      if (accept(octets)) end('accepted');
    });
    socket.on('error', () => end('closed'));
    socket.on('connect', () => {
      if (!isOver) socket.send(query, (error) => error !== null && end('closed'));
    });
    if (localAddress === undefined) socket.connect(target.port, target.address);
    else
      socket.bind({ address: localAddress }, () => {
        if (!isOver) socket.connect(target.port, target.address);
      });
  });
}
