// Whatever a forged network asks, for however many names, types and zones: what goes to it is at most three times what was
// asked in its name, but for the burst that each network has.

import { expect, test } from 'vitest';
import { TYPE } from '../../src/dns/type-codes.ts';
import { AmplificationLimit } from '../../src/nameserver/answer/amplification-limit.ts';
import { RateLimit } from '../../src/nameserver/answer/response-rate-limit.ts';
import { queryFor } from '../support/answer/packets.ts';
import { answeringNode, answerQuery, NOW_MS, udpClient } from '../support/answer/test-node.ts';
import { pick, type Random, randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { zoneOf } from '../support/zone/zone-text.ts';

const ZONES = 10;
const TEXTS = 100;
const RRL = 400;
const RRL_OCTETS = 20_000;
const LONGEST_NODE_NAME = 'n'.repeat(63);

const text = (octets: number) =>
  Array(4)
    .fill(`"${'x'.repeat(octets / 4)}"`)
    .join(' ');
const ZONE = `@ 60 SOA ns host 1 2 3 4 5
@ NS ns
@ NS ns2
@ MX 10 mail
@ TXT ${text(800)}
ns A 192.0.2.1
ns AAAA 2001:db8::1
ns2 A 192.0.2.2
mail A 192.0.2.3
www A 192.0.2.4
*.wild TXT ${text(900)}
${Array.from({ length: 12 }, (_, i) => `sub NS ns${i}.sub\nns${i}.sub A 192.0.2.${i}\nns${i}.sub AAAA 2001:db8::${i}`).join('\n')}
too TXT ${text(1000)}
too TXT ${text(996)}
${Array.from({ length: TEXTS }, (_, i) => `t${i} TXT ${text(1000)}`).join('\n')}`;

const zones = Array.from({ length: ZONES }, (_, i) => zoneOf(`z${i}.example.`, ZONE));

function nodeOf(amplificationLimit: AmplificationLimit) {
  return answeringNode(zones, {
    nodeName: LONGEST_NODE_NAME,
    version: 'Zonefleet',
    cookieSecrets: [new Uint8Array(16)],
    rateLimit: new RateLimit(RRL),
    amplificationLimit,
    tcpIdleTimeoutMs: 10_000,
  });
}

type Ask = (random: Random, n: number) => Uint8Array;
const zone = (random: Random) => `z${Math.floor(random() * ZONES)}.example.`;
const text100 = (n: number) => `t${n % TEXTS}.z0.example.`;
const ASKS: Readonly<Record<string, Ask>> = {
  'a hundred names with large TXT': (_, n) => queryFor(text100(n), TYPE.TXT, { opt: '' }),
  'the same in many zones': (random, n) => queryFor(`t${n % TEXTS}.${zone(random)}`, TYPE.TXT, { opt: '' }),
  'names under wildcards': (random, n) => queryFor(`w${n}.wild.${zone(random)}`, TYPE.TXT, { opt: '' }),
  referrals: (random, n) => queryFor(`x${n}.sub.${zone(random)}`, TYPE.A, { opt: 'size=4096' }),
  'names that do not exist': (random, n) => queryFor(`nx${n}.${zone(random)}`, TYPE.A),
  'types that do not exist': (random, n) => queryFor(`www.${zone(random)}`, 256 + (n % 60_000), { opt: '' }),
  ANY: (random, n) => queryFor(pick(random, [zone(random), text100(n)]), TYPE.ANY, { opt: '' }),
  'the apex': (random) =>
    queryFor(zone(random), pick(random, [TYPE.NS, TYPE.SOA, TYPE.MX, TYPE.TXT]), { opt: '' }),
  'answers that do not fit': (random) => queryFor(`too.${zone(random)}`, TYPE.TXT),
  'without EDNS': (_, n) => queryFor(text100(n), TYPE.TXT),
  'every option': (_, n) =>
    queryFor(text100(n), TYPE.TXT, { opt: 'nsid zoneversion cookie:0102030405060708 keepalive' }),
  'the smallest questions': () => queryFor('.', TYPE.NS, { opt: 'nsid' }),
  'no question': () =>
    Buffer.from('123400000000000000000001000029ffff0000000000040003 0000'.replaceAll(' ', ''), 'hex'),
  'the node’s name': () => queryFor('id.server.', TYPE.TXT, { class: 3, opt: 'nsid' }),
  'not a query': () => Buffer.from('123400000001000000000000', 'hex'),
};

/** As many different queries of each kind; to write one takes longer than to answer it. */
const VARIANTS = 300;
const POOLS = Object.values(ASKS).map((ask) => {
  const random = randomFrom(1);
  return Array.from({ length: VARIANTS }, (_, n) => ask(random, n));
});

/** What goes in and comes out when `count` questions arrive at a steady rate. */
function flood(count: number, perSecond: number, ask: (n: number) => Uint8Array) {
  const limit = new AmplificationLimit(RRL_OCTETS);
  const node = nodeOf(limit);
  const client = udpClient(198, 51, 100, 7);
  const out = new Uint8Array(1232);
  const octets = { asked: 0, answered: 0, burst: limit.burstOctets };
  for (let n = 0; n < count; n++) {
    node.answerer.nowMs = NOW_MS + (n * 1000) / perSecond;
    const query = ask(n);
    const length = answerQuery(query, out, client, node);
    octets.asked += query.length;
    octets.answered += length;
  }
  expect(node.failures).toEqual([]);
  return octets;
}

test.each(Object.keys(ASKS).map((name, kind) => [name, kind] as const))('%s', (_, kind) => {
  const pool = POOLS[kind]!;
  const { asked, answered, burst } = flood(20_000, 5000, (n) => pool[n % VARIANTS]!);
  expect(answered - burst).toBeLessThanOrEqual(3 * asked);
});

test('any mix of these, from the rate on at which it would be more than three times', () => {
  for (let seed = 0; seed < scale(400, 20); seed++) {
    const random = randomFrom(seed);
    const some = POOLS.filter(() => random() < 0.4);
    const mix = some.length === 0 ? POOLS : some;
    // The shortest questions have 12 octets: as many a second as ask for twice RRL_OCTETS.
    const perSecond = (2 * RRL_OCTETS) / 12 + random() * 20_000;
    const ask = () => pick(random, pick(random, mix));
    const { asked, answered, burst } = flood(10_000, perSecond, ask);
    expect(answered - burst, `seed ${seed}`).toBeLessThanOrEqual(3 * asked);
  }
});

test('below that rate, at most the rate of RRL_OCTETS beside 2.5 times what was asked', () => {
  const { asked, answered, burst } = flood(6000, 100, (n) => POOLS[0]![n % VARIANTS]!);
  expect(answered - burst).toBeLessThanOrEqual(2.5 * asked + RRL_OCTETS * 60);
  expect(answered).toBeGreaterThan(RRL_OCTETS * 60);
});
