// A process that transfers zones and only counts what it receives, so that it is faster than every server.

import { connect } from 'node:net';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { queryFor } from '../../src/resolver/transfer/primary.ts';
import type { TransferOrder, TransferReply } from './transferring.ts';

const HEADER_OCTETS = 12;
const SILENCE_MS = 60_000;

/** Follows the messages of a stream. They may be cut anywhere. */
class MessageCounter {
  octets = 0;
  messages = 0;
  records = 0;
  rcode = 0;
  /** The length, then the header of the current message. */
  readonly #head = Buffer.alloc(2 + HEADER_OCTETS);
  #headOctets = 0;
  /** Octets of the current message that have not arrived. */
  #left = 0;

  add(chunk: Buffer): void {
    this.octets += chunk.length;
    for (let at = 0; at < chunk.length; ) {
      if (this.#headOctets < this.#head.length) {
        this.#head[this.#headOctets++] = chunk[at++] as number;
        if (this.#headOctets < this.#head.length) continue;
        this.#left = this.#head.readUInt16BE(0) - HEADER_OCTETS;
      } else {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        at += taken;
      }
      if (this.#left === 0) this.#endMessage();
    }
  }

  #endMessage(): void {
    this.#headOctets = 0;
    this.messages++;
    this.rcode = (this.#head[5] as number) & 15;
    this.records += this.#head.readUInt16BE(8);
  }
}

function transfer({ port, key, apex, serial, records }: TransferOrder): Promise<TransferReply> {
  return new Promise((resolve, reject) => {
    const type = serial === undefined ? TYPE.AXFR : TYPE.IXFR;
    const primary = {
      address: '127.0.0.1',
      port,
      key: key && { ...key, secret: Buffer.from(key.secret, 'base64'), name: parseName(key.name) },
    };
    const { octets: query } = queryFor(primary, parseName(apex), type, serial);
    const counter = new MessageCounter();
    const socket = connect({ host: primary.address, port, noDelay: true });
    let startedMs = 0;
    const end = (error?: string) => {
      socket.destroy();
      const { octets, messages } = counter;
      if (error !== undefined) reject(new Error(`${error} (${counter.records} of ${records} records)`));
      else resolve({ ms: performance.now() - startedMs, octets, messages, records: counter.records });
    };
    socket.setTimeout(SILENCE_MS, () => end('no octets for a minute'));
    socket.on('error', ({ message }) => end(message));
    socket.on('close', () => end('the server closed the connection'));
    socket.on('connect', () => {
      startedMs = performance.now();
      socket.write(Buffer.concat([Buffer.of(query.length >> 8, query.length), query]));
    });
    socket.on('data', (chunk) => {
      counter.add(chunk);
      if (counter.rcode !== 0) end(`response code ${counter.rcode}`);
      else if (counter.records >= records) end();
    });
  });
}

process.on('message', (order: TransferOrder) => {
  transfer(order).then(
    (reply) => process.send?.(reply),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
