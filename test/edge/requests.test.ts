// Lines of the request log, as written by edges.

import { describe, expect, it } from 'vitest';
import { clientOctets, printClient } from '../../src/edge/requests/client-prefix.ts';
import { namesAbove } from '../../src/edge/requests/host-names.ts';
import { isReason, REASONS } from '../../src/edge/requests/reasons.ts';
import { judgeLine, MOST_URI_CHARACTERS } from '../../src/edge/requests/request-line.ts';
import { requestRow } from '../../src/edge/requests/request-row.ts';

const octets = (text: string) => clientOctets(text) as Uint8Array;

describe('an address', () => {
  it.each([
    ['203.0.113.9', '203.0.113.0/24'],
    ['::ffff:203.0.113.9', '203.0.113.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['::1', '::/48'],
  ])('%s is stored as %s', (address, kept) => {
    expect(printClient(octets(address), false)).toBe(kept);
  });

  it('is stored completely only if requested', () => {
    expect(printClient(octets('2001:DB8:0:0::6'), true)).toBe('2001:db8::6');
  });
});

it('a host may belong to itself and to every ancestor except the top-level domain', () => {
  expect(namesAbove('a.b.shop.example')).toEqual(['a.b.shop.example', 'b.shop.example', 'shop.example']);
  expect(namesAbove('example')).toEqual([]);
});

it('each reason has an explanation for users', () => {
  for (const [key, { label, fault, meaning, status }] of Object.entries(REASONS)) {
    expect(key).toMatch(/^[a-z]+(_[a-z]+)+$|^loop$|^suspended$/);
    expect(label).toMatch(/^[A-Z].*[^.]$/);
    expect(['client', 'origin', 'network', 'config']).toContain(fault);
    expect(meaning).toMatch(/^[A-Z].*\.$/);
    expect(status).toBeGreaterThanOrEqual(400);
  }
});

it('no other text is a reason', () => {
  const texts = ['', 'constructor', 'toString', '__proto__', 'ORIGIN_TIMEOUT', 'origin_timeout'];
  expect(texts.filter(isReason)).toEqual(['origin_timeout']);
});

const NOW = Date.parse('2026-03-04T05:06:07Z');
const LINE = {
  at: '2026-03-04T05:06:06.250Z',
  host: 'www.shop.example',
  method: 'GET',
  uri: '/a?b=c',
  status: 200,
  octets: 1234,
  ms: 12,
  client: '203.0.113.9',
};
const judge = (changes: object) => judgeLine(JSON.stringify({ ...LINE, ...changes }), NOW);
const taken = (changes: object) => {
  const read = judge(changes);
  if (typeof read === 'string') throw new Error(read);
  return read;
};

describe('a line', () => {
  it('describes a request', () => {
    const { at: _, ...rest } = LINE;
    const more = { cache: 'hit', rule: 7, reason: 'origin_timeout', websocket: true, status: 504 };
    expect(judge({ tls_fingerprint: 't13d', ...more })).toEqual({
      ...rest,
      ...more,
      atMs: NOW - 750,
      client: Uint8Array.of(203, 0, 113, 9),
      fingerprint: 't13d',
    });
  });

  it('needs only the fields of every request; null means absent, and unknown members are ignored', () => {
    const plain = { cache: '', rule: 0, reason: '', websocket: false, fingerprint: undefined };
    expect(judge({})).toMatchObject(plain);
    expect(
      judge({ cache: null, rule: null, reason: null, websocket: null, tls_fingerprint: null, later: [1] }),
    ).toMatchObject(plain);
  });

  it.each([
    ['at', ['yesterday', 1, '2026-03-04', '2026-13-04T05:06:06Z', '2026-03-04T05:06:06']],
    ['host', [7, null]],
    ['method', [undefined, 1]],
    ['uri', [undefined, {}]],
    ['status', [-1, 1, 99, 1000, 200.5, '200', undefined]],
    ['octets', [-1, 0.5, 2 ** 45, '1', undefined]],
    ['ms', [-1, 0.5, '1', undefined]],
    ['client', ['', '1.2.3', '203.0.113.9:80', 'unix:', '1'.repeat(10_000), 4]],
    ['tls_fingerprint', [1, 'f'.repeat(129)]],
    ['cache', ['HIT', 'warm', 1]],
    ['rule', [0, -1, 1.5, 2 ** 32, '7']],
    ['reason', ['bad luck', '', 'constructor', '__proto__', 1]],
    ['websocket', ['true', 1]],
  ])('with a wrong %s is rejected', (field, values) => {
    for (const value of values) expect([value, judge({ [field]: value })]).toEqual([value, 'line']);
  });

  it.each(['', '{', '[]', 'null', '1', '"x"', `{"at": "${LINE.at}"}`])('cannot be %s', (text) => {
    expect(judgeLine(text, NOW)).toBe('line');
  });

  it('may be a day old or five minutes in the future', () => {
    const at = (ms: number) => judge({ at: new Date(NOW + ms).toISOString() });
    const day = 24 * 3_600_000;
    expect(at(-day)).toMatchObject({ atMs: NOW - day });
    expect(at(-day - 1)).toBe('time');
    expect(at(300_000)).toMatchObject({ atMs: NOW + 300_000 });
    expect(at(300_001)).toBe('time');
    expect(judge({ at: '2026-03-04T06:06:06+01:00' })).toMatchObject({ atMs: NOW - 1000 });
  });

  it('has a host that can be a proxied name, in any letter case', () => {
    expect(taken({ host: 'WWW.Shop.Example.' }).host).toBe('www.shop.example');
    const wrong = '|.|a..b|shop.example:80|[::1]|a b|é.example'.split('|');
    for (const host of [...wrong, 'a'.repeat(64), `${'a.'.repeat(127)}x`])
      expect([host, judge({ host })]).toEqual([host, 'host']);
  });

  it('has truncated fields', () => {
    expect(taken({ uri: `/${'x'.repeat(30_000)}` }).uri).toHaveLength(MOST_URI_CHARACTERS);
    expect(taken({ method: 'M'.repeat(30_000) }).method).toBe('OTHER');
    expect(taken({ method: 'get' }).method).toBe('OTHER');
    expect(taken({ ms: 2 ** 40 }).ms).toBe(2 ** 32 - 1);
  });

  it('has no split characters and no invalid UTF-8', () => {
    const uri = `/${'x'.repeat(MOST_URI_CHARACTERS - 2)}😀`;
    expect(taken({ uri }).uri.at(-1)).toBe('\ufffd');
    expect(taken({ uri: '/\ud800' }).uri).toBe('/\ufffd');
  });
});

const KEY = Buffer.alloc(32, 1);
const OWNER = { domainId: 3, countsAs: undefined };
const REQUEST = { ...taken({}), atMs: Date.parse('2026-03-04T05:06:07.089Z'), client: octets('203.0.113.9') };

describe('the row of a request', () => {
  it('omits empty values', () => {
    const { at: _, ...rest } = LINE;
    expect(requestRow(REQUEST, OWNER, { edgeId: 4, visitorKey: KEY, wholeClients: false })).toEqual({
      ...rest,
      at: '2026-03-04 05:06:07.089',
      domain_id: 3,
      edge_id: 4,
      client: '203.0.113.0/24',
      visitor: expect.stringMatching(/^\d{1,20}$/),
    });
  });

  it('has all other values', () => {
    const failure = { cache: 'miss', rule: 9, reason: 'origin_timeout', websocket: true } as const;
    const owner = { ...OWNER, countsAs: '*.shop.example' };
    const options = { edgeId: 4, visitorKey: KEY, wholeClients: true };
    expect(requestRow({ ...REQUEST, ...failure }, owner, options)).toMatchObject({
      ...failure,
      client: '203.0.113.9',
      host: '*.shop.example',
      asked_host: 'www.shop.example',
    });
  });
});

describe('a visitor', () => {
  it('has the same number for the same address and fingerprint', () => {
    const of = (address: string, fingerprint?: string, visitorKey = KEY) => {
      const request = { ...REQUEST, client: octets(address), fingerprint };
      return requestRow(request, OWNER, { edgeId: 4, visitorKey, wholeClients: false }).visitor;
    };
    expect(of('203.0.113.9', 'a')).toBe(of('::ffff:203.0.113.9', 'a'));
    const others = [
      of('203.0.113.9', 'a'),
      of('203.0.113.9', 'b'),
      of('203.0.113.9'),
      of('203.0.113.9', ''),
      of('203.0.113.10', 'a'),
      of('203.0.113.9', 'a', Buffer.alloc(32, 2)),
    ];
    expect(new Set(others).size).toBe(others.length);
  });
});
