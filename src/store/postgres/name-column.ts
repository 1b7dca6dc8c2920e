// Names as stored in Postgres: folded, absolute, in presentation form.

import { foldCase, type Name, parentOf, parseName, printName, ROOT } from '../../dns/name.ts';

let lastParent = ROOT;
let lastText = '';

/** Prints the parent once for consecutive names with the same one, as in an import. */
export function encodeNameColumn(name: Name): string {
  const folded = foldCase(name);
  if (folded === ROOT) return '.';
  const parent = parentOf(folded);
  if (parent !== lastParent) {
    lastParent = parent;
    lastText = parent === ROOT ? '' : printName(parent);
  }
  return printName((folded.slice(0, folded.length - parent.length) + ROOT) as Name) + lastText;
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
