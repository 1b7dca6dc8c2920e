import { describe, expect, it } from 'vitest';
import { FINDING_CODES } from '../../src/checks/delegation/finding.ts';
import { judgeTxt } from '../../src/checks/txt/judge-txt.ts';
import {
  nextPreparation,
  type PreparationState,
  TXT_COUNTS_MS,
} from '../../src/checks/txt/next-preparation.ts';
import {
  type Look,
  nextVerification,
  type VerificationState,
} from '../../src/checks/txt/next-verification.ts';
import type {
  TxtEvidence,
  TxtLink,
  TxtOutcome,
  TxtServerEvidence,
  TxtSibling,
} from '../../src/checks/txt/txt-evidence.ts';
import { TXT_FINDINGS } from '../../src/checks/txt/txt-findings.ts';
import type { TxtJudgement, TxtVerdict } from '../../src/checks/txt/txt-judgement.ts';
import { isThere, nextTxtTakeover, sinceAfter, type TxtHolding } from '../../src/checks/txt/txt-takeover.ts';
import { parseName } from '../../src/dns/name.ts';
import { itemsOf, rowsOf } from '../support/tests/rows-of.ts';
import { txtEvidenceOf } from '../support/world/made-verifications.ts';
import { name } from '../support/world/zone-exchange.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = 1_800_000_000_000;
const scheduled = (verdict: TxtVerdict): Look => ({ kind: 'scheduled', verdict });

const HOST = '_svc-challenge.example.com';
const VALUE = 'svc-verify=ABC';
const octets = (value: string) => Buffer.from(value === 'V' ? VALUE : value);

/** `ns1 answer V other` or `ns2 alias target.`: answer of one server. */
function word(text: string, address = '5.0.0.1'): TxtServerEvidence {
  const [server = '', outcome = '', ...rest] = text.split(' ');
  const leadsOn = outcome === 'alias' || outcome === 'referral';
  return {
    ...{ server: name(`${server}.example.com`), address, transport: 'udp', askedAt: 0, rttMs: 1 },
    outcome: outcome as TxtOutcome,
    values: leadsOn ? [] : rest.map(octets),
    target: leadsOn && rest[0] !== undefined ? name(rest[0]) : undefined,
    error: undefined,
  };
}

/** Words. `again` marks a server that was queried again. */
function link(host: string, words: readonly string[], parts: Partial<TxtLink> = {}): TxtLink {
  const addresses = new Map<string, string>();
  const read = (text: string) => {
    const [server = ''] = text.split(' ');
    if (!addresses.has(server)) addresses.set(server, `5.0.0.${addresses.size + 1}`);
    return word(text, addresses.get(server));
  };
  const servers = words.filter((text) => !text.startsWith('again ')).map(read);
  const again = words.filter((text) => text.startsWith('again ')).map((text) => read(text.slice(6)));
  return {
    ...{ host: name(host), zone: name(host.replace(/^[^.]*\./, '')), delegations: [], primaries: [] },
    nameservers: servers.map(({ server }) => server),
    servers,
    again,
    ...parts,
  };
}

/** `nxdomain`, `answer V`, `alias a. b. : V`. */
function sibling(text: string, i: number): TxtSibling {
  const [before = '', values = ''] = text.replace('answer ', 'answer : ').split(' : ');
  const [outcome, ...targets] = before.split(' ');
  return {
    ...{ name: name(`x${i}.example.com`), address: '5.0.0.1', outcome: outcome as TxtOutcome },
    targets: targets.map((target) => name(target)),
    values: values === '' ? [] : values.split(' ').map(octets),
  };
}

const NOTHING_BESIDE = Array<string>(8).fill('nxdomain');

function judge(
  links: readonly (TxtLink | string)[],
  {
    beside = NOTHING_BESIDE,
    untrusted = [] as string[],
    ...parts
  }: Partial<TxtEvidence> & { beside?: string[]; untrusted?: string[] } = {},
): TxtJudgement {
  const evidence: TxtEvidence = {
    host: name(HOST),
    links: typeof links[0] === 'string' ? [link(HOST, links as string[])] : (links as TxtLink[]),
    siblings: beside.map(sibling),
    ...{ resolvers: [], failure: undefined, queries: 0, startedAt: 0, finishedAt: 0 },
    ...parts,
  };
  return judgeTxt(evidence, { value: VALUE, untrusted: new Set(untrusted.map((each) => name(each))) });
}

describe('the servers of the zone', () => {
  it.each(
    rowsOf(`
one | ns1 answer V | verified 1/1 | The only nameserver has the TXT record.
all | ns1 answer V / ns2 answer V | verified 2/2 | All 2 nameservers have the TXT record.
all, among other records | ns1 answer a V / ns2 answer V b | verified 2/2 | All 2 nameservers have the TXT record.
all that respond, and half respond | ns1 answer V / ns2 timeout | verified 1/2 | 1 of 2 nameservers has the TXT record, which is enough; ns2.example.com (5.0.0.2) does not answer.
fewer than half respond | ns1 answer V / ns2 timeout / ns3 servfail | unknown 1/3 | Only 1 of the 3 nameserver addresses of example.com gives a usable answer, but at least half of them must. Ask your DNS provider to repair the nameservers.
none responds | ns1 timeout / ns2 bad | unknown 0/2 | None of the 2 nameserver addresses of example.com gives a usable answer, but at least half of them must. Ask your DNS provider to repair the nameservers.
one responds without it | ns1 answer V / ns2 answer V / ns3 answer V / ns4 nodata | partial 3/4 | 3 of 4 nameservers have the TXT record, but ns4.example.com (5.0.0.4) does not. A new record takes some time to reach all nameservers. If this persists, contact your DNS provider.
several respond without it | ns1 answer V / ns2 nxdomain / ns3 answer x / ns4 nodata / ns5 nodata / ns6 timeout | partial 1/6 | 1 of 6 nameservers has the TXT record, but ns2.example.com (5.0.0.2), ns3.example.com (5.0.0.3), ns4.example.com (5.0.0.4) and 1 more do not. A new record takes some time to reach all nameservers. If this persists, contact your DNS provider.
none has it | ns1 nxdomain / ns2 nodata | absent 0/2 | None of 2 nameservers has a TXT record at _svc-challenge.example.com. Add it where you manage the DNS of this domain. A new record takes a few minutes to appear.
they have something else | ns1 answer x / ns2 nodata | other 0/2 | None of 2 nameservers has the right value at _svc-challenge.example.com. Copy the value exactly as shown, including upper and lower case.
one has it and then not | ns1 answer V / ns2 answer V / again ns1 answer V / again ns2 nodata | partial 1/2 | 1 of 2 nameservers has the TXT record, but ns2.example.com (5.0.0.2) does not. A new record takes some time to reach all nameservers. If this persists, contact your DNS provider.
one is silent when it is asked again | ns1 answer V / again ns1 timeout | verified 1/1 | The only nameserver has the TXT record.`),
  )('%s', (_, said, verdict, message) => {
    const judgement = judge(itemsOf(said));
    expect(`${judgement.verdict} ${judgement.found}/${judgement.asked}`).toBe(verdict);
    expect(judgement.message).toBe(message);
  });

  it.each([
    'svc-verify=abc',
    'SVC-VERIFY=ABC',
    ' svc-verify=ABC',
    'svc-verify=ABC ',
    '"svc-verify=ABC"',
    'svc-verify=ABCD',
    'svc-verify=AB',
    'svc-verify=ABC\0',
    '',
  ])('need exactly the octets of the value, and not "%s"', (value) => {
    const server = { ...word('ns1 answer'), values: [Buffer.from(value)] };
    expect(judge([link(HOST, [], { servers: [server] })])).toMatchObject({ verdict: 'other', found: 0 });
  });

  it('are all listed with their values', () => {
    expect(judge(['ns1 answer V', 'ns2 answer x', 'ns3 nodata', 'ns4 refused']).servers).toEqual([
      { server: name('ns1.example.com'), address: '5.0.0.1', outcome: 'found', values: [Buffer.from(VALUE)] },
      { server: name('ns2.example.com'), address: '5.0.0.2', outcome: 'other', values: [Buffer.from('x')] },
      { server: name('ns3.example.com'), address: '5.0.0.3', outcome: 'absent' },
      { server: name('ns4.example.com'), address: '5.0.0.4', outcome: 'error' },
    ]);
  });
});

describe('the path to the value', () => {
  const target = link('v.host.net', ['ns answer V']);
  const alias = (...words: string[]) => link(HOST, words);

  it('counts the servers at its end', () => {
    const links = [alias('ns1 alias v.host.net', 'ns2 alias v.host.net'), target];
    expect(judge(links)).toMatchObject({ verdict: 'verified', found: 1, asked: 1 });
  });

  it.each([
    ['another target', 'alias w.host.net'],
    ['no alias', 'nodata'],
    ['the value itself', 'answer V'],
    ['a separate zone', 'referral _svc-challenge.example.com'],
  ])('is disputed if one server has %s', (_, said) => {
    const links = [alias('ns1 alias v.host.net', 'ns2 alias v.host.net', `ns3 ${said}`), target];
    expect(judge(links)).toMatchObject({
      verdict: 'disagree',
      message: expect.stringContaining('ns3.example.com (5.0.0.3) differs from others'),
    });
    expect(judge([alias('ns1 alias v.host.net', `again ns1 ${said}`), target]).verdict).toBe('disagree');
  });

  it.each([
    'alias v.host.net',
    'referral _svc-challenge.example.com',
  ])('is disputed if one server answers %s at its end', (said) => {
    expect(judge(['ns1 answer V', 'ns2 answer V', `ns3 ${said}`]).verdict).toBe('disagree');
  });

  it('needs half of the servers at each link', () => {
    const links = [alias('ns1 alias v.host.net', 'ns2 timeout', 'ns3 timeout'), target];
    expect(judge(links).verdict).toBe('unknown');
  });

  it.each([
    ['loop', 'leads back to itself: it is one.'],
    ['limit', 'takes more queries, aliases or time than a check may use: it is one.'],
    ['unreachable', 'could not be reached: it is one.'],
  ] as const)('decides nothing if it ends in failure (%s)', (reason, message) => {
    const failure = { zone: name('example.com'), reason, message: 'it is one' };
    for (const said of ['alias v.host.net', 'answer V']) {
      const judgement = judge([`ns1 ${said}`, `ns2 ${said}`], { failure });
      expect(judgement).toMatchObject({ verdict: 'unknown', message: expect.stringContaining(message) });
    }
    expect(judge([], { failure })).toMatchObject({ verdict: 'unknown', found: 0, asked: 0, servers: [] });
  });

  /** The delegation to n1 and n2, and the answers of the parent's servers | verdict. */
  it.each(
    rowsOf(`
all servers above agree | referral n1 n2 / referral n2 n1 | verified
one of them is silent | referral n1 n2 / timeout | verified
one of them names others | referral n1 n2 / referral n1 n3 | disagree
one of them names fewer | referral n1 n2 / referral n1 | disagree
one of them denies the zone | referral n1 n2 / nxdomain | disagree
one of them holds the zone | referral n1 n2 / answer n1 n2 | verified
one of them holds another zone | referral n1 n2 / answer n3 | disagree
all of them hold the zone | answer n1 n2 / answer n1 n2 | verified
one of them refers to another zone | referral n1 n2 / referral | disagree
no server could be asked | | verified`),
  )('counts if %s', (_, said, verdict) => {
    const servers = itemsOf(said).map((text) => {
      const [outcome, ...ns] = text.split(' ');
      const at = { server: name('a.gtld'), address: '192.5.6.30' };
      return { ...at, outcome: outcome as TxtOutcome, ns: ns.map((each) => name(each)) };
    });
    const delegation = { zone: name('example.com'), nameservers: [name('n1'), name('n2')], servers };
    expect(judge([link(HOST, ['ns1 answer V'], { delegations: [delegation] })]).verdict).toBe(verdict);
  });

  it('proves nothing if it leads to untrusted servers', () => {
    const links = [alias('ns1 alias v.host.net'), target];
    for (const untrusted of [['ns1.example.com'], ['ns.example.com']]) {
      expect(judge(links, { untrusted })).toMatchObject({
        verdict: 'untrusted',
        found: 1,
        message: expect.stringContaining('a nameserver of this service'),
      });
    }
    expect(judge(links, { untrusted: ['ns.other.net'] }).verdict).toBe('verified');
    const hidden = [link(HOST, ['ns1 answer V'], { nameservers: [name('ns1.ours.net')] })];
    expect(judge(hidden, { untrusted: ['ns1.ours.net'] }).verdict).toBe('untrusted');
  });
});

describe('siblings of the challenge', () => {
  const direct = [link(HOST, ['ns1 answer V', 'ns2 answer V'])];
  const aliased = [link(HOST, ['ns1 alias v.host.net']), link('v.host.net', ['ns answer V'])];
  const six = (text: string) => Array<string>(6).fill(text);

  /** What sibling names do | the challenge itself | their answers (the first six times if there are several) | verdict. */
  it.each(
    rowsOf(`
have nothing | direct | nxdomain | verified
have other values | direct | answer x | verified
lead to other values | direct | alias w.net : x | verified
have the value | direct | nxdomain / answer V | wildcard
have the value among others | direct | nxdomain / answer x V | wildcard
lead to the value | direct | nxdomain / alias w.net : V | wildcard
lead to different names, unlike the challenge | direct | alias w.net : x / alias u.net : y | verified
have nothing, and the challenge is an alias | aliased | nxdomain | verified
lead elsewhere than the challenge | aliased | alias w.net : x | verified
lead to the target of the challenge | aliased | nxdomain / alias v.host.net | wildcard
lead there in the end | aliased | nxdomain / alias w.net v.host.net | wildcard
lead to names that change | aliased | alias w.net / alias u.net | wildcard
are not answered | direct | timeout | unknown
are mostly not answered | direct | timeout / nxdomain / nxdomain / nxdomain | unknown
are mostly answered | direct | nxdomain / timeout | verified
were not asked for | direct | | unknown`),
  )('that %s', (_, links, said, verdict) => {
    const [most, ...rest] = itemsOf(said);
    const beside = most === undefined ? [] : [...six(most), ...rest];
    expect(judge(links === 'direct' ? direct : aliased, { beside }).verdict).toBe(verdict);
  });

  it('do not change a verdict that is already determined', () => {
    expect(judge(['ns1 nodata'], { beside: six('answer V') }).verdict).toBe('absent');
    expect(judge(['ns1 answer V', 'ns2 nodata'], { beside: six('answer V') }).verdict).toBe('partial');
  });
});

it('public resolvers are shown and never decide', () => {
  const resolvers = [
    { address: '1.1.1.1', values: [Buffer.from(VALUE)], error: undefined },
    { address: '8.8.8.8', values: [], error: undefined },
    { address: '9.9.9.9', values: [Buffer.from('x')], error: undefined },
    { address: '9.9.9.10', values: undefined, error: 'no reply' },
  ];
  const shown = ['found', 'absent', 'other', 'error'];
  for (const [text, verdict] of [
    ['ns1 answer V', 'verified'],
    ['ns1 nodata', 'absent'],
  ] as const) {
    const judgement = judge([text], { resolvers });
    expect(judgement.verdict).toBe(verdict);
    expect(judgement.resolvers.map(({ outcome }) => outcome)).toEqual(shown);
  }
});

describe('a TXT value before the domain exists', () => {
  const state = (more: Partial<PreparationState> = {}): PreparationState => ({
    expiresAt: NOW + 14 * DAY,
    attempts: 0,
    foundAt: undefined,
    ...more,
  });
  /** Without jitter. */
  const next = (from: PreparationState, look: Look, random = 0.5) => nextPreparation(from, look, NOW, random);
  const EXPIRED: Look = { kind: 'expired' };

  describe('the result of a lookup', () => {
    // biome-ignore format: a table
    const rows: [string, number | undefined, Look, number | undefined, 'found' | 'lapsed' | undefined][] = [
      ['found for the first time',             undefined,            scheduled('verified'), NOW,           'found'],
      ['found again',                          NOW - DAY,            scheduled('verified'), NOW,           undefined],
      ['found again after it lapsed',          NOW - TXT_COUNTS_MS,  scheduled('verified'), NOW,           'found'],
      ['gone, but still counts',                 NOW - DAY,            scheduled('absent'),   NOW - DAY,     undefined],
      ['unknown, still counts',               NOW - DAY,            scheduled('unknown'),  NOW - DAY,     undefined],
      ['gone for fourteen days',               NOW - TXT_COUNTS_MS,  scheduled('absent'),   undefined,     'lapsed'],
      ['its value expired, still counts',     NOW - DAY,            EXPIRED,               NOW - DAY,     undefined],
      ['its value expired, fourteen days ago', NOW - TXT_COUNTS_MS,  EXPIRED,               undefined,     'lapsed'],
      ['at some servers',                      undefined,            scheduled('partial'),  undefined,     undefined],
      ['a wildcard',                           undefined,            scheduled('wildcard'), undefined,     undefined],
      ['at our own servers',                   undefined,            scheduled('untrusted'), undefined,    undefined],
    ];
    it.each(rows)('%s', (_, foundAt, look, after, turns) => {
      const { foundAt: is, turns: does } = next(state({ foundAt }), look);
      expect([is, does]).toEqual([after, turns]);
    });
  });

  describe('the next lookup', () => {
    it('becomes rare if the record is never published: about seventy times in total', () => {
      const pauses: number[] = [];
      let at = NOW;
      let from = state();
      for (;;) {
        const { nextAt, attempts } = nextPreparation(from, scheduled('absent'), at, 0.5);
        if (nextAt === undefined) break;
        pauses.push((nextAt - at) / MINUTE);
        from = { ...from, attempts };
        at = nextAt;
      }
      expect(pauses.slice(0, 9)).toEqual([2, 5, 10, 30, 60, 120, 240, 360, 360]);
      expect(pauses.length).toBeLessThan(70);
      expect(at).toBeLessThan(NOW + 14 * DAY);
    });

    it('starts again if the owner requests it, who has probably just published the record', () => {
      const asked = next(state({ attempts: 7 }), { kind: 'asked', verdict: 'absent' });
      expect([asked.attempts, asked.nextAt]).toEqual([0, NOW + MINUTE]);
    });

    it('comes once a day while the record is found, a fifth sooner or later', () => {
      const at = (random: number) => next(state(), scheduled('verified'), random).nextAt;
      expect([at(0), at(0.5), at(1)]).toEqual([NOW + 0.8 * DAY, NOW + DAY, NOW + 1.2 * DAY]);
    });

    it('is when the record lapses, if that is sooner or the value has expired', () => {
      const lapsing = state({ foundAt: NOW - TXT_COUNTS_MS + MINUTE, attempts: 9 });
      expect(next(lapsing, scheduled('absent')).nextAt).toBe(NOW + MINUTE);
      const expired = state({ foundAt: NOW - DAY, expiresAt: NOW });
      expect(next(expired, EXPIRED).nextAt).toBe(NOW - DAY + TXT_COUNTS_MS);
      expect(next(state({ expiresAt: NOW + MINUTE }), scheduled('verified')).nextAt).toBe(
        NOW + TXT_COUNTS_MS,
      );
    });

    it('is none if the value has expired and was never found', () => {
      expect(next(state({ expiresAt: NOW }), EXPIRED).nextAt).toBeUndefined();
    });
  });
});

describe('a domain that is verified by TXT', () => {
  const MAX = 28 * DAY;
  const BEGUN = 1_700_000_000_000;

  const state = (more: Partial<VerificationState> = {}): VerificationState => ({
    startedAt: BEGUN,
    expiresAt: BEGUN + 14 * DAY,
    attempts: 0,
    ...more,
  });
  /** Without jitter. */
  const next = (from: VerificationState, look: Look, at: number, random = 0.5) =>
    nextVerification(from, look, at, MAX, random);

  describe('the status after a lookup of the TXT record', () => {
    // biome-ignore format: a table
    const rows: [string, Look, number, string][] = [
      ['found',                              scheduled('verified'), 1 * DAY,  'active'],
      ['found after the time is over',       scheduled('verified'), 40 * DAY, 'active'],
      ['absent',                             scheduled('absent'),   27 * DAY, 'unverified'],
      ['absent when the time is over',       scheduled('absent'),   28 * DAY, 'disabled'],
      ['other when the time is over',        scheduled('other'),    28 * DAY, 'disabled'],
      ['partial when the time is over',      scheduled('partial'),  28 * DAY, 'disabled'],
      ['a wildcard when the time is over',   scheduled('wildcard'), 28 * DAY, 'disabled'],
      ['unknown when the time is over',      scheduled('unknown'),  40 * DAY, 'unverified'],
      ['expired before the time is over',    { kind: 'expired' },   27 * DAY, 'unverified'],
      ['expired when the time is over',      { kind: 'expired' },   28 * DAY, 'disabled'],
    ];
    it.each(rows)('%s', (_, look, afterMs, to) => {
      const from = state({ expiresAt: BEGUN + (look.kind === 'expired' ? 14 : 60) * DAY });
      const decision = next(from, look, BEGUN + afterMs);
      expect(decision.to).toBe(to);
      expect(decision.nextAt === undefined).toBe(to !== 'unverified');
    });
  });

  describe('the next lookup', () => {
    it('comes 1, 2, 5, 10, 30 minutes after the previous one, then every hour', () => {
      let from = state();
      let at = BEGUN + MINUTE; // the first
      const waits: number[] = [];
      for (let i = 0; i < 6; i++) {
        const { attempts, nextAt } = next(from, scheduled(i % 2 ? 'absent' : 'unknown'), at);
        waits.push(((nextAt as number) - at) / MINUTE);
        from = state({ attempts });
        at = nextAt as number;
      }
      expect(waits).toEqual([2, 5, 10, 30, 60, 60]);
    });

    it('starts again after a request', () => {
      const late = state({ attempts: 40 });
      expect(next(late, { kind: 'asked', verdict: 'absent' }, BEGUN)).toEqual({
        to: 'unverified',
        attempts: 0,
        nextAt: BEGUN + MINUTE,
      });
    });

    it('varies by a fifth', () => {
      const wait = (random: number) =>
        ((next(state({ attempts: 9 }), scheduled('absent'), BEGUN, random).nextAt as number) - BEGUN) /
        MINUTE;
      expect([wait(0), wait(0.5), wait(0.999_999_999)]).toEqual([48, 60, expect.closeTo(72, 3)]);
    });

    it('never comes after the value has expired: only UNVERIFIED_MAX remains', () => {
      const at = BEGUN + 14 * DAY - 30 * MINUTE;
      const end = BEGUN + MAX;
      expect(next(state({ attempts: 9 }), scheduled('absent'), at).nextAt).toBe(end);
      expect(next(state(), { kind: 'expired' }, at + DAY).nextAt).toBe(end);
      const renewed = state({ expiresAt: end + DAY, attempts: 9 });
      expect(next(renewed, scheduled('unknown'), end + DAY - MINUTE).nextAt).toBe(end + DAY);
    });
  });
});

const host = parseName('_svc-challenge.shop.uk.');

it('each has a code of the public list, and tells its reader what to do', () => {
  const said = [
    TXT_FINDINGS.NAME_IN_USE(),
    TXT_FINDINGS.RECORD_IN_USE(),
    TXT_FINDINGS.TAKEOVER_WAITS(),
    TXT_FINDINGS.TAKEOVER_SEEN(host, 'svc-verify=x'),
    TXT_FINDINGS.CLAIM_LOST(),
  ];
  expect(said).toHaveLength(Object.keys(TXT_FINDINGS).length);
  for (const { code } of said) expect(FINDING_CODES).toContain(code);
  const doing = [
    'passes to your account when your registrar shows',
    'remove it where you manage the DNS of this domain',
    'You do not need to change anything',
    'add your record again: name _svc-challenge.shop.uk, value svc-verify=x',
    'add your record again and enable this domain',
  ];
  for (const [i, { message }] of said.entries()) expect(message).toContain(doing[i]);
});

const HOUR = 60 * MINUTE;
const holding = (more: Partial<TxtHolding> = {}): TxtHolding => ({
  since: undefined,
  takeovers: [],
  isFrozen: false,
  isHeld: false,
  ...more,
});
const FOUR = [1, 2, 3, 4];

it.each<[string, Partial<TxtHolding>, object]>([
  [
    "takes nothing while the holder's is there, too",
    { isHeld: true, since: NOW - HOUR },
    { kind: 'held', nextAt: NOW + HOUR },
  ],
  [
    'is a first one, and another follows ten minutes later',
    {},
    { kind: 'seen', since: NOW, nextAt: NOW + 10 * MINUTE },
  ],
  [
    'gives the name to the claim ten minutes after the first one',
    { since: NOW - 10 * MINUTE },
    { kind: 'taken' },
  ],
  [
    'does not give the name earlier',
    { since: NOW - 10 * MINUTE + 1 },
    { kind: 'seen', since: NOW - 10 * MINUTE + 1 },
  ],
  [
    'waits while the breaker holds takeovers',
    { since: NOW - HOUR, isFrozen: true },
    { kind: 'seen', since: NOW - HOUR },
  ],
  [
    'waits if the name changed hands four times a day',
    { since: NOW - 6 * HOUR + 1, takeovers: FOUR },
    { kind: 'seen' },
  ],
  ['gives such a name after six hours', { since: NOW - 6 * HOUR, takeovers: FOUR }, { kind: 'taken' }],
  ['ignores a first one in the future', { since: NOW + HOUR }, { kind: 'seen', since: NOW }],
])("a lookup that finds the claim's value %s", (_, more, expected) => {
  expect(nextTxtTakeover(holding(more), NOW)).toMatchObject(expected);
});

it('a lookup that finds the value only at some servers starts again, an inconclusive one does not', () => {
  expect(sinceAfter(NOW, 'unknown')).toBe(NOW);
  for (const verdict of ['absent', 'other', 'partial', 'wildcard', 'disagree', 'untrusted'] as const)
    expect(sinceAfter(NOW, verdict)).toBeUndefined();
});

it('a value that any server has, in any reply, exists', () => {
  const host = parseName('_svc-challenge.example.com.');
  const evidence = txtEvidenceOf(host, { servers: [['a'], ['a', 'b'], 'timeout'] });
  expect(['a', 'b', 'c', 'A'].map((value) => isThere(evidence, value))).toEqual([true, true, false, false]);
  const [link] = evidence.links;
  const later = {
    ...evidence,
    links: link ? [{ ...link, again: [{ ...link.servers[0], values: [Buffer.from('c')] }] }] : [],
  };
  expect(isThere(later as typeof evidence, 'c')).toBe(true);
});
