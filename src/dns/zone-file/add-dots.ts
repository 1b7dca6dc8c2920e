// Full names without a final dot, as other software writes them into zone files.

import { foldCase, isWithin, type Name, parseName } from '../name.ts';
import type { Token } from '../record/token.ts';
import { hostWordOf } from './host-word.ts';

/** An owner that ends in the zone's name is a full name. */
export function addDotToOwner(token: Token, apex: Name | undefined): Token {
  if (apex === undefined || !lacksDot(token)) return token;
  const dotted = withDot(token);
  const name = tryName(dotted.text);
  return name !== undefined && isWithin(name, apex) ? dotted : token;
}

/** A host of two or more labels is a full name. */
export function addDotToHost(type: number, words: readonly Token[]): readonly Token[] {
  const at = hostWordOf(type);
  const host = at === undefined ? undefined : words[at];
  if (at === undefined || host === undefined || !lacksDot(host)) return words;
  return words.with(at, withDot(host));
}

function lacksDot({ text, quoted }: Token): boolean {
  return !quoted && text.includes('.') && !text.endsWith('.');
}

function withDot(token: Token): Token {
  return { ...token, text: `${token.text}.` };
}

function tryName(text: string): Name | undefined {
  try {
    return foldCase(parseName(text));
  } catch {
    return undefined; // reported when it is read as it stands
  }
}
