import { describe, expect, it, test } from 'vitest';
import {
  CHILD_CODE_LIST,
  CHILD_CODES,
  PLACES,
  SEVERITIES,
  testOf,
} from '../../src/checks/child/child-codes.ts';
import { CHILD_SENTENCES } from '../../src/checks/child/child-findings.ts';
import { judgeChild } from '../../src/checks/child/judge-child.ts';
import { prefixOf } from '../../src/checks/child/network-prefix.ts';
import { nextChildCheckAt } from '../../src/checks/child/next-child-check-at.ts';
import { DEFAULT_PROFILE, readProfile } from '../../src/checks/child/profile.ts';
import { readAsnDb } from '../../src/checks/child/read-asn-db.ts';
import { inDomainGlue, leastGlue, referralOctets } from '../../src/checks/child/referral-octets.ts';
import { encodeName, parseName, prependLabel } from '../../src/dns/name.ts';
import { parseIpv4, parseIpv6 } from '../../src/dns/record/ip-address.ts';
import { encodeMessage } from '../support/answer/encode-message.ts';
import { madeChild, madeProbe, madeServer, NS1, NS2, soaReply } from '../support/world/made-child.ts';
import { reply } from '../support/world/zone-exchange.ts';

const NONE = new Set<typeof NS1>();
const codes = (evidence = madeChild(), options: Partial<Parameters<typeof judgeChild>[1]> = {}) =>
  judgeChild(evidence, { own: NONE, ...options }).map(({ code }) => code);
const withSerials = (...serials: number[]) =>
  madeChild({
    addresses: serials.map((serial, i) =>
      madeProbe(`5.${i}.0.1`, [NS1], { soa: soaReply(serial), tcp: soaReply(serial) }),
    ),
  });
const one = (change: Parameters<typeof madeProbe>[2]) =>
  codes(madeChild({ addresses: [madeProbe('5.3.0.1', [NS1], change)] }));

it('a healthy domain and a domain without a delegation have no findings', () => {
  expect(codes()).toEqual([]);
  const none = madeChild({ servers: [], addresses: [], failure: 'no reply', isComplete: false });
  expect(codes(none)).toEqual([]);
});

it.each([
  [{ refresh: 14_399 }, ['SOA_REFRESH_LOW']],
  [{ refresh: 14_400 }, []],
  [{ retry: 3599 }, ['SOA_RETRY_LOW']],
  [{ refresh: 14_400, retry: 14_400 }, ['SOA_RETRY_NOT_BELOW_REFRESH']],
  [{ expire: 604_799 }, ['SOA_EXPIRE_LOW']],
  [{ refresh: 700_000, expire: 650_000 }, ['SOA_EXPIRE_LOW']],
  [{ minimum: 299 }, ['SOA_MINIMUM_OUT_OF_RANGE']],
  [{ minimum: 300 }, []],
  [{ minimum: 86_400 }, []],
  [{ minimum: 86_401 }, ['SOA_MINIMUM_OUT_OF_RANGE']],
])('evaluates an SOA with %j', (changed, expected) => {
  expect(one({ soa: soaReply(1, changed), tcp: soaReply(1, changed) })).toEqual(expected);
});

describe('data that was not queried', () => {
  it('is not evaluated, but a finding reports the incomplete check', () => {
    const unasked = { outcome: 'unasked' } as const;
    const probe = madeProbe('5.3.0.1', [NS1], { soa: unasked, ns: unasked, tcp: unasked, edns: 'unknown' });
    expect(codes(madeChild({ addresses: [probe], isComplete: false }))).toEqual(['CHILD_CHECK_CUT_SHORT']);
  });

  it('prevents the evaluation of families and networks if it is an address', () => {
    const unknown = { kind: 'unknown', message: 'no reply' } as const;
    const servers = [madeServer(NS1, ['5.3.0.1']), madeServer(NS2, ['5.3.0.2'], { found: unknown })];
    expect(codes(madeChild({ servers }))).toEqual([]);
  });
});

describe('our own nameservers', () => {
  const own = new Set([NS1, NS2]);
  const silent = {
    soa: { outcome: 'timeout' },
    ns: { outcome: 'unasked' },
    tcp: { outcome: 'unasked' },
  } as const;

  it('that are silent concern only the operator, not the customer', () => {
    const evidence = madeChild({ addresses: [madeProbe('5.3.0.1', [NS1], silent)] });
    expect(judgeChild(evidence, { own })).toMatchObject([
      { code: 'OUR_SERVERS_UNREACHABLE', place: 'operator', severity: 'error' },
    ]);
    expect(judgeChild(evidence, { own: NONE })).toMatchObject([
      { code: 'SERVER_SILENT', place: 'registrar' },
    ]);
  });

  it('next to a foreign one: each fault is reported to the party that can fix it', () => {
    const addresses = [madeProbe('5.3.0.1', [NS1], silent), madeProbe('5.4.0.1', [NS2], silent)];
    const found = judgeChild(madeChild({ addresses }), { own: new Set([NS1]) });
    expect(found.map(({ code, place, names }) => [code, place, names])).toEqual([
      ['OUR_SERVERS_UNREACHABLE', 'operator', [NS1]],
      ['SERVER_SILENT', 'registrar', [NS2]],
    ]);
  });

  const none = { glue: [], found: { kind: 'none' } } as const;
  const alias = { found: { kind: 'alias', addresses: ['5.4.0.1'] } } as const;
  it.each([
    ['NS_WITHOUT_ADDRESS', none],
    ['NAME_IS_ALIAS', alias],
    ['GLUE_DIFFERS', { glue: ['5.9.0.1'] }],
    ['GLUE_MISSING', { glue: [] }],
  ])('with %s concern the operator, also next to a foreign one with the same fault', (code, change) => {
    const servers = [
      madeServer(NS1, ['5.3.0.1', '2a0b:3::1'], change),
      madeServer(NS2, ['5.4.0.1', '2a0b:4::1'], change),
    ];
    const found = judgeChild(madeChild({ servers }), { own: new Set([NS1]) });
    expect(found.filter((each) => each.code === code).map(({ place, names }) => [place, names])).toEqual([
      ['operator', [NS1]],
      ['registrar', [NS2]],
    ]);
  });

  it('with a fault at an address concern the operator, even if a foreign name has that address', () => {
    const change = { tcp: { outcome: 'timeout' }, edns: 'refused' } as const;
    const addresses = [madeProbe('5.3.0.1', [NS1, NS2], change), madeProbe('5.4.0.1', [NS2], change)];
    const found = judgeChild(madeChild({ addresses }), { own: new Set([NS1]) });
    expect(found.map(({ code, place, names }) => [code, place, names])).toEqual([
      ['TCP_REFUSED', 'operator', [NS1]],
      ['TCP_REFUSED', 'zone', [NS2]],
      ['EDNS_BROKEN', 'operator', [NS1]],
      ['EDNS_BROKEN', 'zone', [NS2]],
    ]);
  });

  it('are the owner’s responsibility if the zone does not list them, because it is copied from a primary', () => {
    const servers = [
      madeServer(NS1, ['5.3.0.1', '2a0b:3::1'], { isInZone: false }),
      madeServer(NS2, ['5.4.0.1', '2a0b:4::1'], { isAtParent: false }),
    ];
    const found = judgeChild(madeChild({ servers }), { own: new Set([NS1]) });
    expect(found.filter(({ code }) => code === 'NS_ONLY_AT_PARENT')).toMatchObject([
      { place: 'registrar', names: [NS1] },
    ]);
  });

  it('may be the only ones: the delegation check reports which of them are missing', () => {
    const servers = [
      madeServer(NS1, ['5.3.0.1', '2a0b:3::1']),
      madeServer(NS2, ['5.4.0.1'], { isAtParent: false }),
    ];
    expect(judgeChild(madeChild({ servers }), { own })).toMatchObject([
      { code: 'TOO_FEW_NAMES', place: 'registrar' },
    ]);
  });
});

it('a profile omits findings that it does not list, and sets the severity', () => {
  const evidence = withSerials(1, 2);
  expect(codes(evidence, { profile: new Map() })).toEqual([]);
  const found = judgeChild(evidence, { own: NONE, profile: new Map([['SERIALS_DIFFER', 'notice']]) });
  expect(found).toMatchObject([{ code: 'SERIALS_DIFFER', severity: 'notice', names: [NS1] }]);
});

it.each([
  ['times up to an hour apart', 1_700_000_000, 1_700_003_600, []],
  ['times further apart', 1_700_000_000, 1_700_003_601, ['SERIALS_DIFFER']],
  ['dates', 2024010101, 2024010102, ['SERIALS_DIFFER']],
  ['other numbers', 1, 2, ['SERIALS_DIFFER']],
  ['the same numbers', 1, 1, []],
])('serials that are %s are evaluated', (_, first, second, expected) => {
  expect(codes(withSerials(first, second))).toEqual(expected);
});

it.each([
  ['a newer serial', soaReply(11), []],
  ['an older serial', soaReply(9), ['UDP_TCP_DIFFER']],
  ['other data', soaReply(10, { expire: 1_209_601 }), ['UDP_TCP_DIFFER']],
  ['a refusal', { outcome: 'refused' }, ['UDP_TCP_DIFFER']],
  ['silence', { outcome: 'timeout' }, ['TCP_REFUSED']],
  ['no query', { outcome: 'unasked' }, []],
] as const)('%s over TCP is evaluated', (_, tcp, expected) => {
  expect(one({ soa: soaReply(10), tcp })).toEqual(expected);
});

it('glue of a server outside the domain may be incomplete, but must not differ', () => {
  const outside = parseName('ns.example.net.');
  const found = { kind: 'found', addresses: ['5.4.0.1', '2a0b:4::1'] } as const;
  const withGlue = (...glue: string[]) =>
    codes(
      madeChild({
        servers: [madeServer(NS1, ['5.3.0.1', '2a0b:3::1']), madeServer(outside, [], { glue, found })],
      }),
    );
  expect([withGlue(), withGlue('5.4.0.1'), withGlue('5.9.0.1')]).toEqual([[], [], ['GLUE_DIFFERS']]);
});

it('autonomous systems are evaluated only if the file contains them', () => {
  const all = readAsnDb('5.0.0.0/8 64500\n2a0b::/16 64500');
  expect(codes(madeChild(), { asnOf: all })).toEqual(['ALL_IN_ONE_AS']);
  expect(codes(madeChild(), { asnOf: readAsnDb('5.0.0.0/8 64500') })).toEqual([]);
});

test('every code has a severity, a place, and a sentence that says what to do', () => {
  const names = [parseName('ns1.example.com.'), parseName('ns2.example.com.')];
  for (const code of CHILD_CODE_LIST) {
    expect(SEVERITIES).toContain(CHILD_CODES[code].severity);
    expect(PLACES).toContain(CHILD_CODES[code].place);
    const sentence = CHILD_SENTENCES[code]({ names, detail: '192.0.2.1' });
    expect(sentence, code).toMatch(/^[A-Z].*\.$/);
    expect(sentence, code).not.toMatch(/undefined|\\000/);
    const words = {
      registrar: /registrar|correct|add|remove/i,
      zone: /Ask|do not need to change/,
      operator: /nodes/,
    };
    expect(sentence, code).toMatch(words[CHILD_CODES[code].place]);
  }
});

test('a sentence about one nameserver is in the singular', () => {
  const one = CHILD_SENTENCES.SERVER_SILENT({ names: [parseName('ns1.example.com.')], detail: '192.0.2.1' });
  expect(one).toContain('The nameserver ns1.example.com does not answer at 192.0.2.1.');
});

test("the test cases have Zonemaster's names", () => {
  for (const code of CHILD_CODE_LIST) {
    expect(testOf(code) ?? 'zone01').toMatch(
      /^(address|connectivity|consistency|delegation|nameserver|zone)\d\d$/,
    );
  }
});

it.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:7:8::9', '2001:db8:7::/48'],
  ['2001:DB8::1', '2001:db8:0::/48'],
])('%s is in %s', (address, prefix) => {
  expect(prefixOf(address)).toBe(prefix);
});

const HOUR_MS = 3_600_000;

test('a domain is checked once a day and an active one once a week, each varied by up to a fifth', () => {
  for (const [isActive, hours] of [
    [false, 24],
    [true, 168],
  ] as const) {
    expect(nextChildCheckAt(1000, isActive, 0.5)).toBe(1000 + hours * HOUR_MS);
    expect(nextChildCheckAt(0, isActive, 0)).toBeCloseTo(0.8 * hours * HOUR_MS);
    expect(nextChildCheckAt(0, isActive, 1)).toBeCloseTo(1.2 * hours * HOUR_MS);
  }
});

const profileOf = (value: unknown) => {
  const read = readProfile(JSON.stringify(value));
  if (read.kind === 'problem') throw new Error(read.message);
  return read.profile;
};

test('an empty profile is the default', () => {
  expect(profileOf({})).toEqual(DEFAULT_PROFILE);
});

test('a code can be disabled, or get another severity', () => {
  const profile = profileOf({ TCP_REFUSED: 'notice', IPV4_ONLY: 'off' });
  expect(profile.get('TCP_REFUSED')).toBe('notice');
  expect(profile.has('IPV4_ONLY')).toBe(false);
  expect(profile.get('EDNS_BROKEN')).toBe('warning');
});

test('a test case applies to its codes, and a code takes precedence', () => {
  const profile = profileOf({ delegation01: 'off', TOO_FEW_NAMES: 'warning' });
  expect(profile.has('IPV4_ONLY')).toBe(false);
  expect(profile.has('IPV6_ONLY')).toBe(false);
  expect(profile.get('TOO_FEW_NAMES')).toBe('warning');
});

test.each([
  ['{', /^invalid JSON/],
  ['[]', /^a profile must be a JSON object/],
  ['null', /^a profile must be a JSON object/],
  ['{"delegation99": "off"}', /^"delegation99" is neither a code nor a test case$/],
  ['{"TCP_REFUSED": "fatal"}', /^"TCP_REFUSED" must be one of notice, warning, error, off$/],
  ['{"TCP_REFUSED": 1}', /^"TCP_REFUSED" must be one of/],
  ['{"undefined": "off"}', /^"undefined" is neither/],
])('%s is rejected with the reason', (text, message) => {
  expect(readProfile(text)).toEqual({ kind: 'problem', message: expect.stringMatching(message) });
});

test('the longest prefix applies, of either family', () => {
  const asnOf = readAsnDb(`# made by hand
5.0.0.0/8 64500
5.4.0.0/16 AS64501
2a0b::/16 64502

2a0b:4::/48 64503
`);
  expect(['5.3.0.1', '5.4.0.1', '6.0.0.1', '2a0b:3::1', '2a0b:4::1', '2a0b:4:1::1', 'no'].map(asnOf)).toEqual(
    [64500, 64501, undefined, 64502, 64503, 64502, undefined],
  );
});

test('the length may be a separate word, and the first of several AS numbers counts', () => {
  const asnOf = readAsnDb('1.0.0.0\t24\t13335\n1.0.4.0\t22\t38803_56203\n0.0.0.0/0 1');
  expect(['1.0.0.1', '1.0.5.1', '9.9.9.9'].map(asnOf)).toEqual([13335, 38803, 1]);
});

test.each([
  '5.0.0.0/33 1',
  '5.0.0/8 1',
  '5.0.0.0/8',
  '5.0.0.0 1',
  '2a0b::/49 1',
  'x',
])('the line "%s" is rejected with its number', (line) => {
  expect(() => readAsnDb(`5.0.0.0/8 1\n${line}`)).toThrow(
    `line 2: "${line}" must be a prefix and an AS number`,
  );
});

const domain = parseName('example.com.');
const glue = [
  { name: parseName('ns1.example.com.'), address: '192.0.2.1' },
  { name: parseName('ns1.example.com.'), address: '2001:db8::1' },
  { name: parseName('ns.other.net.'), address: '192.0.2.2' },
];

/** Returns the longest name below the domain. */
function longest() {
  let name = domain;
  for (let label = 63; label > 0; ) {
    const longer = prependLabel('x'.repeat(label), name);
    if (longer === undefined) label--;
    else name = longer;
  }
  return name;
}

test('it is the size of the message with compressed names', () => {
  const ns = ['ns1.example.com.', 'ns2.example.com.', 'ns.other.net.', 'b.ns.other.net.'].map((text) =>
    parseName(text),
  );
  const message = reply({
    questions: [{ name: longest(), type: 2, class: 1 }],
    authorities: ns.map((name) => ({ owner: domain, type: 2, class: 1, ttl: 1, rdata: encodeName(name) })),
    additionals: glue.map(({ name, address }) => {
      const isIpv6 = address.includes(':');
      const rdata = isIpv6 ? parseIpv6(address) : parseIpv4(address);
      return { owner: name, type: isIpv6 ? 28 : 1, class: 1, ttl: 1, rdata };
    }),
    edns: { udpPayloadSize: 1232, version: 0, dnssecOk: true, options: [] },
  });
  expect(referralOctets({ domain, ns, glue }, true)).toBe(encodeMessage(message).length);
});

test('the minimum glue is one address per family, and the required glue is that of servers inside the domain', () => {
  expect(leastGlue(glue).map(({ address }) => address)).toEqual(['192.0.2.1', '2001:db8::1']);
  expect(leastGlue([])).toEqual([]);
  expect(inDomainGlue({ domain, ns: [], glue }).map(({ address }) => address)).toEqual([
    '192.0.2.1',
    '2001:db8::1',
  ]);
});
