// Answers with DO, octet for octet where it counts: what goes together, what is left out, what is written once.

import { describe, expect, test } from 'vitest';
import { decodeMessage, type Message, type MessageRecord } from '../../../src/dns/message/message.ts';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { coveredType } from '../../../src/dns/record/covered-type.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { answeringNode, ask, testNode } from '../../support/answer/test-node.ts';
import { DENIAL_STYLES, signedRecords, zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const ZONE = `@ 3600 SOA ns h 1 2 3 4 300
@ 3600 NS ns
@ 3600 MX 1 ns
ns 60 A 192.0.2.1
ns.sibling 60 A 192.0.2.9
sibling 60 NS ns.sibling
www 60 A 192.0.2.2
cut 60 NS ns.cut
cut 60 NS ns.sibling
ns.cut 60 A 192.0.2.3
safe 60 NS ns.cut
safe 60 DS 1 13 2 ${'ab'.repeat(32)}
*.w 60 A 192.0.2.4`;

const [NSEC, NSEC3] = DENIAL_STYLES;

function answer(name: string, type: number, opt = 'do', denial = NSEC): Message {
  const node = testNode({ zoneText: ZONE, ...(denial === undefined ? {} : { denial }) });
  const reply = ask(queryFor(name, type, { opt }), node);
  expect(node.failures).toEqual([]);
  return decodeMessage(reply);
}

function shown({ owner, type, rdata }: MessageRecord): string {
  const what = type === TYPE.RRSIG ? `RRSIG ${typeMnemonic(coveredType(rdata))}` : typeMnemonic(type);
  return `${printName(owner)} ${what}`;
}

describe('an answer with DO', () => {
  test('has each set followed by its signatures', () => {
    const { answers, authorities, additionals } = answer('example.test.', TYPE.MX);
    expect(answers.map(shown)).toEqual(['example.test. MX', 'example.test. RRSIG MX']);
    expect([...authorities, ...additionals]).toEqual([]); // addresses beside MX are optional
  });
  test('has no signature when DO is clear', () => {
    const { answers, additionals } = answer('example.test.', TYPE.MX, '');
    expect(answers.map(shown)).toEqual(['example.test. MX']);
    expect(additionals.map(shown)).toEqual(['ns.example.test. A']);
  });
  test('never has AD (RFC 4035 §3.1.6), and has DO (RFC 3225 §3)', () => {
    expect(answer('www.example.test.', TYPE.A)).toMatchObject({ ad: false, edns: { dnssecOk: true } });
  });
  test('has the negative TTL in the SOA and in its signature', () => {
    const { authorities } = answer('nx.example.test.', TYPE.A);
    expect(authorities.slice(0, 2).map(({ ttl }) => ttl)).toEqual([300, 300]);
    expect(authorities.map(shown)).toEqual([
      'example.test. SOA',
      'example.test. RRSIG SOA',
      'ns.example.test. NSEC',
      'ns.example.test. RRSIG NSEC',
      'example.test. NSEC',
      'example.test. RRSIG NSEC',
    ]);
  });
  test('that refers has DS with its signature, and glue that is needed only', () => {
    const { authorities, additionals } = answer('x.safe.example.test.', TYPE.A);
    expect(authorities.map(shown)).toEqual([
      'safe.example.test. NS',
      'safe.example.test. DS',
      'safe.example.test. RRSIG DS',
    ]);
    expect(additionals).toEqual([]); // ns.cut is no name of this delegation
  });
  test('that refers without DS has the proof, and glue behind it', () => {
    const { authorities, additionals } = answer('x.cut.example.test.', TYPE.A);
    expect(authorities.map(shown)).toEqual([
      'cut.example.test. NS',
      'cut.example.test. NS',
      'cut.example.test. NSEC',
      'cut.example.test. RRSIG NSEC',
    ]);
    expect(additionals.map(shown)).toEqual(['ns.cut.example.test. A']);
  });
  test('to RRSIG or ANY has one set, not all', () => {
    expect(answer('example.test.', TYPE.RRSIG).answers.map(shown)).toEqual(['example.test. RRSIG NS']);
    expect(answer('example.test.', TYPE.ANY).answers.map(shown)).toEqual([
      'example.test. NS',
      'example.test. RRSIG NS',
    ]);
  });
  test('from a wildcard has the name that was asked as owner of the signature', () => {
    const { answers, authorities } = answer('a.b.w.example.test.', TYPE.A);
    expect(answers.map(shown)).toEqual(['a.b.w.example.test. A', 'a.b.w.example.test. RRSIG A']);
    expect(authorities.map(shown)).toEqual(['*.w.example.test. NSEC', '*.w.example.test. RRSIG NSEC']);
  });
  test('has owners of NSEC3 right below the apex, and three of them for a name that is not there', () => {
    const { authorities } = answer('nx.www.example.test.', TYPE.A, 'do', NSEC3);
    const hashed = authorities.filter(({ type }) => type === TYPE.NSEC3);
    expect(hashed.length).toBeGreaterThan(1);
    for (const { owner } of hashed) expect(printName(owner)).toMatch(/^[0-9a-v]{32}\.example\.test\.$/);
  });
});

describe('a set and its signatures', () => {
  /** So many addresses fill the answer: header 12, question 20, OPT 11, each 16, a signature of Ed25519 12 + 18 + 14 + 64. */
  const addresses = (count: number) =>
    Array.from({ length: count }, (_, i) => `q 60 A 192.0.2.${i}`).join('\n');
  const asked = (count: number, opt: string) => {
    const node = testNode({
      zoneText: `${ZONE}\n${addresses(count)}`,
      ...(NSEC === undefined ? {} : { denial: NSEC }),
    });
    const { tc, answers } = decodeMessage(ask(queryFor('q.example.test.', TYPE.A, { opt }), node));
    return `${tc ? 'tc ' : ''}${answers.length}`;
  };
  test('go together or not at all', () => {
    // 512 - 12 - 20 - 11 - 108 = 361 octets are left for addresses.
    expect(asked(22, 'do size=512')).toBe('23');
    expect(asked(23, 'do size=512')).toBe('tc 0');
    expect(asked(23, 'size=512')).toBe('23');
  });
  test('take 1232 octets at most over UDP, and 512 when less is offered', () => {
    // 1232 - 151 = 1081
    expect(asked(67, 'do size=4096')).toBe('68');
    expect(asked(68, 'do size=4096')).toBe('tc 0');
    expect(asked(22, 'do size=100')).toBe('23');
    expect(asked(23, 'do size=100')).toBe('tc 0');
  });
});

test('a name whose hash another one has cannot be denied (RFC 5155 §7.2.9)', () => {
  const apex = parseName('example.test.');
  const signed = signedRecords(apex, recordsOf(ZONE, 'example.test.'), NSEC3 ?? { kind: 'nsec' });
  // A zone that lost its name, but not the NSEC3 of it.
  const gone = parseName('www.example.test.');
  const zone = zoneOfRecords(
    apex,
    signed.filter(({ owner }) => owner !== gone),
  );
  const node = answeringNode([zone], testNode().settings);
  expect(decodeMessage(ask(queryFor('www.example.test.', TYPE.A, { opt: 'do' }), node))).toMatchObject({
    rcode: 2,
    aa: false,
    answers: [],
    authorities: [],
  });
  expect(decodeMessage(ask(queryFor('www.example.test.', TYPE.A, { opt: '' }), node)).rcode).toBe(3);
});

test('an apex that is answered alone has its keys when it is signed', () => {
  const apex: Name = parseName('example.test.');
  const signed = zoneOfRecords(apex, signedRecords(apex, recordsOf(ZONE, 'example.test.'), { kind: 'nsec' }));
  const node = answeringNode([{ ...signed, marked: new Set([apex]) }], testNode().settings);
  const rcodeOf = (type: number) =>
    decodeMessage(ask(queryFor('example.test.', type, { opt: 'do' }), node)).rcode;
  expect([TYPE.SOA, TYPE.NS, TYPE.DNSKEY, TYPE.MX, TYPE.NSEC].map(rcodeOf)).toEqual([0, 0, 0, 5, 5]);
});
