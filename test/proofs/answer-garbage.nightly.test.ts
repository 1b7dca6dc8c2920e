// Answers leave no garbage, whatever they hold: the heap of this thread does not grow by them.

import { describe, expect, test } from 'vitest';
import { TYPE } from '../../src/dns/type-codes.ts';
import { AmplificationLimit } from '../../src/nameserver/answer/amplification-limit.ts';
import { RateLimit } from '../../src/nameserver/answer/response-rate-limit.ts';
import { queryFor } from '../support/answer/packets.ts';
import { answerQuery, type TestNodeOptions, testNode, udpClient } from '../support/answer/test-node.ts';
import { scale } from '../support/tests/scale.ts';
import { DENIAL_STYLES } from '../support/zone/sign-zone.ts';

const ZONE = `@ 60 SOA ns host 1 2 3 4 5
@ NS ns
@ MX 10 mail
@ TXT "text"
ns A 192.0.2.1
mail A 192.0.2.2
www A 192.0.2.3
alias CNAME www
toalias CNAME alias
dname DNAME wild
*.wild A 192.0.2.4
sub NS ns.sub
sub NS ns.sibling
ns.sub A 192.0.2.5
sibling NS ns.sibling
ns.sibling AAAA 2001:db8::1
service HTTPS 1 mail alpn=h2`;

const COOKIE = 'cookie:2464c4abcf10c957';
const QUERIES: readonly (readonly [string, Uint8Array])[] = [
  ['an address', queryFor('www.example.test.', TYPE.A)],
  ['an address with EDNS', queryFor('www.example.test.', TYPE.A, { opt: 'do' })],
  [
    'an address with cookie, NSID and ZONEVERSION',
    queryFor('www.example.test.', TYPE.A, { opt: `${COOKIE} nsid zoneversion` }),
  ],
  ['NODATA', queryFor('www.example.test.', TYPE.AAAA, { opt: '' })],
  ['NXDOMAIN', queryFor('nx.example.test.', TYPE.A, { opt: '' })],
  ['NXDOMAIN in mixed case', queryFor('Nx.eXample.test.', TYPE.A, { opt: '' })],
  ['a chain', queryFor('toalias.example.test.', TYPE.A, { opt: '' })],
  ['a DNAME', queryFor('x.dname.example.test.', TYPE.A, { opt: '' })],
  ['a wildcard', queryFor('x.wild.example.test.', TYPE.A, { opt: '' })],
  ['MX with addresses', queryFor('example.test.', TYPE.MX, { opt: '' })],
  ['MX in mixed case', queryFor('Example.Test.', TYPE.MX, { opt: '' })],
  ['a service binding', queryFor('service.example.test.', TYPE.HTTPS, { opt: '' })],
  ['a referral', queryFor('x.sub.example.test.', TYPE.A, { opt: '' })],
  ['ANY', queryFor('example.test.', TYPE.ANY, { opt: '' })],
  ['a refusal', queryFor('example.org.', TYPE.A, { opt: '' })],
  ['the version', queryFor('version.bind.', TYPE.TXT, { class: 3 })],
];

/** With DO, of the zone when it is signed. */
const SIGNED_QUERIES: readonly (readonly [string, Uint8Array])[] = [
  ['an address', queryFor('www.example.test.', TYPE.A, { opt: 'do' })],
  ['NODATA', queryFor('www.example.test.', TYPE.AAAA, { opt: 'do' })],
  ['NXDOMAIN', queryFor('nx.example.test.', TYPE.A, { opt: 'do' })],
  ['NXDOMAIN in mixed case', queryFor('Nx.www.eXample.test.', TYPE.A, { opt: 'do' })],
  ['an empty non-terminal', queryFor('wild.example.test.', TYPE.A, { opt: 'do' })],
  ['a chain', queryFor('toalias.example.test.', TYPE.A, { opt: 'do' })],
  ['a DNAME to a wildcard', queryFor('x.dname.example.test.', TYPE.A, { opt: 'do' })],
  ['a wildcard', queryFor('x.wild.example.test.', TYPE.A, { opt: 'do' })],
  ['NODATA of a wildcard', queryFor('x.wild.example.test.', TYPE.TXT, { opt: 'do' })],
  ['MX in mixed case', queryFor('Example.Test.', TYPE.MX, { opt: 'do' })],
  ['a referral', queryFor('x.sub.example.test.', TYPE.A, { opt: 'do' })],
  ['keys', queryFor('example.test.', TYPE.DNSKEY, { opt: 'do' })],
  ['RRSIG', queryFor('example.test.', TYPE.RRSIG, { opt: 'do' })],
  ['ANY', queryFor('example.test.', TYPE.ANY, { opt: 'do' })],
];

const ROUNDS = scale(8, 12);
const ANSWERS = scale(40_000, 8000);

test.each(QUERIES)('%s', (_, query) => expectNoGarbage(query));

describe.each([DENIAL_STYLES[0], DENIAL_STYLES[3]])('from a zone signed with %j', (denial) => {
  test.each(SIGNED_QUERIES)('%s', (_, query) => expectNoGarbage(query, denial && { denial }));
});

function expectNoGarbage(query: Uint8Array, options: TestNodeOptions = {}): void {
  const node = testNode({
    zoneText: ZONE,
    ...options,
    rateLimit: new RateLimit(400, 1024),
    amplificationLimit: new AmplificationLimit(20_000, 1024),
  });
  const out = new Uint8Array(1232);
  const client = udpClient(192, 0, 2, 1);
  let least = Number.POSITIVE_INFINITY;
  // The first rounds are compiled as they run; a garbage collection within one makes it look better, never worse.
  for (let round = 0; round < ROUNDS && least >= 1; round++) {
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < ANSWERS; i++) answerQuery(query, out, client, node);
    const grown = process.memoryUsage().heapUsed - before;
    if (grown >= 0) least = Math.min(least, grown / ANSWERS);
  }
  expect(node.failures).toEqual([]);
  expect(least).toBeLessThan(1); // octets an answer: the smallest object has 16
}
