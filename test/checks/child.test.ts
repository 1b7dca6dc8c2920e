// The findings of made evidence: what is told to whom. Each code is also seen in a small internet of its own
// (test/flows/child-worlds.nightly.test.ts).

import { describe, expect, it } from 'vitest';
import { judgeChild } from '../../src/checks/child/judge-child.ts';
import { readAsnDb } from '../../src/checks/child/read-asn-db.ts';
import { parseName } from '../../src/dns/name.ts';
import { madeChild, madeProbe, madeServer, NS1, NS2, soaReply } from '../support/world/made-child.ts';

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

it('a healthy domain has no findings, and neither has one without a delegation', () => {
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
])('a SOA with %j is judged', (changed, expected) => {
  expect(one({ soa: soaReply(1, changed), tcp: soaReply(1, changed) })).toEqual(expected);
});

describe('what was not asked', () => {
  it('is not judged, but that something was left out is told', () => {
    const unasked = { outcome: 'unasked' } as const;
    const probe = madeProbe('5.3.0.1', [NS1], { soa: unasked, ns: unasked, tcp: unasked, edns: 'unknown' });
    expect(codes(madeChild({ addresses: [probe], isComplete: false }))).toEqual(['CHILD_CHECK_CUT_SHORT']);
  });

  it('an unknown address keeps the families and networks from being judged', () => {
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

  it('that are silent alarm the operator, and no customer reads of it', () => {
    const evidence = madeChild({ addresses: [madeProbe('5.3.0.1', [NS1], silent)] });
    expect(judgeChild(evidence, { own })).toMatchObject([
      { code: 'OUR_SERVERS_UNREACHABLE', place: 'operator', severity: 'error' },
    ]);
    expect(judgeChild(evidence, { own: NONE })).toMatchObject([
      { code: 'SERVER_SILENT', place: 'registrar' },
    ]);
  });

  it('beside a foreign one: the fault of each is told to whom it belongs', () => {
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
  ])('with %s are a matter of the operator, also beside a foreign one with the same fault', (code, change) => {
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

  it('with a fault at an address are a matter of the operator, also where a foreign name has that address', () => {
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

  it('are all that the parent names: which of them it names is for the check of the parent', () => {
    const servers = [
      madeServer(NS1, ['5.3.0.1', '2a0b:3::1']),
      madeServer(NS2, ['5.4.0.1'], { isAtParent: false }),
    ];
    expect(judgeChild(madeChild({ servers }), { own })).toMatchObject([
      { code: 'TOO_FEW_NAMES', place: 'registrar' },
    ]);
  });
});

describe('a profile', () => {
  it('leaves out what it does not have, and gives the severity', () => {
    const evidence = withSerials(1, 2);
    expect(codes(evidence, { profile: new Map() })).toEqual([]);
    const found = judgeChild(evidence, { own: NONE, profile: new Map([['SERIALS_DIFFER', 'notice']]) });
    expect(found).toMatchObject([{ code: 'SERIALS_DIFFER', severity: 'notice', names: [NS1] }]);
  });
});

it.each([
  ['times up to an hour apart', 1_700_000_000, 1_700_003_600, []],
  ['times further apart', 1_700_000_000, 1_700_003_601, ['SERIALS_DIFFER']],
  ['dates', 2024010101, 2024010102, ['SERIALS_DIFFER']],
  ['other numbers', 1, 2, ['SERIALS_DIFFER']],
  ['the same numbers', 1, 1, []],
])('serials that are %s are judged', (_, first, second, expected) => {
  expect(codes(withSerials(first, second))).toEqual(expected);
});

it.each([
  ['a newer serial', soaReply(11), []],
  ['an older serial', soaReply(9), ['UDP_TCP_DIFFER']],
  ['other data', soaReply(10, { expire: 1_209_601 }), ['UDP_TCP_DIFFER']],
  ['a refusal', { outcome: 'refused' }, ['UDP_TCP_DIFFER']],
  ['silence', { outcome: 'timeout' }, ['TCP_REFUSED']],
  ['no query', { outcome: 'unasked' }, []],
] as const)('%s over TCP is judged', (_, tcp, expected) => {
  expect(one({ soa: soaReply(10), tcp })).toEqual(expected);
});

it('glue of a server outside the domain may be incomplete, but not different', () => {
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

it('autonomous systems are judged only if the file has them', () => {
  const all = readAsnDb('5.0.0.0/8 64500\n2a0b::/16 64500');
  expect(codes(madeChild(), { asnOf: all })).toEqual(['ALL_IN_ONE_AS']);
  expect(codes(madeChild(), { asnOf: readAsnDb('5.0.0.0/8 64500') })).toEqual([]);
});
