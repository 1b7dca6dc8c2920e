// The files that $INCLUDE names (RFC 1035 §5.1). Limits keep files that include one another many times over from growing
// without end.

import { TextError } from '../errors.ts';
import { unescapeAt } from '../name.ts';
import type { ZoneFileOptions } from './zone-file.ts';

const MAX_DEPTH = 16;
const MAX_FILES = 1000;
const MAX_CHARACTERS = 128 * 2 ** 20;

/** A file, and the files whose $INCLUDE led to it. */
export interface FileChain {
  /** The path; undefined: the file that was given. */
  readonly file: string | undefined;
  readonly includedBy: FileChain | undefined;
}

export class IncludedFiles {
  readonly #include: ZoneFileOptions['include'];
  readonly #told = new Set<string>();
  #files = 0;
  #characters = 0;

  constructor(include: ZoneFileOptions['include']) {
    this.#include = include;
  }

  /** `path` as `includer` has it, with escapes. Throws TextError; undefined for a limit that was told before. */
  read(path: string, includer: FileChain): { readonly file: string; readonly text: string } | undefined {
    if (this.#include === undefined) throw new TextError('$INCLUDE is not allowed here');
    const file = unescapePath(path);
    let depth = 0;
    for (let at: FileChain | undefined = includer; at !== undefined; at = at.includedBy) {
      if (at.file === file) return this.#tellOnce(`"${file}" includes itself`);
      if (++depth > MAX_DEPTH) return this.#tellOnce(`$INCLUDE is more than ${MAX_DEPTH} deep`);
    }
    if (++this.#files > MAX_FILES) return this.#tellOnce(`more than ${MAX_FILES} files are included`);
    const text = this.#include(file);
    if (typeof text !== 'string') throw new TextError(text.error);
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) {
      return this.#tellOnce(`more than ${MAX_CHARACTERS} characters are included in all`);
    }
    return { file, text };
  }

  /** Reports a limit once: files that include one another many times meet it again and again. */
  #tellOnce(message: string): undefined {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    throw new TextError(message);
  }
}

/** Escapes stand for octets (RFC 1035 §5.1), and files have names in UTF-8. Throws TextError. */
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
  if (path === '') throw new TextError('$INCLUDE names no file');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  if (/[\x00-\x1f\x7f]/.test(path)) throw new TextError('a file name must not have control characters');
  return path;
}
