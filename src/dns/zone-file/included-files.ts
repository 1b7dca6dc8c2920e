// The files that $INCLUDE names (RFC 1035 §5.1). Limits bound files that include one another repeatedly.

import { TextError } from '../errors.ts';
import { unescapeAt } from '../name.ts';
import type { ZoneFileOptions } from './zone-file.ts';

const MAX_DEPTH = 16;
const MAX_FILES = 1000;
const MAX_CHARACTERS = 128 * 2 ** 20;

/** A file, and the files whose $INCLUDE led to it. */
export interface FileChain {
  /** The path. Undefined for the initial file. */
  readonly file: string | undefined;
  readonly includedBy: FileChain | undefined;
}

export class IncludedFiles {
  readonly #include: ZoneFileOptions['include'];
  readonly #reported = new Set<string>();
  #files = 0;
  #characters = 0;

  constructor(include: ZoneFileOptions['include']) {
    this.#include = include;
  }

  /**
   * Reads a file. `path` is as written by `includer`, with escapes. Throws TextError. Returns undefined for a limit
   * that was already reported.
   */
  read(path: string, includer: FileChain): { readonly file: string; readonly text: string } | undefined {
    if (this.#include === undefined) throw new TextError('$INCLUDE is not allowed here');
    const file = unescapePath(path);
    let depth = 0;
    for (let at: FileChain | undefined = includer; at !== undefined; at = at.includedBy) {
      if (at.file === file) return this.#reportOnce(`"${file}" includes itself`);
      if (++depth > MAX_DEPTH) return this.#reportOnce(`$INCLUDE is nested more than ${MAX_DEPTH} deep`);
    }
    if (++this.#files > MAX_FILES) return this.#reportOnce(`more than ${MAX_FILES} files are included`);
    const text = this.#include(file);
    if (typeof text !== 'string') throw new TextError(text.error);
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) {
      return this.#reportOnce(`more than ${MAX_CHARACTERS} characters are included in total`);
    }
    return { file, text };
  }

  /** Reports a limit only once: files that include one another may reach it many times. */
  #reportOnce(message: string): undefined {
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    throw new TextError(message);
  }
}

/** Resolves escapes, which represent octets (RFC 1035 §5.1); file names are in UTF-8. Throws TextError. */
function unescapePath(text: string): string {
  const pieces: Buffer[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') {
      const { octet, end } = unescapeAt(text, i);
      pieces.push(Buffer.from(octet, 'latin1'));
      i = end;
    } else {
      const character = String.fromCodePoint(text.codePointAt(i) as number);
      pieces.push(Buffer.from(character));
      i += character.length - 1;
    }
  }
  const path = Buffer.concat(pieces).toString();
  if (path === '') throw new TextError('$INCLUDE does not name a file');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  if (/[\x00-\x1f\x7f]/.test(path)) throw new TextError('a file name must not contain control characters');
  return path;
}
