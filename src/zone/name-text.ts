// A name as users write it in forms and JSON: Unicode (UTS 46), A-labels, underscores, escapes. The result is ASCII
// text for `parseName`, so that a name is read in the same way everywhere.

import { toASCII } from 'tr46';
import { TextError } from '../dns/errors.ts';
import { foldCase, type Name, parseName, ROOT } from '../dns/name.ts';

type AsciiText =
  | { readonly kind: 'text' /** Without the final dot. */; readonly text: string; readonly absolute: boolean }
  | { readonly kind: 'problem'; readonly message: string };

export type ReadName =
  | { readonly kind: 'name'; readonly name: Name }
  | { readonly kind: 'problem'; readonly message: string };

/** `/` is used in classless reverse delegations (RFC 2317); `*` is an ordinary octet unless alone (RFC 4592 §2.1.1). */
const PLAIN_LABEL = /^[A-Za-z0-9_*/-]+$/;
const PLAIN_NAME = /^[A-Za-z0-9_*/-]+(?:\.[A-Za-z0-9_*/-]+)*$/;
const MAPPED_LABEL = /^[a-z0-9_-]+$/;
/** 255 octets, each written as \DDD, and dots. */
export const MAX_NAME_CHARACTERS = 1100;
/** Limit for a label that is mapped, which takes time quadratic in its length. A label has at most 63 octets. */
const MAX_MAPPED_CHARACTERS = 128;
const IDEOGRAPHIC_DOTS = /[\u3002\uff0e\uff61]/g; // also separators (UTS 46 §4)

export function asciiText(text: string): AsciiText {
  if (text.length > MAX_NAME_CHARACTERS)
    return { kind: 'problem', message: 'a name is longer than 255 octets' };
  if (PLAIN_NAME.test(text)) return { kind: 'text', text, absolute: false };
  const labels: string[] = [];
  let label = '';
  for (const part of text.replace(IDEOGRAPHIC_DOTS, '.').match(/\\[\s\S]?|\.|[^.\\]+/g) ?? []) {
    if (part === '.') {
      labels.push(label);
      label = '';
    } else {
      label += part;
    }
  }
  const absolute = label === '' && labels.length > 0;
  if (!absolute) labels.push(label);
  const written: string[] = [];
  for (const raw of labels) {
    const ascii = asciiLabel(raw);
    if (typeof ascii === 'object') return { kind: 'problem', message: ascii.problem };
    written.push(ascii);
  }
  return { kind: 'text', text: written.join('.'), absolute };
}

function asciiLabel(label: string): string | { problem: string } {
  if (label === '') return { problem: 'a name must not be empty or have empty labels' };
  if (label.includes('\\') || PLAIN_LABEL.test(label)) return label; // parseName validates escapes
  if (/^[\x20-\x7e]*$/.test(label)) {
    return { problem: `"${label}" has a character that must be written as an escape, \\DDD` };
  }
  if (label.length > MAX_MAPPED_CHARACTERS) return { problem: 'a label is longer than 63 octets' };
  const mapped = toASCII(label, { checkBidi: true, checkJoiners: true });
  if (mapped === null || !MAPPED_LABEL.test(mapped)) {
    return { problem: `"${label}" is not a valid internationalised label` };
  }
  return mapped;
}

const SURROGATE = /[\uD800-\uDFFF]/;

/** Returns false for text with half of a surrogate pair. Most text has no surrogates, which is found faster. */
export function isWellFormed(text: string): boolean {
  return !SURROGATE.test(text) || !/\p{Surrogate}/u.test(text);
}

/** Reads a full name, with or without the final dot, and converts it to lower case. */
export function readFullName(text: string): ReadName {
  const ascii = asciiText(text);
  const read = ascii.kind === 'problem' ? ascii : readName(`${ascii.text}.`);
  return read.kind === 'problem' ? read : { kind: 'name', name: foldCase(read.name) };
}

/** Runs `parseName`, which only throws for invalid text. */
export function readName(text: string, origin?: Name): ReadName {
  try {
    return { kind: 'name', name: parseName(text, origin) };
  } catch (error) {
    if (error instanceof TextError) return { kind: 'problem', message: error.message };
    throw error;
  }
}

/**
 * Returns text that `asciiText` reads back, without the final dot; the root is `.`. Escapes more than a zone file requires.
 */
export function printWithoutDot(name: Name): string {
  if (name === ROOT) return '.';
  let text = '';
  for (let at = 0, length = name.charCodeAt(0); length !== 0; length = name.charCodeAt(at)) {
    const label = name.slice(at + 1, at + 1 + length);
    if (at > 0) text += '.';
    text += label.replace(/[^A-Za-z0-9_*/-]/g, escapeOctet);
    at += 1 + length;
  }
  return text;
}

function escapeOctet(char: string): string {
  return `\\${String(char.charCodeAt(0)).padStart(3, '0')}`;
}
