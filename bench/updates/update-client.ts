// Sends signed UPDATE messages (RFC 2136) over UDP, each of which adds one A record.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { signMessage, type TsigKey } from '../../src/dns/message/tsig.ts';
import { parseName } from '../../src/dns/name.ts';
import { CLASS, TYPE } from '../../src/dns/type-codes.ts';
import { encodeUpdate } from '../../test/support/answer/update-text.ts';

const TIMEOUT_MS = 10_000;

export class UpdateClient {
  readonly #socket: Socket;
  readonly #key: TsigKey;
  readonly #waiting = new Map<number, (rcode: number) => void>();
  #id = 0;

  static async open(port: number, key: TsigKey): Promise<UpdateClient> {
    const socket = createSocket('udp4');
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new UpdateClient(socket, key);
  }

  private constructor(socket: Socket, key: TsigKey) {
    this.#socket = socket;
    this.#key = key;
    socket.on('message', (reply) => {
      const id = reply.readUInt16BE(0);
      this.#waiting.get(id)?.(reply.readUInt16BE(2) & 15);
      this.#waiting.delete(id);
    });
  }

  /** Adds an A record to `<host>.<zone>`. Rejects unless the answer is NOERROR. */
  async add(zone: string, host: string): Promise<void> {
    this.#id = (this.#id + 1) & 0xffff;
    const id = this.#id;
    const plain = addressUpdate(id, zone, host);
    const { message } = signMessage(plain, this.#key, { nowSeconds: Math.floor(Date.now() / 1000) });
    const answered = new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('an UPDATE got no answer')), TIMEOUT_MS);
      this.#waiting.set(id, (rcode) => {
        clearTimeout(timer);
        resolve(rcode);
      });
    });
    this.#socket.send(message);
    const rcode = await answered;
    if (rcode !== 0) throw new Error(`an UPDATE of ${zone} was answered with rcode ${rcode}`);
  }

  close(): void {
    this.#socket.close();
  }
}

function addressUpdate(id: number, zone: string, host: string): Uint8Array {
  const owner = parseName(`${host}.${zone}.`);
  const rdata = Uint8Array.of(198, 51, 100, id & 255);
  const record = { owner, type: TYPE.A, class: CLASS.IN, ttl: 300, rdata };
  return encodeUpdate(parseName(`${zone}.`), { prerequisites: [], updates: [record] }, { id });
}
