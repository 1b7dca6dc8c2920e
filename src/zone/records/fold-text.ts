// Text in the form that searches compare: case-insensitive, composed, and with A-labels as Unicode. The database does
// not do this: its knowledge of non-ASCII letters depends on its locale, and it does not know A-labels.

import { toUnicode } from 'tr46';

/** Returns the same form for all texts that differ only in case or in the encoding of accents. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  let folded = '';
  for (const char of text.normalize('NFC')) folded += foldCharacter(char);
  return folded;
}

export function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/**
 * Converts to upper case first, so that ς becomes σ and ſ becomes s. ß is unchanged, because its upper case has two letters.
 */
function foldCharacter(char: string): string {
  const upper = char.toUpperCase();
  return [...upper].length === 1 ? upper.toLowerCase() : char.toLowerCase();
}

const A_LABEL = /(?<![\w-])xn--[a-z0-9-]+/gi;

/** Also converts A-labels anywhere in the text. */
export function foldWithLabels(text: string): string {
  return foldText(text.replace(A_LABEL, readLabel));
}

function readLabel(label: string): string {
  const { domain, error } = toUnicode(label);
  return error ? label : domain;
}
