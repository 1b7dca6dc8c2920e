// @ts-check
// Reads the lines of a part of a growing file in chunks.

import { createReadStream } from 'node:fs';

/** nginx accepts request lines of 8 KiB, and escapes an octet with at most six characters. */
const MOST_LINE = 128 * 1024;
const NEW_LINE = 10;

/**
 * Yields complete lines of a part of a file, with the offset after each. The text is undefined if the line is too long.
 * @param {string} path
 * @param {number} from
 * @param {number} to
 * @returns {AsyncGenerator<{ text: string | undefined, end: number }>}
 */
export async function* linesOf(path, from, to) {
  let rest = Buffer.alloc(0);
  let isTooLong = false;
  /** Offset of the first octet of `rest`. */
  let at = from;
  for await (const piece of createReadStream(path, { start: from, end: to - 1 })) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let begin = 0;
    for (let end = rest.indexOf(NEW_LINE); end !== -1; end = rest.indexOf(NEW_LINE, begin)) {
      const text = isTooLong ? undefined : rest.toString('utf8', begin, end);
      isTooLong = false;
      begin = end + 1;
      yield { text, end: at + begin };
    }
    at += begin;
    rest = rest.subarray(begin);
    if (rest.length <= MOST_LINE) continue;
    isTooLong = true;
    at += rest.length;
    rest = Buffer.alloc(0);
  }
}

/** @param {string} path @param {{ done: number, size: number }} log */
export async function countLines(path, { done, size }) {
  let lines = 0;
  for await (const piece of createReadStream(path, { start: done, end: size - 1 })) {
    for (let at = piece.indexOf(NEW_LINE); at !== -1; at = piece.indexOf(NEW_LINE, at + 1)) lines++;
  }
  return lines;
}
