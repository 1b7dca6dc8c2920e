// A JSON array that is sent while its items are still being read, so that a list of any length takes little memory. The
// first piece is read before the answer begins: a list that cannot be read at all still gets a 503.

import { Readable } from 'node:stream';

/** A route's answer, with its items page by page. */
export class StreamedArray<T> {
  readonly pages: AsyncIterable<readonly T[]>;

  constructor(pages: AsyncIterable<readonly T[]>) {
    this.pages = pages;
  }
}

const PIECE_CHARACTERS = 32_768;

/** Reads ahead no further than the receiver takes. When the receiver goes, `pages` is told to stop. */
export async function openArrayStream(pages: AsyncIterable<readonly unknown[]>): Promise<Readable> {
  const pieces = piecesOf(pages);
  let first: IteratorResult<string> | undefined = await pieces.next();
  return new Readable({
    read() {
      const next = first === undefined ? pieces.next() : Promise.resolve(first);
      first = undefined;
      next.then(
        ({ done, value }) => this.push(done ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      pieces.return(undefined).then(
        () => done(error),
        () => done(error),
      );
    },
  });
}

async function* piecesOf(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string, undefined> {
  let piece = '[';
  let isFirst = true;
  for await (const page of pages) {
    for (const item of page) {
      piece += isFirst ? JSON.stringify(item) : `,${JSON.stringify(item)}`;
      isFirst = false;
      if (piece.length < PIECE_CHARACTERS) continue;
      yield piece;
      piece = '';
    }
  }
  yield `${piece}]`;
}
