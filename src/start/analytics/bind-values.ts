// Inserts the values of `{name:Type}` into a statement, as literals inside a cast. The engine's own parameters are not
// used, because it runs such queries one at a time and mixes up the values of concurrent ones.

import { Refusal } from './refusal.ts';
import { readTokens } from './tokens.ts';

const PLACE = /^\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]+?)\s*\}$/;
const TYPE = /^[A-Za-z0-9_(), '/+-]{1,200}$/;
/** Nested types have the text format of SQL literals. All others have that of tab-separated files. */
const NESTED = /^(Array|Tuple|Map|Nested)\(/;
const NAMED = /^[A-Za-z_]\w*$/;
const UNESCAPED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '0': '\0',
};

export function bindValues(text: string, values: ReadonlyMap<string, string>): string {
  return readTokens(text)
    .map(({ kind, text }) => (kind === 'place' ? literalFor(text, values) : text))
    .join('');
}

function literalFor(place: string, values: ReadonlyMap<string, string>): string {
  const [, name = '', type = ''] = PLACE.exec(place) ?? [];
  if (!TYPE.test(type))
    throw new Refusal('SYNTAX_ERROR', `${place.slice(0, 100)} is not of the form {name:Type}`);
  const value = values.get(name);
  if (value === undefined) throw new Refusal('UNKNOWN_QUERY_PARAMETER', `Substitution ${name} is not set`);
  if (type === 'Identifier') {
    if (!NAMED.test(value)) throw new Refusal('BAD_QUERY_PARAMETER', `${name} is not a plain identifier`);
    return value;
  }
  if (value === '\\N') return `_CAST(NULL, ${quote(type)})`;
  return `_CAST(${quote(NESTED.test(type) ? value : unescaped(value))}, ${quote(type)})`;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gs, (_, letter: string) => UNESCAPED[letter] ?? letter);
}

export function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
