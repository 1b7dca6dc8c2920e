// Adds the final dot to full names that lack it, in zone files of other software.

import { foldCase, isWithin, type Name, parseName } from '../name.ts';
import type { Token } from '../record/token.ts';
import { hostWordOf } from './host-word.ts';

/** Adds the dot to an owner that ends in the zone's name. */
export function addDotToOwner(token: Token, apex: Name | undefined): Token {
  if (apex === undefined || !lacksDot(token)) return token;
  const dotted = withDot(token);
  const name = tryName(dotted.text);
  return name !== undefined && isWithin(name, apex) ? dotted : token;
}

/** Adds the dot to the host among the words of rdata, if it has two or more labels. */
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
    return undefined; // reported when the text is read without the dot
  }
}
