// Answers create no garbage, whatever their content: the heap of this thread does not grow.

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
/** Name, type and options of queries with EDNS. */
const QUERIES: readonly string[] = [
  'www.example.test. A',
  `www.example.test. A ${COOKIE} nsid zoneversion`,
  'www.example.test. AAAA',
  'nx.example.test. A',
  'Nx.www.eXample.test. A',
  'wild.example.test. A',
  'toalias.example.test. A',
  'x.dname.example.test. A',
  'x.wild.example.test. A',
  'x.wild.example.test. TXT',
  'example.test. MX',
  'Example.Test. MX',
  'service.example.test. HTTPS',
  'x.sub.example.test. A',
  'example.test. ANY',
  'example.org. A',
];
const SIGNED_QUERIES = [...QUERIES, 'example.test. DNSKEY', 'example.test. RRSIG'];

const ROUNDS = scale(8, 12);
const ANSWERS = scale(40_000, 8000);

function queryOf(line: string, dnssecOk: boolean): Uint8Array {
  const [name = '', type = '', ...options] = line.split(' ');
  return queryFor(name, TYPE[type as 'A'], { opt: [...(dnssecOk ? ['do'] : []), ...options].join(' ') });
}

test.each(QUERIES)('%s', (line) => expectNoGarbage(queryOf(line, false)));

test('www.example.test. A without EDNS', () => expectNoGarbage(queryFor('www.example.test.', TYPE.A)));
test('the version', () => expectNoGarbage(queryFor('version.bind.', TYPE.TXT, { class: 3 })));

describe.each([DENIAL_STYLES[0], DENIAL_STYLES[3]])('from a zone signed with %j', (denial) => {
  test.each(SIGNED_QUERIES)('%s', (line) => expectNoGarbage(queryOf(line, true), denial && { denial }));
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
  // The first rounds run before compilation. A garbage collection within a round can only lower its result.
  for (let round = 0; round < ROUNDS && least >= 1; round++) {
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < ANSWERS; i++) answerQuery(query, out, client, node);
    const grown = process.memoryUsage().heapUsed - before;
    if (grown >= 0) least = Math.min(least, grown / ANSWERS);
  }
  expect(node.failures).toEqual([]);
  expect(least).toBeLessThan(1); // octets per answer: the smallest object has 16
}
