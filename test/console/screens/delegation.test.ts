import { describe, expect, it } from 'vitest';
import { compareNames, judgeNames } from '../../../console/src/screens/delegation/compare-sets.ts';
import {
  groupAnswers,
  type ServerAnswer,
  toneOf,
} from '../../../console/src/screens/delegation/group-answers.ts';
import { readProgress, wayTo } from '../../../console/src/screens/delegation/read-progress.ts';
import { sortFindings, splitFindings, weigh } from '../../../console/src/screens/delegation/sort-findings.ts';
import {
  placeMoment,
  placeSpans,
  type Span,
  spansOf,
  type TimelineCheck,
  transitionsOf,
} from '../../../console/src/screens/delegation/timeline.ts';
import { countdown, duration } from '../../../console/src/screens/delegation/words-of.ts';
import { delegation } from '../../../console/src/words/delegation.ts';
import { SERVER_OUTCOMES } from '../../../src/api/schemas/checks/check.ts';
import { FINDING_CODES } from '../../../src/checks/delegation/finding.ts';
import { VERDICTS } from '../../../src/checks/delegation/verdict.ts';
import { DOMAIN_STATUSES } from '../../../src/zone/domain/domain-status.ts';

const OURS = ['ns1.fleet.example', 'ns2.fleet.example'];
const OTHER = ['ns1.other.example', 'ns2.other.example'];
const SETS = [OURS, OTHER];

describe('compareNames', () => {
  it('lists names to keep, then names to remove, then names to add', () => {
    expect(compareNames(['ns1.old.example', 'ns2.fleet.example'], OURS)).toEqual([
      { name: 'ns2.fleet.example', mark: 'keep' },
      { name: 'ns1.old.example', mark: 'remove' },
      { name: 'ns1.fleet.example', mark: 'add' },
    ]);
  });

  it('adds all names to an empty list, and changes nothing in an equal one', () => {
    expect(compareNames([], OURS).map(({ mark }) => mark)).toEqual(['add', 'add']);
    expect(compareNames([...OURS].reverse(), OURS).map(({ mark }) => mark)).toEqual(['keep', 'keep']);
  });

  it('ignores case and a final dot', () => {
    expect(compareNames(['NS1.Fleet.example.', 'ns2.fleet.example'], OURS).map(({ mark }) => mark)).toEqual([
      'keep',
      'keep',
    ]);
  });
});

describe('judgeNames', () => {
  it.each([
    ['match', OURS],
    ['match', [...OTHER].reverse()],
    ['match', ['NS1.FLEET.example.', 'ns2.fleet.example']],
    ['partial', ['ns1.fleet.example']],
    ['partial', ['ns1.fleet.example', 'ns1.old.example']],
    ['extra', [...OURS, 'ns1.old.example']],
    ['mixed', ['ns1.fleet.example', 'ns2.other.example']],
    ['mixed', [...OURS, ...OTHER]],
    ['mixed', ['ns1.fleet.example', 'ns2.other.example', 'ns1.old.example']],
    ['foreign', ['ns1.old.example', 'ns2.old.example']],
    ['foreign', []],
  ])('%s: %j', (verdict, listed) => expect(judgeNames(listed, SETS)).toBe(verdict));

  it('finds all names foreign without an accepted set', () => expect(judgeNames(OURS, [])).toBe('foreign'));

  it('assigns a name of two sets to the set that is complete', () => {
    expect(
      judgeNames(
        ['a.example', 'b.example'],
        [
          ['a.example', 'b.example', 'c.example'],
          ['a.example', 'b.example'],
        ],
      ),
    ).toBe('match');
  });
});

const server = (name: string, outcome: string, ns?: readonly string[]): ServerAnswer => ({
  server: name,
  outcome,
  ns,
});

describe('groupAnswers', () => {
  it('groups servers with the same response, largest group first, those without a response last', () => {
    const groups = groupAnswers(
      [
        server('a', 'timeout'),
        server('b', 'refused'),
        server('c', 'servfail'),
        server('d', 'referral', ['ns1.old.example']),
        server('e', 'referral', OURS),
        server('f', 'referral', [...OURS].reverse()),
      ],
      [OURS],
    );
    expect(groups.map(({ verdict, tone, servers }) => [verdict, tone, servers.map((s) => s.server)])).toEqual(
      [
        ['match', 'good', ['e', 'f']],
        ['foreign', 'bad', ['d']],
        ['silent', 'silent', ['a', 'b', 'c']],
      ],
    );
  });

  it('keeps different wrong responses apart', () => {
    const olds = ['ns1.old.example', 'ns2.old.example'].map((ns) => server(ns, 'referral', [ns]));
    const others = ['nodata', 'nxdomain', 'alias'].map((outcome) => server(outcome, outcome));
    const groups = groupAnswers([...olds, ...others], [OURS]);
    const verdicts = groups.map(({ verdict }) => verdict).join(' ');
    expect(verdicts).toBe('foreign foreign not_delegated unregistered alias');
    expect(new Set(groups.map(({ key }) => key)).size).toBe(5);
  });

  it('treats an unknown outcome as no response, never as a good one', () => {
    expect(groupAnswers([server('a', 'something new', OURS)], [OURS])[0]).toMatchObject({
      verdict: 'silent',
      tone: 'silent',
    });
    expect(groupAnswers([], [OURS])).toEqual([]);
  });
});

it('toneOf is good only for exactly one accepted set', () => {
  const bad = ['partial', 'extra', 'mixed', 'foreign', 'not_delegated', 'unregistered', 'alias'] as const;
  expect(toneOf('match')).toBe('good');
  expect(bad.map(toneOf)).toEqual(bad.map(() => 'bad'));
});

describe('readProgress', () => {
  it('reads zones and servers, and ignores unknown members', () => {
    const walk = [
      { zone: '.', servers: 13, cached: true },
      { zone: 'example', servers: 2, cached: false },
    ];
    const servers = [
      { server: 'a.nic.example', address: '192.0.2.1', outcome: 'referral', rtt_ms: 3.2, more: 1 },
    ];
    expect(readProgress({ domain_id: 1, walk, servers })).toEqual({
      zones: ['.', 'example'],
      servers: [{ server: 'a.nic.example', address: '192.0.2.1', outcome: 'referral', rtt_ms: 3.2 }],
    });
  });

  it('ignores events of another form', () => {
    expect(readProgress({ walk: [null, 1, { zone: 2 }], servers: ['x', { server: 'a' }] })).toEqual({
      zones: [],
      servers: [],
    });
    expect([undefined, null, 'x', {}, { walk: {}, servers: [] }].map(readProgress)).toEqual(
      Array(5).fill(undefined),
    );
  });
});

it('wayTo begins at the root and ends at the parent zone', () => {
  expect(['example', 'co.example', '.', '', undefined].map(wayTo)).toEqual([
    ['.', 'example'],
    ['.', 'co.example'],
    ['.'],
    ['.'],
    ['.'],
  ]);
});

const finding = (code: string, message = code) => ({ code, message });

describe('weigh', () => {
  it('uses the severity of a nameserver finding', () => {
    const severities = ['error', 'warning', 'notice'];
    expect(severities.map((severity) => weigh({ ...finding('TCP_REFUSED'), severity }))).toEqual([
      'act',
      'improve',
      'know',
    ]);
  });

  it('marks findings that need no change at the registrar as information', () => {
    const known =
      'TAKEOVER_WAITS CAME_BACK PARENT_UNREACHABLE PARENT_LAME PARENT_BOGUS PARENT_FAILS PARENTS_DISAGREE ' +
      'PARENT_SETS_AA PARENT_AWKWARD UNCONFIRMED TRY_LATER MOVES_HELD ROOT_FAULT VANTAGES_DISAGREE VANTAGES_AWAY NS_TURN';
    expect(FINDING_CODES.filter((code) => weigh(finding(code)) === 'know').join(' ')).toBe(known);
  });

  it('requires action for an unknown code', () => {
    expect(weigh(finding('SOMETHING_NEW'))).toBe('act');
  });
});

describe('sortFindings', () => {
  it('lists a finding of two lists once, with its severity', () => {
    const child = { ...finding('SERVER_SILENT', 'it is silent'), severity: 'error', place: 'registrar' };
    expect(sortFindings([finding('SERVER_SILENT', 'it is silent')], [child])).toEqual([
      { ...child, weight: 'act' },
    ]);
  });

  it('keeps two findings with the same code, urgent ones first', () => {
    const sorted = sortFindings([
      finding('PARENT_FAILS'),
      finding('PREPARE'),
      finding('NS_MISSING', 'one'),
      finding('NS_MISSING', 'two'),
    ]);
    expect(sorted.map(({ message }) => message)).toEqual(['one', 'two', 'PREPARE', 'PARENT_FAILS']);
  });
});

describe('splitFindings', () => {
  const ofServers = [
    { ...finding('SAME_ADDRESS'), severity: 'error', place: 'zone' },
    { ...finding('NS_ONLY_IN_ZONE'), severity: 'notice', place: 'registrar' },
  ];
  const ofDomain = [finding('NS_FOREIGN'), finding('NS_EXTRA'), finding('SAME_ADDRESS')];
  const codes = (findings: readonly { code: string }[]) => findings.map(({ code }) => code);

  it.each([
    'partial',
    'extra',
    'mixed',
    'foreign',
    'not_delegated',
  ])('separates findings about present nameservers if the verdict is %s, and omits advice that would contradict the changes', (verdict) => {
    const { main, present } = splitFindings(ofDomain, ofServers, verdict);
    expect([codes(main), codes(present)]).toEqual([['NS_FOREIGN'], ['SAME_ADDRESS']]);
  });

  it('keeps all findings together if the nameservers stay', () => {
    const { main, present } = splitFindings(ofDomain, ofServers, 'match');
    expect([codes(main), codes(present)]).toEqual([
      ['NS_FOREIGN', 'NS_EXTRA', 'SAME_ADDRESS', 'NS_ONLY_IN_ZONE'],
      [],
    ]);
  });
});

const at = (minute: number) => new Date(minute * 60_000).toISOString();
const ms = (minute: number) => minute * 60_000;

function check(
  id: number,
  minute: number,
  verdict: string,
  more: Partial<TimelineCheck> = {},
): TimelineCheck {
  const status = { status_before: 'pending', status_after: 'pending' };
  return { id, finished_at: at(minute), last_seen_at: at(minute), repeated: 0, verdict, ...status, ...more };
}

describe('spansOf', () => {
  it('end when another result is seen, the newest now', () => {
    expect(spansOf([check(3, 30, 'match'), check(1, 10, 'foreign')], ms(60))).toEqual([
      { id: 1, verdict: 'foreign', fromMs: ms(10), toMs: ms(30), looks: 1 },
      { id: 3, verdict: 'match', fromMs: ms(30), toMs: ms(60), looks: 1 },
    ]);
  });

  it('join consecutive checks with the same result', () => {
    const checks = [
      check(4, 40, 'foreign', { repeated: 2 }),
      check(3, 30, 'unknown'),
      check(2, 20, 'foreign'),
      check(1, 10, 'foreign', { repeated: 5 }),
    ];
    expect(spansOf(checks, ms(50)).map(({ id, verdict, looks }) => [id, verdict, looks])).toEqual([
      [1, 'foreign', 7],
      [3, 'unknown', 1],
      [4, 'foreign', 3],
    ]);
  });

  it('never end before they begin, for any clock', () => {
    for (const { fromMs, toMs } of spansOf([check(2, 10, 'match'), check(1, 20, 'foreign')], ms(5)))
      expect(toMs).toBeGreaterThanOrEqual(fromMs);
    expect(spansOf([], ms(1))).toEqual([]);
  });
});

it('transitionsOf returns the checks that changed the status, oldest first', () => {
  const checks = [
    check(3, 30, 'match', { status_before: 'moved', status_after: 'active' }),
    check(2, 20, 'foreign'),
    check(1, 10, 'match', { status_after: 'active' }),
  ];
  expect(transitionsOf(checks)).toEqual([
    { id: 1, atMs: ms(10), from: 'pending', to: 'active' },
    { id: 3, atMs: ms(30), from: 'moved', to: 'active' },
  ]);
});

const span = (fromMs: number, toMs: number): Span => ({
  id: fromMs,
  verdict: 'match',
  fromMs,
  toMs,
  looks: 1,
});

describe('placeSpans', () => {
  it('fills the width in proportion, and keeps a short span visible', () => {
    const placed = placeSpans([span(0, 1), span(1, 1000), span(1000, 10_000)], 1000, 6);
    expect(placed[0]?.width).toBeGreaterThanOrEqual(6);
    expect(placed.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1000);
    expect((placed[2]?.width ?? 0) > (placed[1]?.width ?? 0)).toBe(true);
    expect(placed[1]?.x).toBeCloseTo(placed[0]?.width ?? 0);
  });

  it('divides the width evenly if there are too many spans, or if they have no duration', () => {
    const many = Array.from({ length: 400 }, (_, i) => span(i, i + 1));
    expect(placeSpans(many, 1000, 6).map(({ width }) => width)).toEqual(many.map(() => 2.5));
    expect(placeSpans([span(5, 5), span(5, 5)], 100, 6).map(({ width }) => width)).toEqual([50, 50]);
    expect(placeSpans([], 100, 6)).toEqual([]);
  });
});

it('placeMoment places a time in its span, always inside the strip', () => {
  const placed = placeSpans([span(0, 100), span(100, 200)], 100, 0);
  expect(placeMoment(placed, 50)).toBeCloseTo(25);
  expect(placeMoment(placed, 100)).toBeCloseTo(50);
  expect(placeMoment(placed, -5)).toBe(0);
  expect(placeMoment(placed, 999)).toBeCloseTo(100);
  expect(placeMoment([], 1)).toBe(0);
});

describe('duration', () => {
  it.each([
    [1, '1 second'],
    [119, '119 seconds'],
    [300, '5 minutes'],
    [86_400, '24 hours'],
    [172_800, '2 days'],
    [172_801, '3 days'],
  ])('%i s is %s', (seconds, told) => expect(duration(seconds)).toBe(told));
});

it('countdown has minutes and two digits of seconds, and stops at zero', () => {
  expect([3599.2, 61, 9, 0, -5].map(countdown)).toEqual(['60:00', '1:01', '0:09', '0:00', '0:00']);
});

describe('the texts of the delegation', () => {
  it('exist for every verdict, alone and for a pending domain', () => {
    expect(Object.keys(delegation.verdicts)).toEqual(expect.arrayContaining([...VERDICTS]));
    expect(Object.keys(delegation.lead.pending).sort()).toEqual([...VERDICTS].sort());
  });

  it('exist for every outcome of a server and every status', () => {
    expect(Object.keys(delegation.outcomes).sort()).toEqual([...SERVER_OUTCOMES].sort());
    expect(Object.keys(delegation.headlines).sort()).toEqual([...DOMAIN_STATUSES].sort());
  });
});
