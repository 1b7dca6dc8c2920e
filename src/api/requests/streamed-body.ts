// A body that its route reads line by line as it arrives, plain or gzip. Limits apply to its octets on the wire, its
// unpacked size, its longest line, and the time spent waiting for it. At most a few pieces are in memory.

import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { badRequest, Problem, unavailable } from '../answers/problem.ts';
import { BodyPace, type PaceBounds } from './body-pace.ts';

export interface StreamBounds {
  /** Octets on the wire. */
  readonly wireBytes: number;
  readonly unpackedBytes: number;
  readonly lineBytes: number;
  /** Including empty lines. */
  readonly lines: number;
  readonly pace: PaceBounds;
}

const SLOW_RETRY_SECONDS = 30;
const NEW_LINE = 10;
const NDJSON = /^application\/(?:x-ndjson|ndjson|jsonl)\s*(?:;\s*charset="?utf-8"?\s*)?;?$/i;

/** Thrown while a body is read. Contains the response. */
export class BodyRefusal extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.error);
    this.problem = problem;
  }
}

export class StreamedBody {
  readonly headers: IncomingHttpHeaders;
  readonly #payload: Readable;
  readonly #type: string | undefined;
  #unpacked = 0;
  #pace: BodyPace | undefined;

  /** `type` is the Content-Type as received. */
  constructor(payload: Readable, headers: IncomingHttpHeaders, type: string | undefined) {
    this.#payload = payload;
    this.headers = headers;
    this.#type = type;
  }

  /** Number of octets that have been read, unpacked. */
  get unpackedBytes(): number {
    return this.#unpacked;
  }

  /** True if the part that was read arrived slowly. */
  get isSlow(): boolean {
    return this.#pace?.isSlow === true;
  }

  /** Checks the headers, before any of the body is read. */
  judge({ wireBytes }: StreamBounds): Problem | undefined {
    const { 'content-encoding': encoding = 'identity', 'content-length': length } = this.headers;
    if (!NDJSON.test(this.#type?.trim() ?? ''))
      return new Problem(415, 'the body must be lines of JSON: send Content-Type: application/x-ndjson');
    if (!/^(gzip|identity)$/i.test(encoding))
      return new Problem(415, 'unsupported Content-Encoding: send gzip or none');
    return Number(length) > wireBytes ? tooLarge(wireBytes, 'octets') : undefined;
  }

  /** Yields non-empty lines as they arrive. Undefined is a line that is too long. Throws a `BodyRefusal`. */
  async *lines(bounds: StreamBounds): AsyncGenerator<(string | undefined)[]> {
    let begun: Buffer[] = [];
    let begunBytes = 0;
    let count = 0;
    const end = (last: Buffer): (string | undefined)[] => {
      const length = begunBytes + last.length;
      const whole = begun.length === 0 ? last : Buffer.concat([...begun, last]);
      begun = [];
      begunBytes = 0;
      if (length > bounds.lineBytes) return [undefined];
      const text = whole.toString().trim();
      return text === '' ? [] : [text];
    };
    for await (const piece of this.#octets(bounds)) {
      const lines: (string | undefined)[] = [];
      let from = 0;
      for (let to = piece.indexOf(NEW_LINE); to !== -1; to = piece.indexOf(NEW_LINE, from)) {
        if (++count > bounds.lines)
          throw new BodyRefusal(new Problem(413, `the body is too large: at most ${bounds.lines} lines`));
        if (to > from || begunBytes > 0) lines.push(...end(piece.subarray(from, to)));
        from = to + 1;
      }
      const rest = piece.subarray(from);
      begunBytes += rest.length;
      if (begunBytes > bounds.lineBytes) begun = [];
      else if (rest.length > 0) begun.push(rest);
      if (lines.length > 0) yield lines;
    }
    const last = end(Buffer.alloc(0));
    if (last.length > 0) yield last;
  }

  async *#octets(bounds: StreamBounds): AsyncGenerator<Buffer> {
    const isPacked = /^gzip$/i.test(this.headers['content-encoding'] ?? '');
    const arriving = this.#arriving(bounds);
    const pieces = isPacked ? unpack(arriving) : arriving;
    for await (const piece of pieces) {
      this.#unpacked += piece.length;
      if (this.#unpacked > bounds.unpackedBytes)
        throw new BodyRefusal(tooLarge(bounds.unpackedBytes, 'octets unpacked'));
      yield piece;
    }
  }

  async *#arriving({ wireBytes, pace: paceBounds }: StreamBounds): AsyncGenerator<Buffer> {
    const pace = new BodyPace(paceBounds);
    this.#pace = pace;
    let octets = 0;
    while (true) {
      const chunk = this.#payload.read() as Buffer | null;
      if (chunk === null) {
        if (this.#payload.readableEnded) return;
        const moved = await moves(this.#payload, pace.wait(performance.now()));
        pace.came(this.#payload.readableLength, performance.now());
        if (moved === 'slow') throw new BodyRefusal(tooSlow());
        if (moved === 'broken')
          throw new BodyRefusal(badRequest('the connection was closed within the body'));
        continue;
      }
      octets += chunk.length;
      if (octets > wireBytes) throw new BodyRefusal(tooLarge(wireBytes, 'octets'));
      yield chunk;
    }
  }
}

/** Waits for more data or the end. Does not destroy the stream, which is needed for the response. */
async function moves(payload: Readable, mostMs: number): Promise<'moved' | 'slow' | 'broken'> {
  if (payload.destroyed || payload.errored !== null) return 'broken';
  return await new Promise((resolve) => {
    const settle = (how: 'moved' | 'slow' | 'broken') => () => {
      clearTimeout(timer);
      for (const [event, listener] of events) payload.off(event, listener);
      resolve(how);
    };
    const timer = setTimeout(settle('slow'), mostMs);
    const events = [
      ['readable', settle('moved')],
      ['end', settle('moved')],
      ['error', settle('broken')],
      ['close', settle('broken')],
    ] as const;
    for (const [event, listener] of events) payload.on(event, listener);
  });
}

/** Unpacks a piece only after the previous one was read. */
async function* unpack(arriving: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  pipeline(Readable.from(arriving, { objectMode: false }), gunzip, () => {}); // errors are thrown below
  try {
    for await (const piece of gunzip) yield piece as Buffer;
  } catch (error) {
    if (error instanceof BodyRefusal) throw error;
    throw new BodyRefusal(badRequest('the body is not complete gzip data'));
  }
}

function tooLarge(most: number, unit: string): Problem {
  return new Problem(413, `the body is too large: at most ${most} ${unit}`);
}

function tooSlow(): Problem {
  return unavailable('the body arrives too slowly; try again with smaller batches', SLOW_RETRY_SECONDS);
}
