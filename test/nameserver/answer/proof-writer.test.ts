// Answers with DO, octet for octet where it counts: what goes together, what is left out, what is written once.

import { describe, expect, test } from 'vitest';
import { decodeMessage, type Message, type MessageRecord } from '../../../src/dns/message/message.ts';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { coveredType } from '../../../src/dns/record/covered-type.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { answeringNode, ask, testNode } from '../../support/answer/test-node.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
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

/** Names relative to the zone. */
function shown({ owner, type, rdata }: MessageRecord): string {
  const what = type === TYPE.RRSIG ? `RRSIG ${typeMnemonic(coveredType(rdata))}` : typeMnemonic(type);
  return `${printName(owner).replace('.example.test.', '').replace('example.test.', '@')} ${what}`;
}

describe('an answer with DO', () => {
  // Question, OPT, answer section, authority section, additional section.
  test.each(
    rowsOf(`
has each set followed by its signatures, and no optional addresses | @ MX | do | @ MX / @ RRSIG MX | |
differs from one without DO | @ MX | | @ MX | | ns A
refers with DS and its signature, and without glue of other delegations | x.safe A | do | | safe NS / safe DS / safe RRSIG DS |
refers without DS but with the proof, and with glue | x.cut A | do | | cut NS / cut NS / cut NSEC / cut RRSIG NSEC | ns.cut A
to RRSIG has the signatures of one set | @ RRSIG | do | @ RRSIG NS | |
to ANY has one set | @ ANY | do | @ NS / @ RRSIG NS | |
from a wildcard has the queried name as owner | a.b.w A | do | a.b.w A / a.b.w RRSIG A | *.w NSEC / *.w RRSIG NSEC |
denies a name with SOA and proofs | nx A | do | | @ SOA / @ RRSIG SOA / ns NSEC / ns RRSIG NSEC / @ NSEC / @ RRSIG NSEC |`),
  )('%s', (_, question = '', opt, ...wanted) => {
    const [name = '', type] = question.split(' ');
    const full = name === '@' ? 'example.test.' : `${name}.example.test.`;
    const { answers, authorities, additionals } = answer(full, TYPE[type as 'MX'], opt);
    expect([answers, authorities, additionals].map((section) => section.map(shown))).toEqual(
      wanted.map(itemsOf),
    );
  });

  test('never has AD (RFC 4035 §3.1.6), and has DO (RFC 3225 §3)', () => {
    expect(answer('www.example.test.', TYPE.A)).toMatchObject({ ad: false, edns: { dnssecOk: true } });
  });
  test('has the negative TTL in the SOA and in its signature', () => {
    const { authorities } = answer('nx.example.test.', TYPE.A);
    expect(authorities.slice(0, 2).map(({ ttl }) => ttl)).toEqual([300, 300]);
  });
  test('has owners of NSEC3 directly below the apex', () => {
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
    const node = testNode({ zoneText: `${ZONE}\n${addresses(count)}`, ...(NSEC && { denial: NSEC }) });
    const { tc, answers } = decodeMessage(ask(queryFor('q.example.test.', TYPE.A, { opt }), node));
    return `${tc ? 'tc ' : ''}${answers.length}`;
  };
  // 512 - 12 - 20 - 11 - 108 = 361 octets are left for addresses; over UDP never more than 1232 - 151 = 1081.
  test.each([
    [22, 'do size=512', '23'],
    [23, 'do size=512', 'tc 0'],
    [23, 'size=512', '23'],
    [22, 'do size=100', '23'],
    [23, 'do size=100', 'tc 0'],
    [67, 'do size=4096', '68'],
    [68, 'do size=4096', 'tc 0'],
  ])('fit together or not at all: %i addresses with %s', (count, opt, wanted) => {
    expect(asked(count, opt)).toBe(wanted);
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
  const found = (opt: string) => decodeMessage(ask(queryFor('www.example.test.', TYPE.A, { opt }), node));
  expect(found('do')).toMatchObject({ rcode: 2, aa: false, answers: [], authorities: [] });
  expect(found('').rcode).toBe(3);
});

test('an apex that is answered alone has its keys when it is signed', () => {
  const apex: Name = parseName('example.test.');
  const signed = zoneOfRecords(apex, signedRecords(apex, recordsOf(ZONE, 'example.test.'), { kind: 'nsec' }));
  const node = answeringNode([{ ...signed, marked: new Set([apex]) }], testNode().settings);
  const rcodeOf = (type: number) =>
    decodeMessage(ask(queryFor('example.test.', type, { opt: 'do' }), node)).rcode;
  expect([TYPE.SOA, TYPE.NS, TYPE.DNSKEY, TYPE.MX, TYPE.NSEC].map(rcodeOf)).toEqual([0, 0, 0, 5, 5]);
});
