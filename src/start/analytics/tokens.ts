// Reads a ClickHouse statement into tokens, as far as the door has to understand it. What the engine could read in another way
// than this does (quoted names, heredocs, letters that are not ASCII) is refused.

import { Refusal } from './refusal.ts';

interface Token {
  readonly kind: 'space' | 'text' | 'word' | 'number' | 'place' | 'sign';
  readonly text: string;
}

const KINDS: readonly (readonly [Token['kind'], RegExp])[] = [
  ['space', /[ \t\r\n]+|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\//y],
  ['text', /'(?:[^'\\]|\\[\s\S]|'')*'/y],
  ['word', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['number', /[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y],
  ['place', /\{[^{}']*(?:'[^{}']*'[^{}']*)*\}/y],
  ['sign', /[()[\],.;=<>!+\-*/%?:|]/y],
];

/** All of them: put together they are the text. */
export function readTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const token = tokenAt(text, at);
    if (token === undefined)
      throw new Refusal('SYNTAX_ERROR', `the door reads no ${JSON.stringify(text.slice(at, at + 20))}`);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function tokenAt(text: string, at: number): Token | undefined {
  for (const [kind, pattern] of KINDS) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return { kind, text: found };
  }
  return undefined;
}
