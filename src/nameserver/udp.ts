// Answers over UDP with node:dgram, one socket per address. A packet that fails is counted and dropped alone. On a
// wildcard address the system chooses the source of an answer (Node cannot set it): list the addresses instead.

import { createSocket, type Socket } from 'node:dgram';
import { addressOctets, type Client } from './client.ts';
import type { QueryCounters } from './query-counters.ts';
import { MAX_UDP_OCTETS } from './write-reply.ts';

export interface ListenAddress {
  /** IPv4 or IPv6, without brackets. */
  readonly address: string;
  /** 0: any free one. */
  readonly port: number;
}

/** Writes the answer to a query into `out`; 0 is silence. */
export type AnswerBytes = (query: Uint8Array, out: Uint8Array, client: Client) => number;

export interface UdpListener {
  /** Where it listens, in the order asked for, ports filled in. */
  readonly addresses: readonly ListenAddress[];
  close(): Promise<void>;
}

/** Answers that wait for the system in one socket; beyond it they are dropped, as the network would. */
const MAX_QUEUED_OCTETS = 4 << 20;
const RECEIVE_BUFFER_OCTETS = 1 << 20;

/** Rejects when one of the addresses cannot be had; then none is held. */
export async function listenUdp(
  addresses: readonly ListenAddress[],
  answer: AnswerBytes,
  counters: QueryCounters,
): Promise<UdpListener> {
  const sockets: Socket[] = [];
  const close = async () => {
    await Promise.all(sockets.map((socket) => new Promise<void>((done) => socket.close(() => done()))));
  };
  try {
    for (const address of addresses) sockets.push(await bind(address, answer, counters));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    addresses: sockets.map((socket) => ({ address: socket.address().address, port: socket.address().port })),
    close,
  };
}

async function bind(
  { address, port }: ListenAddress,
  answer: AnswerBytes,
  counters: QueryCounters,
): Promise<Socket> {
  const ipv6 = address.includes(':');
  // ipv6Only: an IPv4 client never shows up as ::ffff:a.b.c.d.
  const socket = createSocket({
    type: ipv6 ? 'udp6' : 'udp4',
    ipv6Only: ipv6,
    recvBufferSize: RECEIVE_BUFFER_OCTETS,
  });
  await new Promise<void>((done, fail) => {
    socket.once('error', (error) => {
      socket.close();
      fail(error);
    });
    socket.bind({ address, port, exclusive: true }, () => {
      socket.removeAllListeners('error');
      done();
    });
  });
  const unsent = (error: Error | null) => {
    if (error !== null) counters.unsent++;
  };
  socket.on('error', () => counters.unsent++);
  const out = new Uint8Array(MAX_UDP_OCTETS);
  socket.on('message', (query, from) => {
    const startedAt = performance.now();
    try {
      const length = answer(query, out, { transport: 'udp', address: addressOctets(from.address) });
      if (length === 0) return;
      if (socket.getSendQueueSize() > MAX_QUEUED_OCTETS) {
        counters.unsent++;
        return;
      }
      // A copy: when the system is busy, the packet is sent after `out` has been written again.
      socket.send(Buffer.from(out.subarray(0, length)), from.port, from.address, unsent);
      counters.observeLatency((performance.now() - startedAt) / 1000);
    } catch {
      counters.unsent++; // source port 0, and whatever else `send` does not take
    }
  });
  return socket;
}
