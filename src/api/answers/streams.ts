// Responses that are sent while they are produced: JSON arrays, lines of JSON, and long texts. The first piece of an
// array or of lines is read before the response begins, so that a list that cannot be read still results in 503.

import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

/** The response of a route that produces its items page by page. */
export class StreamedArray<T> {
  readonly pages: AsyncIterable<readonly T[] | JsonTexts>;

  constructor(pages: AsyncIterable<readonly T[] | JsonTexts>) {
    this.pages = pages;
  }
}

/**
 * Items of a page that are already JSON: the output of `JSON.stringify` for items that match the schema. A text may contain
 * several items, separated by commas.
 */
export class JsonTexts {
  readonly texts: readonly (string | Buffer)[];

  constructor(texts: readonly (string | Buffer)[]) {
    this.texts = texts;
  }
}

const PIECE_CHARACTERS = 131_072;
/** One `JSON.stringify` call for several small items takes two thirds of the time of separate calls. */
const MAX_ITEMS_AT_ONCE = 64;

/** Returns the text if it is one piece, otherwise a stream that reads no further ahead than the client. */
export async function openArrayStream(
  pages: AsyncIterable<readonly unknown[] | JsonTexts>,
): Promise<Readable | string | Buffer> {
  const pieces = arrayPieces(pages);
  const start = await pieces.next();
  if (start.done) return start.value;
  let first: typeof start | undefined = start;
  return new Readable({
    read() {
      const next = first === undefined ? pieces.next() : Promise.resolve(first);
      first = undefined;
      next.then(
        ({ done, value }) => {
          this.push(typeof value === 'string' ? Buffer.from(value) : value);
          if (done) this.push(null);
        },
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      pieces.return('').then(
        () => done(error),
        () => done(error),
      );
    },
  });
}

/** Yields all pieces but the last, which is the return value. */
async function* arrayPieces(
  pages: AsyncIterable<readonly unknown[] | JsonTexts>,
): AsyncGenerator<string | Buffer, string | Buffer> {
  const piece = new Piece();
  piece.add('[');
  let isFirst = true;
  for await (const page of pages) {
    for (const text of page instanceof JsonTexts ? page.texts : textsOf(page)) {
      if (!isFirst) piece.add(',');
      isFirst = false;
      piece.add(text);
      if (piece.isLong) yield piece.take();
    }
  }
  piece.add(']');
  return piece.take();
}

/** Collects texts that are sent together. */
class Piece {
  #octets: Buffer[] = [];
  /** The texts after the octets. */
  #text = '';
  #length = 0;

  get isLong(): boolean {
    return this.#length >= PIECE_CHARACTERS;
  }

  add(text: string | Buffer): void {
    this.#length += text.length;
    if (typeof text === 'string') {
      this.#text += text;
      return;
    }
    this.#octets.push(Buffer.from(this.#text), text);
    this.#text = '';
  }

  take(): string | Buffer {
    const [octets, text] = [this.#octets, this.#text];
    this.#octets = [];
    this.#text = '';
    this.#length = 0;
    return octets.length === 0 ? text : Buffer.concat([...octets, Buffer.from(text)]);
  }
}

/** Groups the items so that each text is about one piece long: an item of a log can have megabytes. */
function* textsOf(items: readonly unknown[]): Generator<string> {
  for (let at = 0, count = 1; at < items.length; ) {
    const taken = items.slice(at, at + count);
    const text = JSON.stringify(taken).slice(1, -1);
    yield text;
    at += taken.length;
    const fitting = Math.floor((PIECE_CHARACTERS * taken.length) / (text.length + 1));
    count = Math.min(Math.max(fitting, 1), MAX_ITEMS_AT_ONCE, 2 * taken.length);
  }
}

/** Lines that are sent as they become available, in pieces of whole lines, without reading ahead. */
export class StreamedLines {
  readonly pieces: AsyncIterableIterator<string>;
  /** Called if the stream could not start. */
  readonly giveUp: () => void;

  constructor(pieces: AsyncIterableIterator<string>, giveUp: () => void) {
    this.pieces = pieces;
    this.giveUp = giveUp;
  }
}

export async function openLineStream({ pieces, giveUp }: StreamedLines): Promise<Readable> {
  const start = await pieces.next().catch((error: unknown) => {
    giveUp();
    throw error;
  });
  let first: typeof start | undefined = start;
  return new Readable({
    highWaterMark: 1,
    read() {
      const next = first === undefined ? pieces.next() : Promise.resolve(first);
      first = undefined;
      next.then(
        ({ done, value }) => {
          if (done !== true) this.push(Buffer.from(value as string));
          else this.push(null);
        },
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      // The producer may be waiting, so it is also notified by a signal.
      void pieces.return?.().catch(() => undefined);
      done(error);
    },
  });
}

/** The response of a route that produces lines: a string is a line without its line break, octets are whole lines. */
export class StreamedText {
  readonly lines: Iterable<string | Buffer>;

  constructor(lines: Iterable<string | Buffer>) {
    this.lines = lines;
  }
}

/** Opens the stream. Other requests are served between two pieces. */
export function openTextStream(lines: Iterable<string | Buffer>): Readable {
  return Readable.from(textPieces(lines), { objectMode: false });
}

async function* textPieces(lines: Iterable<string | Buffer>): AsyncGenerator<string | Buffer> {
  const piece = new Piece();
  for (const line of lines) {
    piece.add(typeof line === 'string' ? `${line}\n` : line);
    if (!piece.isLong) continue;
    yield piece.take();
    await setImmediate();
  }
  yield piece.take();
}
