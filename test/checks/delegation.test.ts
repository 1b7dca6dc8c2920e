import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isOff, isTurn, judgeBreaker } from '../../src/checks/delegation/breaker.ts';
import type { Expected } from '../../src/checks/delegation/check-state.ts';
import type { Evidence, ServerEvidence, WalkFailure } from '../../src/checks/delegation/evidence.ts';
import { boundedText, encodeEvidence } from '../../src/checks/delegation/evidence-json.ts';
import { FINDING_CODES, type Finding } from '../../src/checks/delegation/finding.ts';
import { FINDINGS } from '../../src/checks/delegation/findings.ts';
import { judgeDelegation } from '../../src/checks/delegation/judge-delegation.ts';
import type { VoiceView } from '../../src/checks/delegation/seen.ts';
import { type Judgement, VERDICTS, type Verdict } from '../../src/checks/delegation/verdict.ts';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { rowsOf } from '../support/tests/rows-of.ts';
import { DS, evidenceOf, expectedSets, names } from '../support/world/check-evidence.ts';

/** a and b are accepted. c is a set of the fleet that was removed from this domain. d shares ns2.a with a. */
const EXPECTED = expectedSets(
  'ns1.a ns2.a | ns1.b ns2.b ns3.b',
  'ns1.a ns2.a | ns1.b ns2.b ns3.b | ns1.c ns2.c',
);
const SHARED = expectedSets('ns1.a ns2.a | ns1.d ns2.a');

/** The same, with known addresses of our servers. No parent in these tables has them, unless it contains `@192.0.2.99`. */
const THEIRS: Expected = { ...EXPECTED, ourAddresses: new Set(['192.0.2.99']) };

const HELD = 'answer ns1.a ns2.a';
const A = 'referral ns1.a ns2.a';
const F = 'referral ns1.x ns2.x';

/** The answers, the number of the parent's addresses, the verdict, and `confirmations`, with `!` if confirmed. */
type Line = [said: string, verdict: string, confirmations: string, findings: string, of?: number];

function show({ verdict, confirmations, confirmed, staleDs, findings }: Judgement) {
  return {
    verdict: `${verdict}${staleDs ? ' +ds' : ''}`,
    confirmations: `${confirmations}${confirmed ? '!' : ''}`,
    findings: findings.map(({ code }) => code).join(' '),
  };
}

function table(title: string, expected: Expected, lines: readonly Line[]): void {
  describe(title, () => {
    it.each(lines)('%s: %s', (said, verdict, confirmations, findings, of) => {
      const evidence = evidenceOf(said, of === undefined ? {} : { parentAddresses: of });
      expect(show(judgeDelegation(evidence, expected))).toEqual({ verdict, confirmations, findings });
    });
  });
}

table('the NS set of a delegation', EXPECTED, [
  [`${A}; ${A}`, 'match', '2!', ''],
  ['referral ns2.a ns1.a; referral NS1.A ns2.A', 'match', '2!', ''],
  ['referral ns1.b ns3.b ns2.b; referral ns1.b ns2.b ns3.b', 'match', '2!', ''],
  ['referral ns1.a; referral ns1.a', 'partial', '2!', 'NS_MISSING'],
  ['referral ns1.b ns3.b; referral ns3.b ns1.b', 'partial', '2!', 'NS_MISSING'],
  ['referral ns1.a ns1.x; referral ns1.a ns1.x', 'partial', '2!', 'NS_MISSING NS_EXTRA'],
  ['referral ns1.a ns2.a ns1.x; referral ns1.a ns2.a ns1.x', 'extra', '2!', 'NS_EXTRA'],
  ['referral ns1.a ns1.b; referral ns1.a ns1.b', 'mixed', '2!', 'NS_MIXED'],
  ['referral ns1.a ns2.a ns1.b; referral ns1.a ns2.a ns1.b', 'mixed', '2!', 'NS_MIXED'],
  ['referral ns1.a ns1.b ns1.x; referral ns1.a ns1.b ns1.x', 'mixed', '2!', 'NS_MIXED'],
  // our nameservers of other accounts are foreign: they do not serve this domain
  ['referral ns1.a ns1.c; referral ns1.a ns1.c', 'partial', '2!', 'NS_MISSING NS_EXTRA'],
  [`${F}; ${F}`, 'foreign', '2!', 'NS_FOREIGN'],
]);

table('a set of ours that the domain may not have', EXPECTED, [
  ['referral ns1.c ns2.c; referral ns1.c ns2.c', 'foreign', '2!', 'NS_FOREIGN'],
  ['referral ns1.c; referral ns1.c', 'foreign', '2!', 'NS_FOREIGN'],
  ['referral ns1.c ns2.c ns1.x; referral ns1.c ns2.c ns1.x', 'foreign', '2!', 'NS_FOREIGN'],
]);

table('sets that share a name', SHARED, [
  ['referral ns1.d ns2.a; referral ns1.d ns2.a', 'match', '2!', ''],
  ['referral ns2.a; referral ns2.a', 'partial', '2!', 'NS_MISSING'],
  ['referral ns1.a ns1.d; referral ns1.a ns1.d', 'mixed', '2!', 'NS_MIXED'],
  ['referral ns1.a ns1.d ns2.a; referral ns1.a ns1.d ns2.a', 'mixed', '2!', 'NS_MIXED'],
]);

table('no set left', expectedSets('', 'ns1.a ns2.a'), [
  [`${A}; ${A}`, 'foreign', '2!', 'NS_FOREIGN'],
  [`${F}; ${F}`, 'foreign', '2!', 'NS_FOREIGN'],
]);

table('no delegation', EXPECTED, [
  ['nodata; nodata', 'not_delegated', '2!', 'NOT_DELEGATED'],
  ['nxdomain; nxdomain', 'unregistered', '2!', 'NOT_REGISTERED'],
  ['alias; alias', 'alias', '2!', 'ALIAS'],
]);

table('addresses that disagree', EXPECTED, [
  [`${A}; ${F}`, 'unknown', '0', 'PARENTS_DISAGREE'],
  [`${A}; referral ns1.a`, 'unknown', '0', 'PARENTS_DISAGREE'],
  [`${F}; ${F}; ${F}; ${A}`, 'unknown', '0', 'PARENTS_DISAGREE'],
  [`${A}; nxdomain`, 'unknown', '0', 'PARENTS_DISAGREE'],
  [`nodata; ${A}; timeout`, 'unknown', '0', 'PARENTS_DISAGREE'],
  ['nodata; nxdomain', 'unknown', '0', 'PARENTS_DISAGREE'],
  ['alias; nodata', 'unknown', '0', 'PARENTS_DISAGREE'],
]);

table('servers that also hold the domain', EXPECTED, [
  // possibly our own servers, which have a zone for every claim
  ['answer ns1.a ns2.a; answer ns1.a ns2.a', 'unknown', '0', 'OWN_ANSWER'],
  ['answer ns1.a ns1.x; answer ns1.a ns1.x', 'unknown', '0', 'OWN_ANSWER'],
  ['answer ns1.x ns2.x; answer ns1.x ns2.x', 'foreign', '2!', 'NS_FOREIGN'],
  ['answer ns1.a ns2.a; answer ns1.x', 'unknown', '0', 'PARENTS_DISAGREE'],
  ['answer ns1.a ns2.a; nodata', 'unknown', '0', 'PARENTS_DISAGREE'],
  // an AA answer neither contradicts a referral nor confirms it
  [`${A}; answer ns1.x ns2.x; ${A}`, 'match', '2!', ''],
  [`${F}; answer ns1.a ns2.a; ${F}`, 'foreign', '2!', 'NS_FOREIGN'],
  [`${A}; answer ns1.x ns2.x`, 'match', '1', 'UNCONFIRMED'],
  [`${A}; answer ns1.a ns2.a`, 'match', '1', 'UNCONFIRMED'],
  [`answer ns1.a ns2.a; ${A}; nxdomain`, 'unknown', '0', 'PARENTS_DISAGREE'],
]);

table('servers that also hold the domain, at addresses that are known not to be ours', THEIRS, [
  [`${HELD} +cut; ${HELD} +cut`, 'match', '2!', 'PARENT_HOLDS_CHILD'],
  [`${HELD} +cut; ${HELD} +nocut`, 'unknown', '0', 'OWN_ANSWER'],
  [`${HELD} +cut; ${HELD}`, 'unknown', '0', 'OWN_ANSWER'],
  [`${HELD} +cut; ${HELD} +cut @192.0.2.99`, 'unknown', '0', 'OWN_ANSWER'],
  [`${HELD} +cut; timeout`, 'match', '1', 'UNCONFIRMED PARENT_FAILS PARENT_HOLDS_CHILD'],
  [`${HELD} +cut +ds; ${HELD} +cut +ds`, 'match +ds', '2!', 'STALE_DS PARENT_HOLDS_CHILD'],
  [`${HELD} +cut; ${F}; ${F}`, 'foreign', '2!', 'NS_FOREIGN'],
]);

table('a parent that refers with AA', EXPECTED, [
  [`${A} +aa; ${A} +aa`, 'match', '2!', 'PARENT_SETS_AA'],
  [`${A} +aa; ${A}`, 'match', '2!', 'PARENT_SETS_AA'],
  [`${A} +aa; answer ns1.x ns2.x`, 'match', '1', 'UNCONFIRMED PARENT_SETS_AA'],
]);

describe('the weight of a judgement', () => {
  const worth = (said: string, of?: number) => {
    const evidence = evidenceOf(said, of === undefined ? {} : { parentAddresses: of });
    const { byAnswer, soleWitness } = judgeDelegation(evidence, THEIRS);
    return `${byAnswer ? 'by answer' : ''}${soleWitness ? 'sole witness' : ''}`;
  };

  it.each([
    [`${A}; ${A}`, '', undefined],
    [`${HELD} +cut; ${HELD} +cut`, 'by answer', undefined],
    ['answer ns1.x; answer ns1.x', 'by answer', undefined],
    [`${HELD} +cut; ${A}; ${A}`, '', undefined],
    [`${A}; timeout; servfail; bad; lame; refused`, 'sole witness', undefined],
    [`${A}; timeout`, 'sole witness', 13],
    [`${A}; timeout; ${A}`, '', undefined],
    // the other address was not queried and could disagree
    [A, '', 2],
    // the parent has only this address
    [A, '', 1],
    [`${A}; answer ns1.x`, '', undefined],
    ['timeout; timeout', '', undefined],
    [`${A}; ${F}; timeout`, '', undefined],
    ['database ns1.a ns2.a', '', 0],
  ] as const)('%s: %s', (said, expected, of) => {
    expect(worth(said, of)).toBe(expected);
  });
});

table('addresses that fail', EXPECTED, [
  [`${A}; timeout; ${A}`, 'match', '2!', 'PARENT_FAILS'],
  [`timeout; ${F}; lame; ${F}`, 'foreign', '2!', 'NS_FOREIGN PARENT_FAILS'],
  [`${A}; timeout`, 'match', '1', 'UNCONFIRMED PARENT_FAILS'],
  ['nxdomain; servfail; refused', 'unregistered', '1', 'NOT_REGISTERED UNCONFIRMED PARENT_FAILS'],
  [A, 'match', '1!', '', 1],
  [A, 'match', '1', 'UNCONFIRMED', 2],
  [F, 'foreign', '1', 'NS_FOREIGN UNCONFIRMED', 13],
  [`${A} @192.0.2.1; ${A} @192.0.2.1`, 'match', '1', 'UNCONFIRMED', 2],
  ['timeout; timeout', 'unknown', '0', 'PARENT_UNREACHABLE'],
  ['timeout; refused; servfail; bad; lame', 'unknown', '0', 'PARENT_UNREACHABLE'],
  ['lame; lame', 'unknown', '0', 'PARENT_LAME'],
  ['referral; answer', 'unknown', '0', 'PARENT_UNREACHABLE'],
  ['', 'unknown', '0', 'PARENT_UNREACHABLE'],
]);

table('a parent that this fleet serves', EXPECTED, [
  ['database ns1.a ns2.a', 'match', '1!', '', 0],
  ['database ns1.x', 'foreign', '1!', 'NS_FOREIGN', 0],
  ['database', 'not_delegated', '1!', 'NOT_DELEGATED', 0],
]);

table('a DS of a key of the domain', { ...EXPECTED, ownDs: new Set([`30390d02${'07'.repeat(32)}`]) }, [
  [`${A} +ds; ${A} +ds`, 'match', '2!', ''],
  [`${F} +ds; ${F} +ds`, 'foreign', '2!', 'NS_FOREIGN'],
]);

table('a DS at the parent', EXPECTED, [
  [`${A} +ds; ${A} +ds`, 'match +ds', '2!', 'STALE_DS'],
  [`${A}; ${A} +ds`, 'match +ds', '2!', 'STALE_DS'],
  [`${F} +ds; ${F} +ds`, 'foreign +ds', '2!', 'NS_FOREIGN STALE_DS'],
  ['database ns1.a ns2.a +ds', 'match +ds', '1!', 'STALE_DS', 1],
  [`${A} +ds; ${F}`, 'unknown', '0', 'PARENTS_DISAGREE'],
]);

describe('the observed delegation', () => {
  const shown = (
    said: string,
  ): { observed: readonly Name[] | undefined; ours: boolean | undefined; set: number } => {
    const { observed, oursShown, matched } = judgeDelegation(evidenceOf(said), EXPECTED);
    return { observed, ours: oursShown, set: EXPECTED.sets.indexOf(matched ?? []) };
  };
  const n = (...texts: string[]) => texts.map((text) => parseName(text));

  it.each([
    [A, n('ns1.a.', 'ns2.a.'), true, 0],
    ['referral ns1.b ns2.b ns3.b', n('ns1.b.', 'ns2.b.', 'ns3.b.'), true, 1],
    ['referral ns1.C ns1.x', n('ns1.c.', 'ns1.x.'), false, -1],
    ['referral ns1.a ns1.b', n('ns1.a.', 'ns1.b.'), true, -1],
    [F, n('ns1.x.', 'ns2.x.'), false, -1],
    ['nxdomain', [], false, -1],
    ['nodata', [], false, -1],
    ['alias', [], false, -1],
    [`${A}; nxdomain`, undefined, undefined, -1],
    ['timeout', undefined, undefined, -1],
  ] as const)('by %s', (said, observed, ours, set) => {
    expect(shown(said)).toEqual({ observed, ours, set });
  });
});

describe('a failed walk', () => {
  it.each([
    ['unreachable', 'PARENT_UNREACHABLE'],
    ['no_address', 'PARENT_UNREACHABLE'],
    ['lame', 'PARENT_LAME'],
    ['limit', 'WALK_LIMIT'],
    ['loop', 'DELEGATION_LOOP'],
    ['bogus', 'PARENT_BOGUS'],
    ['validation_limit', 'VALIDATION_LIMIT'],
    ['later', 'TRY_LATER'],
  ] as const)('%s decides nothing', (reason, code) => {
    const failure: WalkFailure = { zone: parseName('co.'), reason, message: 'x' };
    const judgement = judgeDelegation(
      evidenceOf('', { parent: undefined, parentAddresses: 0, failure }),
      EXPECTED,
    );
    expect(show(judgement)).toEqual({ verdict: 'unknown', confirmations: '0', findings: code });
    expect(judgement.findings[0]?.message).toContain('zone co');
  });

  it('does not outweigh two addresses of the parent that answered before it was aborted', () => {
    const failure: WalkFailure = { zone: parseName('com.'), reason: 'limit', message: '15 s' };
    const judgement = judgeDelegation(
      evidenceOf(`timeout; ${A}; ${A}`, { failure, parentAddresses: 6 }),
      EXPECTED,
    );
    expect(show(judgement)).toEqual({ verdict: 'match', confirmations: '2!', findings: 'PARENT_FAILS' });
  });
});

describe("the owner's required change", () => {
  const told = (said: string) =>
    judgeDelegation(evidenceOf(`${said}; ${said}`), EXPECTED).findings.map(({ message, names }) => [
      message,
      names?.map(printName).join(' '),
    ])[0];

  // the sentences themselves are tested below
  it.each([
    [
      'what to remove and what to keep',
      'referral ns1.a ns2.a ns3.old',
      'keep exactly ns1.a and ns2.a.',
      'ns3.old.',
    ],
    ['what to add', 'referral ns2.b', 'exactly ns1.b, ns2.b and ns3.b are set.', 'ns1.b. ns3.b.'],
    [
      'the set with the most names',
      'referral ns1.b ns2.b ns3.b ns1.a',
      'set exactly ns1.b, ns2.b and ns3.b',
      'ns1.a.',
    ],
    ['the set for a domain elsewhere', F, 'exactly ns1.a and ns2.a.', 'ns1.x. ns2.x.'],
    ['the set for a domain without NS', 'nodata', 'exactly ns1.a and ns2.a.', undefined],
    ['the set for a domain that does not exist', 'nxdomain', 'exactly ns1.a and ns2.a.', undefined],
    ['the set for an alias', 'alias', 'exactly ns1.a and ns2.a.', undefined],
    ['the key tags of DS records', `${A} +ds`, 'remove the DS records (key tags: 12345)', undefined],
  ])('is %s', (_, said, message, names) => {
    expect(told(said)).toEqual([expect.stringContaining(message), names]);
  });
});

describe("a reply that does not validate with the parent's keys", () => {
  const codes = (text: string) =>
    judgeDelegation(evidenceOf(text), expectedSets('ns1.a ns2.a')).findings.map(({ code }) => code);

  it('counts as no reply', () => {
    expect(codes('bogus ns1.a ns2.a; bogus ns1.a ns2.a')).toEqual(['PARENT_BOGUS']);
    expect(codes('limit; bogus')).toEqual(['VALIDATION_LIMIT']);
    expect(codes('timeout; bogus')).toEqual(['PARENT_BOGUS']);
    expect(codes('referral ns1.a ns2.a; bogus ns1.x; referral ns1.a ns2.a')).toEqual(['PARENT_FAILS']);
  });

  it('is also reported for the root', () => {
    const evidence = evidenceOf('nxdomain; nxdomain', { security: 'indeterminate', rootFault: true });
    expect(judgeDelegation(evidence, expectedSets('ns1.a')).rootFault).toBe(true);
    expect(judgeDelegation(evidenceOf('nxdomain; nxdomain'), expectedSets('ns1.a'))).not.toHaveProperty(
      'rootFault',
    );
  });
});

/**
 * Parses `com 200 21 30, net 100 0`: parent, checked, turned, off (default: turned). `*` is overall, or no parent found.
 */
function trips(text: string, held: readonly string[] = []): string {
  const counts = text.split(', ').map((row) => {
    const [parent, checked, turned, off = turned] = row.split(' ') as [string, string, string, string?];
    const name = parent === '*' ? '' : parent;
    return { parent: name, checked: Number(checked), turned: Number(turned), off: Number(off) };
  });
  return judgeBreaker(counts, new Set(held.map((parent) => (parent === '*' ? '' : parent))))
    .map(({ parent, checked, turned }) => `${parent || '*'} ${checked} ${turned}`)
    .join(', ');
}

describe('the breaker', () => {
  it.each([
    ['com 200 21', '* 200 21, com 200 21'],
    ['com 200 20', ''], // not more than 10 %
    ['com 199 20', '* 199 20, com 199 20'],
    ['com 19 19', ''], // fewer than 20
    ['com 20 20', '* 20 20, com 20 20'],
    ['com 199 20, net 1000 0', 'com 199 20'],
    ['com 60 10, net 60 10', '* 120 20'], // too few in each, but enough together
    ['com 60 12, com 60 10', '* 120 22, com 120 22'],
    ['com 1000 30, net 50 25', 'net 50 25'],
    ['* 30 25', '* 30 25'],
    ['* 15 15, com 100 10', '* 115 25'],
    ['com 0 0', ''],
  ])('%s: %s', (counts, expected) => {
    expect(trips(counts)).toBe(expected);
  });

  it.each([
    // hours later: no further domains turn, but the same ones still miss
    ['com 200 0 190', '* 200 0, com 200 0'],
    ['com 200 0 101', '* 200 0, com 200 0'],
    ['com 200 0 100', ''],
    ['com 30 0 19', ''], // fewer than 20
    ['com 100 0 90, net 1000 0 0', 'com 100 0'],
    ['com 0 0', ''],
  ])('once tripped, holds while most checks show none of our servers: %s: %s', (counts, expected) => {
    expect(trips(counts, ['*', 'com'])).toBe(expected);
    expect(trips(counts)).toBe('');
  });

  it('does not trip without checks', () => {
    expect(judgeBreaker([])).toEqual([]);
  });
});

describe('an active domain turns', () => {
  const turns = (before: Verdict | undefined) => VERDICTS.filter((verdict) => isTurn(before, verdict));
  const notMatch = VERDICTS.filter((verdict) => verdict !== 'match');

  it('from a match to any other verdict, or at its first check', () => {
    expect(turns('match')).toEqual(notMatch);
    expect(turns(undefined)).toEqual(notMatch);
  });

  it('from any known verdict to unknown', () => {
    for (const before of notMatch) expect(turns(before)).toEqual(before === 'unknown' ? [] : ['unknown']);
  });
});

it('a check shows none of our servers if it is unknown or a miss', () => {
  expect(VERDICTS.filter(isOff)).toEqual(['foreign', 'not_delegated', 'unregistered', 'alias', 'unknown']);
});

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

it('has names as folded text, octets in base64, and no unknown fields', () => {
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

it('keeps a limited part of what servers send, and reports that it discarded some', () => {
  const ns = Array.from({ length: 70 }, (_, at) => parseName(`ns${at}.example.`));
  const ds = Array.from({ length: 20 }, (_, at) => new Uint8Array([at]));
  const [kept] = encodeEvidence({ ...evidence, servers: [{ ...server, ns, ds }] }).servers;
  expect([kept?.ns.length, kept?.ds.length]).toEqual([64, 16]);
  expect(kept?.error).toBe('6 more names were discarded; 4 more DS were discarded');
});

it('removes control characters from its texts, and shortens long ones', () => {
  expect(boundedText('a\0b\x1bc')).toBe('a?b?c');
  expect(boundedText('x'.repeat(3000))).toHaveLength(2000);
});

const parent = parseName('co.uk.');
const target = names('ns1.a ns2.a');
const shown = (observed: string) => ({ parent, observed: names(observed), target });

const NOTHING_TO_CHANGE =
  'You do not need to change anything at your registrar; we check again automatically.';

const TURNS =
  'Another account waits for this name too, so the two sets of nameservers are answered in turn, for registries that query a domain before they delegate it.';

const FOUND: readonly Finding[] = [
  FINDINGS.NS_MISSING(shown('ns1.a')),
  FINDINGS.NS_EXTRA(shown('ns1.a ns2.a old1.x old2.x')),
  FINDINGS.NS_MIXED(shown('ns1.b ns2.b')),
  FINDINGS.NS_FOREIGN(shown('old1.x')),
  FINDINGS.NS_FOREIGN({ ...shown('old1.x'), hold: 'verification' }),
  FINDINGS.NS_FOREIGN({ ...shown('old1.x'), hold: 'suspension' }),
  FINDINGS.NS_FOREIGN({ ...shown('old1.x'), hold: 'expiry' }),
  FINDINGS.NS_FOREIGN({ ...shown('old1.x'), hold: 'parking' }),
  FINDINGS.NOT_DELEGATED(shown('')),
  FINDINGS.NOT_REGISTERED({ parent, observed: [], target: undefined }),
  FINDINGS.ALIAS(shown('')),
  FINDINGS.STALE_DS([DS, Uint8Array.of(0, 7, 8, 2), DS], true),
  FINDINGS.STALE_DS([DS], false),
  FINDINGS.PRESET_DELEGATION(names('ns1.a ns2.a'), names('ns1.b ns2.b')),
  FINDINGS.PARENT_UNREACHABLE(parseName('.')),
  FINDINGS.PARENT_LAME(parent),
  FINDINGS.PARENT_BOGUS(parent),
  FINDINGS.VALIDATION_LIMIT(parent),
  FINDINGS.ROOT_FAULT(),
  FINDINGS.PARENT_FAILS(parent, names('p1.uk p2.uk p3.uk')),
  FINDINGS.PARENTS_DISAGREE(parent, [
    { by: names('p1.uk'), kind: 'delegation', ns: names('ns1.a ns2.a') },
    { by: names('p2.uk p3.uk'), kind: 'delegation', ns: names('ns1.x') },
    { by: names('p4.uk'), kind: 'nodata', ns: [] },
    { by: names('p5.uk p6.uk'), kind: 'nxdomain', ns: [] },
    { by: names('p7.uk'), kind: 'alias', ns: [] },
  ]),
  FINDINGS.PARENT_SETS_AA(parent),
  FINDINGS.PARENT_AWKWARD(parent, names('p1.uk p2.uk'), ['tcp', 'no_edns']),
  FINDINGS.PARENT_HOLDS_CHILD(parent),
  FINDINGS.OWN_ANSWER(parent),
  FINDINGS.UNCONFIRMED(parent),
  FINDINGS.WALK_LIMIT(parent),
  FINDINGS.DELEGATION_LOOP(parent),
  FINDINGS.TRY_LATER(parent),
  FINDINGS.MOVES_HELD(),
  FINDINGS.NAME_IN_USE(target),
  FINDINGS.TAKEOVER_WAITS(),
  FINDINGS.TAKEOVER_SEEN(target),
  FINDINGS.NS_TURN({
    kind: 'now',
    from: Date.UTC(2026, 10, 23, 14, 5),
    until: Date.UTC(2026, 10, 23, 14, 20),
  }),
  FINDINGS.NS_TURN({ kind: 'waits' }),
  FINDINGS.NS_TURN({ kind: 'none' }),
  FINDINGS.NS_UNSTEADY({ count: 3, isMore: false }, target),
  FINDINGS.INNER_DELEGATED([
    { name: parseName('a.shop.com.'), ns: target },
    { name: parseName('b.shop.com.'), ns: [] },
  ]),
  FINDINGS.SETS_SPENT(),
  FINDINGS.PENDING_OVER(target),
  FINDINGS.CLAIM_DISPLACED(),
  FINDINGS.CAME_BACK(),
  FINDINGS.VANTAGES_DISAGREE(parent, { kind: 'delegated', ns: names('ns1.x ns2.x') }, [
    { label: 'ams', word: 'differs', kind: 'unregistered', ns: [] },
  ]),
  FINDINGS.VANTAGES_AWAY(),
  FINDINGS.PREPARE(parseName('_svc-challenge.shop.uk.'), 'svc-verify=x'),
  FINDINGS.PREPARE(parseName('_svc-challenge.shop.uk.'), undefined),
  FINDINGS.APEX_ONLY({ isChecked: false, mayBeApproved: true, target }),
  FINDINGS.APEX_ONLY({ isChecked: true, mayBeApproved: true, target }),
  FINDINGS.APEX_ONLY({ isChecked: true, mayBeApproved: false, target }),
  FINDINGS.APEX_ONLY({ isChecked: true, mayBeApproved: true, target: undefined }),
  FINDINGS.CLAIM_LOST(),
];

/** Returns the messages of these findings, in order. */
const SENTENCES = rowsOf(`
At your registrar, add the missing nameserver ns2.a, so that exactly ns1.a and ns2.a are set. The zone co.uk currently lists ns1.a.
At your registrar, remove the nameservers old1.x and old2.x; keep exactly ns1.a and ns2.a.
The nameservers of this domain belong to several sets, which do not work together. At your registrar, set exactly ns1.a and ns2.a and remove ns1.b and ns2.b.
This domain does not use the nameservers assigned to it: the zone co.uk lists old1.x. To use the domain here, replace them at your registrar with exactly ns1.a and ns2.a.
This domain does not use the nameservers assigned to it: the zone co.uk lists old1.x. Their names indicate that your registrar has replaced the nameservers because the owner has not confirmed the e-mail address. Follow the link in the message that the registrar sent to this address, or request a new message at your registrar, then make sure that exactly ns1.a and ns2.a are set there.
This domain does not use the nameservers assigned to it: the zone co.uk lists old1.x. Their names indicate that your registrar has replaced the nameservers because it has suspended the domain. Ask your registrar for the reason and resolve it, then make sure that exactly ns1.a and ns2.a are set there.
This domain does not use the nameservers assigned to it: the zone co.uk lists old1.x. Their names indicate that your registrar has replaced the nameservers because the registration has expired. Renew the domain at your registrar, then make sure that exactly ns1.a and ns2.a are set there.
This domain does not use the nameservers assigned to it: the zone co.uk lists old1.x. Their names indicate that the domain is parked, as registrars do with domains that are new, unpaid or expired. Check at your registrar that the domain is paid and end the parking, then make sure that exactly ns1.a and ns2.a are set there.
The zone co.uk lists no nameservers for this domain. At your registrar, set exactly ns1.a and ns2.a.
This domain does not exist in the zone co.uk: it is not registered, has expired, or is on hold. Register or renew it, or ask your registrar about the hold, and set its nameservers there to exactly the nameservers that the operator gives you.
In the zone co.uk this domain is an alias of another name (CNAME or DNAME). The manager of that zone must replace the alias with NS records for exactly ns1.a and ns2.a.
At your registrar, turn DNSSEC off or remove the DS records (key tags: 7, 12345): they do not match our nameservers. Until they are removed, many visitors cannot reach this domain.
Before you set our nameservers at your registrar, turn DNSSEC off or remove the DS records (key tags: 12345) there: they do not match our nameservers, so many visitors could not reach this domain.
This domain uses our nameservers, but not the ones assigned to it. At your registrar, set exactly ns1.b and ns2.b instead of ns1.a and ns2.a. Until then we answer for it only with its SOA and NS records.
We could not check this domain, because no nameserver of the zone . (the root) gave a usable answer. ${NOTHING_TO_CHANGE}
We could not check this domain, because the nameservers that we queried for the zone co.uk do not serve it. ${NOTHING_TO_CHANGE}
We could not check this domain, because the signatures (DNSSEC) of the zone co.uk are wrong or missing, so its answers may be forged. ${NOTHING_TO_CHANGE}
We could not check this domain, because verifying the signatures (DNSSEC) of the zone co.uk exceeds the work limit of a check. The manager of that zone can reduce the number of its keys and signatures.
This domain keeps its status for now, because we currently cannot verify the signatures of the DNS root. ${NOTHING_TO_CHANGE}
Some nameservers of the zone co.uk gave no usable answer at one or more of their addresses: p1.uk, p2.uk and p3.uk. ${NOTHING_TO_CHANGE}
The nameservers of the zone co.uk give different answers for this domain, possibly because a recent change has not reached all of them yet: p1.uk lists ns1.a and ns2.a; p2.uk and p3.uk list ns1.x; p4.uk says that it has no nameservers; p5.uk and p6.uk say that it does not exist; p7.uk says that it is an alias. ${NOTHING_TO_CHANGE}
The nameservers of the zone co.uk mark the delegation of this domain as their own answer (AA). We treat it as a delegation, as resolvers do. You do not need to change anything at your registrar.
Some nameservers of the zone co.uk did not answer an ordinary query. They answered over TCP or without EDNS: p1.uk and p2.uk. You do not need to change anything at your registrar.
The nameservers of the zone co.uk also have a zone of this domain and answer from it instead of referring to its nameservers. We compared that zone’s own NS records. The manager of those nameservers should remove the zone of this domain there, so that visitors reach ours.
The nameservers of the zone co.uk answer for this domain themselves, so we cannot see if it is delegated to us. The manager of that zone must delegate this domain with NS records there.
So far, only one nameserver address of the zone co.uk shows this. The status changes when a second address shows the same. ${NOTHING_TO_CHANGE}
We could not check this domain, because finding its nameservers takes more queries or time than a check may use. The check stopped at the zone co.uk. The managers of the zones from there on can shorten the chain of delegations.
We could not check this domain, because nameservers below the zone co.uk refer to each other in a circle. The managers of these zones must correct this.
We ended this check early, because the nameservers of the zone co.uk answered slowly while many other checks were slow too. ${NOTHING_TO_CHANGE}
This domain keeps its status for now, because the check results of unusually many domains changed at the same time. ${NOTHING_TO_CHANGE}
Another account uses this name here. It passes to your account when your registrar shows exactly ns1.a and ns2.a. From then on the records of this domain are answered.
Your registrar shows your nameservers. Because another account uses this name here, a second check, at least a minute later, must see the same at every nameserver of the parent zone. ${NOTHING_TO_CHANGE}
Your registrar shows the nameservers assigned to another account here, and the next check will give that account the name. If this was not you, secure your account at the registrar now and set exactly ns1.a and ns2.a there.
Your nameservers are answered for this domain from 14:05 to 14:20 UTC. ${TURNS} If that is too short, request another turn with “check now”.
Your nameservers are in line to be answered for this domain. ${TURNS} The time of your turn will be shown here.
${TURNS} If your registry must see your nameservers first, request a turn with “check now”.
Within 24 hours the parent zone changed the nameservers of this domain 3 times. Until they stop changing, some visitors are sent to other servers. Set exactly ns1.a and ns2.a at your registrar and do not change them again. If you did not make these changes, secure your account there and contact your registrar.
Other accounts have names inside this domain that are answered here today. They stop being answered when this domain becomes active, unless its records delegate them. To keep them working, add these NS records here before you change the nameservers at your registrar: a.shop.com NS ns1.a and ns2.a; b.shop.com.
No nameserver set is left that could prove that this domain is yours. Your registrar showed each set before you added the domain, or the set belongs to another account that waits for this name. Do not use the nameservers shown here, because they may give the name to that account. Ask the operator to approve the domain.
This domain was disabled because its nameservers were not set in time. Set exactly ns1.a and ns2.a at your registrar, then enable it again.
This domain was disabled because too many accounts wait for this name, and it had waited longest without its nameservers at the registrar. Set them, then enable it again.
Your registrar shows your nameservers again, so this domain was enabled again automatically. ${NOTHING_TO_CHANGE}
This domain keeps its status for now. Before a status changes, we query the zone co.uk from several locations, and their results differ. From here: ns1.x and ns2.x; from ams: no such domain. A recent change may not have reached every nameserver of that zone yet. You do not need to change anything at your registrar; we check again automatically.
This domain keeps its status for now. Before a status changes, we check from several locations, and too few of them responded. You do not need to change anything at your registrar; we check again automatically.
Optional: add this TXT record at your current DNS provider first. All records are then answered before you switch: name _svc-challenge.shop.uk, value svc-verify=x
Optional: with a TXT record at your current DNS provider, all records are answered before you switch. Its value has expired: request a new one (verify), then add it at _svc-challenge.shop.uk.
At most the SOA and NS records of this domain are answered until a first check has seen which nameservers your registrar shows. If it shows other nameservers of this service, set exactly ns1.a and ns2.a there. If the domain is already in use, ask the operator to approve it.
At most the SOA and NS records of this domain are answered until your registrar shows exactly ns1.a and ns2.a. If the domain is already in use, ask the operator to approve it.
At most the SOA and NS records of this domain are answered until your registrar shows exactly ns1.a and ns2.a.
At most the SOA and NS records of this domain are answered. If the domain is already in use, ask the operator to approve it.
The parent zone now lists the nameservers of another account, so the name has passed to that account. Your records are kept here. If you did not change the nameservers, contact your registrar.`).map(
  ([sentence]) => sentence,
);

it('observers are listed by their labels, and those without a result are omitted', () => {
  const seen = (label: string, kind: VoiceView['kind'], ns = ''): VoiceView => ({
    label,
    kind,
    ns: names(ns),
    word: 'differs',
  });
  const views = [
    seen('ams', 'delegated', 'ns1.x ns2.x'),
    seen('fra', 'nothing'),
    seen('lon', 'not_delegated'),
    seen('nyc', 'unregistered'),
    seen('par', 'alias'),
    seen('rom', 'split'),
  ];
  const { message } = FINDINGS.VANTAGES_DISAGREE(undefined, { kind: 'nothing', ns: [] }, views);
  expect(message).toContain(
    'From here: nothing certain; from ams: ns1.x and ns2.x; from lon: no nameservers; from nyc: no such domain; from par: an alias; from rom: different things.',
  );
});

it.each(FOUND.map((finding, i) => ({ ...finding, sentence: SENTENCES[i] })))('$code', ({
  message,
  sentence,
}) => {
  expect(message).toBe(sentence);
});

it('NS_FOREIGN names the reason if a registrar replaced the nameservers, and only then', () => {
  const messageFor = (ns: string) =>
    judgeDelegation(evidenceOf(`referral ${ns}; referral ${ns}`), EXPECTED).findings[0]?.message;
  expect(messageFor('ns1.registrant-verification.registrar.example')).toContain(
    'because the owner has not confirmed the e-mail address',
  );
  expect(messageFor('ns1.out.example')).toBe(
    'This domain does not use the nameservers assigned to it: the zone com lists ns1.out.example. To use the domain here, replace them at your registrar with exactly ns1.a and ns2.a.',
  );
  expect(messageFor('ns1.expired.shop.com')).toContain('replace them at your registrar with exactly');
});

it('the failing servers of the parent are listed', () => {
  expect(FINDINGS.PARENT_FAILS(parent, names('p1.uk p2.uk p3.uk')).names).toHaveLength(3);
});

it('a sentence lists at most eight servers of a set that its owner made long', () => {
  const ns = names(Array.from({ length: 60 }, (_, i) => `n${i}.x`).join(' '));
  const { message } = FINDINGS.PARENTS_DISAGREE(parent, [{ by: names('p1.uk'), kind: 'delegation', ns }]);
  expect(message).toContain('n6.x, n7.x and 52 more');
  expect(message).not.toContain('n8.x');
});

it('INNER_DELEGATED lists eight domains, and says that there are more', () => {
  const inner = Array.from({ length: 9 }, (_, i) => ({ name: parseName(`n${i}.shop.com.`), ns: target }));
  const { message, names: told } = FINDINGS.INNER_DELEGATED(inner);
  expect(told).toHaveLength(8);
  expect(message).toContain('n7.shop.com NS ns1.a and ns2.a; there are more.');
});

it('every code has a sentence in the table above', () => {
  const codes = new Set(FOUND.map(({ code }) => code));
  expect([...codes].sort()).toEqual([...FINDING_CODES].sort());
});

it('every code has a row in docs/operating/troubleshoot.md "Delegation findings"', () => {
  const text = readFileSync(new URL('../../docs/operating/troubleshoot.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('\n## Delegation findings\n');
  const [, table = ''] = (section.split('\n## ')[0] as string).split('\n| finding | |\n');
  const rows = (table.split('\n\n')[0] as string)
    .trim()
    .split('\n')
    .map((row) => row.split('|')[1] as string);
  const described = rows.flatMap((row) => [...row.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code));
  expect(described.sort()).toEqual([...FINDING_CODES].sort());
});
