import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { AmplificationLimit } from '../../src/nameserver/answer/amplification-limit.ts';
import { addressOctets, Client, isLoopback } from '../../src/nameserver/answer/client.ts';
import { Cookies } from '../../src/nameserver/answer/cookies.ts';
import {
  LATENCY_BOUNDS_SECONDS,
  QueryCounters,
  sumCounters,
} from '../../src/nameserver/answer/query-counters.ts';
import { Query, readQuery } from '../../src/nameserver/answer/read-query.ts';
import { RateLimit, ZONE_BUCKET } from '../../src/nameserver/answer/response-rate-limit.ts';
import { sipHash } from '../../src/nameserver/answer/sip-hash.ts';
import { FoldedName } from '../../src/nameserver/image/find/folded-name.ts';
import { assemble, queryFor } from '../support/answer/packets.ts';
import { rowsOf } from '../support/tests/rows-of.ts';
import { smallImage } from '../support/zone/zone-image.ts';

function clientAt(address: string | Uint8Array): Client {
  const client = new Client();
  client.set(0, typeof address === 'string' ? addressOctets(address) : address);
  return client;
}

const viewOf = (octets: Uint8Array) => new DataView(octets.buffer);

describe('the amplification limit', () => {
  const RATE = 20_000;
  const ANSWERED_PER_ASKED = 2.5;
  const LARGE = { asked: 50, answered: 1200, truncated: 50 };

  function decide(
    limit: AmplificationLimit,
    address: string,
    nowMs: number,
    octets: Partial<typeof LARGE> = {},
  ) {
    const { asked, answered, truncated } = { ...LARGE, ...octets };
    return limit.decide(clientAt(address), asked, answered, truncated, nowMs);
  }

  /** Returns how many of `count` large answers are sent. */
  function sent(limit: AmplificationLimit, address: string, count: number, nowMs: number): number {
    return Array.from({ length: count }, () => decide(limit, address, nowMs)).filter((one) => one === 'send')
      .length;
  }

  /** Uses up the tokens, so that a large answer is no longer sent. */
  function empty(limit: AmplificationLimit, address: string, nowMs: number): void {
    while (decide(limit, address, nowMs, { asked: 0, answered: 1200 }) === 'send');
    while (decide(limit, address, nowMs, { asked: 0, answered: 12 }) === 'send');
  }

  describe('a network', () => {
    test('gets the burst immediately, and again after a quiet period', () => {
      const limit = new AmplificationLimit(RATE);
      expect(limit.burstOctets).toBe(2 * RATE);
      const first = sent(limit, '192.0.2.1', 33, 0);
      expect(first).toBe(33); // (40,000 + 33 × 2.5 × 50) ÷ 1200
      expect(sent(limit, '192.0.2.1', 10, 0)).toBeLessThanOrEqual(4);
      expect(sent(limit, '192.0.2.1', 33, 2000)).toBe(33);
    });
    test('gets large answers at its rate if it sends few queries', () => {
      const limit = new AmplificationLimit(RATE);
      // 16 queries of 50 octets per second, each answered with 1,200 octets: 19,200 octets per second.
      for (let i = 0; i < 1600; i++) expect(decide(limit, '192.0.2.1', i * 62)).toBe('send');
    });
    test('gets dropped and truncated answers alternately above its rate', () => {
      const limit = new AmplificationLimit(RATE);
      empty(limit, '192.0.2.1', 0);
      const decisions = [1, 2, 3, 4].map(() => decide(limit, '192.0.2.1', 0));
      expect(decisions.toSorted()).toEqual(['drop', 'drop', 'truncate', 'truncate']);
      expect(decisions[0]).not.toBe(decisions[1]);
      expect(decisions[1]).not.toBe(decisions[2]);
    });
    test('always gets answers of up to 2.5 times the query, even if others forged its address', () => {
      const limit = new AmplificationLimit(RATE);
      empty(limit, '192.0.2.1', 0);
      const decided = new Set<string>();
      for (let i = 0; i < 10_000; i++) {
        decide(limit, '192.0.2.1', 0, { asked: 50, answered: 1232 });
        decided.add(decide(limit, '192.0.2.9', 0, { asked: 44, answered: 110 }));
      }
      expect([...decided]).toEqual(['send']);
    });
    test('is never limited while its answers have 2.5 times the octets of its queries overall', () => {
      const limit = new AmplificationLimit(RATE);
      // 5,000 queries per second: four of five for an address, one for a larger answer.
      let limited = 0;
      for (let i = 0; i < 50_000; i++) {
        const answered = i % 5 === 0 ? 250 : 72;
        if (decide(limit, '192.0.2.1', i / 5, { asked: 44, answered }) !== 'send') limited++;
      }
      expect(limited).toBe(0);
    });
    test.each([
      ['an IPv4 /24', '192.0.2.1', '192.0.2.254', true],
      ['not two IPv4 /24', '192.0.2.1', '192.0.3.1', false],
      ['an IPv6 /56', '2001:db8:0:100::1', '2001:db8:0:1ff:ffff::2', true],
      ['not two IPv6 /56', '2001:db8:0:100::1', '2001:db8:0:200::1', false],
      ['not an IPv4 and an IPv6 network', '32.1.13.1', '2001:db8::1', false],
    ])('is %s', (_, one, other, shared) => {
      const limit = new AmplificationLimit(RATE);
      empty(limit, one, 0);
      expect(decide(limit, other, 0)).toBe(shared ? 'drop' : 'send');
    });
    test('shares one bucket across all threads that use the table', () => {
      const limit = new AmplificationLimit(RATE, 1024);
      empty(limit, '192.0.2.1', 0);
      expect(decide(AmplificationLimit.on(limit.buffer), '192.0.2.1', 0)).not.toBe('send');
      expect(AmplificationLimit.on(limit.buffer).burstOctets).toBe(limit.burstOctets);
    });
    test('is still limited after the clock is set back, and after its milliseconds pass 2^31 and 2^32', () => {
      for (const [before, after] of [
        [3_600_000, 0],
        [2 ** 31 - 250, 2 ** 31 - 250],
        [2 ** 32 - 250, 2 ** 32 - 250],
      ] as const) {
        const limit = new AmplificationLimit(RATE);
        empty(limit, '192.0.2.1', before);
        expect(decide(limit, '192.0.2.1', after)).not.toBe('send');
        expect(decide(limit, '192.0.2.1', after + 500)).toBe('send'); // 10,000 octets
      }
    });
  });

  test('no mix of queries gives a network more than 2.5 octets per octet, plus its rate and its burst', () => {
    const question = fc.record({
      asked: fc.oneof(fc.integer({ min: 12, max: 80 }), fc.integer({ min: 12, max: 65_535 })),
      answered: fc.integer({ min: 12, max: 1232 }),
      truncated: fc.integer({ min: 12, max: 150 }),
      waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 })),
    });
    fc.assert(
      fc.property(fc.array(question, { maxLength: 2000 }), (questions) => {
        const limit = new AmplificationLimit(RATE, 16);
        let nowMs = 0;
        let asked = 0;
        let out = 0;
        for (const { waitMs, ...octets } of questions) {
          nowMs += waitMs;
          asked += octets.asked;
          const decision = decide(limit, '192.0.2.1', nowMs, octets);
          if (decision === 'send') out += octets.answered;
          if (decision === 'truncate') out += octets.truncated;
        }
        const most = ANSWERED_PER_ASKED * asked + (RATE * nowMs) / 1000 + limit.burstOctets;
        expect(out).toBeLessThanOrEqual(most + 1); // tokens are 32-bit numbers
      }),
    );
  });

  describe('more networks than slots', () => {
    const SETS = 64;
    /** The n-th network. */
    const networkOf = (n: number) => `10.${(n >> 8) & 255}.${n & 255}.1`;

    test('receive in total what the slots allow: forged networks do not reset the table', () => {
      const limit = new AmplificationLimit(RATE, SETS);
      let octets = 0;
      for (let round = 0; round < 20; round++) {
        for (let n = 0; n < 5000; n++) {
          if (decide(limit, networkOf(n), 0, { asked: 40 }) === 'send') octets += 1200;
        }
      }
      const most = SETS * 4 * limit.burstOctets + 20 * 5000 * 40 * ANSWERED_PER_ASKED;
      expect(octets).toBeLessThanOrEqual(most);
    });
    test('take no tokens from a quiet network, and do not limit a network if they received no large answer', () => {
      const limit = new AmplificationLimit(RATE, SETS);
      for (let n = 0; n < 20_000; n++) decide(limit, networkOf(n), 0, { asked: 50, answered: 110 });
      expect(sent(limit, '192.0.2.1', 30, 0)).toBe(30);
    });
    test('use other slots after each start', () => {
      // Returns the networks that share a bucket with the first one, in a table with a single set of four.
      const sharers = () => {
        const limit = new AmplificationLimit(RATE, 256);
        for (let n = 0; n < 400; n++) empty(limit, networkOf(n), 0);
        return Array.from({ length: 1000 }, (_, n) => decide(limit, `172.16.${n >> 2}.1`, 0)).join();
      };
      expect(sharers()).not.toBe(sharers());
    });
  });

  test('the constructor validates the rate, and the smallest rate allows the largest answer', () => {
    expect(() => new AmplificationLimit(0)).toThrow(RangeError);
    expect(decide(new AmplificationLimit(1), '192.0.2.1', 0, { asked: 20, answered: 1232 })).toBe('send');
  });
});

test.each([
  ['192.0.2.255', 'c00002ff'],
  ['0.0.0.0', '00000000'],
  ['2001:db8::1', '20010db8000000000000000000000001'],
  ['::1', '00000000000000000000000000000001'],
  ['fe80::2%eth0', 'fe800000000000000000000000000002'],
])('the octets of %s', (text, hex) => {
  expect(Buffer.from(addressOctets(text)).toString('hex')).toBe(hex);
});

test('isLoopback returns true for 127.0.0.0/8 and ::1', () => {
  for (const text of ['127.0.0.1', '127.9.9.9', '::1'])
    expect(isLoopback(addressOctets(text)), text).toBe(true);
  for (const text of ['128.0.0.1', '192.0.2.1', '::', '::2', '2001:db8::1', '100::1']) {
    expect(isLoopback(addressOctets(text)), text).toBe(false);
  }
});

test('an address is read from any position in a buffer', () => {
  const buffer = Uint8Array.of(127, 10, 0, 0, 1, 127, 0, 0, 1);
  expect(isLoopback(buffer, 1, 4)).toBe(false);
  expect(isLoopback(buffer, 5, 4)).toBe(true);
});

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

const SECRETS = {
  current: 'e5e973e5a6b2a43f48e7dc849e37bfcf',
  old: 'dd3bdf9344b678b185a6f5cb60fca715',
  new: '445536bcd2513298075a5d379663c962',
};

function cookiesOf(...secrets: string[]): Cookies {
  return new Cookies(secrets.map((secret) => Uint8Array.from(Buffer.from(secret, 'hex'))));
}

function signed(cookies: Cookies, clientCookie: string, address: string, nowSeconds: number): string {
  const out = new Uint8Array(16);
  cookies.sign(viewOf(hex(clientCookie)), 0, clientAt(address), nowSeconds, viewOf(out), 0);
  return clientCookie + Buffer.from(out).toString('hex');
}

function judged(cookies: Cookies, cookie: string, address: string, nowSeconds: number): string {
  const option = hex(cookie);
  return cookies.judge(viewOf(option), 0, option.length, clientAt(address), nowSeconds);
}

/** Example, client cookie, address, time, secrets; the server cookie and its verdict; the new server cookie. */
test.each(
  rowsOf(`
A.1: a new server cookie | 2464c4abcf10c957 | 198.51.100.100 | 1559731985 | current | | | 010000005cf79f111f8130c3eee29480
A.2: the cookie of the same client is renewed 40 minutes later | 2464c4abcf10c957 | 198.51.100.100 | 1559734385 | current | 010000005cf79f111f8130c3eee29480 | renew | 010000005cf7a871d4a564a1442aca77
A.3: reserved octets are hashed as received | fc93fc62807ddb86 | 203.0.113.203 | 1559728045 | current | 01abcdef5cf78f71a314227b6679ebf5 | fresh |
A.3: reserved octets are sent as zero | fc93fc62807ddb86 | 203.0.113.203 | 1559734700 | current | | | 010000005cf7a9acf73a7810aca2381e
A.4: an IPv6 client whose cookie was signed with the previous secret | 22681ab97d52c298 | 2001:db8:220:1:59de:d0f4:8769:82b8 | 1559741961 | new old | 010000005cf7c57926556bd0934c72f8 | renew | 010000005cf7c609a6bb79d16625507a
A.4: the same cookie without that secret | 22681ab97d52c298 | 2001:db8:220:1:59de:d0f4:8769:82b8 | 1559741961 | new | 010000005cf7c57926556bd0934c72f8 | invalid |`),
)('RFC 9018 appendix %s', (_, client = '', address = '', at, secrets = '', learned, verdict, renewed) => {
  const cookies = cookiesOf(...secrets.split(' ').map((secret) => SECRETS[secret as keyof typeof SECRETS]));
  if (learned) expect(judged(cookies, client + learned, address, Number(at))).toBe(verdict);
  if (renewed) expect(signed(cookies, client, address, Number(at))).toBe(client + renewed);
});

describe('a server cookie', () => {
  const cookies = cookiesOf(SECRETS.current);
  const at = 1_700_000_000;
  const cookie = signed(cookies, '0102030405060708', '192.0.2.1', at);

  test.each([
    ['at once', 0, 'fresh'],
    ['after 30 minutes', 1800, 'fresh'],
    ['after 30 minutes and a second', 1801, 'renew'],
    ['after an hour', 3600, 'renew'],
    ['after an hour and a second', 3601, 'invalid'],
    ['five minutes before it was made', -300, 'fresh'],
    ['more than five minutes before it was made', -301, 'invalid'],
  ])('%s', (_, seconds, verdict) => {
    expect(judged(cookies, cookie, '192.0.2.1', at + seconds)).toBe(verdict);
  });

  test('stays valid when the 32-bit clock wraps', () => {
    const late = signed(cookies, '0102030405060708', '192.0.2.1', 0xffff_fff0);
    expect(judged(cookies, late, '192.0.2.1', 0x1_0000_0010)).toBe('fresh');
  });

  test('expires, and is renewed, although it is remembered', () => {
    const rolled = cookiesOf(SECRETS.new, SECRETS.current);
    const old = signed(cookies, '0102030405060708', '2001:db8::1', at);
    const ages = [0, 0, 3601, 1801];
    const verdicts = (some: Cookies) => ages.map((age) => judged(some, old, '2001:db8::1', at + age));
    expect(verdicts(cookies)).toEqual(['fresh', 'fresh', 'invalid', 'renew']);
    expect(verdicts(rolled)).toEqual(['renew', 'renew', 'invalid', 'renew']);
    expect(judged(cookies, old, '2001:db8::2', at)).toBe('invalid');
  });

  test('is invalid with another address, client cookie or version, or if any bit is changed', () => {
    expect(judged(cookies, cookie, '192.0.2.2', at)).toBe('invalid');
    for (let bit = 0; bit < 24 * 8; bit++) {
      const changed = hex(cookie);
      changed[bit >> 3] = changed[bit >> 3]! ^ (1 << (bit & 7));
      expect(cookies.judge(viewOf(changed), 0, 24, clientAt('192.0.2.1'), at)).toBe('invalid');
    }
  });

  test('proves nothing if only the client part is present', () => {
    expect(judged(cookies, '0102030405060708', '192.0.2.1', at)).toBe('client-only');
  });
});

test('a secret must have 16 octets', () => {
  expect(() => new Cookies([])).toThrow(RangeError);
  expect(() => new Cookies([new Uint8Array(15)])).toThrow(RangeError);
});

test('answers are counted by transport, type and rcode', () => {
  const counters = new QueryCounters();
  counters.countAnswer(0, TYPE.A, RCODE.NOERROR, false);
  counters.countAnswer(0, TYPE.A, RCODE.NOERROR, true);
  counters.countAnswer(1, TYPE.CAA, RCODE.NXDOMAIN, false);
  counters.countAnswer(1, TYPE.A, RCODE.BADCOOKIE, true);
  expect([...counters.answerCounts()]).toEqual([
    { transport: 'udp', type: 'A', rcode: 0, count: 2 },
    { transport: 'tcp', type: 'A', rcode: 23, count: 1 },
    { transport: 'tcp', type: 'CAA', rcode: 3, count: 1 },
  ]);
  expect([...counters.truncated]).toEqual([1, 1, 0, 0]);
});

test('signed answers are counted with their proofs', () => {
  const counters = new QueryCounters();
  counters.countSigned(2, false);
  counters.countSigned(0, true);
  expect(sumCounters([counters, counters]).signed).toEqual({ answers: 4, truncated: 2, proofs: 4 });
});

test('latencies are counted in the bucket of their upper bound', () => {
  const counters = new QueryCounters();
  counters.observeLatency(0);
  counters.observeLatency(LATENCY_BOUNDS_SECONDS[1]!);
  counters.observeLatency(10);
  expect([...counters.latency]).toEqual([1, 1, ...Array(LATENCY_BOUNDS_SECONDS.length - 2).fill(0), 1]);
  expect(counters.latencySumSeconds).toBeCloseTo(10.00001);
});

test('counters of several threads are summed, and counters on one buffer share their values', () => {
  const one = new QueryCounters();
  const two = new QueryCounters();
  const same = new QueryCounters(two.buffer);
  one.countAnswer(0, TYPE.A, RCODE.NOERROR, true);
  two.countAnswer(0, TYPE.A, RCODE.NOERROR, false);
  same.countAnswer(0, TYPE.A, RCODE.NOERROR, false);
  same.ignored += 2;
  two.failed++;
  const sum = sumCounters([one, two]);
  expect([...sum.answerCounts()]).toEqual([{ transport: 'udp', type: 'A', rcode: 0, count: 3 }]);
  expect(sum).toMatchObject({ ignored: 2, failed: 1, unsent: 0 });
  expect([...sum.truncated]).toEqual([1, 0, 0, 0]);
  expect(one.ignored).toBe(0);
});

const HEADER = smallImage().header;

function newQuery(): Query {
  return new Query(new FoldedName(HEADER), new Client());
}

/** Reads the octets from the middle of a larger buffer. */
function readInto(query: Query, bytes: Uint8Array): void {
  const buffer = Buffer.concat([Buffer.alloc(5, 0xff), bytes, Buffer.alloc(9, 1)]);
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  readQuery(buffer, view, 5, bytes.length, query);
}

function read(bytes: Uint8Array): Query {
  const query = newQuery();
  readInto(query, bytes);
  return query;
}

function nameOf({ name }: Query): string {
  return Buffer.from(name.octets.subarray(0, name.length)).toString('latin1');
}

describe('a query', () => {
  test('is read with its name folded and the positions of its options', () => {
    const bytes = queryFor('WwW.\\000\\200X.', 28, { opt: 'size=4096 do nsid cookie:0102030405060708' });
    const query = read(bytes);
    expect(nameOf(query)).toBe('\x03www\x03\x00\xc8x\x00');
    expect(query.name.hadUpperCase).toBe(true);
    expect(query).toMatchObject({
      malformed: false,
      opcode: 0,
      questions: 1,
      questionEnd: 12 + 9 + 4,
      type: 28,
      class: 1,
      edns: true,
      udpPayloadSize: 4096,
      version: 0,
      dnssecOk: true,
      nsid: true,
      tcpKeepalive: false,
      zoneVersion: false,
      cookieAt: 5 + bytes.length - 8,
      cookieOctets: 8,
    });
  });

  test('leaves no state behind for the next query', () => {
    const query = newQuery();
    readInto(query, queryFor('A.', 1, { opt: 'do nsid keepalive zoneversion cookie:0102030405060708' }));
    readInto(query, assemble('1234 0000 0001 0000 0000 0000 ff'));
    expect(nameOf(query)).toBe('\0');
    expect(query.name.hadUpperCase).toBe(false);
    expect(query).toMatchObject({
      malformed: true,
      questionEnd: 12,
      type: 0,
      edns: false,
      udpPayloadSize: 512,
      dnssecOk: false,
      nsid: false,
      tcpKeepalive: false,
      zoneVersion: false,
      cookieOctets: -1,
    });
  });

  test('is malformed if it is truncated at any octet', () => {
    const whole = queryFor('www.example.test.', 1, { opt: 'nsid cookie:0102030405060708' });
    for (let octets = 12; octets < whole.length; octets++) {
      expect(read(whole.subarray(0, octets)).malformed, `${octets} octets`).toBe(true);
    }
    expect(read(whole).malformed).toBe(false);
  });
});

describe('the response rate limit', () => {
  /** The hash of a name. */
  const NAME = 0x1234_5678;
  const OTHER_NAME = -0x1234_5679;

  function sent(
    limit: RateLimit,
    address: string,
    count: number,
    nowMs: number,
    name = NAME,
    type = 1,
  ): number {
    return Array.from({ length: count }, () => decide(limit, address, nowMs, name, type)).filter(
      (one) => one === 'send',
    ).length;
  }

  function decide(limit: RateLimit, address: string, nowMs: number, name = NAME, type = 1) {
    return limit.decide(clientAt(address), name, type, nowMs);
  }

  describe('a bucket', () => {
    test('allows the answers of one second, and refills over time', () => {
      const limit = new RateLimit(400);
      expect(sent(limit, '192.0.2.1', 1000, 0)).toBe(400);
      expect(sent(limit, '192.0.2.1', 1000, 500)).toBe(200);
      expect(sent(limit, '192.0.2.1', 1000, 60_000)).toBe(400);
    });
    test('allows a steady stream at the rate', () => {
      const limit = new RateLimit(400);
      let through = 0;
      for (let ms = 0; ms < 10_000; ms++) through += sent(limit, '192.0.2.1', 1, ms);
      expect(through).toBeGreaterThanOrEqual(4000);
      expect(through).toBeLessThanOrEqual(4401);
    });
    test('is shared by the threads that have its table', () => {
      const limit = new RateLimit(400, 1024);
      const other = RateLimit.on(limit.buffer);
      expect(sent(limit, '192.0.2.1', 300, 0) + sent(other, '192.0.2.1', 1000, 0)).toBe(400);
    });
    test('alternates between drop and truncate above the rate', () => {
      const limit = new RateLimit(1);
      const decisions = [1, 2, 3, 4, 5].map(() => decide(limit, '192.0.2.1', 0));
      expect(decisions).toEqual(['send', 'drop', 'truncate', 'drop', 'truncate']);
    });
  });

  describe('one bucket is shared by', () => {
    test.each([
      ['an IPv4 /24', '192.0.2.1', '192.0.2.254', true],
      ['not two IPv4 /24', '192.0.2.1', '192.0.3.1', false],
      ['an IPv6 /56', '2001:db8:0:100::1', '2001:db8:0:1ff:ffff::2', true],
      ['not two IPv6 /56', '2001:db8:0:100::1', '2001:db8:0:200::1', false],
    ])('%s', (_, one, other, shared) => {
      const limit = new RateLimit(10);
      sent(limit, one, 10, 0);
      expect(sent(limit, other, 10, 0)).toBe(shared ? 0 : 10);
    });
    test('different names and types do not share a bucket', () => {
      const limit = new RateLimit(10);
      sent(limit, '192.0.2.1', 10, 0);
      expect(sent(limit, '192.0.2.1', 10, 0, OTHER_NAME)).toBe(10);
      expect(sent(limit, '192.0.2.1', 10, 0, NAME, 28)).toBe(10);
      expect(sent(limit, '192.0.2.1', 10, 0, NAME, ZONE_BUCKET)).toBe(10);
    });
  });

  test('a flood from 200,000 networks uses no more memory, and a busy bucket stays limited', () => {
    const limit = new RateLimit(10, 256);
    const before = process.memoryUsage().arrayBuffers;
    let through = 0;
    const address = new Uint8Array(4);
    const view = new DataView(address.buffer);
    for (let i = 0; i < 200_000; i++) {
      view.setUint32(0, i << 8);
      limit.decide(clientAt(address), NAME, 1, i / 200);
      if (i % 10 === 0 && decide(limit, '203.0.113.9', i / 200) === 'send') through++;
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 20);
    // One second passed, so at most the answers of two seconds are sent.
    expect(through).toBeLessThanOrEqual(21);
  });

  test('many names of one network rarely share a bucket', () => {
    const limit = new RateLimit(1);
    let limited = 0;
    for (let i = 0; i < 20_000; i++) {
      limited += 1 - sent(limit, '192.0.2.1', 1, 0, Math.imul(i, 0x9e3779b1));
    }
    expect(limited).toBeLessThan(5);
  });

  test('the constructor validates the rate and the size of the table', () => {
    expect(() => new RateLimit(0)).toThrow(RangeError);
    expect(() => new RateLimit(Number.NaN)).toThrow(RangeError);
    expect(() => new RateLimit(400, 1000)).toThrow(RangeError);
  });
});

const KEY = Uint8Array.from({ length: 16 }, (_, i) => i);
const INPUT = Uint8Array.from({ length: 64 }, (_, i) => i);

function hashed(octets: number): string {
  const out = new Uint8Array(10);
  sipHash(viewOf(KEY), viewOf(INPUT), octets, viewOf(out), 1);
  return Buffer.from(out.subarray(1, 9)).toString('hex');
}

// The authors' test vectors: key 00..0f, input 00, 01, 02 …
test.each([
  [0, '310e0edd47db6f72'],
  [1, 'fd67dc93c539f874'],
  [2, '5a4fa9d909806c0d'],
  [7, '37d1018bf50002ab'],
  [8, '6224939a79f5f593'],
  [15, 'e545be4961ca29a1'],
  [63, '724506eb4c328a95'],
])('SipHash-2-4 of %i octets', (octets, expected) => {
  expect(hashed(octets)).toBe(expected);
});
