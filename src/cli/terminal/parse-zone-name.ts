// Parses a zone name as typed by an operator: with or without the final dot, in any case, as Unicode or ASCII with escapes.

import { TextError } from '../../dns/errors.ts';
import { foldCase, type Name, parseName, printName, ROOT } from '../../dns/name.ts';
import { asciiText } from '../../zone/name-text.ts';
import { Failure } from './failure.ts';

export function parseZoneName(text: string): Name {
  if (text === '@') throw new Failure('usage', '"@" is not a zone name here; give the full name');
  try {
    return foldCase(parseName(/[^\0-\x7f]/.test(text) ? mapUnicode(text) : text, ROOT));
  } catch (error) {
    if (error instanceof TextError) throw new Failure('usage', `not a zone name: ${error.message}`);
    throw error;
  }
}

/** Returns folded texts with the final dot, without duplicates. */
export function parseZoneNames(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => printName(parseZoneName(text))))];
}

function mapUnicode(text: string): string {
  const ascii = asciiText(text);
  if (ascii.kind === 'problem') throw new Failure('usage', `not a zone name: ${ascii.message}`);
  return ascii.text;
}
