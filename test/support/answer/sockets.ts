// Raw UDP and TCP clients for tests, which only show the replies.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { until } from '../tests/until.ts';

/** Sends one packet and returns its answer. Returns undefined if none arrives in time. */
export async function exchangeUdp(
  to: { address: string; port: number },
  packet: Uint8Array,
  timeoutMs = 20_000,
): Promise<Buffer | undefined> {
  const socket = createSocket(to.address.includes(':') ? 'udp6' : 'udp4');
  try {
    return await new Promise((done, fail) => {
      const timer = setTimeout(() => done(undefined), timeoutMs);
      socket.once('error', fail);
      socket.once('message', (answer) => {
        clearTimeout(timer);
        done(answer);
      });
      socket.send(packet, to.port, to.address);
    });
  } finally {
    socket.close();
  }
}

export function framed(...messages: Uint8Array[]): Buffer {
  return Buffer.concat(
    messages.flatMap((message) => [Buffer.of(message.length >> 8, message.length & 255), message]),
  );
}

/** A TCP or TLS connection that collects received messages. */
export class TcpClient {
  readonly socket: Socket;
  readonly messages: Buffer[] = [];
  /** True if the server has ended the connection. This side may still be open. */
  over = false;
  #pending: Buffer[] = [];
  #octets = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    const end = () => {
      this.over = true;
    };
    socket.on('end', end);
    socket.on('close', end);
  }

  /** If `reads` is false, never reads. `from` is an address of this machine. With `tls`, connects over TLS. */
  static async open(
    to: { address: string; port: number },
    { reads = true, from, tls }: { reads?: boolean; from?: string; tls?: ConnectionOptions } = {},
  ): Promise<TcpClient> {
    const local = from === undefined ? {} : { localAddress: from };
    const where = { host: to.address, port: to.port, allowHalfOpen: true, ...local };
    const socket = tls === undefined ? connect(where) : connectTls({ ...where, ...tls });
    const client = new TcpClient(socket);
    await Promise.race([
      once(socket, tls === undefined ? 'connect' : 'secureConnect'),
      once(socket, 'close'),
    ]);
    if (reads) socket.on('data', (chunk) => client.#take(chunk));
    else socket.pause();
    return client;
  }

  /** Extracts messages only when one is complete, because large answers arrive in many chunks. */
  #take(chunk: Buffer): void {
    this.#pending.push(chunk);
    this.#octets += chunk.length;
    let input = this.#pending[0] as Buffer;
    if (input.length < 2) {
      input = Buffer.concat(this.#pending);
      this.#pending = [input];
    }
    if (input.length < 2 || this.#octets < 2 + input.readUInt16BE(0)) return;
    input = Buffer.concat(this.#pending);
    while (input.length >= 2 && input.length >= 2 + input.readUInt16BE(0)) {
      const end = 2 + input.readUInt16BE(0);
      this.messages.push(input.subarray(2, end));
      input = input.subarray(end);
    }
    this.#pending = [input];
    this.#octets = input.length;
  }

  async received(count: number, timeoutMs = 60_000): Promise<Buffer[]> {
    await until(
      () => this.messages.length >= count,
      `${count} messages, ${this.messages.length} came`,
      timeoutMs,
    );
    return this.messages;
  }

  close(): void {
    this.socket.destroy();
  }
}
