// Prints the records of a domain as a zone of octoDNS's YamlProvider, which requires that the keys of each mapping are sorted.
// Texts are JSON strings, which are also valid YAML.

import { type Name, ROOT } from '../../dns/name.ts';
import { printWithoutDot } from '../name-text.ts';
import type { CustomerRecord } from '../records/customer-record.ts';
import { type LeaveOut, leftOut, leftOutLine, toolType, txtOctets, wordsOf } from './record-words.ts';

type Value = string | number | null | readonly Value[] | { readonly [key: string]: Value };

const text = ([word = '']: readonly string[]): Value => word;
const joined = (words: readonly string[]): Value => words.join('');

function service([priority, target = '', ...params]: readonly string[]): Value {
  const svcparams = params.map((param) => paramOf(param)).sort(([a], [b]) => compareNaturally(a, b));
  return {
    ...(svcparams.length > 0 && { svcparams: Object.fromEntries(svcparams) }),
    svcpriority: Number(priority),
    targetname: target,
  };
}

const LISTS = ['alpn', 'ipv4hint', 'ipv6hint', 'mandatory'];

function paramOf(param: string): [string, Value] {
  const at = param.indexOf('=');
  if (at < 0) return [param, null];
  const key = param.slice(0, at);
  const value = param.slice(at + 1);
  if (key === 'port') return [key, Number(value)];
  return [key, LISTS.includes(key) ? value.split(',') : value];
}

function association(words: readonly string[]): Value {
  const [usage, selector, matching, ...data] = words;
  return {
    certificate_association_data: data.join(''),
    certificate_usage: Number(usage),
    matching_type: Number(matching),
    selector: Number(selector),
  };
}

function location(words: readonly string[]): Value {
  const [latitude, longitude] = [words.slice(0, 4), words.slice(4, 8)];
  const [altitude, size, horizontal, vertical] = words.slice(8).map((word) => Number(word.replace('m', '')));
  const angle = (name: string, [degrees, minutes, seconds, direction]: readonly string[]) => ({
    [`${name}_degrees`]: Number(degrees),
    [`${name}_direction`]: direction ?? '',
    [`${name}_minutes`]: Number(minutes),
    [`${name}_seconds`]: Number(seconds),
  });
  return {
    altitude: altitude ?? 0,
    ...angle('lat', latitude),
    ...angle('long', longitude),
    precision_horz: horizontal ?? 0,
    precision_vert: vertical ?? 0,
    size: size ?? 0,
  };
}

const VALUES: Readonly<Record<string, (words: readonly string[]) => Value>> = {
  A: text,
  AAAA: text,
  ALIAS: text,
  CNAME: text,
  DNAME: text,
  NS: text,
  PTR: text,
  OPENPGPKEY: joined,
  MX: ([preference, exchange = '']) => ({ exchange, preference: Number(preference) }),
  SRV: ([priority, weight, port, target = '']) => ({
    port: Number(port),
    priority: Number(priority),
    target,
    weight: Number(weight),
  }),
  CAA: ([flags, tag = '', value = '']) => ({ flags: Number(flags), tag, value }),
  DS: ([tag, algorithm, type, ...digest]) => ({
    algorithm: Number(algorithm),
    digest: digest.join(''),
    digest_type: Number(type),
    key_tag: Number(tag),
  }),
  SSHFP: ([algorithm, type, ...fingerprint]) => ({
    algorithm: Number(algorithm),
    fingerprint: fingerprint.join(''),
    fingerprint_type: Number(type),
  }),
  TLSA: association,
  URI: ([priority, weight, target = '']) => ({
    priority: Number(priority),
    target,
    weight: Number(weight),
  }),
  NAPTR: ([order, preference, flags = '', services = '', regexp = '', replacement = '']) => ({
    ...{ flags, order: Number(order), preference: Number(preference), regexp, replacement },
    service: services,
  }),
  LOC: location,
  HTTPS: service,
  SVCB: service,
};

/** Yields lines without line breaks. Comments list the records that octoDNS cannot express. */
export function* printOctodns(
  apex: Name,
  records: ReadonlyMap<Name, readonly CustomerRecord[]>,
  leave: LeaveOut,
): Generator<string> {
  yield '---';
  const owners = [...records].map(([name, list]) => [ownerOf(name, apex), list] as const);
  for (const [owner, list] of owners.sort(([a], [b]) => compareNaturally(a, b))) {
    const sets = setsOf(list, apex, leave);
    for (const left of sets.left) yield `# ${leftOutLine(left)}`;
    if (sets.sets.length === 0) continue;
    yield `${JSON.stringify(owner)}:`;
    const [first, ...more] = sets.sets;
    const shown: Value = more.length === 0 && first !== undefined ? first : sets.sets;
    yield* linesOf(shown, '  ');
  }
}

function ownerOf(name: Name, apex: Name): string {
  return name === apex ? '' : printWithoutDot(`${name.slice(0, name.length - apex.length)}${ROOT}` as Name);
}

function setsOf(list: readonly CustomerRecord[], apex: Name, leave: LeaveOut) {
  const sets = new Map<string, { readonly first: CustomerRecord; readonly values: Value[] }>();
  const left = [];
  for (const record of list) {
    const type = toolType(record, apex);
    const read = readValue(record, type, apex);
    if ('reason' in read) {
      const item = leftOut(record, apex, read.reason);
      left.push(item);
      leave(item);
      continue;
    }
    const set = sets.get(type) ?? { first: record, values: [] };
    sets.set(type, set);
    set.values.push(read.value);
  }
  return { left, sets: [...sets].map(([type, { first, values }]) => setOf(type, first, values, apex)) };
}

function setOf(type: string, { name, ttl, proxied }: CustomerRecord, values: readonly Value[], apex: Name) {
  const [first] = values;
  const settings = {
    // octoDNS allows an ALIAS only at the apex, unless it is lenient.
    ...(type === 'ALIAS' && name !== apex && { lenient: 'true' }),
    ...(proxied && { zonefleet: { proxied: 'true' } }),
  };
  return {
    ...(Object.keys(settings).length > 0 && { octodns: settings }),
    ttl,
    type,
    ...(values.length === 1 && first !== undefined ? { value: first } : { values }),
  };
}

function readValue(
  record: CustomerRecord,
  type: string,
  apex: Name,
): { readonly value: Value } | { readonly reason: string } {
  if (ownerOf(record.name, apex).includes('\\')) return { reason: 'octoDNS has no escapes in names' };
  if (type === 'TXT') return txtOf(record.rdata);
  const make = VALUES[type];
  if (make === undefined) return { reason: 'octoDNS does not know the type' };
  const words = wordsOf(record);
  return words === undefined ? { reason: 'octoDNS cannot express its octets' } : { value: make(words) };
}

/** octoDNS removes quotes around a text and between its strings, and expects a backslash only before a semicolon. */
function txtOf(rdata: Uint8Array): { readonly value: Value } | { readonly reason: string } {
  const plain = txtOctets(rdata).toString('latin1');
  const isPlain = /^[ !#-[\]-~][ -[\]-~]*$/.test(plain) && !plain.includes('" "');
  if (!isPlain) return { reason: 'octoDNS cannot express the text' };
  return { value: plain.replaceAll(';', '\\;') };
}

/** Yields lines of YAML. A mapping or list begins on its own line. */
function* linesOf(value: Value, indent: string): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value as readonly Value[]) {
      const [first = '', ...rest] = [...linesOf(item, `${indent}  `)];
      yield `${indent}- ${first.trimStart()}`;
      yield* rest;
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (typeof item === 'object' && item !== null) {
        yield `${indent}${key}:`;
        yield* linesOf(item, `${indent}  `);
      } else {
        yield `${indent}${key}: ${scalar(key, item)}`;
      }
    }
  } else {
    yield `${indent}${scalar('', value)}`;
  }
}

/** Prints a scalar. Types and booleans are not quoted. */
function scalar(key: string, value: string | number | null): string {
  const isPlain = key === 'type' || key === 'lenient' || key === 'proxied';
  return isPlain ? String(value) : JSON.stringify(value);
}

/** Compares like octoDNS, with digits as numbers. */
function compareNaturally(a: string, b: string): number {
  const [parts, others] = [a.split(/(\d+)/), b.split(/(\d+)/)];
  for (const [i, part] of parts.entries()) {
    const other = others[i];
    if (other === undefined) return 1;
    const difference = i % 2 === 1 ? Number(part) - Number(other) : part < other ? -1 : part > other ? 1 : 0;
    if (difference !== 0) return difference;
  }
  return parts.length - others.length;
}
