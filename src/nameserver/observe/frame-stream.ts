// Writes data frames to a reader: Frame Streams, bidirectional (https://farsightsec.github.io/fstrm/).
//
//   connected → READY → (ACCEPT) → START → data frames … → STOP → (FINISH) → closed
//
// Frames are dropped and counted while no reader has accepted, or if it does not read fast enough.

import { connect, type Socket } from 'node:net';
import type { Log } from '../../process/reconnect.ts';
import type { FrameReader } from '../../process/settings/nameserver-settings.ts';
import { readControlFrame, writeControlFrame } from './control-frames.ts';

interface FrameCounts {
  countSent(frames: number): void;
  countDropped(reason: 'unread' | 'queued', frames: number): void;
}

interface FrameLimits {
  readonly maxQueuedOctets: number;
  readonly reconnectMs: number;
  /** Time to connect and to accept, and time in which a reader must read something. */
  readonly acceptTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly finishTimeoutMs: number;
}

const DEFAULT_LIMITS: FrameLimits = {
  maxQueuedOctets: 4 << 20,
  reconnectMs: 1000,
  acceptTimeoutMs: 5000,
  readTimeoutMs: 30_000,
  finishTimeoutMs: 500,
};
const LOG_INTERVAL_MS = 60_000;
/** A longer input without a whole control frame is not Frame Streams. */
const MAX_INPUT_OCTETS = 520;

export class FrameStream {
  readonly #reader: FrameReader;
  readonly #content: string;
  readonly #counts: FrameCounts;
  readonly #log: Log;
  readonly #limits: FrameLimits;
  #socket: Socket | undefined;
  #input: Buffer = Buffer.alloc(0);
  #isAccepted = false;
  #isClosing = false;
  #timer: NodeJS.Timeout | undefined;
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  /** True if the log must say when a reader connects. */
  #isReported = true;
  #finished: (() => void) | undefined;

  /** @param content the content type of the frames */
  constructor(
    reader: FrameReader,
    content: string,
    counts: FrameCounts,
    log: Log,
    limits: FrameLimits = DEFAULT_LIMITS,
  ) {
    this.#reader = reader;
    this.#content = content;
    this.#counts = counts;
    this.#log = log;
    this.#limits = limits;
    this.#connect();
  }

  /** True if a reader has accepted. Otherwise frames need not be encoded. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** Drops `frames` data frames that were not encoded because no reader has accepted. */
  drop(frames: number): void {
    this.#counts.countDropped('unread', frames);
  }

  /** Sends `frames` data frames with their lengths. The octets must not change afterwards. */
  send(octets: Uint8Array, frames: number): void {
    const socket = this.#socket;
    if (!this.#isAccepted || socket === undefined) this.drop(frames);
    else if (socket.writableLength + octets.length > this.#limits.maxQueuedOctets) {
      this.#counts.countDropped('queued', frames);
    } else {
      socket.write(octets);
      this.#counts.countSent(frames);
    }
  }

  /** Ends the stream. Frames that the reader does not take in time are lost. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    if (this.#isAccepted) {
      this.#isAccepted = false;
      this.#socket?.write(writeControlFrame('STOP'));
      await new Promise<void>((done) => {
        this.#finished = done;
        this.#timer = setTimeout(done, this.#limits.finishTimeoutMs);
      });
      clearTimeout(this.#timer);
    }
    this.#socket?.destroy();
  }

  #connect(): void {
    const reader = this.#reader;
    const socket = connect(reader.kind === 'unix' ? { path: reader.path } : reader);
    this.#socket = socket;
    this.#input = Buffer.alloc(0);
    let why: string | undefined;
    this.#timer = setTimeout(() => {
      why = 'the reader has not accepted the stream in time';
      socket.destroy();
    }, this.#limits.acceptTimeoutMs);
    socket.setNoDelay(true).setKeepAlive(true, this.#limits.readTimeoutMs);
    socket.setTimeout(this.#limits.readTimeoutMs);
    socket.on('timeout', () => {
      if (socket.writableLength === 0) return; // there was nothing to write
      why = 'the reader no longer reads';
      socket.destroy();
    });
    socket.on('connect', () => socket.write(writeControlFrame('READY', this.#content)));
    socket.on('data', (chunk) => {
      why = this.#receive(socket, chunk);
      if (why !== undefined) socket.destroy();
    });
    socket.on('error', (error) => {
      why ??= error.message;
    });
    socket.on('close', () => this.#reconnect(why ?? 'the reader has closed the connection'));
  }

  #reconnect(reason: string): void {
    clearTimeout(this.#timer);
    this.#isAccepted = false;
    this.#finished?.();
    if (this.#isClosing) return;
    const nowMs = performance.now();
    if (nowMs - this.#loggedAtMs >= LOG_INTERVAL_MS) {
      this.#loggedAtMs = nowMs;
      this.#isReported = true;
      this.#log.warn({ reason }, 'DNSTAP: no reader is connected, and frames are dropped');
    }
    this.#timer = setTimeout(() => this.#connect(), this.#limits.reconnectMs);
  }

  /** Returns what is wrong with the input. Returns undefined if the connection continues. */
  #receive(socket: Socket, chunk: Buffer): string | undefined {
    this.#input = Buffer.concat([this.#input, chunk]);
    const frame = readControlFrame(this.#input);
    if (frame === 'incomplete') {
      return this.#input.length > MAX_INPUT_OCTETS ? 'the reader does not send Frame Streams' : undefined;
    }
    if (frame === 'invalid') return 'the reader does not send Frame Streams';
    this.#input = this.#input.subarray(frame.octets);
    if (frame.type === 'FINISH') {
      this.#finished?.();
      return 'the reader has finished';
    }
    if (frame.type !== 'ACCEPT' || this.#isAccepted) return `the reader sent ${frame.type} unexpectedly`;
    if (frame.contents.length > 0 && !frame.contents.includes(this.#content)) {
      return `the reader does not accept ${this.#content}`;
    }
    clearTimeout(this.#timer);
    socket.write(writeControlFrame('START', this.#content));
    this.#isAccepted = true;
    if (this.#isReported) this.#log.info({}, 'DNSTAP: a reader is connected');
    this.#isReported = false;
    return this.#input.length > 0 ? 'the reader sends more than it should' : undefined;
  }
}
