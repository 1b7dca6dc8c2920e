// Small models of other tools read the exports, which must contain the records.

import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Name, parseName } from '../../src/dns/name.ts';
import { parseRdata } from '../../src/dns/record/rdata.ts';
import { ZoneFileLexer } from '../../src/dns/zone-file/zone-file-lexer.ts';
import { printDnscontrol } from '../../src/zone/export/print-dnscontrol.ts';
import { printOctodns } from '../../src/zone/export/print-octodns.ts';
import { type LeftOut, txtOctets } from '../../src/zone/export/record-words.ts';
import { type CustomerRecord, DEFAULT_SETTINGS } from '../../src/zone/records/customer-record.ts';
import {
  API_TYPES,
  type ApiType,
  type NamedType,
  wireTypeCode,
} from '../../src/zone/records/customer-types.ts';
import { rdataKey } from '../../src/zone/records/rdata-key.ts';
import { RANDOM_RDATA } from '../support/random/random-rdata.ts';
import { scale } from '../support/tests/scale.ts';

const APEX = parseName('shop.example.');

function recordOf(owner: string, type: ApiType, rdata: Uint8Array, more: Partial<CustomerRecord> = {}) {
  const name = owner === '@' ? APEX : parseName(owner, APEX);
  const times = { createdAt: '', updatedAt: '' };
  return { ...DEFAULT_SETTINGS, id: 1, name, type, rdata, ttl: 300, ...times, ...more };
}

function rdataOf(type: ApiType, text: string): Uint8Array {
  const tokens = new ZoneFileLexer(text, (_, __, message) => expect.fail(message)).next()?.tokens ?? [];
  return parseRdata(wireTypeCode(type === 'ANAME' ? 'CNAME' : type), tokens, APEX);
}

const record = (owner: string, type: ApiType, text: string, more: Partial<CustomerRecord> = {}) =>
  recordOf(owner, type, rdataOf(type, text), more);

type Print = typeof printOctodns;

function print(how: Print, records: readonly CustomerRecord[]) {
  const byName = new Map<Name, CustomerRecord[]>();
  for (const each of records) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  const left: LeftOut[] = [];
  return { text: [...how(APEX, byName, (item) => left.push(item))].join('\n'), left };
}

/** A record as a tool reads it. The content has the form of zone files, or is the text of a TXT record. */
interface Read {
  readonly owner: string;
  readonly type: string;
  readonly ttl: number;
  readonly content: string;
  readonly proxied: boolean;
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;

// biome-ignore lint/suspicious/noExplicitAny: parsed YAML
const OCTODNS: Record<string, (value: any) => string> = {
  TXT: (value) => value.replaceAll('\\;', ';'),
  MX: ({ preference, exchange }) => `${preference} ${exchange}`,
  SRV: ({ priority, weight, port, target }) => `${priority} ${weight} ${port} ${target}`,
  CAA: ({ flags, tag, value }) => `${flags} ${tag} ${quoted(value)}`,
  DS: (v) => `${v.key_tag} ${v.algorithm} ${v.digest_type} ${v.digest}`,
  SSHFP: (v) => `${v.algorithm} ${v.fingerprint_type} ${v.fingerprint}`,
  TLSA: (v) => `${v.certificate_usage} ${v.selector} ${v.matching_type} ${v.certificate_association_data}`,
  URI: ({ priority, weight, target }) => `${priority} ${weight} ${quoted(target)}`,
  NAPTR: (v) =>
    `${v.order} ${v.preference} ${[v.flags, v.service, v.regexp].map(quoted).join(' ')} ${v.replacement}`,
  LOC: (v) =>
    [
      ...[v.lat_degrees, v.lat_minutes, v.lat_seconds, v.lat_direction],
      ...[v.long_degrees, v.long_minutes, v.long_seconds, v.long_direction],
      ...[v.altitude, v.size, v.precision_horz, v.precision_vert].map((meters) => `${meters}m`),
    ].join(' '),
};
OCTODNS.HTTPS = OCTODNS.SVCB = ({ svcpriority, targetname, svcparams = {} }) =>
  [
    svcpriority,
    targetname,
    ...Object.entries(svcparams).map(([key, value]) => (value === null ? key : `${key}=${value}`)),
  ].join(' ');

function readOctodns(text: string): Read[] {
  // biome-ignore lint/suspicious/noExplicitAny: parsed YAML
  const zone: Record<string, any> = parse(text) ?? {};
  for (const sets of Object.values(zone)) expectSorted(sets);
  return Object.entries(zone).flatMap(([owner, sets]) =>
    [sets].flat().flatMap(({ type, ttl, octodns, value, values = [value] }) =>
      // biome-ignore lint/suspicious/noExplicitAny: parsed YAML
      values.map((each: any) => ({
        ...{ owner: owner || '@', type, ttl, content: (OCTODNS[type] ?? String)(each) },
        proxied: octodns?.zonefleet?.proxied ?? false,
      })),
    ),
  );
}

/** Expects sorted keys in all mappings, as octoDNS does. */
function expectSorted(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  // Numbered keys are in natural order.
  const keys = Array.isArray(value) ? [] : Object.keys(value).filter((key) => !/^key\d/.test(key));
  expect(keys).toEqual([...keys].sort());
  for (const item of Object.values(value)) expectSorted(item);
}

const WORDS: Record<string, readonly number[]> = { NAPTR: [2, 3, 4], CAA: [2] };

function readDnscontrol(text: string): Read[] {
  const found: Read[] = [];
  const types = [...API_TYPES, 'ALIAS'];
  const makers = types.map((type) => [
    type,
    (owner: string, ...args: unknown[]) => {
      const ttl = args.pop() as number;
      const isCritical = args.at(-1) === 'critical' && type === 'CAA';
      if (isCritical) args.pop();
      const values = type === 'CAA' ? [isCritical ? 128 : 0, ...args] : args;
      if (type === 'LOC') for (const i of [8, 9, 10, 11]) values[i] = `${values[i]}m`;
      const words = values.map((value, i) =>
        WORDS[type]?.includes(i) ? quoted(String(value)) : String(value),
      );
      found.push({ owner, type, ttl, content: words.join(' '), proxied: false });
    },
  ]);
  const domains: unknown[] = [];
  const context = createContext({
    ...Object.fromEntries(makers),
    D: (name: string) => domains.push(name),
    TTL: (ttl: number) => ttl,
    ...{
      DnsProvider: String,
      NewRegistrar: String,
      NewDnsProvider: String,
      DefaultTTL: Number,
      NAMESERVER_TTL: Number,
    },
    ...{ CAA_CRITICAL: 'critical', END: {} },
  });
  runInContext(text, context);
  expect(domains).toEqual(['shop.example']);
  return found;
}

const ALIASES: Record<string, NamedType> = { ALIAS: 'ANAME' };

/** Returns sorted texts, which are equal for equal records, regardless of letter case and of how a TXT record is split. */
function identities(records: readonly CustomerRecord[]): string[] {
  return records
    .map(({ name, type, ttl, rdata }) => {
      const content = type === 'TXT' ? txtOctets(rdata).toString('latin1') : rdataKey(type, rdata);
      return JSON.stringify([name, type, ttl, content]);
    })
    .sort();
}

function recordsRead(read: readonly Read[]): CustomerRecord[] {
  return read.map(({ owner, type: toolType, ttl, content }) => {
    const type = ALIASES[toolType] ?? (toolType as NamedType);
    if (type !== 'TXT') return record(owner, type, content, { ttl });
    const octets = Buffer.from(content, 'utf8');
    const strings = Array.from({ length: Math.ceil(octets.length / 255) }, (_, i) =>
      octets.subarray(i * 255, i * 255 + 255),
    );
    return recordOf(
      owner,
      type,
      Buffer.concat(strings.flatMap((string) => [Buffer.of(string.length), string])),
      { ttl },
    );
  });
}

const TOOLS = [
  ['octoDNS', printOctodns, readOctodns, ['CERT', 'HINFO', 'SMIMEA', 'DHCID', 'TYPE65000']],
  ['dnscontrol', printDnscontrol, readDnscontrol, ['CERT', 'HINFO', 'URI', 'TYPE65000']],
] as const;

describe.each(TOOLS)('an export for %s', (_, how, read, unknown) => {
  it('contains records of every type', () => {
    const records = [
      record('@', 'A', '192.0.2.1'),
      record('@', 'ANAME', 'lb.example.', { ttl: 60 }),
      record('@', 'TXT', '"v=spf1 -all; x" " y"'),
      record('@', 'CAA', '128 issue "ca.example; policy=ev"'),
      record('@', 'MX', '0 .'),
      record('a10', 'AAAA', '2001:db8::1', { ttl: 86_400 }),
      record('a9', 'CNAME', 'lb.example.'),
      record('*.wild', 'PTR', 'host.example.'),
      record('sub', 'NS', 'ns1.example.'),
      record('sub', 'DS', '1 13 2 E2D3C916F6DEEAC73294E8268FB5885044A833FC5459588F4A9184CFC41A5766'),
      record('_s._tcp', 'SRV', '1 2 3 sip.example.'),
      record('_443._tcp', 'TLSA', '3 1 1 E2D3C916F6DEEAC73294E8268FB5885044A833FC5459588F4A9184CFC41A5766'),
      record('h', 'SSHFP', '4 2 E2D3C916F6DEEAC73294E8268FB5885044A833FC5459588F4A9184CFC41A5766'),
      record('h', 'LOC', '52 14 5.5 N 0 8 50 E -10m 1m 10000m 10m'),
      record('n', 'NAPTR', String.raw`1 2 "s" "SIP+D2T" "!^.*$!sip:\\1@example!" .`),
      record('svc', 'HTTPS', '1 . alpn=h2,h3 no-default-alpn port=8443 ipv4hint=192.0.2.1,192.0.2.2'),
      record('svc', 'SVCB', '0 other.example.'),
      record('d', 'DNAME', 'other.example.'),
      record('k', 'OPENPGPKEY', 'mDMEAAAAARYJKwYBBAHaRw8BAQdA'),
    ];
    const { text, left } = print(how, records);
    expect(left).toEqual([]);
    expect(identities(recordsRead(read(text)))).toEqual(identities(records));
  });

  it('lists records of other types in comments', () => {
    const all = [
      record('c', 'CERT', '1 2 3 AQID'),
      record('c', 'HINFO', '"a" "b"'),
      record('_u._tcp', 'URI', '1 2 "https://example/"'),
      record('s', 'SMIMEA', '3 1 1 E2D3C916F6DEEAC73294E8268FB5885044A833FC5459588F4A9184CFC41A5766'),
      record('d', 'DHCID', 'AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA='),
      record('t', 'TYPE65000', String.raw`\# 1 00`),
      record('l', 'TXT', '"\\255"'),
      recordOf(String.raw`a\046b`, 'A', Uint8Array.of(192, 0, 2, 1)),
    ];
    const { text, left } = print(how, all);
    expect(left.map(({ type }) => type)).toEqual(expect.arrayContaining([...unknown, 'TXT', 'A']));
    expect(left).toHaveLength(unknown.length + 2);
    for (const { content } of left) expect(text).toContain(content);
    expect(read(text)).toHaveLength(all.length - left.length);
  });

  it('contains the origins of proxied records, and marks the records', () => {
    const proxied = { proxied: true };
    const { text } = print(how, [
      record('@', 'CNAME', 'origin.example.', proxied),
      record('www', 'A', '192.0.2.1', proxied),
    ]);
    expect(text.match(/proxied/g)).toHaveLength(2);
    const seen = read(text).map(({ owner, type, content }) => [owner, type, content].join(' '));
    expect(seen).toEqual(['@ ALIAS origin.example.', 'www A 192.0.2.1']);
  });

  it('contains or lists each of several random records', () => {
    const aRecord = fc
      .tuple(fc.constantFrom('@', 'a', 'b.c', '*.d', '_x._tcp'), fc.constantFrom(...API_TYPES))
      .chain(([owner, type]) =>
        (RANDOM_RDATA.get(wireTypeCode(type === 'ANAME' ? 'CNAME' : type)) as fc.Arbitrary<Uint8Array>).map(
          (rdata) => recordOf(owner, type, rdata),
        ),
      )
      // The apex has neither a CNAME nor an ANAME twice: both are an ALIAS.
      .filter(({ name, type }) => type !== 'CNAME' || name !== APEX);
    fc.assert(
      fc.property(fc.uniqueArray(aRecord, { selector: (each) => identities([each])[0] }), (records) => {
        const { text, left } = print(how, records);
        const kept = identities(recordsRead(read(text)));
        expect(kept.length + left.length).toBe(records.length);
        const all = identities(records);
        expect(kept.filter((each) => !all.includes(each))).toEqual([]);
      }),
      { numRuns: scale(300, 20) },
    );
  });
});

it('an export for dnscontrol contains the nameservers of the domain', () => {
  const hosts = ['ns1.example.net.', 'ns2.example.net.'].map((host) => parseName(host));
  const text = [...printDnscontrol(APEX, new Map(), () => {}, hosts)].join('\n');
  expect(text.match(/NAMESERVER\(.*\)/g)).toEqual([
    'NAMESERVER("ns1.example.net.")',
    'NAMESERVER("ns2.example.net.")',
  ]);
});

it('an export for octoDNS sorts owners in natural order', () => {
  const owners = ['b', 'a10', 'a9', '@', '10', '9', 'a', '*', '_x'];
  const { text } = print(
    printOctodns,
    owners.map((owner) => record(owner, 'A', '192.0.2.1')),
  );
  const found = [...text.matchAll(/^"(.*)":$/gm)].map(([, owner]) => owner);
  expect(found).toEqual(['', '9', '10', '*', '_x', 'a', 'a9', 'a10', 'b']);
});
