import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { readWantedZone } from '../../../src/features/pdns/primaries.ts';
import { printContent } from '../../../src/features/pdns/print.ts';
import { readSearch } from '../../../src/features/pdns/rules.ts';
import { editOf } from '../../../src/features/pdns/rules-edit.ts';
import { readChanges, type SetChange } from '../../../src/features/pdns/rules-rrsets.ts';
import type { CustomerRecord } from '../../../src/zone/records/customer-record.ts';
import { DEFAULT_SETTINGS } from '../../../src/zone/records/customer-record.ts';
import { API_TYPES, wireTypeCode } from '../../../src/zone/records/customer-types.ts';
import { parseDestination, printDestination } from '../../../src/zone/records/destination.ts';
import { RANDOM_RDATA } from '../../support/random/random-rdata.ts';
import { scale } from '../../support/tests/scale.ts';

const APEX = parseName('shop.example.');

const read = (type: string, ...contents: string[]) =>
  readChanges(
    {
      rrsets: [
        {
          ...{ name: 'a.shop.example.', type, ttl: 300, changetype: 'REPLACE' },
          records: contents.map((content) => ({ content })),
        },
      ],
    },
    APEX,
  );

describe('contents', () => {
  it.each([
    ['A', '192.0.2.1'],
    ['AAAA', '2001:DB8:0::1', '2001:db8::1'],
    ['ALIAS', 'Web.example.'],
    ['CAA', '0 issue "ca.example"'],
    [
      'DS',
      '1 13 2 8CB0FC6C527506A053F4F14C8464BEBBD6DEDE2738D11468DD953D7D6A3021F1',
      '1 13 2 8cb0fc6c527506a053f4f14c8464bebbd6dede2738d11468dd953d7d6a3021f1',
    ],
    ['HTTPS', '1 . alpn=h2,h3 ipv4hint=192.0.2.1'],
    ['LOC', '51 30 12 N 0 7 W -1.5m 1m', '51 30 12.000 N 0 7 0.000 W -1.50m 1.00m 10000.00m 10.00m'],
    ['MX', '10 mail.example.'],
    ['NAPTR', '10 20 "u" "a b" "!^.*$!sip:x@y.example!" x.example.'],
    ['SRV', '1 2 3 sip.example.'],
    ['TLSA', '3 1 1 8CB0FC6C', '3 1 1 8cb0fc6c'],
    ['TXT', '"a\\;b" "\\195\\169 \\255"', '"a;b" "é \\255"'],
    ['TYPE65500', '\\# 2 0001'],
  ])('of type %s are printed in the canonical form: %s', (type, content, canonical = content) => {
    const [change] = read(type, content) as readonly SetChange[];
    const [rdata] = change?.records ?? [];
    expect(printContent(change?.type ?? 'A', rdata ?? new Uint8Array())).toBe(canonical);
  });

  it.each([
    ['CNAME', 'web.example', "expected the full name 'web.example.'"],
    ['MX', '10 mail.example', "expected the full name 'mail.example.'"],
    ['SRV', '1 2 3 @', "expected the full name '@.'"],
    ['NAPTR', '10 20 "u" "a b" "" x.example', "expected the full name 'x.example.'"],
    ['TXT', 'text', 'texts must be in quotes'],
    ['A', '192.0.2.1\n192.0.2.2', '192.0.2.1'],
  ])('of type %s must be canonical: %s', (type, content, problem) => {
    expect(read(type, content)).toMatchObject({ status: 422, error: expect.stringContaining(problem) });
  });

  it.each(API_TYPES.map((type) => [type]))('of type %s can be written back after they are read', (type) => {
    const code = type === 'ANAME' ? wireTypeCode('CNAME') : wireTypeCode(type);
    fc.assert(
      fc.property(RANDOM_RDATA.get(code) as fc.Arbitrary<Uint8Array>, (rdata) => {
        const { destination, mxPriority } = printDestination(type, rdata);
        const stored = parseDestination(type, destination, mxPriority, APEX);
        fc.pre(stored.kind === 'rdata'); // other rdata cannot be stored
        const content = printContent(type, stored.kind === 'rdata' ? stored.rdata : rdata);
        const [change] = read(type, content) as readonly SetChange[];
        expect([content, change?.records]).toEqual([content, [stored.kind === 'rdata' && stored.rdata]]);
      }),
      { numRuns: scale(2000, 30) },
    );
  });

  it('are duplicates if they are equal except for the case of names', () => {
    expect(read('MX', '10 a.example.', '10 A.example.')).toMatchObject({
      error: 'Duplicate record in RRset a.shop.example. IN MX with content "10 A.example."',
    });
  });
});

describe('changes', () => {
  const changesOf = (...rrsets: object[]) => {
    const all = rrsets.map((rrset) => ({
      name: 'a.shop.example.',
      type: 'TXT',
      ttl: 1,
      changetype: 'REPLACE',
      ...rrset,
    }));
    return readChanges({ rrsets: all }, APEX);
  };
  const text = (content: string) => ({ records: [{ content: `"${content}"` }] });

  it('are limited in number, and repeat only EXTEND and PRUNE of a set', () => {
    expect(
      changesOf({ ...text('1'), changetype: 'extend' }, { ...text('2'), changetype: 'EXTEND' }),
    ).toHaveLength(2);
    expect(changesOf(text('1'), { ...text('2'), name: 'A.shop.example.' })).toMatchObject({
      error: 'Duplicate RRset A.shop.example. IN TXT with changetype: REPLACE',
    });
    expect(readChanges({ rrsets: Array(20_001).fill(0) }, APEX)).toMatchObject({ status: 422 });
  });

  it('are read or refused in any form', () => {
    const member = fc.oneof(
      fc.constantFrom('a.shop.example.', 'MX', 'SOA', 'replace', '1 2 3', '"a', 300),
      fc.jsonValue(),
    );
    const rrset = fc.record(
      {
        name: member,
        type: member,
        ttl: member,
        changetype: member,
        comments: member,
        records: fc.array(fc.oneof(member, fc.record({ content: member }))),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(rrset, member)), (rrsets) => {
        const result = readChanges({ rrsets }, APEX);
        expect('status' in result ? result.status : 422).toBe(422);
      }),
    );
  });

  it.each([
    [0, 60],
    ['1', 60],
    [2 ** 31, 86_400],
    [-1, 60],
  ])('with TTL %j have TTL %i', (ttl, stored) => {
    expect(changesOf({ ...text('1'), ttl })).toMatchObject([{ ttl: stored }]);
  });

  it('of one set are applied in time proportional to their number', () => {
    const many = Array.from({ length: 4000 }, (_, i) => ({ ...text(`${i}`), changetype: 'EXTEND' }));
    const { replaces } = editOf(changesOf(...many) as readonly SetChange[], []);
    expect(replaces[0]?.records).toHaveLength(4000);
  });

  it('of one set are applied in order to its current records', () => {
    const held = (
      type: 'TXT' | 'A',
      rdata: number[],
      more: Partial<CustomerRecord> = {},
    ): CustomerRecord => ({
      ...{ ...DEFAULT_SETTINGS, id: 1, name: parseName('a.shop.example.'), type, ttl: 300 },
      ...{ rdata: Uint8Array.from(rdata), createdAt: '', updatedAt: '', ...more },
    });
    const changes = changesOf(
      { ...text('b'), changetype: 'EXTEND' },
      { ...text('a'), changetype: 'EXTEND', ttl: undefined },
      { ...text('b'), changetype: 'PRUNE' },
      { ...text('c'), changetype: 'EXTEND', ttl: 900 },
      { type: 'AAAA', records: [{ content: '2001:db8::1' }] },
      { name: 'b.shop.example.', type: 'A', records: [{ content: '192.0.2.1' }] },
    ) as readonly SetChange[];
    const proxied = held('A', [192, 0, 2, 1], { proxied: true, port: 8443, comment: 'of A' });
    const { replaces } = editOf(changes, [held('TXT', [1, 97]), proxied]);
    expect(replaces).toMatchObject([
      {
        type: 'TXT',
        ttl: 900,
        index: 3,
        records: [{ rdata: Uint8Array.of(1, 97) }, { rdata: Uint8Array.of(1, 99) }],
      },
      { type: 'AAAA', index: 4, records: [{ proxied: true, port: 8443 }] },
      { type: 'A', index: 5 },
    ]);
    expect(replaces[1]?.records[0]?.comment).toBeUndefined();
    expect(replaces[2]?.records[0]?.proxied).toBeUndefined();
  });
});

describe('properties of a zone', () => {
  it.each([
    [{ kind: 'constructor' }, 'kind: expected Native, Master or Slave'],
    [{ kind: 5 }, "Key 'kind' is not a String"],
    [{ account: [] }, "Key 'account' is not a String"],
    [{ catalog: {} }, "Key 'catalog' is not a String"],
    [{ dnssec: 'yes' }, "Key 'dnssec' is not a Bool"],
    [{ api_rectify: 'x' }, "Key 'api_rectify' is not a Bool"],
    [
      { master_tsig_key_ids: Array.from({ length: 21 }, (_, i) => `k${i}`) },
      'master_tsig_key_ids: expected at most 20',
    ],
    [{ masters: Array.from({ length: 5 }, (_, i) => `192.0.2.${i}`) }, 'masters: expected at most 4'],
  ])('%j are refused', (members, error) => {
    expect(readWantedZone(members)).toMatchObject({ status: 422, error: expect.stringContaining(error) });
  });

  it('list each key and each master once', () => {
    const masters = ['192.0.2.1', '192.0.2.1:53', '192.0.2.1', '192.0.2.1:5300'];
    const read = readWantedZone({ kind: null, masters, master_tsig_key_ids: Array(50_000).fill('key.') });
    expect(read).toMatchObject({
      transferKeys: ['key.'],
      masters: [
        { address: '192.0.2.1', port: 53 },
        { address: '192.0.2.1', port: 5300 },
      ],
    });
  });
});

it('a search treats * and ? as wildcards, and everything else literally', () => {
  const pattern = (q: string) => (readSearch({ q }) as { pattern: string }).pattern;
  expect(['*.Shop.example.', 'a?c', '50%', 'a_b!'].map(pattern)).toEqual([
    '%.shop.example',
    'a_c',
    '50!%',
    'a!_b!!',
  ]);
  expect(readSearch({ q: 'a', max: '5000' })).toMatchObject({ most: 1000 });
});
