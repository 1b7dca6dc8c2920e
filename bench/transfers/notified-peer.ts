// A peer that only answers NOTIFY, or ignores it, and records when each message arrived.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decodeMessage, FLAG } from '../../src/dns/message/message.ts';
import { printName } from '../../src/dns/name.ts';

const RECEIVE_BUFFER_BYTES = 4 << 20;

export class NotifiedPeer {
  /** Times (performance.now) of all messages, in order. */
  readonly timesMs: number[] = [];
  readonly zones = new Set<string>();
  /** Called for each message. */
  onNotify: (zone: string, atMs: number) => void = () => {};
  readonly #socket: Socket;

  static async open(answers: boolean): Promise<NotifiedPeer> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NotifiedPeer(socket, answers);
  }

  private constructor(socket: Socket, answers: boolean) {
    this.#socket = socket;
    socket.on('message', (message, from) => {
      const atMs = performance.now();
      const name = decodeMessage(message).questions[0]?.name;
      if (name === undefined) return;
      const zone = printName(name);
      this.timesMs.push(atMs);
      this.zones.add(zone);
      this.onNotify(zone, atMs);
      if (!answers) return;
      const answer = Buffer.from(message.subarray(0, 12 + name.length + 4));
      answer.writeUInt16BE(message.readUInt16BE(2) | FLAG.QR, 2);
      answer.writeUInt32BE(0, 6); // no answer, no authority
      answer.writeUInt16BE(0, 10);
      socket.send(answer, from.port, from.address);
    });
  }

  get port(): number {
    return this.#socket.address().port;
  }

  forget(): void {
    this.timesMs.length = 0;
    this.zones.clear();
  }

  close(): void {
    this.#socket.close();
  }
}
