import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { EDNS_OPTION } from '../../../src/dns/message/edns.ts';
import { decodeMessage, type Message, type MessageRecord } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { coveredType } from '../../../src/dns/record/covered-type.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { AmplificationLimit } from '../../../src/nameserver/answer/amplification-limit.ts';
import { SLOW_PATH } from '../../../src/nameserver/answer/answer-query.ts';
import { RateLimit } from '../../../src/nameserver/answer/response-rate-limit.ts';
import type { Transport } from '../../../src/nameserver/answer/transports.ts';
import { ZoneCounts } from '../../../src/nameserver/counts/zone-counts.ts';
import { AskedMarks } from '../../../src/nameserver/image/find/asked-marks.ts';
import { assemble, queryFor, summarize } from '../../support/answer/packets.ts';
import {
  answeringNode,
  answerQuery,
  ask,
  NOW_MS,
  testNode,
  udpClient,
} from '../../support/answer/test-node.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import { DENIAL_STYLES, signedRecords, zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf, zoneOf } from '../../support/zone/zone-text.ts';

function readCases(file: string): string[][] {
  const text = readFileSync(new URL(`../../../fixtures/packets/${file}`, import.meta.url), 'utf8');
  const blocks = text.split(/^== /m).slice(1);
  return blocks.map((block) => block.split('\n'));
}

describe('packets of fixtures/packets/queries.txt', () => {
  const node = testNode();
  test.each(readCases('queries.txt'))('%s', (_, query = '', summary) => {
    expect(summarize(ask(assemble(query), node))).toBe(summary);
    expect(node.failures).toEqual([]);
  });
});

const SOA_QUESTION = '"example.test." 0006 0001';
const TSIG_RECORD = '"key." 00fa 00ff 00000000 0000';
test.each<[string, string, udp: string, tcp: string, without: string]>([
  ['a query', `0000 0001 0000 0000 0000 ${SOA_QUESTION}`, 'NOERROR', 'NOERROR', 'NOERROR'],
  ['a query with TSIG', `0000 0001 0000 0000 0001 ${SOA_QUESTION} ${TSIG_RECORD}`, 'slow', 'slow', 'NOTAUTH'],
  [
    'a query with TSIG before OPT',
    `0000 0001 0000 0000 0002 ${SOA_QUESTION} ${TSIG_RECORD} OPT()`,
    'slow',
    'slow',
    'NOTAUTH',
  ],
  [
    'TSIG in the answer section',
    `0000 0001 0001 0000 0000 ${SOA_QUESTION} ${TSIG_RECORD}`,
    'slow',
    'slow',
    'NOTAUTH',
  ],
  [
    'TSIG with two OPT',
    `0000 0001 0000 0000 0003 ${SOA_QUESTION} ${TSIG_RECORD} OPT() OPT()`,
    'FORMERR',
    'FORMERR',
    'FORMERR',
  ],
  [
    'TSIG and an unknown EDNS version',
    `0000 0001 0000 0000 0002 ${SOA_QUESTION} OPT(version=1) ${TSIG_RECORD}`,
    'slow',
    'slow',
    'BADVERS',
  ],
  [
    'a type near TSIG',
    `0000 0001 0000 0000 0001 ${SOA_QUESTION} "key." 00f9 00ff 00000000 0000`,
    'NOERROR',
    'NOERROR',
    'NOERROR',
  ],
  ['AXFR', '0000 0001 0000 0000 0000 "example.test." 00fc 0001', 'REFUSED', 'slow', 'REFUSED'],
  [
    'AXFR with TSIG',
    `0000 0001 0000 0000 0001 "example.test." 00fc 0001 ${TSIG_RECORD}`,
    'slow',
    'slow',
    'NOTAUTH',
  ],
  ['IXFR', '0000 0001 0000 0000 0000 "example.test." 00fb 0001', 'slow', 'slow', 'REFUSED'],
  [
    'IXFR with an octet missing',
    '0000 0001 0000 0001 0000 "example.test." 00fb 0001 "a." 0006',
    'FORMERR',
    'FORMERR',
    'FORMERR',
  ],
  ['NOTIFY', `2000 0001 0000 0000 0000 ${SOA_QUESTION}`, 'slow', 'slow', 'NOTIMP'],
  [
    'NOTIFY with an octet missing',
    `2000 0001 0000 0000 0001 ${SOA_QUESTION} "key."`,
    'FORMERR',
    'FORMERR',
    'NOTIMP',
  ],
  ['UPDATE', `2800 0001 0000 0000 0000 ${SOA_QUESTION}`, 'slow', 'slow', 'REFUSED'],
  [
    'UPDATE with an octet missing',
    `2800 0001 0000 0001 0000 ${SOA_QUESTION} "key."`,
    'FORMERR',
    'FORMERR',
    'FORMERR',
  ],
  ['STATUS', `1000 0001 0000 0000 0000 "example.test." 00fc 0001`, 'NOTIMP', 'NOTIMP', 'NOTIMP'],
])('%s takes the slow path or not, over UDP, over TCP, and without transfers', (_, text, udp, tcp, without) => {
  const query = assemble(`1234 ${text}`);
  const outcome = (hasTransfers: boolean, client: Parameters<typeof ask>[2]) => {
    const out = Buffer.alloc(1232);
    const length = answerQuery(query, out, client!, testNode({ hasTransfers }));
    return length === SLOW_PATH ? 'slow' : summarize(out.subarray(0, length)).split(' ')[0];
  };
  expect([outcome(true, far), outcome(true, overTcp), outcome(false, far)]).toEqual([udp, tcp, without]);
});

const www = queryFor('www.example.test.', TYPE.A, { opt: '' });
const far = udpClient(198, 51, 100, 7);
const overTcp = { ...far, transport: 'tcp' } as const;
const optionOf = (reply: Uint8Array) =>
  Buffer.from(decodeMessage(reply).edns!.options[0]!.value).toString('hex');

describe('the question section', () => {
  test("is echoed with its case, and the answer's owner is a pointer to it", () => {
    const query = queryFor('wWw.eXaMpLe.TeSt.', TYPE.A);
    const reply = ask(query);
    expect(reply.subarray(12, query.length)).toEqual(query.subarray(12));
    expect([...reply.subarray(query.length, query.length + 2)]).toEqual([0xc0, 0x0c]);
  });

  test("does not affect the case of names in rdata if its case differs from the zone's", () => {
    const message = decodeMessage(ask(queryFor('EXAMPLE.TEST.', TYPE.MX)));
    expect(printName(message.questions[0]!.name)).toBe('EXAMPLE.TEST.');
    const exchange = Buffer.from(message.answers[0]!.rdata.subarray(2)).toString('latin1');
    expect(exchange).toBe('\x04mail\x07example\x04test\0');
  });

  test('is echoed in errors after it was read', () => {
    const query = assemble('1234 0000 0001 0001 0000 0000 "WWW.example.test." 0001 0001');
    expect(ask(query).subarray(12)).toEqual(query.subarray(12));
  });
});

test.each([
  ['id.server.', '\x06node-1'],
  ['hostname.bind.', '\x06node-1'],
  ['version.bind.', '\x0fZonefleet 1.2.3'],
  ['version.server.', '\x0fZonefleet 1.2.3'],
])('class CH answers %s with the name of the node or the version of the server', (name, text) => {
  const [answer] = decodeMessage(ask(queryFor(name, TYPE.TXT, { class: 3 }))).answers;
  expect(answer).toMatchObject({ class: 3, ttl: 0 });
  expect(Buffer.from(answer!.rdata).toString('latin1')).toBe(text);
});

describe('over TCP', () => {
  test.each([
    // the idle timeout in units of 100 ms (RFC 7828 §3.1)
    ['the keepalive option', 'www', TYPE.A, 'keepalive', 'NOERROR aa 1/1/0/0 OPT(keepalive:0064)'],
    ['no option that was not requested', 'www', TYPE.A, '', 'NOERROR aa 1/1/0/0 OPT()'],
    ['all records, for any payload size', 'big', TYPE.TXT, 'size=512', 'NOERROR aa 1/41/0/0 OPT()'],
  ])('an answer has %s', (_, name, type, opt, summary) => {
    expect(summarize(ask(queryFor(`${name}.example.test.`, type, { opt }), testNode(), overTcp))).toBe(
      summary,
    );
  });

  test('no answer exceeds 65,535 octets: a longer one has TC', () => {
    // The set alone just fits, but not together with the two links before it.
    const [first, second] = ['b', 'c'].map((letter) => Array(3).fill(letter.repeat(63)).join('.'));
    const texts = Array.from({ length: 255 }, (_, i) => `${second} TXT "${String(i).padEnd(243, 'x')}"`);
    const links = [`alias CNAME ${first}`, `${first} CNAME ${second}`];
    const zoneText = ['@ SOA ns1 hostmaster 7 3600 600 86400 60', '@ NS ns1', ...links, ...texts].join('\n');
    const query = queryFor('alias.example.test.', TYPE.TXT);
    expect(summarize(ask(query, testNode({ zoneText }), overTcp))).toBe('NOERROR aa tc 1/2/0/0');
  });
});

describe('the padding option (RFC 7830)', () => {
  const sizeOf = (name: string, opt: string, transport: Transport, node = testNode()) => {
    const reply = ask(queryFor(name, TYPE.TXT, { opt }), node, { ...far, transport });
    const { options } = decodeMessage(reply).edns!;
    const padding = options.find(({ code }) => code === EDNS_OPTION.PADDING)?.value;
    expect(padding?.some((octet) => octet !== 0)).not.toBe(true);
    return padding === undefined ? 'not padded' : reply.length;
  };

  test.each<[Transport, string, string, string | number]>([
    ['udp', 'www', 'padding:', 'not padded'],
    ['tcp', 'www', 'padding:', 'not padded'],
    ['tls', 'www', '', 'not padded'],
    ['tls', 'www', 'version=1 padding:', 'not padded'],
    ['tls', 'www', 'padding:', 468],
    ['https', 'www', 'nsid cookie:0102030405060708 padding:00000000', 468],
    ['tls', 'nope', 'padding:', 468],
    ['tls', 'big', 'padding:', 4212], // 9 blocks of 468 octets (RFC 8467 §4.1)
  ])('over %s, for %s with OPT(%s): %s', (transport, name, opt, size) => {
    expect(sizeOf(`${name}.example.test.`, opt, transport)).toBe(size);
  });

  test('fills the space up to 65,535 octets, and is omitted without space for it', () => {
    const overhead = 12 + 'www.example.test.'.length + 1 + 4 + 11;
    const fitting = (octets: number) => {
      const texts = Array.from({ length: 255 }, (_, i) => `www TXT "${String(i).padEnd(243, 'x')}"`);
      const left = octets - overhead - 255 * 256;
      return testNode({
        zoneText: [
          '@ SOA ns1 h 7 3600 600 86400 60',
          '@ NS ns1',
          ...texts,
          `www TXT "${'y'.repeat(left - 13)}"`,
        ].join('\n'),
      });
    };
    const sizes = [65_519, 65_531, 65_532].map((octets) =>
      sizeOf('www.example.test.', 'padding:', 'tls', fitting(octets)),
    );
    expect(sizes).toEqual([65_535, 65_535, 'not padded']);
  });
});

describe('sizes over UDP', () => {
  test.each([
    512, 600, 700, 1000, 1231, 1232, 4096,
  ])('a client that accepts %i octets gets no more', (size) => {
    for (const [name, type] of [
      ['mx.example.test.', TYPE.MX],
      ['a.sub.example.test.', TYPE.A],
    ] as const) {
      const reply = ask(
        queryFor(name, type, { opt: `size=${size} nsid cookie:0102030405060708 zoneversion` }),
      );
      expect(reply.length).toBeLessThanOrEqual(Math.min(size, 1232));
      expect(decodeMessage(reply).edns?.options).toHaveLength(3);
    }
  });

  test('a node name that does not fit next to a long question is omitted', () => {
    const label = 'a'.repeat(60);
    const node = testNode({ nodeName: 'n'.repeat(255) });
    const query = queryFor(`${label}.${label}.${label}.${label}.`, TYPE.A, { opt: 'size=512 nsid' });
    expect(summarize(ask(query, node))).toBe('REFUSED - 1/0/0/0 OPT(ede:0014)');
  });
});

test('fresh cookies are returned unchanged, and are renewed after 30 minutes (RFC 9018 §4.3)', () => {
  const node = testNode();
  const asked = (cookie: string) =>
    optionOf(ask(queryFor('www.example.test.', TYPE.A, { opt: `cookie:${cookie}` }), node));
  const learned = asked('2464c4abcf10c957');
  node.clockMs = NOW_MS + 29 * 60_000;
  expect(asked(learned)).toBe(learned);
  node.clockMs = NOW_MS + 31 * 60_000;
  const renewed = asked(learned);
  expect(renewed).not.toBe(learned);
  expect(renewed.slice(0, 16)).toBe(learned.slice(0, 16));
});

describe('the rate limit', () => {
  const flood = (
    query: Uint8Array | ((i: number) => Uint8Array),
    node = testNode({ rateLimit: new RateLimit(10, 1024) }),
    client = far,
  ) => {
    const seen = { sent: 0, truncated: 0, dropped: 0 };
    for (let i = 0; i < 30; i++) {
      const reply = ask(typeof query === 'function' ? query(i) : query, node, client);
      if (reply.length === 0) seen.dropped++;
      else if (decodeMessage(reply).tc) seen.truncated++;
      else seen.sent++;
    }
    return seen;
  };
  const limited = { sent: 10, truncated: 10, dropped: 10 };
  const free = { sent: 30, truncated: 0, dropped: 0 };

  test('truncates every second answer above it (TC), drops the others, and counts both', () => {
    const node = testNode({ rateLimit: new RateLimit(10, 1024) });
    expect(flood(www, node)).toEqual(limited);
    expect(node.counters).toMatchObject({ rateDropped: 10, rateTruncated: 10 });
    node.clockMs += 1000;
    expect(summarize(ask(www, node, far))).toBe('NOERROR aa 1/1/0/0 OPT()');
  });
  test('sends TC with OPT and no records', () => {
    const node = testNode({ rateLimit: new RateLimit(1, 1024) });
    const replies = [1, 2, 3].map(() => summarize(ask(www, node, far)));
    expect(replies).toEqual(['NOERROR aa 1/1/0/0 OPT()', 'silence', 'NOERROR aa tc 1/0/0/0 OPT()']);
  });
  test.each<[string, (i: number) => Uint8Array]>([
    ['all names that do not exist in a zone', (i) => queryFor(`nx${i}.example.test.`, TYPE.A)],
    ['the referrals of a zone', (i) => queryFor(`x${i}.sub.example.test.`, TYPE.A, { opt: '' })],
    ['refusals', (i) => queryFor(`nope${i}.`, TYPE.A)],
    ['malformed queries', () => assemble('1234 0000 0001 0000 0000 0000')],
    ['names below a wildcard', (i) => queryFor(`w${i}.wild.example.test.`, TYPE.A)],
    ['the types that a name does not have', (i) => queryFor('www.example.test.', 100 + i, { opt: '' })],
    ['the types that a wildcard does not have', (i) => queryFor(`w${i}.wild.example.test.`, 100 + i)],
  ])('has one bucket for %s', (_, query) => {
    expect(flood(query)).toEqual(limited);
  });
  test('does not count two existing names together', () => {
    const node = testNode({ rateLimit: new RateLimit(15, 1024) });
    expect(flood((i) => queryFor(`${i % 2 ? 'www' : 'mail'}.example.test.`, TYPE.A), node)).toEqual(free);
  });
  test.each([
    ['loopback', udpClient(127, 0, 0, 1)],
    ['loopback of IPv6', udpClient(...Array<number>(15).fill(0), 1)],
    ['TCP', overTcp],
  ])('does not apply to %s', (_, client) => {
    expect(flood(www, undefined, client)).toEqual(free);
  });
  test('does not apply to clients with a valid cookie, but applies to those with an invalid one', () => {
    const node = testNode({ rateLimit: new RateLimit(10, 1024) });
    const cookie = (opt: string) => queryFor('www.example.test.', TYPE.A, { opt: `cookie:${opt}` });
    const valid = cookie(optionOf(ask(cookie('0102030405060708'), node, far)));
    expect(flood(valid, node)).toEqual(free);
    expect(flood(valid, node, udpClient(203, 0, 113, 1))).toEqual(limited);
  });
});

describe('the amplification limit', () => {
  const texts = Array.from({ length: 100 }, (_, i) => `t${i} TXT ${`"${'x'.repeat(250)}" `.repeat(4)}`).join(
    '\n',
  );
  const zoneText = `@ SOA ns host 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n${texts}`;
  const limited = () => testNode({ zoneText, amplificationLimit: new AmplificationLimit(20_000, 64) });
  const large = (n: number, opt = '') => queryFor(`t${n % 100}.example.test.`, TYPE.TXT, { opt });
  /** Returns the number of answers that were not truncated. */
  const whole = (node = limited(), client = far, opt = '') => {
    let count = 0;
    for (let n = 0; n < 250; n++) {
      const reply = ask(large(n, opt), node, client);
      if (reply.length > 0 && ((reply[2] as number) & 0x02) === 0) count++;
    }
    return count;
  };

  test('applies to different names together, and counts dropped and truncated answers', () => {
    const node = limited();
    expect(whole(node)).toBeLessThan(100);
    const { octetsDropped, octetsTruncated } = node.counters;
    expect(octetsDropped + octetsTruncated).toBeGreaterThan(150);
    expect(Math.abs(octetsDropped - octetsTruncated)).toBeLessThanOrEqual(1);
    expect(node.counters).toMatchObject({ rateDropped: 0, rateTruncated: 0 });
    const answers = [...node.counters.answerCounts()].reduce((sum, { count }) => sum + count, 0);
    expect(answers).toBe(250 - octetsDropped);
    expect(node.counters.truncated[0]).toBe(octetsTruncated);
  });
  test('replaces every second answer by TC with OPT and no records, and never limits small answers', () => {
    const node = limited();
    whole(node);
    const replies = [1, 2].map((n) => summarize(ask(large(n), node, far))).toSorted();
    expect(replies).toEqual(['NOERROR aa tc 1/0/0/0 OPT()', 'silence']);
    // up to 2.5 times the query
    const small = queryFor('ns.example.test.', TYPE.A, { opt: '' });
    for (let n = 0; n < scale(1000, 100); n++) {
      ask(large(n), node, far);
      expect(summarize(ask(small, node, far))).toBe('NOERROR aa 1/1/0/0 OPT()');
    }
  });
  test('does not apply to loopback, TCP or clients with a valid cookie', () => {
    expect(whole(limited(), udpClient(127, 0, 0, 1))).toBe(250);
    expect(whole(limited(), overTcp)).toBe(250);
    const node = limited();
    const valid = `cookie:${optionOf(ask(large(0, 'cookie:0102030405060708'), node, far))}`;
    expect(whole(node, far, valid)).toBe(250);
    expect(whole(node, udpClient(203, 0, 113, 1), valid)).toBeLessThan(100);
  });
  test('works together with response rate limiting', () => {
    const node = testNode({
      zoneText,
      rateLimit: new RateLimit(10, 64),
      amplificationLimit: new AmplificationLimit(20_000, 64),
    });
    for (let i = 0; i < 30; i++) ask(large(1), node, far);
    expect(node.counters).toMatchObject({ rateDropped: 10, rateTruncated: 10, octetsDropped: 0 });
  });
});

test('an exception caused by a query is answered SERVFAIL, counted and reported', () => {
  const rateLimit = new RateLimit(10, 1024);
  rateLimit.decide = () => {
    throw new Error('a bug');
  };
  const node = testNode({ rateLimit });
  const reply = ask(queryFor('www.example.test.', TYPE.A, { rd: true }), node, udpClient(192, 0, 2, 1));
  expect(decodeMessage(reply)).toMatchObject({ id: 0x1234, qr: true, rd: true, rcode: RCODE.SERVFAIL });
  expect(node.counters.failed).toBe(1);
  expect(node.failures).toHaveLength(1);
});

describe('counts by zone', () => {
  const counted = (ask_: (node: ReturnType<typeof testNode>) => void) => {
    const zoneCounts = new ZoneCounts();
    const node = testNode({ zoneCounts });
    ask_(node);
    const sink = { add: vi.fn(), addOther: vi.fn(), addName: vi.fn() };
    zoneCounts.take(sink);
    expect(node.failures).toEqual([]);
    return sink;
  };

  test('contain the type and rcode of each answer from a zone, over UDP and TCP', () => {
    const { add } = counted((node) => {
      for (const [name, type] of [
        ['www.example.test.', TYPE.A],
        ['WWW.example.test.', TYPE.A],
        ['nx.example.test.', TYPE.A],
        ['www.example.test.', 65280],
      ] as const)
        ask(queryFor(name, type), node);
      ask(queryFor('example.test.', TYPE.SOA), node, overTcp);
    });
    // in the order of the table, which is arbitrary: type, rcode, count
    const rows = add.mock.calls.map(([, ...row]) => row.join(' '));
    expect(rows.sort()).toEqual([`0 0 1`, `${TYPE.A} 0 2`, `${TYPE.A} 3 1`, `${TYPE.SOA} 0 1`].sort());
  });

  test('do not contain answers that are not from a zone: refusals, errors, class CH, transfers', () => {
    const { add, addOther } = counted((node) => {
      ask(queryFor('www.elsewhere.test.', TYPE.A), node);
      ask(queryFor('id.server.', TYPE.TXT, { class: 3 }), node);
      ask(queryFor('example.test.', TYPE.AXFR), node);
      ask(assemble('1234 0000 0002 0000 0000 0000 "www.example.test." 0001 0001'), node);
    });
    expect(add).not.toHaveBeenCalled();
    expect(addOther).not.toHaveBeenCalled();
  });

  test('contain the folded name of every 256th query', () => {
    const { addName } = counted((node) => {
      const query = queryFor('wWw.Example.test.', TYPE.A);
      for (let i = 0; i < 600; i++) ask(query, node);
    });
    const names = addName.mock.calls.map(([, name]) => printName(name));
    expect(names).toEqual(['www.example.test.', 'www.example.test.']);
  });
});

test.each([
  ['a plain zone', {}],
  ['a signed zone', { denial: DENIAL_STYLES[0] }],
] as const)('an expired copy of %s gets SERVFAIL with EDE 24 (RFC 8914 §4.25) for every query', (_, options) => {
  const node = testNode({ ...options, expired: true });
  for (const name of ['example.test.', 'www.example.test.', 'nx.example.test.'])
    for (const type of [TYPE.SOA, TYPE.NS, TYPE.A, TYPE.DS, TYPE.ANY]) {
      const reply = decodeMessage(ask(queryFor(name, type, { opt: 'do' }), node));
      const { rcode, aa, answers, authorities, edns } = reply;
      expect([rcode, aa, answers.length, authorities.length]).toEqual([RCODE.SERVFAIL, false, 0, 0]);
      expect(edns?.options.map(({ code, value }) => [code, ...value])).toEqual([[15, 0, 24]]);
    }
  expect(decodeMessage(ask(queryFor('example.org.', TYPE.A), node)).rcode).toBe(RCODE.REFUSED);
});

test.each([
  ['a plain zone', {}],
  ['a signed zone', { denial: DENIAL_STYLES[0] }],
] as const)('a private copy of %s refuses every query with EDE 18, but passes those for its SOA on to the transfer thread', (_, options) => {
  const zoneCounts = new ZoneCounts();
  const node = testNode({ ...options, isPrivate: true, zoneCounts });
  const passing = testNode({ ...options, isPrivate: true, hasTransfers: true });
  for (const transport of ['udp', 'tcp'] as const)
    for (const name of ['example.test.', 'www.example.test.', 'nx.example.test.'])
      for (const type of [TYPE.SOA, TYPE.NS, TYPE.A, TYPE.PTR, TYPE.DS, TYPE.NSEC, TYPE.ANY, TYPE.RRSIG]) {
        const query = queryFor(name, type, { opt: 'do 19:' });
        const client = { transport, address: Uint8Array.of(198, 51, 100, 100) };
        const { rcode, aa, answers, authorities, edns } = decodeMessage(ask(query, node, client));
        expect([rcode, aa, answers.length, authorities.length]).toEqual([RCODE.REFUSED, false, 0, 0]);
        expect(edns?.options.map(({ code, value }) => [code, ...value])).toEqual([[15, 0, 18]]);
        const isSoa = type === TYPE.SOA && name === 'example.test.';
        const length = answerQuery(query, Buffer.alloc(1232), client, passing);
        expect(length === SLOW_PATH).toBe(isSoa);
      }
  const count = vi.fn();
  zoneCounts.take({ add: count, addName: count } as never);
  expect(count).not.toHaveBeenCalled();
});

describe('an unproven zone', () => {
  const asked = new AskedMarks();
  const node = testNode({ unproven: true, asked });
  const notedBy = (name: string, type: number, how: Parameters<typeof queryFor>[2] = {}) => {
    ask(queryFor(name, type, how), node);
    expect(node.failures).toEqual([]);
    return asked.take().length;
  };

  test('is answered like any other zone', () => {
    for (const [name, type] of [
      ['www.example.test.', TYPE.A],
      ['nx.example.test.', TYPE.A],
      ['example.test.', TYPE.SOA],
    ] as const)
      expect(ask(queryFor(name, type), node)).toEqual(ask(queryFor(name, type)));
    asked.take();
  });

  test('is recorded if it receives queries besides those that registries send', () => {
    expect(notedBy('www.example.test.', TYPE.A)).toBe(1);
    expect(notedBy('WWW.Example.Test.', TYPE.AAAA, { opt: '' })).toBe(1);
    expect(notedBy('nx.example.test.', TYPE.SOA)).toBe(1);
    for (const type of [TYPE.A, TYPE.MX, TYPE.TXT, TYPE.DS, TYPE.ANY])
      expect(notedBy('example.test.', type)).toBe(1);
  });

  test('is not recorded for SOA, NS and DNSKEY of its apex, or for queries that are not answered from it', () => {
    for (const type of [TYPE.SOA, TYPE.NS, TYPE.DNSKEY, TYPE.AXFR])
      expect(notedBy('example.test.', type)).toBe(0);
    expect(notedBy('www.example.org.', TYPE.A)).toBe(0);
    expect(notedBy('www.example.test.', TYPE.TXT, { class: 3 })).toBe(0);
  });

  test('is recorded for queries whose answers a limit drops', () => {
    const limited = testNode({ unproven: true, asked, rateLimit: new RateLimit(1, 64) });
    const silent = Array.from({ length: 20 }, () => ask(www, limited).length);
    expect(silent).toContain(0);
    asked.take();
    ask(queryFor('www.example.test.', TYPE.A), limited);
    expect(asked.take().length).toBe(1);
  });

  test('is the only kind of zone that is recorded', () => {
    const proven = testNode({ asked });
    for (const name of ['www.example.test.', 'example.test.', 'nx.example.test.'])
      ask(queryFor(name, TYPE.A), proven);
    expect(asked.take()).toEqual([]);
  });
});

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

/** Prints records with names relative to the zone. */
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
is a referral with DS and its signature, and without glue of other delegations | x.safe A | do | | safe NS / safe DS / safe RRSIG DS |
is a referral without DS but with the proof, and with glue | x.cut A | do | | cut NS / cut NS / cut NSEC / cut RRSIG NSEC | ns.cut A
to RRSIG has the signatures of one set | @ RRSIG | do | @ RRSIG NS | |
to ANY has one set | @ ANY | do | @ NS / @ RRSIG NS | |
from a wildcard has the query name as owner | a.b.w A | do | a.b.w A / a.b.w RRSIG A | *.w NSEC / *.w RRSIG NSEC |
denies a name with SOA and proofs | nx A | do | | @ SOA / @ RRSIG SOA / ns NSEC / ns RRSIG NSEC / @ NSEC / @ RRSIG NSEC |`),
  )('%s', (_, question = '', opt, ...wanted) => {
    const [name = '', type] = question.split(' ');
    const full = name === '@' ? 'example.test.' : `${name}.example.test.`;
    const { answers, authorities, additionals } = answer(full, TYPE[type as 'MX'], opt);
    expect([answers, authorities, additionals].map((section) => section.map(shown))).toEqual(
      wanted.map(itemsOf),
    );
  });

  test('never has AD (RFC 4035 §3.1.6), and copies DO (RFC 3225 §3)', () => {
    expect(answer('www.example.test.', TYPE.A)).toMatchObject({ ad: false, edns: { dnssecOk: true } });
  });
  test('has the negative TTL in the SOA and its signature', () => {
    const { authorities } = answer('nx.example.test.', TYPE.A);
    expect(authorities.slice(0, 2).map(({ ttl }) => ttl)).toEqual([300, 300]);
  });
  test('has NSEC3 owners directly below the apex', () => {
    const { authorities } = answer('nx.www.example.test.', TYPE.A, 'do', NSEC3);
    const hashed = authorities.filter(({ type }) => type === TYPE.NSEC3);
    expect(hashed.length).toBeGreaterThan(1);
    for (const { owner } of hashed) expect(printName(owner)).toMatch(/^[0-9a-v]{32}\.example\.test\.$/);
  });
});

describe('a set and its signatures', () => {
  /** This many addresses fill the answer: header 12, question 20, OPT 11, each 16, an Ed25519 signature 12 + 18 + 14 + 64. */
  const addresses = (count: number) =>
    Array.from({ length: count }, (_, i) => `q 60 A 192.0.2.${i}`).join('\n');
  const asked = (count: number, opt: string) => {
    const node = testNode({ zoneText: `${ZONE}\n${addresses(count)}`, ...(NSEC && { denial: NSEC }) });
    const { tc, answers } = decodeMessage(ask(queryFor('q.example.test.', TYPE.A, { opt }), node));
    return `${tc ? 'tc ' : ''}${answers.length}`;
  };
  // 512 - 12 - 20 - 11 - 108 = 361 octets are left for addresses; over UDP at most 1232 - 151 = 1081.
  test.each([
    [22, 'do size=512', '23'],
    [23, 'do size=512', 'tc 0'],
    [23, 'size=512', '23'],
    [22, 'do size=100', '23'],
    [23, 'do size=100', 'tc 0'],
    [67, 'do size=4096', '68'],
    [68, 'do size=4096', 'tc 0'],
  ])('fit either together or not at all: %i addresses with %s', (count, opt, wanted) => {
    expect(asked(count, opt)).toBe(wanted);
  });
});

test('a name that shares its hash with another cannot be denied (RFC 5155 §7.2.9)', () => {
  const apex = parseName('example.test.');
  const signed = signedRecords(apex, recordsOf(ZONE, 'example.test.'), NSEC3 ?? { kind: 'nsec' });
  // A zone without the name, but with its NSEC3.
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

test('a zone that only answers at its apex answers DNSKEY if it is signed', () => {
  const apex: Name = parseName('example.test.');
  const signed = zoneOfRecords(apex, signedRecords(apex, recordsOf(ZONE, 'example.test.'), { kind: 'nsec' }));
  const node = answeringNode([{ ...signed, marked: new Set([apex]) }], testNode().settings);
  const rcodeOf = (type: number) =>
    decodeMessage(ask(queryFor('example.test.', type, { opt: 'do' }), node)).rcode;
  expect([TYPE.SOA, TYPE.NS, TYPE.DNSKEY, TYPE.MX, TYPE.NSEC].map(rcodeOf)).toEqual([0, 0, 0, 5, 5]);
});

const many = (count: number, owner: string) =>
  Array.from({ length: count }, (_, i) => `${owner} A 192.0.2.${i}`).join('\n');

const servers = (count: number) =>
  Array.from({ length: count }, (_, i) => `q NS ns${i}.long-enough.else.`).join('\n');

/** `tc answers/authorities/additionals` over UDP without EDNS: 512 octets. */
function written(zone: string, name: string, type: number = TYPE.A): string {
  const node = testNode({ zoneText: `@ SOA ns h 1 2 3 4 5\n@ NS ns.else.\n${zone}` });
  const reply = ask(queryFor(`${name}.example.test.`, type), node);
  expect(node.failures).toEqual([]);
  expect(reply.length).toBeLessThanOrEqual(512);
  const { tc, answers, authorities, additionals } = decodeMessage(reply);
  return `${tc ? 'tc ' : ''}${answers.length}/${authorities.length}/${additionals.length}`;
}

// The header and the question of `q` take 12 + 16 + 4 octets, which leaves space for 30 records of 16.
/** `30 q` stands for 30 addresses of `q`. */
test.each(
  rowsOf(`
30 records fill the message to the last octet | 30 q | q A | 30/0/0
an answer with one octet too many | 30 qq | qq A | tc 0/0/0
an answer with one record too many | 31 q | q A | tc 0/0/0
an answer after aliases, which are kept | q CNAME a / a CNAME b / 40 b | q A | tc 2/0/0
an authority section | 40 NS | q A | tc 0/0/0
glue, whose first set is kept (RFC 9471 §3.1) | q NS a.q / q NS b.q / q NS c.q / 2 a.q / 40 b.q / 1 c.q | x.q A | tc 0/3/2
sibling glue: no TC (RFC 9471 §3.2) | q NS a.s / q NS b.q / 40 a.s / 2 b.q / s NS a.s | x.q A | 0/2/2
other additional records: no TC, and no later ones | q MX 1 a / q MX 2 b / q MX 3 c / 3 a / 40 b / 1 c | q MX | 3/0/3`),
)('a record set that does not fit is omitted completely: %s', (_, zone, question = '', summary) => {
  const lines = itemsOf(zone).map((item) => {
    const [, count, owner = ''] = /^(\d+) (\S+)$/.exec(item) ?? [];
    if (count === undefined) return item;
    return owner === 'NS' ? servers(Number(count)) : many(Number(count), owner);
  });
  const [name = '', type] = question.split(' ');
  expect(written(lines.join('\n'), name, TYPE[type as 'A' | 'MX'])).toBe(summary);
});

test('a record set that does not fit does not change the rcode of the chain (RFC 6604 §3)', () => {
  const links = Array.from({ length: 15 }, (_, i) => `q${i} CNAME ${'l'.repeat(50)}.q${i + 1}`);
  const names = Array.from(
    { length: 15 },
    (_, i) => `${'l'.repeat(50)}.q${i + 1} CNAME ${i < 14 ? `q${i + 1}` : 'gone'}`,
  );
  const node = testNode({
    zoneText: ['@ SOA ns h 1 2 3 4 5', '@ NS ns.else.', ...links, ...names].join('\n'),
  });
  const message = decodeMessage(ask(queryFor('q9.example.test.', TYPE.A), node));
  expect(message).toMatchObject({ tc: true, rcode: 3 });
});

describe('additional records', () => {
  const additional = (zone: string, type: number) => {
    const node = testNode({ zoneText: `@ SOA ns h 1 2 3 4 5\n@ NS ns.else.\n${zone}` });
    const { additionals } = decodeMessage(ask(queryFor('q.example.test.', type, { opt: '' }), node));
    return additionals.map((record) => Buffer.from(record.owner).toString('latin1'));
  };
  test('contain a host only once if two records name it', () => {
    expect(additional('q MX 1 a\nq MX 2 A\na A 192.0.2.1', TYPE.MX)).toEqual(['\x01a\x07example\x04test\0']);
  });
  test('have uncompressed owners if pointers into the rdata are not allowed (RFC 3597 §4)', () => {
    const zone = 'q SRV 1 2 3 a.b\na.b A 192.0.2.1\na.b AAAA 2001:db8::1';
    const owner = '\x01a\x01b\x07example\x04test\0';
    expect(additional(zone, TYPE.SRV)).toEqual([owner, owner]);
  });
  test('are only the addresses if a service binding targets its owner (RFC 9460 §2.5.2)', () => {
    expect(additional('q HTTPS 1 . alpn=h2\nq A 192.0.2.1', TYPE.HTTPS)).toEqual([
      '\x01q\x07example\x04test\0',
    ]);
  });
});

test('queries are counted by the properties of their OPT record, and their octets and those of the answers by transport', () => {
  const node = testNode();
  const opts = [
    '',
    'do',
    'do cookie:0102030405060708 nsid',
    'subnet:0001180018000000 keepalive: padding:0000 zoneversion:',
  ];
  const queries = [undefined, ...opts].map((opt) =>
    queryFor('www.example.test.', TYPE.A, opt === undefined ? {} : { opt }),
  );
  const answers = queries.map((query) =>
    ask(query, node, { transport: 'tcp', address: Uint8Array.of(192, 0, 2, 1) }),
  );
  expect(node.counters.edns).toEqual({
    edns: 4,
    do: 2,
    cookie: 1,
    nsid: 1,
    ecs: 1,
    keepalive: 1,
    padding: 1,
    zoneversion: 1,
  });
  const total = (messages: Uint8Array[]) => messages.reduce((sum, { length }) => sum + length, 0);
  for (const [of, messages] of Object.entries({ queries, answers })) {
    const [udp, tcp] = node.counters.octets(of as 'queries' | 'answers');
    expect(udp?.sum).toBe(0);
    expect(tcp).toMatchObject({ transport: 'tcp', sum: total(messages) });
    expect(tcp?.buckets.reduce((sum, count) => sum + count, 0)).toBe(5);
  }
});

test('answers the queries of a group as it answers each of them alone, from the loaded version of their zones', () => {
  const questions: [name: string, type: number][] = [
    ['www.child.example.test.', TYPE.A],
    ['www.example.test.', TYPE.A],
    ['alias.example.test.', TYPE.A],
    ['no.example.test.', TYPE.A],
    ['EXAMPLE.test.', TYPE.A],
    ['a.elsewhere.', TYPE.A],
    ['no.www.child.example.test.', TYPE.A],
    ['child.example.test.', TYPE.NS],
    ['child.example.test.', TYPE.DS],
    ['other.example.test.', TYPE.A],
  ];
  const soa = '@ 60 SOA a. b. 1 2 3 4 5';
  const parent = `${soa}\n@ 60 NS a.\nwww 60 A 192.0.2.1\nalias 60 CNAME www\nchild 60 NS a.`;
  const child = `${soa}\n@ 60 NS b.\nwww 60 A 192.0.2.2`;
  const node = answeringNode(
    [zoneOf('example.test.', parent), zoneOf('child.example.test.', child)],
    testNode().settings,
  );
  const queries = questions.map(([name, type]) => queryFor(name, type, { opt: 'do nsid' }));
  queries.splice(2, 0, Buffer.of(1, 2), Buffer.alloc(12, 0xff), Buffer.alloc(12));
  const alone = queries.map((query) => Buffer.from(ask(query, node)));
  const input = Buffer.concat(queries);
  const out = Buffer.alloc(1232);
  const { answerer, reader } = node;
  reader.enter();
  let at = 0;
  for (const [i, { length }] of queries.entries()) {
    answerer.read(i, input, at, length);
    at += length;
  }
  answerer.load(queries.length);
  node.writer.put(zoneOf('child.example.test.', `${soa}\n@ 60 NS c.`), { id: 1, version: 2, mark: 0 });
  const together = queries.map((_, i) =>
    Buffer.from(out.subarray(0, answerer.answerRead(i, out, 0, out.length))),
  );
  reader.leave();
  expect(together).toEqual(alone);
  expect(summarize(ask(queries[0] as Buffer, node))).toMatch(/^NXDOMAIN/); // alone, it uses the present version
});
