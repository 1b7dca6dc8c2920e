// Answers up to 64 received frames at a time. An answer is written behind its query, into the same frame, so nothing is
// copied and nothing is allocated per query.

import { performance } from 'node:perf_hooks';
import { type GroupAnswerer, SLOW_PATH } from '../answer/answer-query.ts';
import { MAX_UDP_OCTETS } from '../answer/opt-writer.ts';
import { MOST_AHEAD } from '../image/find/read-ahead.ts';
import type { Reader } from '../image/image.ts';
import { BatchTimes } from '../observe/batch-times.ts';
import type { Sampler } from '../observe/sampler.ts';
import type { SlowPathLimit } from '../slow-path/slow-path-limit.ts';
import { Frame, MAX_HEADERS_OCTETS } from './frame.ts';
import { FRAME_BYTES, type QueueMemory, SCRATCH_AT } from './queue-memory.ts';
import { Rings } from './rings.ts';

interface FrameCounters {
  ignored: number;
  unsent: number;
  observeLatency(seconds: number, answers: number): void;
}

/** A message that the transfer thread answers. */
export interface SlowFrame {
  readonly octets: Uint8Array;
  readonly client: Uint8Array;
  readonly clientPort: number;
  readonly destination: Uint8Array;
  readonly destinationPort: number;
}

/** Takes the messages that the transfer thread answers. */
interface SlowFrames {
  readonly limit: Pick<SlowPathLimit, 'admit'>;
  post(frame: SlowFrame): void;
}

/** `slow` is required if the answerer returns SLOW_PATH. Without `sampler`, no answers are sampled. */
export type FrameBatchParts = readonly [
  answerer: GroupAnswerer,
  reader: Reader,
  counters: FrameCounters,
  slow?: SlowFrames | undefined,
  sampler?: Sampler | undefined,
];

export const BATCH_FRAMES = 64;
/** Answers of this length are permitted (RFC 1035 §4.2.1), even if the interface cannot send them. */
const MIN_ANSWER_OCTETS = 512;
const CACHE_LINE = 64;

export class FrameBatch {
  readonly rings: Rings;
  /** The interface's MTU, set by the caller. */
  mtu = 0;
  /** Never read. Without it, the compiler would omit the reads of `#touch`. */
  touched = 0;
  readonly #bytes: Uint8Array;
  /** The frames of a group. All of them are read before the first is answered. */
  readonly #frames: readonly Frame[];
  readonly #isRead = new Uint8Array(MOST_AHEAD);
  /** The frame that is being answered. */
  #frame: Frame;
  readonly #answerer: GroupAnswerer;
  readonly #reader: Reader;
  readonly #counters: FrameCounters;
  readonly #slow: SlowFrames | undefined;
  readonly #sampler: Sampler | undefined;
  readonly #times: BatchTimes;

  constructor(
    { bytes, rings }: Pick<QueueMemory, 'bytes' | 'rings'>,
    ...[answerer, reader, counters, slow, sampler]: FrameBatchParts
  ) {
    this.rings = new Rings(rings);
    this.#bytes = bytes;
    this.#frames = Array.from({ length: MOST_AHEAD }, () => new Frame(bytes));
    this.#frame = this.#frames[0] as Frame;
    this.#answerer = answerer;
    this.#reader = reader;
    this.#counters = counters;
    this.#slow = slow;
    this.#sampler = sampler;
    this.#times = new BatchTimes(answerer, counters, sampler);
  }

  /** Call it if no frame arrived. */
  rest(): void {
    this.#times.rest();
  }

  /** Answers the first `count` waiting frames. The send ring must have space for them. */
  reply(count: number): void {
    this.#times.begin();
    this.#times.end(this.#answer(count));
  }

  /** Returns the number of answers. */
  #answer(count: number): number {
    const bytes = this.#bytes;
    const answerer = this.#answerer;
    const { client } = answerer;
    const rings = this.rings;
    client.transport = 0;
    client.address = bytes;
    const sampler = this.#sampler;
    /** Number of the next answer that is sampled. */
    let sampled = sampler === undefined ? -1 : sampler.left;
    const startedAtMs = sampled >= 0 && sampled < count ? performance.now() : 0;
    let answers = 0;
    this.#touch(count);
    this.#reader.enter();
    for (let i = 0; i < count; i++) {
      const ahead = i & (MOST_AHEAD - 1);
      if (ahead === 0) this.#readAhead(i, count);
      const address = rings.addressOf(i);
      const octets = rings.octetsOf(i);
      if (this.#isRead[ahead] === 0) {
        this.#counters.ignored++;
        rings.free(address);
        continue;
      }
      const frame = this.#frames[ahead] as Frame;
      this.#frame = frame;
      let output = (address + octets + CACHE_LINE - 1) & -CACHE_LINE;
      if (output + MAX_HEADERS_OCTETS + MAX_UDP_OCTETS > (address & -FRAME_BYTES) + FRAME_BYTES) {
        output = this.#moveQuery(ahead, address, octets);
      }
      const { headersOctets } = frame;
      client.at = frame.clientAt;
      client.octets = frame.addressOctets;
      let written = 0;
      try {
        written = answerer.answerRead(ahead, bytes, output + headersOctets, this.#room());
      } catch {
        this.#counters.unsent++; // a bug that even the answerer did not handle: only this query is lost
      }
      if (written <= 0) {
        if (written === SLOW_PATH) this.#postSlow();
        rings.free(address);
        continue;
      }
      rings.send(output, frame.writeReply(output, written));
      if (answers === sampled && sampler !== undefined) {
        this.#sample(sampler, output + headersOctets, written, startedAtMs);
        sampled += 1 + sampler.drawSkip();
      }
      answers++;
    }
    if (sampler !== undefined) sampler.left = sampled - answers;
    this.#reader.leave();
    rings.take(count);
    return answers;
  }

  /**
   * Reads an octet of the first cache lines of each frame. The kernel has written them on another core, so each takes long
   * to arrive, but the processor requests many of them concurrently if nothing depends on them.
   */
  #touch(count: number): void {
    const { rings } = this;
    const bytes = this.#bytes;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const address = rings.addressOf(i);
      sum ^=
        (bytes[address] as number) ^
        (bytes[address + CACHE_LINE] as number) ^
        (bytes[address + 2 * CACHE_LINE] as number);
    }
    this.touched = sum;
  }

  /** Reads up to MOST_AHEAD frames from `first` on, and loads what their answers need. */
  #readAhead(first: number, count: number): void {
    const { rings } = this;
    const answerer = this.#answerer;
    const group = Math.min(MOST_AHEAD, count - first);
    for (let i = 0; i < group; i++) {
      const frame = this.#frames[i] as Frame;
      const isRead = frame.read(rings.addressOf(first + i), rings.octetsOf(first + i));
      this.#isRead[i] = isRead ? 1 : 0;
      if (isRead) answerer.read(i, this.#bytes, frame.messageAt, frame.messageOctets);
    }
    if (group > 1) answerer.load(group);
  }

  /** Moves a long query out of its frame. Returns the position of the answer in the frame. */
  #moveQuery(ahead: number, address: number, octets: number): number {
    const at = SCRATCH_AT + (address & (FRAME_BYTES - 1));
    this.#bytes.copyWithin(at, address, address + octets);
    this.#frame.read(at, octets);
    this.#answerer.read(ahead, this.#bytes, this.#frame.messageAt, this.#frame.messageOctets);
    return address & -FRAME_BYTES;
  }

  /** Returns the length of the largest answer that the interface can send. */
  #room(): number {
    const room = this.mtu - this.#frame.packetHeadersOctets;
    if (room >= MAX_UDP_OCTETS) return MAX_UDP_OCTETS;
    return room < MIN_ANSWER_OCTETS ? MIN_ANSWER_OCTETS : room;
  }

  #sample(sampler: Sampler, answerAt: number, written: number, startedAtMs: number): void {
    if (!sampler.admit(this.#answerer.nowMs)) return;
    const { messageAt, messageOctets, destinationAt, clientPort, destinationPort } = this.#frame;
    const bytes = this.#bytes;
    sampler.add(this.#answerer, {
      port: clientPort,
      local: bytes,
      localAt: destinationAt,
      localPort: destinationPort,
      query: bytes,
      queryAt: messageAt,
      queryOctets: messageOctets,
      answer: bytes,
      answerAt,
      answerOctets: written,
      startedAtMs,
    });
  }

  /** Posts the message to the main thread, unless a limit is exceeded. */
  #postSlow(): void {
    const { client, nowMs } = this.#answerer;
    const { messageAt, messageOctets, clientAt, destinationAt, addressOctets } = this.#frame;
    if (this.#slow?.limit.admit(client, messageOctets, nowMs) !== true) return;
    const copy = (at: number, octets: number) => this.#bytes.slice(at, at + octets);
    this.#slow.post({
      octets: copy(messageAt, messageOctets),
      client: copy(clientAt, addressOctets),
      clientPort: this.#frame.clientPort,
      destination: copy(destinationAt, addressOctets),
      destinationPort: this.#frame.destinationPort,
    });
  }
}
