// The name of a record in its domain: relative, `@`, or full. `www.example.com` in example.com is the full name, with
// or without its final dot. A relative name of this form can only be written in full.

import {
  foldCase,
  isWithin,
  labelCount,
  labelsOf,
  type Name,
  parentOf,
  prependLabel,
  printName,
} from '../../dns/name.ts';
import { asciiText, printWithoutDot, type ReadName, readName } from '../name-text.ts';

/** The usual case. One label can only be the full name of a domain with one label. */
const PLAIN_LABEL = /^[A-Za-z0-9_*-]+$/;

/** Returns the folded full name. */
export function parseRecordName(text: string, apex: Name): ReadName {
  if (text === '@') return { kind: 'name', name: apex };
  if (PLAIN_LABEL.test(text) && labelCount(apex) > 1) {
    const name = prependLabel(text, apex);
    if (name !== undefined) return { kind: 'name', name: foldCase(name) };
  }
  const ascii = asciiText(text);
  if (ascii.kind === 'problem') return ascii;
  const full = readName(`${ascii.text}.`);
  if (full.kind === 'problem') return full;
  const name = foldCase(full.name);
  if (isWithin(name, apex)) return judge(name, apex);
  if (ascii.absolute) {
    return { kind: 'problem', message: `"${text}" is not in ${printName(apex)}` };
  }
  const relative = readName(ascii.text, apex);
  return relative.kind === 'problem' ? relative : judge(foldCase(relative.name), apex);
}

function judge(name: Name, apex: Name): ReadName {
  const labels = labelsOf(name);
  const own = labels.slice(0, labels.length - labelsOf(apex).length);
  if (own.lastIndexOf('*') > 0) {
    return { kind: 'problem', message: 'a wildcard can only be the leftmost label' };
  }
  return { kind: 'name', name };
}

/** Returns `@`, the relative name, or the full name with its final dot if the relative one would be read as a full one. */
export function printRecordName(name: Name, apex: Name): string {
  if (name === apex) return '@';
  const relative = `${name.slice(0, name.length - apex.length)}\0` as Name;
  return isWithin(relative, apex) ? printOriginalName(name) : printWithoutDot(relative);
}

/** Returns the full name with its final dot. */
export function printOriginalName(name: Name): string {
  return `${printWithoutDot(name)}.`;
}

/** Yields the names between `name` and the apex, nearest first: possible delegations. */
export function* namesBetween(name: Name, apex: Name): Generator<Name> {
  if (name === apex) return;
  for (let above = parentOf(name); above !== apex; above = parentOf(above)) yield above;
}
