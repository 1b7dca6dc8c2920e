// Domain names. A Name is an uncompressed wire form (RFC 1035 §3.1) in a string, one character (0..255) per octet. It is
// immutable, compared with ===, and usable as a Map key. Its case is preserved (RFC 4343); `foldCase` returns the key.

import { TextError, WireError } from './errors.ts';

export type Name = string & { readonly __brand: 'Name' };

export const ROOT = '\0' as Name;

export const MAX_NAME_OCTETS = 255; // RFC 1035 §2.3.4
const MAX_LABEL_OCTETS = 63;
const POINTER = 0xc0; // RFC 1035 §4.1.4
const MAX_POINTERS = 127; // the maximum number of labels; more would only waste time

/**
 * Parses presentation text with the escapes `\X` and `\DDD` (RFC 1035 §5.1). `@` is the origin. A name without a final
 * dot is relative to it, or an error if there is no origin. Octets above 127 must be escaped.
 */
export function parseName(text: string, origin?: Name): Name {
  if (text === '.') return ROOT;
  if (text === '@' && origin !== undefined) return origin;
  if (text === '') throw new TextError('a name is empty');
  const plain = parsePlainName(text, origin);
  if (plain !== undefined) return plain;
  let wire = '';
  let label = '';
  let absolute = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === '.') {
      wire += checkLabel(label, text);
      label = '';
      absolute = i === text.length - 1;
    } else if (char === '\\') {
      const unescaped = unescapeAt(text, i);
      label += unescaped.octet;
      i = unescaped.end;
    } else if (char > '\x7f') {
      throw new TextError(`"${text}" has a character outside ASCII; write it as an A-label or as \\DDD`);
    } else {
      label += char;
    }
  }
  if (!absolute) {
    if (origin === undefined)
      throw new TextError(`"${text}" does not end with a dot, and there is no origin`);
    wire += checkLabel(label, text) + origin;
  } else {
    wire += ROOT;
  }
  if (wire.length > MAX_NAME_OCTETS) throw new TextError(`"${text}" is longer than 255 octets`);
  return wire as Name;
}

/** Printable ASCII without backslashes. */
const PLAIN = /^[!-[\]-~]+$/;

/** Parses the usual names faster, because a zone file has many. Returns undefined for names with escapes or errors. */
function parsePlainName(text: string, origin: Name | undefined): Name | undefined {
  const end = text.endsWith('.') ? ROOT : origin;
  if (end === undefined || !PLAIN.test(text)) return undefined;
  let wire = '';
  for (let start = 0; start < text.length; ) {
    const dot = text.indexOf('.', start);
    const length = (dot === -1 ? text.length : dot) - start;
    if (length === 0 || length > MAX_LABEL_OCTETS) return undefined;
    wire += String.fromCharCode(length) + text.slice(start, start + length);
    start += length + 1;
  }
  wire += end;
  return wire.length > MAX_NAME_OCTETS ? undefined : (wire as Name);
}

/** Returns the octet of the escape at `text[at] === '\\'`, and the index of its last character. */
export function unescapeAt(text: string, at: number): { octet: string; end: number } {
  const next = text[at + 1];
  if (next === undefined) throw new TextError(`"${text}" ends in a lone backslash`);
  if (next > '\x7f') throw new TextError(`"${text}" has a character outside ASCII`);
  if (next < '0' || next > '9') return { octet: next, end: at + 1 };
  const digits = text.slice(at + 1, at + 4);
  if (!/^[0-9]{3}$/.test(digits) || Number(digits) > 255) {
    throw new TextError(`"\\${digits}" is not an octet; an escape has three digits, \\000 to \\255`);
  }
  return { octet: String.fromCharCode(Number(digits)), end: at + 3 };
}

function checkLabel(label: string, text: string): string {
  if (label === '') throw new TextError(`"${text}" has an empty label`);
  if (label.length > MAX_LABEL_OCTETS) throw new TextError(`"${text}" has a label longer than 63 octets`);
  return String.fromCharCode(label.length) + label;
}

/** Returns absolute presentation text (with the final dot), escaped so that `parseName` returns the same name. */
export function printName(name: Name): string {
  if (name === ROOT) return '.';
  let text = '';
  for (let at = 0, length = name.charCodeAt(0); length !== 0; length = name.charCodeAt(at)) {
    text += `${printLabel(name.slice(at + 1, at + 1 + length))}.`;
    at += 1 + length;
  }
  return text;
}

function printLabel(label: string): string {
  // escapes more than RFC 1035 §5.1 requires: Knot rejects other unescaped punctuation, and BIND reads `\[` as a bit string
  return label.replace(/[^A-Za-z0-9*/_-]/g, (char) => {
    const octet = char.charCodeAt(0);
    const isPrintable = octet > 0x20 && octet < 0x7f && char !== '[';
    return isPrintable ? `\\${char}` : `\\${String(octet).padStart(3, '0')}`;
  });
}

/** Returns the name with A–Z as a–z and other octets unchanged (RFC 4343 §3). Length octets are less than "A". */
export function foldCase(name: Name): Name {
  return name.replace(/[A-Z]+/g, (upper) => upper.toLowerCase()) as Name;
}

/** Returns the labels without the root's, leftmost first, each as a string of octets. */
export function labelsOf(name: Name): string[] {
  const labels: string[] = [];
  for (let i = 0; name.charCodeAt(i) !== 0; i += name.charCodeAt(i) + 1) {
    labels.push(name.slice(i + 1, i + 1 + name.charCodeAt(i)));
  }
  return labels;
}

/** Returns the number of labels without the root's. */
export function labelCount(name: Name): number {
  let count = 0;
  for (let i = 0; name.charCodeAt(i) !== 0; i += name.charCodeAt(i) + 1) count++;
  return count;
}

/** Returns the name without its leftmost label. Must not be called for the root, which has no parent. */
export function parentOf(name: Name): Name {
  if (name === ROOT) throw new RangeError('the root has no parent');
  return name.slice(name.charCodeAt(0) + 1) as Name;
}

/** Returns true if `name` is `ancestor` or below it. Compares octets: fold both first. */
export function isWithin(name: Name, ancestor: Name): boolean {
  let i = 0;
  while (name.length - i > ancestor.length) i += name.charCodeAt(i) + 1;
  return name.length - i === ancestor.length && name.endsWith(ancestor);
}

/** Returns `label.name`. Returns undefined if that is longer than 255 octets. */
export function prependLabel(label: string, name: Name): Name | undefined {
  if (label.length === 0 || label.length > MAX_LABEL_OCTETS) return undefined;
  const joined = String.fromCharCode(label.length) + label + name;
  return joined.length > MAX_NAME_OCTETS ? undefined : (joined as Name);
}

/** Returns `*.name` (RFC 4592 §2.1.1). Returns undefined if that is longer than 255 octets. */
export function wildcardBelow(name: Name): Name | undefined {
  return prependLabel('*', name);
}

export function isWildcard(name: Name): boolean {
  return name.startsWith('\x01*');
}

/** Returns `name` with its suffix `from` replaced by `to` (DNAME, RFC 6672 §2.2). Returns undefined if that is too long. */
export function replaceSuffix(name: Name, from: Name, to: Name): Name | undefined {
  const joined = name.slice(0, name.length - from.length) + to;
  return joined.length > MAX_NAME_OCTETS ? undefined : (joined as Name);
}

/** Compares in canonical order: labels from the right, folded, as unsigned octets (RFC 4034 §6.1). */
export function compareNames(a: Name, b: Name): number {
  const left = labelsOf(foldCase(a)).reverse();
  const right = labelsOf(foldCase(b)).reverse();
  for (let i = 0; i < left.length && i < right.length; i++) {
    const l = left[i] as string;
    const r = right[i] as string;
    if (l !== r) return l < r ? -1 : 1;
  }
  return left.length - right.length;
}

export function encodeName(name: Name): Uint8Array {
  return Buffer.from(name, 'latin1');
}

/** Buffer of `decodeName`, which is shared because a peer may send thousands of names with a hundred labels each. */
const decoded = Buffer.alloc(MAX_NAME_OCTETS);

/**
 * Reads the name at `offset` of a message. Follows compression pointers (RFC 1035 §4.1.4), which must point to before
 * the part that they end, so that no loop is possible. `end` is the offset after the name at its original position.
 */
export function decodeName(message: Uint8Array, offset: number): { name: Name; end: number } {
  let octets = 0;
  let end = -1;
  let at = offset;
  let pointers = 0;
  let limit = offset; // a pointer must lead to before the start of this part of the name
  for (;;) {
    const length = message[at];
    if (length === undefined) throw new WireError('a name exceeds the data');
    if (length === 0) {
      if (end < 0) end = at + 1;
      decoded[octets++] = 0;
      return { name: decoded.toString('latin1', 0, octets) as Name, end };
    }
    if ((length & POINTER) === POINTER) {
      const low = message[at + 1];
      if (low === undefined) throw new WireError('a name exceeds the data');
      if (end < 0) end = at + 2;
      at = ((length & ~POINTER) << 8) | low;
      if (at >= limit) throw new WireError('a compression pointer does not point backwards');
      if (++pointers > MAX_POINTERS) throw new WireError('a name has too many compression pointers');
      limit = at;
      continue;
    }
    if ((length & POINTER) !== 0) throw new WireError('a label has an unknown type'); // RFC 6891 §5
    if (at + 1 + length > message.length) throw new WireError('a name exceeds the data');
    if (octets + 1 + length >= MAX_NAME_OCTETS) throw new WireError('a name is longer than 255 octets');
    for (const next = at + 1 + length; at < next; at++) decoded[octets++] = message[at] as number;
  }
}

/** Returns the name at `offset` of uncompressed, well-formed rdata. */
export function nameInRdata(rdata: Uint8Array, offset = 0): Name {
  let end = offset;
  for (let length = rdata[end]; length !== 0; length = rdata[end]) {
    if (length === undefined) throw new WireError('a name exceeds the data');
    end += 1 + length;
  }
  return Buffer.from(rdata.buffer, rdata.byteOffset + offset, end + 1 - offset).toString('latin1') as Name;
}
