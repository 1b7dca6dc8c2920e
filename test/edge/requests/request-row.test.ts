import { describe, expect, it } from 'vitest';
import { clientOctets } from '../../../src/edge/requests/client-prefix.ts';
import { requestRow } from '../../../src/edge/requests/request-row.ts';

const KEY = Buffer.alloc(32, 1);
const octets = (text: string) => clientOctets(text) as Uint8Array;
const OWNER = { domainId: 3, countsAs: undefined };
const REQUEST = {
  atMs: Date.parse('2026-03-04T05:06:07.089Z'),
  host: 'www.shop.example',
  method: 'GET',
  uri: '/',
  status: 200,
  octets: 5,
  ms: 6,
  client: octets('203.0.113.9'),
  fingerprint: undefined,
  cache: '',
  rule: 0,
  reason: '',
  websocket: false,
} as const;

describe('the row of a request', () => {
  it('leaves out what is empty', () => {
    const row = requestRow(REQUEST, OWNER, { edgeId: 4, visitorKey: KEY, wholeClients: false });
    expect(row).toEqual({
      at: '2026-03-04 05:06:07.089',
      domain_id: 3,
      edge_id: 4,
      host: 'www.shop.example',
      method: 'GET',
      uri: '/',
      status: 200,
      octets: 5,
      ms: 6,
      client: '203.0.113.0/24',
      visitor: expect.stringMatching(/^\d{1,20}$/),
    });
  });

  it('has what is not empty', () => {
    const failed = { ...REQUEST, cache: 'miss', rule: 9, reason: 'origin_timeout', websocket: true } as const;
    expect(
      requestRow(
        failed,
        { ...OWNER, countsAs: '*.shop.example' },
        { edgeId: 4, visitorKey: KEY, wholeClients: true },
      ),
    ).toMatchObject({
      cache: 'miss',
      rule: 9,
      reason: 'origin_timeout',
      websocket: true,
      client: '203.0.113.9',
      host: '*.shop.example',
      asked_host: 'www.shop.example',
    });
  });
});

describe('a visitor', () => {
  it('is the same number for the same address and fingerprint', () => {
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
