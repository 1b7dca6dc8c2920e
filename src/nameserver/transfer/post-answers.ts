// Posts the answers of the transfer thread to the main thread.

import type { ReplyFields } from '../../dns/message/reply.ts';
import type { AmplificationLimit } from '../answer/amplification-limit.ts';
import { Client, isLoopback } from '../answer/client.ts';
import { MAX_UDP_OCTETS } from '../answer/opt-writer.ts';
import { TRANSPORT } from '../answer/transports.ts';
import type { FromTransferThread, SlowMessage } from './messages.ts';
import type { AnswerSigner } from './verify-message.ts';
import { type Request, writeReply } from './write-reply.ts';

const MIN_UDP_OCTETS = 512;
const MAX_TCP_OCTETS = 0xffff;
/** Octets of the length of a message over TCP (RFC 1035 §4.2.2). */
const LENGTH_OCTETS = 2;
/** A part of an answer over TCP ends with the message that exceeds this. */
const PART_OCTETS = 0xffff - 0x4000;

/** A request whose signature, if any, is verified. */
export interface VerifiedRequest extends Request {
  readonly message: SlowMessage;
  readonly signer: AnswerSigner | undefined;
}

export class AnswerPoster {
  readonly #post: (message: FromTransferThread) => void;
  readonly #limit: AmplificationLimit | undefined;
  readonly #nowMs: () => number;
  readonly #client = new Client();
  /**
   * The memory of the last part of each answer. It is shared, because memory that passes to the main thread makes V8
   * collect the garbage of that thread every few megabytes.
   */
  readonly #memory = new WeakMap<VerifiedRequest, Uint8Array>();

  /** @param limit limits unsigned answers over UDP */
  constructor(
    post: (message: FromTransferThread) => void,
    limit: AmplificationLimit | undefined,
    nowMs: () => number = Date.now,
  ) {
    this.#post = post;
    this.#limit = limit;
    this.#nowMs = nowMs;
  }

  /** Drops the message. */
  drop({ id }: SlowMessage): void {
    this.#post({ kind: 'answer', id, octets: undefined, isLast: true });
  }

  /** Answers without records. */
  reply(request: VerifiedRequest, fields: ReplyFields): void {
    this.send(request, writeReply(request, fields));
  }

  /** Answers with one message, which is signed if the request was. */
  send(request: VerifiedRequest, reply: Uint8Array) {
    const { message, signer } = request;
    if (signer !== undefined) return this.sendFinished(message, signer.sign(reply));
    if (message.transport !== TRANSPORT.UDP) return this.sendFinished(message, reply);
    const { address, octets } = message;
    const limit = isLoopback(address) ? undefined : this.#limit;
    if (limit === undefined) return this.sendFinished(message, reply);
    this.#client.set(TRANSPORT.UDP, address);
    const truncated = writeReply(request, { rcode: 0, isTruncated: true });
    const nowMs = this.#nowMs() | 0;
    const decision = limit.decide(this.#client, octets.length, reply.length, truncated.length, nowMs);
    if (decision === 'drop') this.drop(message);
    else this.sendFinished(message, decision === 'send' ? reply : truncated);
  }

  /** Answers with these octets. */
  sendFinished({ id, transport }: Pick<SlowMessage, 'id' | 'transport'>, reply: Uint8Array): void {
    const octets = transport === TRANSPORT.UDP ? reply : framed([reply]);
    this.#post({ kind: 'answer', id, octets, isLast: true });
  }

  /**
   * Posts the next part of an answer over TCP. `messages` are taken as far as the part has space. Call it again only when
   * the main thread requests more, which means that the system has taken this part: the next one uses its memory.
   */
  sendPart(request: VerifiedRequest, messages: MessageQueue): void {
    const { message, signer } = request;
    const part: Uint8Array[] = [];
    for (let octets = 0; messages.left > 0 && octets < PART_OCTETS; ) {
      const next = messages.take();
      const signed = signer === undefined ? next : signer.sign(next);
      octets += LENGTH_OCTETS + signed.length;
      part.push(signed);
    }
    const octets = framed(part, (length) => this.#memoryOf(request, length));
    this.#post({ kind: 'answer', id: message.id, octets, isLast: messages.left === 0 });
  }

  #memoryOf(request: VerifiedRequest, length: number): Uint8Array {
    const known = this.#memory.get(request);
    if (known !== undefined && known.length >= length) return known.subarray(0, length);
    const memory = new Uint8Array(new SharedArrayBuffer(length));
    this.#memory.set(request, memory);
    return memory;
  }

  /** Ends the connection in the middle of an answer. */
  abort({ id }: SlowMessage): void {
    this.#post({ kind: 'abort', id });
  }
}

interface MessageQueue {
  /** Number of messages that were not taken. */
  readonly left: number;
  take(): Uint8Array;
}

/** Returns how many octets an answer may have, without its TSIG record. */
export function roomFor(request: VerifiedRequest): number {
  const { message, signer } = request;
  return (message.transport === TRANSPORT.UDP ? payloadOf(request) : MAX_TCP_OCTETS) - (signer?.octets ?? 0);
}

/** Returns how many octets an answer over UDP may have. */
export function payloadOf({ decoded }: VerifiedRequest): number {
  return Math.min(MAX_UDP_OCTETS, Math.max(MIN_UDP_OCTETS, decoded?.edns?.udpPayloadSize ?? 0));
}

function framed(
  messages: readonly Uint8Array[],
  allocate: (length: number) => Uint8Array = (length) => new Uint8Array(length),
): Uint8Array {
  const octets = allocate(messages.reduce((sum, { length }) => sum + LENGTH_OCTETS + length, 0));
  let at = 0;
  for (const message of messages) {
    octets[at] = message.length >> 8;
    octets[at + 1] = message.length;
    octets.set(message, at + LENGTH_OCTETS);
    at += LENGTH_OCTETS + message.length;
  }
  return octets;
}
