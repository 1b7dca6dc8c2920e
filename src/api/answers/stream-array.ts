// A JSON array that is sent while its items are still being read, so that a list of any length takes little memory. The
// first piece is read before the answer begins: a list that cannot be read at all still gets a 503.

import { Readable } from 'node:stream';

/** A route's answer, with its items page by page. */
export class StreamedArray<T> {
  readonly pages: AsyncIterable<readonly T[] | JsonTexts>;

  constructor(pages: AsyncIterable<readonly T[] | JsonTexts>) {
    this.pages = pages;
  }
}

/** Items of a page that are JSON already, as `JSON.stringify` gives it for what the schema makes of them. */
export class JsonTexts {
  readonly texts: readonly string[];

  constructor(texts: readonly string[]) {
    this.texts = texts;
  }
}

const PIECE_CHARACTERS = 32_768;
/** One call for several small items takes two thirds of the time of one for each. */
const MAX_ITEMS_AT_ONCE = 64;

/**
 * The text itself where it is one piece. A stream reads ahead no further than the receiver takes; when the receiver goes,
 * `pages` is told to stop.
 */
export async function openArrayStream(
  pages: AsyncIterable<readonly unknown[] | JsonTexts>,
): Promise<Readable | string> {
  const pieces = piecesOf(pages);
  const start = await pieces.next();
  if (start.done) return start.value;
  let first: typeof start | undefined = start;
  return new Readable({
    read() {
      const next = first === undefined ? pieces.next() : Promise.resolve(first);
      first = undefined;
      next.then(
        ({ done, value }) => {
          this.push(Buffer.from(value));
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

/** The last piece is what it returns. */
async function* piecesOf(
  pages: AsyncIterable<readonly unknown[] | JsonTexts>,
): AsyncGenerator<string, string> {
  let piece = '[';
  let isFirst = true;
  for await (const page of pages) {
    for (const text of page instanceof JsonTexts ? page.texts : textsOf(page)) {
      piece += isFirst ? text : `,${text}`;
      isFirst = false;
      if (piece.length < PIECE_CHARACTERS) continue;
      yield piece;
      piece = '';
    }
  }
  return `${piece}]`;
}

/** Of so many items each that a text is about a piece long: an item of a log can be megabytes. */
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
