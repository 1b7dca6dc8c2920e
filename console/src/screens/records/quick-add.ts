// Reads one record from a line in the order of a zone file (`www 300 IN A 192.0.2.1`) or with the type first (`A www 192.0.2.1`).

import { ttlSeconds } from './ttl.ts';
import { joinDestination, partsOf, splitDestination } from './type-fields.ts';
import { TYPES, type Typed } from './typed.ts';

export type QuickRecord = Pick<Typed, 'name' | 'type' | 'destination' | 'mx_priority' | 'ttl' | 'comment'>;

export interface QuickProblem {
  readonly kind:
    | 'noType'
    | 'noName'
    | 'noValue'
    | 'noPart'
    | 'noPriority'
    | 'unknownType'
    | 'unknownWord'
    | 'otherClass'
    | 'notIpv4'
    | 'notIpv6';
  /** The wrong text, the type without a value, or the missing part (`SRV.port`). */
  readonly text: string;
}

export type QuickLine = { readonly record: QuickRecord } | { readonly problem: QuickProblem };

const CLASS = /^(?:IN|CH|HS|CS)$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const IPV6 = /^(?=.*:.*:)[0-9a-f:.]+$/i;
/** Types whose value is one host name. */
const HOST_TYPES = new Set(['CNAME', 'ANAME', 'NS', 'PTR', 'DNAME']);

/** Returns undefined for an empty line. A host of one label in the value is relative to `domain`. */
export function readQuickLine(line: string, domain: string): QuickLine | undefined {
  // splits at blanks outside quotes
  const words = line.trim().match(/(?:"(?:[^"\\]|\\.)*"|\\.|[^\s"])+|"\S*/g);
  if (words === null) return undefined;
  const head = headOf(words);
  if ('kind' in head) return { problem: head };
  const { name, type, ttl } = head;
  const end = type === 'TXT' ? -1 : head.value.findIndex((word) => word.startsWith(';'));
  const [value, rest] = end === -1 ? [head.value, []] : [head.value.slice(0, end), head.value.slice(end)];
  if (value.length === 0) return { problem: { kind: name === undefined ? 'noName' : 'noValue', text: type } };
  const read = readValue(type, value, domain);
  if ('kind' in read) return { problem: read };
  const comment = rest.join(' ').replace(/^;+\s*/, '');
  return { record: { name: name ?? '@', type, ttl, comment, ...read } };
}

interface Head {
  /** Undefined if the line has no name. */
  readonly name: string | undefined;
  readonly type: string;
  readonly ttl: string;
  readonly value: readonly string[];
}

function headOf(words: readonly string[]): Head | QuickProblem {
  const [first = '', ...others] = words;
  const isBetween = (word: string) => CLASS.test(word) || ttlSeconds(word) !== undefined;
  const end = others.findIndex((word) => !isBetween(word));
  const between = others.slice(0, Math.max(0, end));
  const next = others[between.length] ?? '';
  const leading = typeOf(first);
  const isOnlyValue = leading === undefined && others.length === between.length + 1;
  const type = typeOf(next) ?? (isOnlyValue ? typeOfAddress(next) : undefined);
  if (type !== undefined) {
    const otherClass = between.find((word) => CLASS.test(word) && word.toUpperCase() !== 'IN');
    if (otherClass !== undefined) return { kind: 'otherClass', text: otherClass };
    const ttl = between.map(ttlSeconds).find((seconds) => seconds !== undefined) ?? '';
    const value = others.slice(typeOf(next) === undefined ? between.length : between.length + 1);
    return { name: CLASS.test(first) && between.length === 0 ? undefined : first, type, ttl, value };
  }
  if (leading !== undefined) {
    const hasName = others.length > 0 && !startsValue(leading, others[0] ?? '');
    const [name, value] = hasName ? [others[0], others.slice(1)] : [undefined, others];
    return { name, type: leading, ttl: '', value };
  }
  if (others.slice(between.length).some((word) => typeOf(word) !== undefined))
    return { kind: 'unknownWord', text: next };
  return /^[A-Z][A-Z0-9]+$/.test(next) ? { kind: 'unknownType', text: next } : { kind: 'noType', text: '' };
}

function typeOf(word: string): string | undefined {
  const type = word.toUpperCase() === 'ALIAS' ? 'ANAME' : word.toUpperCase();
  return (TYPES as readonly string[]).includes(type) || /^TYPE\d{1,5}$/.test(type) ? type : undefined;
}

function typeOfAddress(word: string): string | undefined {
  return IPV4.test(word) ? 'A' : IPV6.test(word) ? 'AAAA' : undefined;
}

/** True if the value follows the type without a name: `A 192.0.2.1`, `MX 10 mail`, `TXT "text"`. */
function startsValue(type: string, word: string): boolean {
  if (type === 'A' || type === 'AAAA') return typeOfAddress(word) !== undefined;
  if (type === 'TXT') return word.startsWith('"') || word.includes('=');
  return (type === 'MX' || partsOf(type) !== undefined) && /^\d+$/.test(word);
}

type ReadValue = Pick<Typed, 'destination' | 'mx_priority'>;

function readValue(type: string, words: readonly string[], domain: string): ReadValue | QuickProblem {
  const text = words.join(' ');
  const plain = (destination: string): ReadValue => ({ destination, mx_priority: '' });
  if (type === 'A') return IPV4.test(text) ? plain(text) : { kind: 'notIpv4', text };
  if (type === 'AAAA') return IPV6.test(text) ? plain(text) : { kind: 'notIpv6', text };
  if (type === 'TXT') {
    const isQuoted = words.every((word) => /^"(?:[^"\\]|\\.)*"$/.test(word));
    const unquoted = (word: string) => word.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
    return plain(isQuoted ? words.map(unquoted).join('') : text);
  }
  if (HOST_TYPES.has(type)) return plain(fullHost(text, domain));
  if (type === 'MX') {
    const [priority = '', ...host] = words;
    if (!/^\d+$/.test(priority)) return { kind: 'noPriority', text: type };
    if (host.length === 0) return { kind: 'noValue', text: type };
    return { destination: fullHost(host.join(' '), domain), mx_priority: priority };
  }
  const texts = splitDestination(type, text);
  if (texts === undefined) return plain(text);
  const parts = partsOf(type) ?? [];
  const missing = parts.find(({ key }, i) => texts[i] === '' && key !== 'parameters' && i >= words.length);
  if (missing !== undefined) return { kind: 'noPart', text: `${type}.${missing.key}` };
  const isHost = (i: number) => parts[i]?.key === 'target' && parts[i]?.kind === 'word';
  return plain(
    joinDestination(
      type,
      texts.map((each, i) => (isHost(i) ? fullHost(each, domain) : each)),
    ),
  );
}

/** `@` is the domain, and a single label is relative to it. Others are full names. */
function fullHost(text: string, domain: string): string {
  if (text === '@') return domain;
  return text === '.' || /[.\s]/.test(text) ? text : `${text}.${domain}`;
}
