// Encodes samples as dnstap frames: Protocol Buffers of dnstap.proto (https://dnstap.info), which has few field types.

import { TRANSPORT } from '../answer/transports.ts';
import type { ReadSample } from './sample-record.ts';

/** The content type of Frame Streams. */
export const DNSTAP_CONTENT = 'protobuf:dnstap.Dnstap';
/** Number of frames per sample: the query and the answer. */
export const SAMPLE_FRAMES = 2;

/** Keys of the fields: number and wire type. */
const VARINT = 0;
const LENGTH = 2;
const FIXED32 = 5;
const DNSTAP = {
  IDENTITY: (1 << 3) | LENGTH,
  VERSION: (2 << 3) | LENGTH,
  MESSAGE: (14 << 3) | LENGTH,
  TYPE: (15 << 3) | VARINT,
};
const MESSAGE = {
  TYPE: (1 << 3) | VARINT,
  SOCKET_FAMILY: (2 << 3) | VARINT,
  SOCKET_PROTOCOL: (3 << 3) | VARINT,
  QUERY_ADDRESS: (4 << 3) | LENGTH,
  RESPONSE_ADDRESS: (5 << 3) | LENGTH,
  QUERY_PORT: (6 << 3) | VARINT,
  RESPONSE_PORT: (7 << 3) | VARINT,
  QUERY_SECONDS: (8 << 3) | VARINT,
  QUERY_NANOSECONDS: (9 << 3) | FIXED32,
  QUERY: (10 << 3) | LENGTH,
  QUERY_ZONE: (11 << 3) | LENGTH,
  RESPONSE_SECONDS: (12 << 3) | VARINT,
  RESPONSE_NANOSECONDS: (13 << 3) | FIXED32,
  RESPONSE: (14 << 3) | LENGTH,
};
const TYPE_MESSAGE = 1;
const AUTH_QUERY = 1;
const AUTH_RESPONSE = 2;
const INET = 1;
const INET6 = 2;
/** Values of SocketProtocol. */
const PROTOCOLS = { [TRANSPORT.UDP]: 1, [TRANSPORT.TCP]: 2, [TRANSPORT.TLS]: 3, [TRANSPORT.HTTPS]: 4 };

const FRAME_HEAD_OCTETS = 4;
/** A length up to 2^21, written in this many octets. Padded varints are valid, and the length is known only afterwards. */
const MESSAGE_LENGTH_OCTETS = 3;
/** Upper bound on the octets of a message besides the DNS message. */
const MESSAGE_OCTETS = 384;

export class DnstapEncoder {
  /** Identity, version and type, which are the same in all frames, and the key of the message. */
  readonly #head: Uint8Array;
  #out: Uint8Array = new Uint8Array(0);
  #at = 0;

  constructor(nodeName: string, version: string) {
    const text = [nodeName, version].map((value) => Buffer.from(value));
    const [identity, software] = text as [Buffer, Buffer];
    this.#head = Buffer.concat([
      Uint8Array.of(DNSTAP.IDENTITY, identity.length),
      identity,
      Uint8Array.of(DNSTAP.VERSION, software.length),
      software,
      Uint8Array.of(DNSTAP.TYPE, TYPE_MESSAGE, DNSTAP.MESSAGE),
    ]);
  }

  /** Returns an upper bound on the octets that the frames of samples take, which have `octets` octets. */
  bound(octets: number, samples: number): number {
    const head = FRAME_HEAD_OCTETS + this.#head.length + MESSAGE_LENGTH_OCTETS + MESSAGE_OCTETS;
    return octets + samples * SAMPLE_FRAMES * head;
  }

  /** Writes the two data frames of a sample to `out` from `at` on. Returns the offset after them. */
  write(sample: ReadSample, out: Uint8Array, at: number): number {
    this.#out = out;
    this.#at = at;
    this.#writeFrame(sample, AUTH_QUERY);
    this.#writeFrame(sample, AUTH_RESPONSE);
    return this.#at;
  }

  #writeFrame(sample: ReadSample, type: number): void {
    const start = this.#at;
    this.#out.set(this.#head, start + FRAME_HEAD_OCTETS);
    const lengthAt = start + FRAME_HEAD_OCTETS + this.#head.length;
    this.#at = lengthAt + MESSAGE_LENGTH_OCTETS;
    this.#writeMessage(sample, type);
    const length = this.#at - lengthAt - MESSAGE_LENGTH_OCTETS;
    this.#out[lengthAt] = (length & 0x7f) | 0x80;
    this.#out[lengthAt + 1] = ((length >> 7) & 0x7f) | 0x80;
    this.#out[lengthAt + 2] = length >> 14;
    const octets = this.#at - start - FRAME_HEAD_OCTETS;
    for (let i = 0; i < FRAME_HEAD_OCTETS; i++) this.#out[start + i] = octets >> (24 - 8 * i);
  }

  #writeMessage(sample: ReadSample, type: number): void {
    const { address, local, query, zoneAt } = sample;
    this.#writeNumber(MESSAGE.TYPE, type);
    this.#writeNumber(MESSAGE.SOCKET_FAMILY, address.length === 4 ? INET : INET6);
    this.#writeNumber(MESSAGE.SOCKET_PROTOCOL, PROTOCOLS[sample.transport]);
    this.#writeOctets(MESSAGE.QUERY_ADDRESS, address, 0, address.length);
    if (local !== undefined) this.#writeOctets(MESSAGE.RESPONSE_ADDRESS, local, 0, local.length);
    this.#writeNumber(MESSAGE.QUERY_PORT, sample.port);
    if (local !== undefined) this.#writeNumber(MESSAGE.RESPONSE_PORT, sample.localPort);
    this.#writeTime(MESSAGE.QUERY_SECONDS, MESSAGE.QUERY_NANOSECONDS, sample.startedAtMs);
    if (type === AUTH_QUERY) this.#writeOctets(MESSAGE.QUERY, query, 0, query.length);
    if (zoneAt > 0) this.#writeOctets(MESSAGE.QUERY_ZONE, query, zoneAt, sample.nameEnd);
    if (type === AUTH_QUERY) return;
    this.#writeTime(MESSAGE.RESPONSE_SECONDS, MESSAGE.RESPONSE_NANOSECONDS, sample.endedAtMs);
    this.#writeOctets(MESSAGE.RESPONSE, sample.answer, 0, sample.answer.length);
  }

  #writeTime(seconds: number, nanoseconds: number, ms: number): void {
    const whole = Math.floor(ms / 1000);
    const rest = Math.floor((ms - whole * 1000) * 1e6);
    this.#writeNumber(seconds, whole);
    this.#out[this.#at++] = nanoseconds;
    for (let i = 0; i < 4; i++) this.#out[this.#at++] = rest >> (8 * i);
  }

  #writeNumber(key: number, value: number): void {
    this.#out[this.#at++] = key;
    this.#writeVarint(value);
  }

  #writeOctets(key: number, octets: Uint8Array, from: number, end: number): void {
    this.#out[this.#at++] = key;
    this.#writeVarint(end - from);
    this.#out.set(from === 0 && end === octets.length ? octets : octets.subarray(from, end), this.#at);
    this.#at += end - from;
  }

  #writeVarint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.#out[this.#at++] = (rest % 0x80) | 0x80; // seconds have more than 31 bits from 2038 on
      rest = Math.floor(rest / 0x80);
    }
    this.#out[this.#at++] = rest;
  }
}
