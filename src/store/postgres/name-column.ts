// Names as stored in Postgres: folded, absolute, in presentation form.

import { foldCase, type Name, parseName, printName } from '../../dns/name.ts';

export function encodeNameColumn(name: Name): string {
  return printName(foldCase(name));
}

export function decodeNameColumn(text: string): Name {
  if (text === '.' || text.includes('\\')) return parseName(text);
  // The usual case, millions of times in a bulk load. Stored names need no second validation.
  let wire = '';
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('.', start);
    wire += String.fromCharCode(end - start) + text.slice(start, end);
    start = end + 1;
  }
  return `${wire}\0` as Name;
}
