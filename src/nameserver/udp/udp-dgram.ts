// Answers over UDP with node:dgram in the main thread, one socket per address, for machines without koffi or Linux. On
// a wildcard address the system chooses the source of an answer, which Node cannot set: list the addresses instead.

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { ListenAddress } from '../../process/listen-address.ts';
import { SLOW_PATH } from '../answer/answer-query.ts';
import { addressOctets } from '../answer/client.ts';
import type { OpenAnswerer } from '../answer/open-answerer.ts';
import { MAX_UDP_OCTETS } from '../answer/opt-writer.ts';
import type { Observer } from '../observe/start-observe-thread.ts';
import type { SlowPath } from '../slow-path/slow-path.ts';
import type { UdpListener } from './udp-sockets.ts';

/** Maximum bytes of answers queued in one socket. Above it answers are dropped, as the network would do. */
const MAX_QUEUED_BYTES = 4 << 20;
const RECEIVE_BUFFER_BYTES = 1 << 20;

interface DgramAnswers extends OpenAnswerer {
  /** Undefined if no answers are sampled. */
  readonly observer?: Observer | undefined;
}

/** Listens on all addresses. If one of them fails, rejects and listens on none. */
export async function listenDgram(
  addresses: readonly ListenAddress[],
  answers: DgramAnswers,
  slowPath?: SlowPath,
): Promise<UdpListener> {
  const sockets: Socket[] = [];
  const close = async () => {
    await Promise.all(sockets.map((socket) => new Promise<void>((done) => socket.close(() => done()))));
  };
  try {
    for (const address of addresses) sockets.push(await bind(address, answers, slowPath));
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
  { answerer, reader, counters, observer }: DgramAnswers,
  slowPath: SlowPath | undefined,
): Promise<Socket> {
  const ipv6 = address.includes(':');
  // With ipv6Only, an IPv4 client never appears as ::ffff:a.b.c.d.
  const socket = createSocket({
    type: ipv6 ? 'udp6' : 'udp4',
    ipv6Only: ipv6,
    recvBufferSize: RECEIVE_BUFFER_BYTES,
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
  let isOpen = true;
  socket.on('close', () => {
    isOpen = false;
  });
  const send = (answer: Uint8Array, { port, address: to }: RemoteInfo) => {
    try {
      if (!isOpen || socket.getSendQueueSize() > MAX_QUEUED_BYTES) counters.unsent++;
      else socket.send(answer, port, to, unsent);
    } catch {
      counters.unsent++; // source port 0, or another value that `send` rejects
    }
  };
  const askSlow = (query: Buffer, from: RemoteInfo) => {
    const { client, nowMs } = answerer;
    if (slowPath?.limit.admit(client, query.length, nowMs) !== true) return;
    slowPath.ask(
      { octets: new Uint8Array(query), transport: 0, address: client.address },
      {
        takeAnswer(_, octets) {
          if (octets !== undefined) send(octets, from);
        },
        loseAnswer() {},
      },
    );
  };
  const out = new Uint8Array(MAX_UDP_OCTETS);
  const sampler = observer?.createSampler(counters);
  const bound = socket.address();
  const local = addressOctets(bound.address);
  socket.on('message', (query, from) => {
    const startedAtMs = performance.now();
    try {
      answerer.client.set(0, addressOctets(from.address));
      answerer.nowMs = Date.now();
      reader.enter();
      let octets: number;
      try {
        octets = answerer.answer(query, 0, query.length, out, 0, out.length);
      } finally {
        reader.leave();
      }
      if (octets === SLOW_PATH) askSlow(query, from);
      if (octets <= 0) return;
      // A copy: if the system is busy, the packet is sent after `out` has been overwritten.
      send(Buffer.from(out.subarray(0, octets)), from);
      if (sampler?.isDue(answerer.nowMs)) {
        sampler.add(answerer, {
          port: from.port,
          local,
          localPort: bound.port,
          query,
          queryAt: 0,
          queryOctets: query.length,
          answer: out,
          answerAt: 0,
          answerOctets: octets,
          startedAtMs,
        });
      }
      counters.observeLatency((performance.now() - startedAtMs) / 1000, 1);
    } catch {
      counters.unsent++; // a bug that even the answerer did not handle: only this packet is lost
    }
  });
  return socket;
}
