// Splits a ClickHouse statement into tokens, as far as the filter needs them. Syntax that the engine might read differently
// (quoted names, heredocs, non-ASCII letters) is rejected.

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

/** Returns all tokens. Concatenated, they are the text. */
export function readTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const token = tokenAt(text, at);
    if (token === undefined)
      throw new Refusal('SYNTAX_ERROR', `unsupported syntax at ${JSON.stringify(text.slice(at, at + 20))}`);
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
