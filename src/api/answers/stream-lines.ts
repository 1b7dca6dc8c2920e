// Lines of JSON that are sent as they come, for as long as the caller reads them. The first piece is read before the answer
// begins: what cannot be read at all still gets a 503. Nothing is read ahead of what the caller takes.

import { Readable } from 'node:stream';

/** A route's answer; each piece is some whole lines. */
export class StreamedLines {
  readonly pieces: AsyncIterableIterator<string>;
  /** Called when nothing could be begun. */
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
      // Whoever makes the pieces is told by a signal too: it may be waiting.
      void pieces.return?.().catch(() => undefined);
      done(error);
    },
  });
}
