import { describe, expect, it } from 'vitest';
import type { ServerEvidence, ServerOutcome } from '../../../src/checks/delegation/evidence.ts';
import { type Name, printName, ROOT } from '../../../src/dns/name.ts';
import type { CutState } from '../../../src/resolver/state/zone-cache.ts';
import { nextParentStep, nextStep } from '../../../src/resolver/walk/next-step.ts';
import { name } from '../../support/world/zone-exchange.ts';

interface TestZone {
  readonly zone: Name;
}

/** `com: cut` lines; names that are not there are unknown. */
function step(wanted: string, known: Record<string, CutState<TestZone>['kind']>, inclusive = false): string {
  const start = { zone: ROOT };
  const states = new Map<Name, CutState<TestZone>>();
  for (const [text, kind] of Object.entries(known)) {
    const at = name(text);
    const failure = { zone: ROOT, reason: 'unreachable', message: '' } as const;
    if (kind === 'cut') states.set(at, { kind, zone: { zone: at } });
    else if (kind === 'failed') states.set(at, { kind, failure });
    else states.set(at, { kind });
  }
  const next = nextStep(name(wanted), start, (at) => states.get(at), { inclusive });
  const path = next.path.map(({ zone }) => printName(zone)).join(' ');
  expect(next.path.at(-1)).toBe(next.zone);
  switch (next.kind) {
    case 'ask':
      return `ask ${printName(next.zone.zone)} about ${printName(next.name)}`;
    case 'arrived':
      return `arrived by ${path}${next.doubt === undefined ? '' : `, doubting ${printName(next.doubt)}`}`;
    case 'failed':
      return `failed: ${next.failure.reason}`;
  }
}

describe('on the way to the parent', () => {
  it.each<[string, string, Record<string, CutState<TestZone>['kind']>, string]>([
    ['the root is the parent of a single label', 'com', {}, 'arrived by .'],
    ['the first label below the root is asked first', 'a.co.uk', {}, 'ask . about uk.'],
    ['a cut leads on', 'a.co.uk', { uk: 'cut' }, 'ask uk. about co.uk.'],
    [
      'the last cut above the domain is the parent',
      'a.co.uk',
      { uk: 'cut', 'co.uk': 'cut' },
      'arrived by . uk. co.uk.',
    ],
    ['no cut, no zone, whatever the labels', 'a.co.uk', { uk: 'cut', 'co.uk': 'none' }, 'arrived by . uk.'],
    ['a name without a cut is passed by', 'a.b.c.d', { d: 'none' }, 'ask . about c.d.'],
    ['a cut below a name without one', 'a.b.c.d', { d: 'none', 'c.d': 'cut' }, 'ask c.d. about b.c.d.'],
    [
      'where nothing is, nothing more is asked',
      'a.b.c.d',
      { d: 'cut', 'c.d': 'nothing' },
      'arrived by . d., doubting c.d.',
    ],
    [
      'what is known below a name that is not there does not count',
      'a.b.c.d',
      { d: 'nothing', 'c.d': 'cut' },
      'arrived by ., doubting d.',
    ],
    ['a failure ends it', 'a.b.c', { c: 'cut', 'b.c': 'failed' }, 'failed: unreachable'],
    [
      'what is known of the domain itself is never used',
      'a.b',
      { b: 'cut', 'a.b': 'cut' },
      'arrived by . b.',
    ],
  ])('%s', (_sentence, wanted, known, expected) => {
    expect(step(wanted, known)).toBe(expected);
  });

  it('the zone of a nameserver may have its name', () => {
    expect(step('a.b', { b: 'cut', 'a.b': 'cut' }, true)).toBe('arrived by . b. a.b.');
    expect(step('a.b', { b: 'cut' }, true)).toBe('arrived by . b.');
    expect(step('a.b', { b: 'cut', 'a.b': 'failed' }, true)).toBe('arrived by . b.');
  });

  it('it can begin below the root', () => {
    const next = nextStep(name('a.b.example.com'), { zone: name('example.com') }, () => undefined);
    expect(next.kind === 'ask' && printName(next.name)).toBe('b.example.com.');
  });
});

function server(text: string): ServerEvidence {
  const [outcome, ...ns] = text.split(' ') as [ServerOutcome, ...string[]];
  const isSet = outcome === 'referral' || outcome === 'answer';
  const [ds] = ns.filter((word) => word.startsWith('ds='));
  return {
    server: ROOT,
    address: '1.2.3.4',
    transport: 'udp',
    askedAt: 0,
    rttMs: 1,
    outcome,
    rcode: undefined,
    aa: undefined,
    ns: isSet ? ns.filter((word) => !word.startsWith('ds=')).map(name) : [],
    ttl: undefined,
    ds: ds === undefined ? [] : [Buffer.from(ds)],
    error: undefined,
  };
}

describe('at the parent', () => {
  const ask = (count: number) => ({ kind: 'ask', count });
  const done = { kind: 'done' };
  const resolve = { kind: 'resolve' };

  it.each<[string, string[], Partial<Parameters<typeof nextParentStep>[0]>, object]>([
    ['two are asked first', [], {}, ask(2)],
    ['a single address is all there is', [], { addresses: 1, servers: 1 }, ask(1)],
    [
      'two servers are wanted, not two addresses of one',
      [],
      { addresses: 2, servers: 1, unresolved: 1 },
      ask(1),
    ],
    ['the second is looked up', ['referral a'], { addresses: 1, servers: 0, unresolved: 1 }, resolve],
    ['and asked', ['referral a'], { addresses: 2, servers: 1 }, ask(1)],
    ['or another address of the first', ['referral a'], { addresses: 1, servers: 0 }, ask(1)],
    ['two addresses of one server must do where there is no other', [], { addresses: 2, servers: 1 }, ask(2)],
    ['without an address one is looked up', [], { addresses: 0, servers: 0, unresolved: 3 }, resolve],
    ['without any there is nothing to do', [], { addresses: 0, servers: 0 }, done],
    ['two that agree are enough', ['referral a b', 'referral a b'], {}, done],
    ['two that say NXDOMAIN are enough', ['nxdomain', 'nxdomain'], {}, done],
    ['two that say no data are enough', ['nodata', 'nodata'], {}, done],
    ['two aliases are enough', ['alias', 'alias'], {}, done],
    ['different sets: all are asked', ['referral a b', 'referral a c'], {}, ask(4)],
    ['one more name: all are asked', ['referral a', 'referral a b'], {}, ask(4)],
    ['different DS: all are asked', ['referral a ds=1', 'referral a'], {}, ask(4)],
    ['no data and NXDOMAIN differ', ['nodata', 'nxdomain'], {}, ask(4)],
    ['a referral and an answer differ', ['referral a', 'answer a'], {}, ask(4)],
    ['answers alone: another may refer', ['answer a', 'answer a'], {}, ask(4)],
    ['answers from all that there are', ['answer a', 'answer a'], { addresses: 0, servers: 0 }, done],
    ['instead of one that is silent another', ['referral a', 'timeout'], {}, ask(1)],
    ['instead of one that is lame another', ['lame', 'nxdomain'], {}, ask(1)],
    ['then two of three agree', ['referral a', 'timeout', 'referral a'], {}, done],
    ['then two of three fail', ['referral a', 'timeout', 'refused'], {}, ask(3)],
    ['then two of three differ', ['referral a', 'timeout', 'referral b'], {}, ask(3)],
    ['both silent: all are asked', ['timeout', 'timeout'], {}, ask(4)],
    ['no more than there are', ['timeout', 'timeout'], { addresses: 1, servers: 1 }, ask(1)],
    [
      'then others are looked up',
      ['timeout', 'timeout'],
      { addresses: 0, servers: 0, unresolved: 1 },
      resolve,
    ],
    ['six are enough', Array<string>(6).fill('timeout'), {}, done],
    ['six are enough even where they differ', ['nodata', ...Array<string>(5).fill('referral a')], {}, done],
    ['a single one that was all there is', ['referral a'], { addresses: 0, servers: 0 }, done],
    [
      'a single one, and another to look up',
      ['referral a'],
      { addresses: 0, servers: 0, unresolved: 1 },
      resolve,
    ],
  ])('%s', (_sentence, asked, rest, expected) => {
    const view = { addresses: 10, servers: 5, unresolved: 0, maxAddresses: 6, ...rest };
    expect(nextParentStep({ answers: asked.map(server), ...view })).toEqual(expected);
  });
});
