import { describe, expect, it, test } from 'vitest';
import { abort, disable, enable, newMachine, roll } from '../../src/checks/dnssec/goals.ts';
import { heldDs } from '../../src/checks/dnssec/held-ds.ts';
import { firstLedger, withPositions, withServing, withWritten } from '../../src/checks/dnssec/keep-ledger.ts';
import {
  allValidate,
  dsGoneAt,
  type Ledger,
  maySee,
  servedGoneAt,
  type Triple,
  validates,
} from '../../src/checks/dnssec/ledger.ts';
import type { Machine, Waiting } from '../../src/checks/dnssec/machine.ts';
import { nextStep } from '../../src/checks/dnssec/next-keys.ts';
import { isDsDue, isPreflightDue, nextLookIn } from '../../src/checks/dnssec/next-look.ts';
import { judgePreflight } from '../../src/checks/dnssec/preflight.ts';
import { RULES } from '../../src/checks/dnssec/rules.ts';
import { oldZsk } from '../../src/checks/dnssec/scheduled-roll.ts';
import { judgeTheirKeys, readTheirKeys } from '../../src/checks/dnssec/their-keys.ts';
import { DNSSEC_STATUSES, dnssecStatus } from '../../src/checks/dnssec/told/dnssec-status.ts';
import type { Message } from '../../src/dns/message/message.ts';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { makeKey, type SigningKey, dsOf as signedDsOf, signSet } from '../support/dnssec/signing.ts';
import { dsOf, madeKey } from '../support/simulation/dnssec/made-keys.ts';
import { DAY, QuietDomain, START } from '../support/simulation/dnssec/quiet-domain.ts';
import { REAL, simulateKeys } from '../support/simulation/dnssec/simulate-keys.ts';
import { name } from '../support/world/zone-exchange.ts';

const HOUR = 3_600_000;
const A = madeKey('a', 'csk', 13);
const B = madeKey('b', 'csk', 13);
const E = madeKey('e', 'csk', 15);
const DOMAIN = name('shop.test');

// Simulates some domains for 400 days. `npm run prove dnssec` simulates ten thousand.
it('no domain becomes bogus by our actions, and every goal is reached if the registrar acts', () => {
  const { violations, unreached, reached } = simulateKeys(1, 1, REAL);
  expect([violations, unreached]).toEqual([[], []]);
  expect(reached).toBe(1);
});

describe('DS records in a zone that this fleet serves', () => {
  const DOMAIN = parseName('shop.example.');
  const HELD = {
    zone: parseName('example.'),
    cut: DOMAIN,
    ns: [parseName('ns1.example.net.')],
    ds: [] as Uint8Array[],
    glue: [],
    ttl: 300,
    exists: true,
    alias: false,
  };
  const SERVED = { isServed: true, observedAt: 5 };

  it('returns the DS records at the delegation in our parent zone', () => {
    const ds = [Uint8Array.of(0, 1, 13, 2, 7)];
    const { parent, answers } = heldDs(DOMAIN, { ...HELD, ds }, SERVED);
    expect(parent).toBe(HELD.zone);
    expect(answers).toMatchObject([{ address: '', outcome: 'positive', ds, ttl: 86_400 }]);
  });

  it('returns none if the delegation has no DS records', () => {
    expect(heldDs(DOMAIN, HELD, SERVED).answers).toMatchObject([{ outcome: 'none', ds: [] }]);
  });

  it('is inconclusive while a node serves the previous version', () => {
    for (const ds of [[], [Uint8Array.of(0, 1, 13, 2, 7)]]) {
      const { answers } = heldDs(DOMAIN, { ...HELD, ds }, { ...SERVED, isServed: false });
      expect(answers).toMatchObject([{ outcome: 'unknown', ds: [], ttl: undefined }]);
    }
  });
});

const algorithmOf = (id: string) => [A, B, E].find((key) => key.id === id)?.algorithm ?? 0;

const triple = (text: string): Triple => {
  const [ds = '', keys = '', keySigners = '', dataSigners = ''] = text.split('|').map((part) => part.trim());
  return { ds: [...ds], keys: [...keys], keySigners: [...keySigners], dataSigners: [...dataSigners] };
};

it.each([
  ['   |    |    |   ', true, 'an unsigned zone without DS'],
  ['   | a  | a  | a ', true, 'a signed zone without DS is insecure'],
  ['   | a  | a  |   ', true, 'without DS, nothing is verified'],
  ['a  | a  | a  | a ', true, 'a chain'],
  ['a  |    |    | a ', false, 'no DNSKEY for the DS'],
  ['a  | b  | b  | b ', false, 'a DS of a withdrawn key'],
  ['a  | a  |    | a ', false, 'a DNSKEY set without a signature'],
  ['a  | a  | a  |   ', false, 'unsigned data below a DS'],
  ['a  | ab | ab | a ', true, 'the new key is published'],
  ['a  | ab | b  | a ', false, 'only a key without DS signs the DNSKEY set'],
  ['a  | a  | a  | b ', false, 'data is signed by a key that is not published yet'],
  ['a  | ab | ab | b ', true, 'data is signed by the new key'],
  ['ab | a  | a  | a ', true, 'one matching DS is enough if all have the same algorithm'],
  ['b  | ab | ab | a ', true, 'the DS matches the new key, data is signed with the old one'],
  ['a  | a  | a  | ae', true, 'signatures of an unknown algorithm are ignored'],
  ['a  | ae | ae | a ', false, 'each algorithm of the DNSKEY set must sign all data'],
  ['a  | ae | a  | ae', false, 'each algorithm of the DNSKEY set must sign it'],
  ['a  | ae | ae | ae', true, 'both algorithms sign everything'],
  ['ae | ae | ae | ae', true, 'both algorithms have a DS'],
  ['ae | a  | a  | a ', false, 'each algorithm of the DS set must sign the DNSKEY set'],
  ['e  | ae | ae | ae', true, 'the DS is of the new algorithm'],
  ['e  | e  | e  | ae', true, 'the old key is withdrawn before its signatures'],
  ['e  | ae | ae | e ', false, 'the old signatures must not be removed before their key'],
])('a triple (DS | DNSKEY | its signers | signers of data) %s: %s, %s', (text, expected) => {
  expect(validates(triple(text), algorithmOf)).toBe(expected);
});

describe('possible cache contents', () => {
  const at = 1_000 * HOUR;
  const ended = (lastAt: number, ttl: number) => ({ lastAt, ttl, until: 2, isEnded: true });
  const inForce = { lastAt: at - 900 * HOUR, ttl: 60, until: null, isEnded: false };
  const ledger: Ledger = {
    ds: [
      { ds: ['a'], lastAt: at - 60 * HOUR, ttl: 86_400 },
      { ds: ['b'], lastAt: at - 28 * HOUR, ttl: 86_400 },
    ],
    keySets: [
      { keys: ['a'], signers: ['a'], ...ended(at - 29 * HOUR, 3600) },
      { keys: ['a', 'b'], signers: ['a', 'b'], ...ended(at - 28 * HOUR, 3600) },
      { keys: ['b'], signers: ['b'], ...inForce },
    ],
    data: [
      { signers: ['a'], ...ended(at - 50 * HOUR, 2 * 86_400) },
      { signers: ['b'], ...inForce },
    ],
  };
  const seen = maySee(ledger, [['a']], at, RULES);

  it("include each DS set until its TTL and the parent's lag have passed, and the current one", () => {
    expect(seen.ds).toEqual([['b'], ['a']]);
    expect(dsGoneAt({ ds: [], lastAt: 0, ttl: 60 }, RULES)).toBe(60_000 + RULES.parentSlackMs);
  });

  it('include each current DNSKEY set and signer, and previous ones in caches or backups', () => {
    expect(seen.keySets.map(({ keys }) => keys.join(''))).toEqual(['ab', 'b']);
    expect(seen.data.map(({ signers }) => signers.join(''))).toEqual(['a', 'b']);
    expect(servedGoneAt(ended(0, 60), RULES)).toBe(RULES.backupAfterMs + RULES.nodeSlackMs);
    expect(servedGoneAt(ended(0, 172_800), RULES)).toBe(172_800_000 + RULES.nodeSlackMs);
    expect(servedGoneAt({ ...ended(0, 60), isEnded: false }, RULES)).toBe(Number.POSITIVE_INFINITY);
  });

  it('validate if every triple does', () => {
    expect(allValidate(seen, [A, B])).toBe(false);
    expect(allValidate({ ...seen, ds: [['b']] }, [A, B])).toBe(false);
    expect(allValidate({ ...seen, ds: [['b']], keySets: seen.keySets.slice(0, 1) }, [A, B])).toBe(true);
    expect(allValidate({ ...seen, ds: [[]] }, [A, B])).toBe(true);
  });
});

it('a version that ends between two examinations was served with the TTL that the zone had until then', () => {
  const signed = { keys: ['a'], keySigners: ['a'], dataSigners: ['a'] };
  const begun = withServing(firstLedger(0, 300), signed, HOUR, { keys: 3600, data: 300 });
  const written = withWritten(begun, signed, 1);
  const behind = withPositions(written, () => false, 2 * HOUR, 300);
  const { data, keySets } = withPositions(behind, () => true, 3 * HOUR, 86_400);
  const unsigned = { ttl: 86_400, lastAt: 3 * HOUR, until: 1, isEnded: true };
  expect([data[0], keySets[0]]).toMatchObject([unsigned, unsigned]);
  const later = withPositions({ ds: [], data, keySets }, () => true, 4 * HOUR, 172_800);
  expect(later.data[0]).toEqual(data[0]);
});

const C = madeKey('c', 'csk', 13);
const Z = madeKey('z', 'zsk', 13);
const DAYS = 24;

/** Each state: the previous one, and what leads to it. */
const STATES: Readonly<Record<string, readonly [string | undefined, (domain: QuietDomain) => void]>> = {
  off: [undefined, (d) => d.run(2)],
  signing: ['off', (d) => [Object.assign(d, { isWriting: true }), d.want((m) => enable(m, [A])), d.run(1)]],
  waiting: ['off', (d) => [d.want((m) => enable(m, [A])), d.run(10)]],
  asked: ['waiting', (d) => [d.run(10 * DAYS, ({ asked }) => asked.length > 0), d.run(2)]],
  secure: ['asked', (d) => [d.show(dsOf(A)), d.run(3)]],
  published: ['secure', (d) => [d.want((m) => roll(m, [B], false)), d.run(5)]],
  swapped: ['published', (d) => [d.run(10 * DAYS, ({ asked }) => asked.includes('b')), d.run(2)]],
  replaced: ['swapped', (d) => [d.show(dsOf(B)), d.run(8 * DAYS - 24)]],
  presigned: ['secure', (d) => [d.want((m) => roll(m, [E], false)), d.run(5)]],
  both: ['presigned', (d) => [d.run(10 * DAYS, ({ asked }) => asked.includes('e')), d.run(2)]],
  removing: ['secure', (d) => [d.want((m) => disable(m, false)), d.run(5)]],
  removed: ['removing', (d) => [d.show(), d.run(6 * DAYS)]],
  unsigning: ['removed', (d) => [Object.assign(d, { isWriting: true }), d.run(3 * DAYS)]],
  unsigned: ['removed', (d) => d.run(3 * DAYS)],
};

/** Returns a DS of the first key with a wrong digest. */
const MISTYPED = dsOf(A).replace(/.$/, 'F');

/** What the parent's two addresses show for the next three hours. `away`: no DS, and other operators' servers. */
const EVIDENCE: Readonly<Record<string, (d: QuietDomain) => (readonly string[] | undefined)[]>> = {
  same: (d) => [...d.shown],
  none: () => [[], []],
  a: () => [[dsOf(A)], [dsOf(A)]],
  'a,-': () => [[dsOf(A)], []],
  b: () => [[dsOf(B)], [dsOf(B)]],
  ab: () => [
    [dsOf(A), dsOf(B)],
    [dsOf(A), dsOf(B)],
  ],
  other: () => [['1 13 2 00FF'], ['1 13 2 00FF']],
  typo: () => [[MISTYPED], [MISTYPED]],
  silent: () => [undefined, undefined],
  away: (d) => {
    d.delegation = { kind: 'not_ours' };
    return [[], []];
  },
};

const GOALS: Readonly<Record<string, (m: Machine) => Machine | string>> = {
  on: (m) => enable(m, m.keys.length > 0 ? [] : [A]),
  off: (m) => disable(m, false),
  roll: (m) => roll(m, [C], false),
  zsk: (m) => roll(m, [Z], false),
  abort,
};

/** `states goals | evidence … | steps of the next three hours, then the cause of the wait`, or why the goal is refused. */
const TABLE = `
off,unsigned on                                  | same none b other typo silent          | sign > caches
off,unsigned on                                  | a a,- ab                               | bring_back > caches
off,unsigned on                                  | away                                   | sign > delegation a
off off                                          | any                                    | rest
off,removing,removed,unsigning,unsigned roll,zsk | any                                    | off
off,secure,unsigned abort                        | any                                    | nothing
signing on,off,roll,zsk,abort                    | any                                    | writing
waiting,published,presigned on                   | same none a a,- b ab other typo silent | caches
waiting on                                       | away                                   | delegation a
waiting off,abort                                | same none b other typo silent away     | unsign > rest
waiting off,abort                                | a a,- ab                               | ds_unwanted a
waiting roll                                     | same none b other typo silent away     | publish > change_signatures > withdraw > nodes
waiting roll,zsk                                 | a a,- ab                               | caches
waiting zsk                                      | same none b other typo silent          | publish > change_signatures > caches
waiting zsk                                      | away                                   | publish > change_signatures > delegation a
asked on                                         | same none a,- b other typo silent      | ds_wanted a
asked on                                         | a ab                                   | rest
asked,secure on                                  | away                                   | ask_none > delegation a
asked off,abort                                  | same none b other typo silent away     | ask_none > stay a
asked off,abort                                  | a a,- ab                               | ask_none > ds_unwanted a
asked,secure roll,zsk                            | same none a a,- b ab other typo silent | publish > caches
asked,secure roll,zsk                            | away                                   | ask_none > publish > caches
secure on                                        | same a ab silent                       | rest
secure on                                        | none a,- b other typo                  | ds_wanted a
secure,presigned,both off                        | same a a,- ab silent                   | ask_none > ds_unwanted a
secure,presigned off                             | none b other typo away                 | ask_none > stay a
published,presigned on                           | away                                   | ask_none > caches
published,swapped off                            | same a a,- silent                      | ask_none > ds_unwanted a
published off                                    | none other typo away                   | ask_none > stay a
published,swapped off                            | b                                      | ask_none > ds_unwanted b
published,swapped,replaced off                   | ab                                     | ask_none > ds_unwanted ab
published,swapped,replaced,presigned,both roll,zsk | any                                    | busy
published abort                                  | same a silent                          | withdraw > rest
published abort                                  | none a,- other typo                    | withdraw > ds_wanted a
published abort                                  | b                                      | ds_wanted a
published abort                                  | ab                                     | ds_unwanted b
published abort                                  | away                                   | ask_none > withdraw > delegation a
swapped on                                       | same none a a,- other typo silent      | ds_wanted b
swapped on                                       | b                                      | stay a
swapped,replaced on                              | ab                                     | ds_unwanted a
swapped,replaced on                              | away                                   | ask_none > delegation b
swapped,replaced off                             | none other typo away                   | ask_none > stay ab
swapped abort                                    | same a silent                          | change_signatures > ask > stay b
swapped abort                                    | none a,- b other typo                  | change_signatures > ask > ds_wanted a
swapped,replaced abort                           | ab                                     | change_signatures > ask > ds_unwanted b
swapped,replaced,presigned abort                 | away                                   | ask_none > change_signatures > delegation a
replaced on                                      | same b silent                          | withdraw > rest
replaced on                                      | none a a,- other typo                  | ds_wanted b
replaced off                                     | same b silent                          | ask_none > ds_unwanted b
replaced off                                     | a a,-                                  | ask_none > ds_unwanted a
replaced abort                                   | same none a,- b other typo silent      | change_signatures > ask > ds_wanted a
replaced abort                                   | a                                      | change_signatures > ask > stay b
presigned abort                                  | same a ab silent                       | change_signatures > rest
presigned abort                                  | none a,- b other typo                  | change_signatures > ds_wanted a
both on                                          | same none a a,- b ab other typo silent | ds_wanted e
both on                                          | away                                   | ask_none > delegation e
both off                                         | none b other typo away                 | ask_none > stay ae
both abort                                       | away                                   | ask_none > delegation a
both abort                                       | same a ab silent                       | ask > stay e
both abort                                       | none a,- b other typo                  | ask > ds_wanted a
removing,removed on,abort                        | away                                   | delegation a
removing on,abort                                | none a,- b other typo                  | ask > ds_wanted a
removing on,abort                                | same a ab silent                       | ask > rest
removing off                                     | same a a,- ab silent                   | ds_unwanted a
removing off                                     | none b other typo away                 | stay a
removed on,abort                                 | same none a,- b other typo silent      | ask > ds_wanted a
removed on,abort                                 | a ab                                   | ask > rest
removed off                                      | a a,- ab                               | ds_unwanted a
removed off                                      | same none b other typo silent away     | stay a
unsigning on,off,abort                           | any                                    | writing
unsigned off                                     | same none b other typo silent away     | rest
unsigned off                                     | a a,- ab                               | bring_back > ds_unwanted a
`;

const ROWS = TABLE.trim()
  .split('\n')
  .flatMap((row) => {
    const [from = '', evidence = '', then = ''] = row.split('|').map((cell) => cell.trim());
    const [states = '', goals = ''] = from.split(' ');
    const kinds = evidence === 'any' ? Object.keys(EVIDENCE) : evidence.split(' ');
    return states
      .split(',')
      .flatMap((state) => goals.split(',').map((goal) => ({ state, goal, then, kinds })));
  });

const reached = new Map<string, QuietDomain>();

function reach(state: string): QuietDomain {
  const known = reached.get(state);
  if (known !== undefined) return known.copy();
  const [before, leadOn] = STATES[state] as (typeof STATES)[string];
  const domain = before === undefined ? new QuietDomain() : reach(before);
  leadOn(domain);
  reached.set(state, domain);
  return domain.copy();
}

function begin(state: string, evidence: string): QuietDomain {
  const domain = reach(state);
  domain.shown = EVIDENCE[evidence]?.(domain) ?? [];
  return domain;
}

function play(state: string, goal: string, evidence: string): string {
  const domain = begin(state, evidence);
  const before = domain.steps.length;
  const changed = GOALS[goal]?.(domain.machine);
  if (typeof changed === 'string') return changed;
  domain.machine = changed as Machine;
  domain.run(3);
  const next = nextStep(domain.machine, domain.delegation, domain.at, RULES);
  const steps = domain.steps.slice(before).map(({ kind }) => kind);
  const rest =
    next.kind === 'wait' ? [next.cause, ...(next.keys.length > 0 ? [next.keys.join('')] : [])] : [];
  return [...steps, rest.length > 0 ? rest.join(' ') : next.kind].join(' > ');
}

describe('the table of steps', () => {
  it('has one row per combination of state, goal and evidence', () => {
    const all = Object.keys(STATES).flatMap((state) =>
      Object.keys(GOALS).flatMap((goal) => Object.keys(EVIDENCE).map((kind) => `${state} ${goal} ${kind}`)),
    );
    const rows = ROWS.flatMap(({ state, goal, kinds }) => kinds.map((kind) => `${state} ${goal} ${kind}`));
    expect(rows.sort()).toEqual(all.sort());
  });

  it('has states of every status', () => {
    const statuses = Object.keys(STATES).flatMap((state) =>
      ['same', 'other'].map((evidence) => {
        const domain = begin(state, evidence);
        domain.run(1);
        return dnssecStatus(domain.machine, RULES);
      }),
    );
    expect([...new Set([...statuses, 'verbatim'])].sort()).toEqual([...DNSSEC_STATUSES].sort());
  });

  it.each(ROWS)('$state, $goal, the parent shows $kinds: $then', ({ state, goal, kinds, then }) => {
    expect(kinds.map((kind) => [kind, play(state, goal, kind)])).toEqual(kinds.map((kind) => [kind, then]));
  });
});

describe('the time of the next DNSSEC check', () => {
  const SECOND = 1000;
  const MINUTE = 60 * SECOND;
  const AT = 1_700_000_000_000;
  const KEY = { id: '1', role: 'csk', algorithm: 13, keyTag: 1, ds: ['1 13 2 AA'] } as const;
  const NEW = enable(newMachine(AT, 300), [KEY]);
  const SIGNED: Machine = {
    ...NEW,
    serving: { keys: ['1'], keySigners: ['1'], dataSigners: ['1'] },
    version: 7,
    servedAt: AT,
  };
  const asked = (askedAt: number) => ({ ...SIGNED.parent, askedAt, observedAt: askedAt });
  const waiting = (cause: Waiting['cause'], rest: Partial<Waiting> = {}): Machine => ({
    ...SIGNED,
    waiting: { cause, since: AT, keys: [], ...rest },
  });

  const IMPORTED: Machine = {
    ...waiting('ds_wanted'),
    askedAt: AT,
    keys: [{ ...KEY, shared: 'imported' }],
  };
  const UNPROVEN: Machine = {
    ...IMPORTED,
    preflight: { at: AT, verifiedBy: [], hasStrangers: false, failure: 'no answer' },
  };
  const JUST_ASKED = { ...waiting('ds_wanted'), askedAt: AT };
  const UNSIGNED = { ...newMachine(AT, 300), askedAt: AT };

  it.each([
    ['after seconds while nodes lack a step', waiting('nodes'), AT, 5 * SECOND],
    ['after minutes if a node lacks it for long', waiting('nodes'), AT + HOUR, 5 * MINUTE],
    ['when the caches have expired', waiting('caches', { until: AT + 2 * HOUR }), AT, 2 * HOUR + 1],
    ['no later than the parent is queried', waiting('caches', { until: AT + 2 * DAY }), AT, 6 * HOUR],
    ['every five minutes after a DS was requested', JUST_ASKED, AT + HOUR, 5 * MINUTE],
    ['every hour days later', JUST_ASKED, AT + DAY, HOUR],
    ['every minute while answers do not verify', waiting('preflight'), AT, MINUTE],
    ['seconds after every node has imported keys', IMPORTED, AT, 5 * SECOND],
    ['every minute while answers with imported keys do not verify', UNPROVEN, AT, MINUTE],
    ['every twelve hours at rest', SIGNED, AT, 12 * HOUR],
    ['every hour after the zone was unsigned', UNSIGNED, AT + DAY, HOUR],
    ['every twelve hours once its keys are destroyed', UNSIGNED, AT + 60 * DAY, 12 * HOUR],
  ] as const)('the next examination comes %s', (_, machine, at, expected) => {
    expect(nextLookIn(machine, at)).toBe(expected);
  });

  const WANTED = { ...waiting('ds_wanted', { since: AT + HOUR }), parent: asked(AT) };

  it.each([
    ['immediately if it never was', SIGNED, AT, true],
    ['before the first signature', NEW, AT, true],
    ['not for a zone that was never signed', newMachine(AT, 300), AT, false],
    ['not again within twelve hours of rest', { ...SIGNED, parent: asked(AT) }, AT + 11 * HOUR, false],
    ['again after twelve hours of rest', { ...SIGNED, parent: asked(AT) }, AT + 12 * HOUR, true],
    ['when a step needs to know', { ...waiting('observation'), parent: asked(AT) }, AT + 2 * HOUR, true],
    ['soon after a DS was requested', WANTED, AT + HOUR, true],
  ] as const)('the parent is queried %s', (_, machine, at, expected) => {
    expect(isDsDue(machine, at)).toBe(expected);
  });

  describe("the domain's own servers are queried", () => {
    const verified = { at: AT, verifiedBy: ['1'], hasStrangers: false };
    const cached = { ...waiting('caches', { until: AT + DAY }), preflight: verified };
    it.each([
      ['not before every node has the step', { ...SIGNED, servedAt: null }, AT, false],
      ['not for an unsigned zone', newMachine(AT, 300), AT, false],
      ['after every step', SIGNED, AT, true],
      ['not again if they were queried since', { ...SIGNED, preflight: verified }, AT + HOUR, false],
      ['again while they fail', { ...waiting('preflight'), preflight: verified }, AT + HOUR, true],
      ['again while answers with imported keys do not verify', UNPROVEN, AT + HOUR, true],
      ['again when the wait of a step has ended', cached, AT + DAY, true],
      ['not while that wait lasts', cached, AT + HOUR, false],
    ] as const)('%s', (_, machine, at, expected) => {
      expect(isPreflightDue(machine, at, RULES)).toBe(expected);
    });
  });
});

const server = (i: number, verifiedBy: readonly string[] | 'silent') =>
  ({
    server: DOMAIN,
    address: `5.9.0.${i}`,
    outcome: verifiedBy === 'silent' ? 'silent' : 'answered',
    verifiedBy: verifiedBy === 'silent' ? [] : verifiedBy,
    hasStrangers: false,
    error: verifiedBy.length === 0 ? 'a signature is invalid' : undefined,
  }) as const;

const evidence = { missing: [], failure: undefined };

describe('the preflight of a key', () => {
  it.each([
    [4, 0, 0, 0, ['a']],
    [3, 1, 0, 0, ['a']],
    [3, 0, 1, 0, ['a']],
    [2, 1, 0, 0, []],
    [3, 1, 1, 0, []],
    [0, 0, 0, 0, []],
    [0, 2, 0, 0, []],
    [9, 0, 0, 1, []],
  ])('%i verified, %i silent, %i without address, %i not verified: %j', (good, silent, missing, bad, keys) => {
    const { verifiedBy, failure } = judgePreflight({
      ...evidence,
      servers: [
        ...Array.from({ length: good }, (_, i) => server(i, ['a'])),
        ...Array.from({ length: silent }, (_, i) => server(i, 'silent')),
        ...Array.from({ length: bad }, (_, i) => server(i, [])),
      ],
      missing: Array.from({ length: missing }, () => DOMAIN),
    });
    expect(verifiedBy).toEqual(keys);
    expect(failure === undefined).toBe(keys.length > 0);
  });

  it('counts a key only if every address verifies with it', () => {
    const servers = [server(1, ['a', 'b']), server(2, ['b']), server(3, ['b', 'c'])];
    expect(judgePreflight({ ...evidence, servers }).verifiedBy).toEqual(['b']);
  });

  it('says nothing while the parent does not delegate the domain', () => {
    expect(judgePreflight({ ...evidence, servers: [], failure: 'to nobody' })).toEqual({
      verifiedBy: [],
      hasStrangers: false,
      failure: 'to nobody',
    });
  });
});

const KSK = madeKey('k', 'ksk', 13);
const ZSK = madeKey('z', 'zsk', 13);
const CSK = madeKey('c', 'csk', 13);

function secure(...keys: ReturnType<typeof madeKey>[]): QuietDomain {
  const domain = new QuietDomain();
  domain.want((machine) => enable(machine, keys));
  domain.run(24 * 3);
  domain.show(dsOf(keys[0] as typeof KSK));
  domain.run(24);
  expect(domain.machine.waiting).toBeNull();
  return domain;
}

const old = ({ machine }: QuietDomain, days: number, signedZoneId = 100) =>
  oldZsk(machine, { everyMs: 30 * DAY, signedZoneId, madeAt: () => START }, START + days * DAY);

test('a ZSK is replaced if it is old', () => {
  const domain = secure(KSK, ZSK);
  expect(old(domain, 29.9)).toBeUndefined();
  expect(old(domain, 30)).toBe('z');
});

test('rollovers of zones that were signed together are spread over a tenth of the interval', () => {
  const domain = secure(KSK, ZSK);
  expect(old(domain, 31.4, 50)).toBeUndefined();
  expect(old(domain, 31.5, 50)).toBe('z');
  expect(old(domain, 33, 99)).toBe('z');
});

test('a key that the parent knows is not replaced', () => {
  expect(old(secure(CSK), 300)).toBeUndefined();
});

test('no ZSK is replaced while anything else is in progress or requested', () => {
  const rolling = secure(KSK, ZSK);
  rolling.want((machine) => roll(machine, [madeKey('n', 'zsk', 13)], false));
  expect(old(rolling, 300)).toBeUndefined();
  rolling.run(24 * 8);
  expect(old(rolling, 300)).toBe('n');
  const leaving = secure(KSK, ZSK);
  leaving.want((machine) => disable(machine, false));
  leaving.run(1);
  expect(old(leaving, 300)).toBeUndefined();
});

describe("keys at another operator's servers", () => {
  const AT = 1_800_000_000;
  const TIME = { inception: AT - 3600, expiration: AT + 3600 };
  const ENTRY = makeKey(13);
  const DATA = makeKey(13, 256);
  const EVIL = makeKey(13);
  const DS = [signedDsOf(DOMAIN, ENTRY)];

  const read = (message: Message | undefined, ds = DS, at = AT) =>
    readTheirKeys(DOMAIN, { address: '192.0.2.1', message }, ds, at);
  const judge = (...messages: (Message | undefined)[]) =>
    judgeTheirKeys({ servers: messages.map((message) => read(message)), failure: undefined });

  it('are found if every server shows a set that matches the DS', () => {
    const good = shown([ENTRY, DATA], [ENTRY]);
    expect(judge(good, good, good, undefined)).toEqual({
      kind: 'found',
      keys: [ENTRY.rdata, DATA.rdata],
      ttl: 3600,
      isSame: true,
    });
  });

  const right = shown([ENTRY], [ENTRY]);
  const slippedIn = { ...right, answers: [...right.answers, ...shown([EVIL], []).answers] };
  it.each([
    ["only an attacker's keys", shown([EVIL], [EVIL])],
    ["an attacker's key next to theirs, signed by it", shown([ENTRY, EVIL], [EVIL])],
    ['a set without a signature', shown([ENTRY, DATA], [])],
    ['a set signed by their ZSK', shown([ENTRY, DATA], [DATA])],
    ['an answer without AA', shown([ENTRY], [ENTRY], { aa: false })],
    ['no keys', shown([], [])],
    ['a key that was added after the signature', slippedIn],
  ])('are not accepted from %s, regardless of the other servers', (_, bad) => {
    const good = shown([ENTRY, DATA], [ENTRY]);
    expect(judge(bad)).toMatchObject({ kind: 'failed' });
    expect(judge(good, bad, good, good)).toMatchObject({ kind: 'failed' });
  });

  it('are not accepted if the DS is for another key or not usable, or a signature has expired', () => {
    const good = shown([ENTRY], [ENTRY]);
    expect(read(good).error).toBeUndefined();
    expect(read(good, [signedDsOf(DOMAIN, EVIL)]).error).toContain('no key matches');
    expect(read(good, [signedDsOf(name('other.test'), ENTRY)]).error).toContain('no key matches');
    expect(read(good, []).error).toContain('no DS');
    expect(read(good, DS, AT + 2 * 86_400).error).toBeDefined();
  });

  it('are reported to differ, and only those that all servers show count', () => {
    const more = shown([ENTRY, DATA], [ENTRY]);
    const fewer = shown([ENTRY], [ENTRY]);
    for (const messages of [
      [more, fewer],
      [fewer, more],
    ])
      expect(judge(...messages)).toMatchObject({ keys: [ENTRY.rdata], isSame: false });
  });

  it('are not evaluated while more than a quarter of the servers is silent, or none could be queried', () => {
    const good = shown([ENTRY], [ENTRY]);
    expect(judge(good, good, undefined)).toMatchObject({ kind: 'failed' });
    expect(judge()).toMatchObject({ kind: 'failed' });
    expect(judgeTheirKeys({ servers: [], failure: 'to nobody' })).toEqual({
      kind: 'failed',
      message: 'to nobody',
    });
  });

  function shown(
    keys: readonly SigningKey[],
    signers: readonly SigningKey[],
    more: Partial<Message> = {},
  ): Message {
    const set = { owner: DOMAIN, type: TYPE.DNSKEY, ttl: 3600, rdata: keys.map(({ rdata }) => rdata) };
    const record = (type: number, rdata: Uint8Array) => ({ owner: DOMAIN, type, class: 1, ttl: 3600, rdata });
    const answers = [
      ...set.rdata.map((rdata) => record(TYPE.DNSKEY, rdata)),
      ...signers.map((key) => record(TYPE.RRSIG, signSet(set, key, { zone: DOMAIN, time: TIME }))),
    ];
    return { aa: true, answers, ...more } as Message;
  }
});
