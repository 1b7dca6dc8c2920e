// Queries a server for A records until it returns the written values, and reports when.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

interface Waiting {
  readonly query: Buffer;
  readonly address: Buffer;
  readonly seen: (atMs: number) => void;
}

/** Interval between two queries for one record, which is the maximum error of a time. */
const POLL_MS = 1;

export class AnswerWatch {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #timer: NodeJS.Timeout;
  #nextId = 0;

  static async open(address: string, port: number): Promise<AnswerWatch> {
    const socket = createSocket('udp4');
    socket.connect(port, address);
    await once(socket, 'connect');
    return new AnswerWatch(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => {}); // refused: the query is repeated
    socket.on('message', (reply) => this.#take(reply));
    this.#timer = setInterval(() => {
      for (const { query } of this.#waiting.values()) socket.send(query);
    }, POLL_MS);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** When (performance.now) the name was first answered with this address. */
  untilAnswered(name: string, address: Buffer): Promise<number> {
    this.#nextId = (this.#nextId + 1) & 0xffff;
    const id = this.#nextId;
    return new Promise((seen) => {
      this.#waiting.set(id, { query: addressQuery(id, name), address, seen });
    });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }

  // Without EDNS and with one record in its answer a reply ends with the address.
  #take(reply: Buffer): void {
    const id = reply.readUInt16BE(0);
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || !reply.subarray(-4).equals(waiting.address)) return;
    this.#waiting.delete(id);
    waiting.seen(performance.now());
  }
}

/** Returns a query for the A record of a name in text form. */
export function addressQuery(id: number, name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  const wire = labels.map((label) => String.fromCharCode(label.length) + label).join('');
  const query = Buffer.from(`\0\0\0\0\0\x01\0\0\0\0\0\0${wire}\0\0\x01\0\x01`, 'latin1');
  query.writeUInt16BE(id, 0);
  return query;
}
