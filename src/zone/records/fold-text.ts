// Text as a search compares it: in any case, composed or not, A-labels as the Unicode that they stand for. The database
// does not do this: what it knows of letters beyond ASCII depends on its locale, and of A-labels it knows nothing.

import { toUnicode } from 'tr46';

/** One form for all that differ in nothing but case or in how their accents are encoded. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  let folded = '';
  for (const char of text.normalize('NFC')) folded += foldCharacter(char);
  return folded;
}

export function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/** Through upper case, so that ς is σ and ſ is s; ß stays, since its upper case is two letters. */
function foldCharacter(char: string): string {
  const upper = char.toUpperCase();
  return [...upper].length === 1 ? upper.toLowerCase() : char.toLowerCase();
}

const A_LABEL = /(?<![\w-])xn--[a-z0-9-]+/gi;

/** Also with A-labels, wherever in the text they stand. */
export function foldWithLabels(text: string): string {
  return foldText(text.replace(A_LABEL, readLabel));
}

function readLabel(label: string): string {
  const { domain, error } = toUnicode(label);
  return error ? label : domain;
}
