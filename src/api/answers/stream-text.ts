// A text that is sent while it is still being made, for files of any length.

import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

/** A route's answer, with its lines, each without its line break. */
export class StreamedText {
  readonly lines: Iterable<string>;

  constructor(lines: Iterable<string>) {
    this.lines = lines;
  }
}

const PIECE_CHARACTERS = 32_768;

/** Opens the stream. Between two pieces other requests are served. */
export function openTextStream(lines: Iterable<string>): Readable {
  return Readable.from(piecesOf(lines), { objectMode: false });
}

async function* piecesOf(lines: Iterable<string>): AsyncGenerator<string> {
  let piece = '';
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
    await setImmediate();
  }
  yield piece;
}
