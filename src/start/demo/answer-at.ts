// Answers queries at loopback addresses over UDP and TCP with the nameserver's code. Each group of servers has its own
// image.

import { randomBytes, randomInt } from 'node:crypto';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { Answerer } from '../../nameserver/answer/answer-query.ts';
import { addressOctets } from '../../nameserver/answer/client.ts';
import { QueryCounters } from '../../nameserver/answer/query-counters.ts';
import { createImage, Image, ReaderSlot } from '../../nameserver/image/image.ts';
import { ImageWriter } from '../../nameserver/image/write-image.ts';
import type { Zone } from '../../zone/zone.ts';

const IMAGE_BYTES = 8 * 1024 ** 2;
const UDP_ROOM = 1232;
const MAX_OCTETS = 65_535;
const MAX_CONNECTIONS = 64;
const IDLE_MS = 10_000;

interface Places {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly nodeName: string;
}

export class AnsweringPlaces {
  readonly #places: Places;
  readonly #image = new Image(createImage(IMAGE_BYTES, randomInt(2 ** 32)));
  readonly #writer = new ImageWriter(this.#image);
  readonly #reader = new ReaderSlot(this.#image, 0);
  readonly #answerer: Answerer;
  readonly #out = Buffer.alloc(MAX_OCTETS);
  readonly #udp: UdpSocket[] = [];
  readonly #tcp: Server[] = [];
  readonly #connections = new Set<Socket>();
  #zones: readonly Zone[] = [];

  constructor(places: Places, onFailure: (error: unknown) => void) {
    this.#places = places;
    const settings = {
      nodeName: places.nodeName,
      version: 'demo',
      cookieSecrets: [randomBytes(16)],
      rateLimit: undefined,
      amplificationLimit: undefined,
      tcpIdleTimeoutMs: IDLE_MS,
    };
    this.#answerer = new Answerer(this.#image, settings, new QueryCounters(), onFailure);
  }

  /** Replaces the served zones. */
  serve(zones: readonly Zone[]): void {
    for (const [id, zone] of zones.entries()) this.#writer.put(zone, { id, version: 1, mark: 0 });
    const apexes = new Set(zones.map(({ apex }) => apex));
    for (const { apex } of this.#zones) if (!apexes.has(apex)) this.#writer.remove(apex);
    this.#zones = zones;
  }

  async listen(): Promise<void> {
    const { addresses, port } = this.#places;
    for (const address of addresses) {
      const udp = createSocket('udp4');
      this.#udp.push(udp);
      udp.bind(port, address);
      await once(udp, 'listening');
      udp.on('error', () => {}); // a client that has disconnected
      udp.on('message', (query, from) => {
        const answer = this.#answer(query, 0, from.address, UDP_ROOM);
        if (answer.length > 0) udp.send(answer, from.port, from.address);
      });
      const tcp = createServer((socket) => this.#connect(socket));
      this.#tcp.push(tcp);
      tcp.maxConnections = MAX_CONNECTIONS;
      tcp.listen(port, address);
      await once(tcp, 'listening');
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#connections) socket.destroy();
    for (const udp of this.#udp) udp.close();
    for (const tcp of this.#tcp) tcp.close();
  }

  /** Reads one message at a time, each preceded by its length (RFC 1035 §4.2.2). Fewer than two messages are buffered. */
  #connect(socket: Socket): void {
    this.#connections.add(socket);
    socket.on('close', () => this.#connections.delete(socket));
    socket.on('error', () => {}); // 'close' follows
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    let input = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      input = Buffer.concat([input, chunk]);
      while (input.length >= 2 && input.length >= 2 + input.readUInt16BE(0)) {
        const end = 2 + input.readUInt16BE(0);
        const answer = this.#answer(
          input.subarray(2, end),
          1,
          socket.remoteAddress ?? '127.0.0.1',
          MAX_OCTETS,
        );
        input = input.subarray(end);
        if (answer.length === 0) return void socket.destroy();
        const framed = Buffer.alloc(2 + answer.length);
        framed.writeUInt16BE(answer.length);
        answer.copy(framed, 2);
        // A peer that does not read gets no further answers.
        if (!socket.write(framed)) return void socket.destroy();
      }
    });
  }

  /** Returns a copy, or an empty buffer if there is no answer. */
  #answer(query: Buffer, transport: 0 | 1, from: string, room: number): Buffer {
    const answerer = this.#answerer;
    answerer.nowMs = Date.now();
    answerer.client.set(transport, addressOctets(from));
    this.#reader.enter();
    try {
      const length = answerer.answer(query, 0, query.length, this.#out, 0, room);
      return Buffer.from(this.#out.subarray(0, length));
    } finally {
      this.#reader.leave();
    }
  }
}
