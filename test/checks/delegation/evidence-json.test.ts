// The evidence of a check as JSON.

import { expect, it } from 'vitest';
import type { Evidence, ServerEvidence } from '../../../src/checks/delegation/evidence.ts';
import { boundedText, encodeEvidence } from '../../../src/checks/delegation/evidence-json.ts';
import { parseName } from '../../../src/dns/name.ts';

const server: ServerEvidence = {
  server: parseName('A.Nic.Example.'),
  address: '192.0.2.1',
  transport: 'udp',
  askedAt: 1000,
  rttMs: 12,
  outcome: 'referral',
  rcode: 0,
  aa: false,
  ns: [parseName('NS1.fleet.example.')],
  ttl: 3600,
  ds: [new Uint8Array([1, 2, 255])],
  error: undefined,
};
const evidence: Evidence = {
  domain: parseName('Example.org.'),
  parent: parseName('org.'),
  walk: [{ zone: parseName('.'), servers: [parseName('a.root.')], cached: true }],
  servers: [server],
  parentAddresses: 2,
  failure: undefined,
  security: 'secure',
  queries: 3,
  startedAt: 1000,
  finishedAt: 2000,
};

it('has names as folded text, octets in base64, and nothing that is not known', () => {
  expect(JSON.parse(JSON.stringify(encodeEvidence(evidence)))).toEqual({
    domain: 'example.org.',
    parent: 'org.',
    walk: [{ zone: '.', servers: ['a.root.'], cached: true }],
    servers: [
      {
        server: 'a.nic.example.',
        address: '192.0.2.1',
        transport: 'udp',
        askedAt: 1000,
        rttMs: 12,
        outcome: 'referral',
        rcode: 0,
        aa: false,
        ns: ['ns1.fleet.example.'],
        ttl: 3600,
        ds: ['AQL/'],
      },
    ],
    parentAddresses: 2,
    security: 'secure',
    queries: 3,
    startedAt: 1000,
    finishedAt: 2000,
  });
});

it('keeps a bounded part of what servers send, and says that it left some', () => {
  const ns = Array.from({ length: 70 }, (_, at) => parseName(`ns${at}.example.`));
  const ds = Array.from({ length: 20 }, (_, at) => new Uint8Array([at]));
  const [kept] = encodeEvidence({ ...evidence, servers: [{ ...server, ns, ds }] }).servers;
  expect([kept?.ns.length, kept?.ds.length]).toEqual([64, 16]);
  expect(kept?.error).toBe('6 more names are not kept; 4 more DS are not kept');
});

it('has no controls in its texts, and none that is long', () => {
  expect(boundedText('a\0b\x1bc')).toBe('a?b?c');
  expect(boundedText('x'.repeat(3000))).toHaveLength(2000);
});
