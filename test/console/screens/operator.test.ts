import { describe, expect, it } from 'vitest';
import { changeOf, formOf } from '../../../console/src/screens/operator/accounts/account-change.ts';
import { AUDIT_GROUPS, dayStart } from '../../../console/src/screens/operator/desk/audit-query.ts';
import { canCheck, movesOf } from '../../../console/src/screens/operator/domains/moves.ts';
import {
  conditionOf,
  findProblems,
  type NodeState,
  type Problem,
} from '../../../console/src/screens/operator/fleet/find-problems.ts';
import { jobsIn, sumOfRates, withLook } from '../../../console/src/screens/operator/fleet/live-figures.ts';
import { type Rates, ratesOf, turnedByHour } from '../../../console/src/screens/operator/fleet/node-rates.ts';
import { adviceOf } from '../../../console/src/screens/operator/fleet/problem-texts.ts';
import { registryRows } from '../../../console/src/screens/operator/fleet/registry-rows.ts';
import { ACTION_NAMES } from '../../../src/store/audit/audit-actions.ts';

describe('a change of an account', () => {
  const account = { email: 'a@shop.example', admin: false, reseller: false, active: true };
  const full = { ...account, name: 'Ada', provider: 7, plan: 'pro' };

  it.each([
    ['nothing if nothing differs', account, {}, {}],
    ['nothing if a field was edited but is unchanged', full, formOf(full), {}],
    ['nothing for spaces at the ends', full, { name: ' Ada ', email: ' a@shop.example' }, {}],
    ['the plan', full, { plan: 'free' }, { plan: 'free' }],
    ['two fields', full, { active: false, email: 'b@c.example' }, { active: false, email: 'b@c.example' }],
    ['a number for the provider', account, { provider: '12' }, { provider: 12 }],
    [
      'null for emptied fields',
      full,
      { name: ' ', provider: '', plan: '' },
      { name: null, provider: null, plan: null },
    ],
    [
      'a provider that is not a number unchanged, so that the API rejects it',
      account,
      { provider: 'x' },
      { provider: 'x' },
    ],
    ['a flag', account, { reseller: true }, { reseller: true }],
  ])('sends %s', (_, of, form, change) => expect(changeOf(of, form)).toEqual(change));
});

it('every action of the log is in one group', () => {
  expect(Object.values(AUDIT_GROUPS).flat().sort()).toEqual([...ACTION_NAMES].sort());
});

it('dayStart returns the beginning of a day in UTC, and of the next day across months', () => {
  expect(dayStart('2026-11-28')).toBe('2026-11-28T00:00:00.000Z');
  expect(dayStart('2026-11-30', 1)).toBe('2026-12-01T00:00:00.000Z');
});

it('dayStart returns nothing for an invalid day', () => {
  for (const text of [undefined, '', '2026', '2026-13-01', '28.11.2026', '2026-11-28T10:00:00Z'])
    expect(dayStart(text)).toBeUndefined();
});

describe('actions on a domain', () => {
  const managed = (status: string, ...suspended_by: string[]) => ({
    status,
    dns_mode: 'managed' as const,
    suspended_by,
  });
  const external = (status: string, served: string) => ({
    status,
    dns_mode: 'external' as const,
    served,
    suspended_by: [],
  });
  const moves = (status: string, ...by: string[]) => movesOf(managed(status, ...by)).join(' ');

  it('offers the actions that the API allows in the status', () => {
    expect(moves('pending')).toBe('approve disable suspend ban');
    expect(moves('moved')).toBe('approve disable suspend ban');
    expect(moves('active')).toBe('disable suspend ban');
    expect(moves('disabled')).toBe('enable suspend ban');
    expect(moves('banned')).toBe('suspend unban');
  });

  it('ends only a suspension by an operator: one for debt ends automatically', () => {
    expect(moves('active', 'operator', 'debt')).toBe('disable resume ban');
    expect(moves('active', 'debt')).toBe('disable suspend ban');
  });

  it('offers no approval in external mode, where no delegation proves the domain', () => {
    expect(movesOf(external('unverified', 'none')).join(' ')).toBe('disable suspend ban');
  });

  it('offers no check of banned, disabled or unserved external domains', () => {
    expect(canCheck(managed('moved'))).toBe(true);
    expect(canCheck(managed('disabled'))).toBe(false);
    expect(canCheck(managed('banned'))).toBe(false);
    expect(canCheck(external('active', 'full'))).toBe(true);
    expect(canCheck(external('unverified', 'none'))).toBe(false);
  });
});

describe('the condition of the fleet', () => {
  const NOW = Date.parse('2026-11-28T12:00:00Z');

  const node = (changes: Partial<NodeState> = {}): NodeState => ({
    name: 'ams1',
    state: 'live',
    loaded: true,
    seen_at: '2026-11-28T12:00:00Z',
    lag_seconds: 0,
    unserved_zones: 0,
    ...changes,
  });

  type State = Parameters<typeof findProblems>[0];
  const kinds = (state: State) => findProblems(state, NOW).map(({ weight, kind }) => `${weight} ${kind}`);
  const nodes = (...changes: Partial<NodeState>[]): State => ({ nodes: changes.map(node) });
  const queue = { name: 'checks', reachable: true, waiting: 100, active: 1, dead: 0 };
  const trip = { id: 1, parent: 'example', checked: 50, turned: 20 };
  const moment = '2026-11-28T11:00:00Z';

  it.each<[string, State, string[]]>([
    ['nothing while the nodes answer', nodes({}, { name: 'old', state: 'left' }), []],
    ['nothing about data that was not loaded', {}, []],
    ['that no node runs', nodes(), ['act no-node']],
    ['that all nodes were stopped', nodes({ state: 'left' }), ['act no-node']],
    ['removals that a node holds', nodes({ held: { zones: 300, confirmed: false } }), ['act held']],
    [
      'removals that an operator has allowed',
      nodes({ held: { zones: 300, confirmed: true } }),
      ['know held-confirmed'],
    ],
    ['zones that a node does not serve', nodes({ unserved_zones: 1 }), ['act unserved']],
    ['more than 1,000 such zones', nodes({ unserved_zones: undefined }), ['act unserved']],
    ['only that a node is loading', nodes({ unserved_zones: 1, loaded: false }), ['know loading']],
    ['no memory below 85 %', nodes({ image_bytes: 849, image_capacity_bytes: 1000 }), []],
    ['memory from 85 % on', nodes({ image_bytes: 850, image_capacity_bytes: 1000 }), ['look image']],
    ['memory from 95 % on', nodes({ image_bytes: 950, image_capacity_bytes: 1000 }), ['act image']],
    ['no memory of an unknown size', nodes({ image_capacity_bytes: 1000 }), []],
    [
      'no memory of a silent node',
      nodes({}, { state: 'silent', image_bytes: 999, image_capacity_bytes: 1000 }),
      ['act silent'],
    ],
    ['no lag below 30 s', nodes({ lag_seconds: 29.9 }), []],
    ['a lag from 30 s on', nodes({ lag_seconds: 30 }), ['look behind']],
    ['a lag from 300 s on', nodes({ lag_seconds: 300 }), ['act behind']],
    ['no unknown lag', nodes({ lag_seconds: undefined }), []],
    ['a queue whose jobs are not processed', { queues: [{ ...queue, active: 0 }] }, ['act queue-stuck']],
    ['no queue with few jobs', { queues: [{ ...queue, active: 0, waiting: 99 }] }, []],
    ['failed jobs', { queues: [{ ...queue, active: 0, dead: 2 }] }, ['act queue-stuck', 'look queue-dead']],
    [
      'a queue that cannot be reached',
      { queues: [{ name: 'checks', reachable: false }] },
      ['act queue-away'],
    ],
    ['no observer that never ran, or ran 10 minutes ago', vantages(undefined, '2026-11-28T11:50:00Z'), []],
    ['an observer that has been offline for longer', vantages('2026-11-28T11:49:59Z'), ['look vantage']],
    [
      'the most urgent first',
      { ...nodes({ loaded: false }), queues: [{ ...queue, waiting: 0, dead: 1 }], trips: [trip] },
      ['act breaker', 'look queue-dead', 'know loading'],
    ],
  ])('reports %s', (_, state, expected) => expect(kinds(state)).toEqual(expected));

  function vantages(...seen: (string | undefined)[]): State {
    return { vantages: seen.map((at) => ({ name: 'oslo', ...(at !== undefined && { seen_at: at }) })) };
  }

  it('reports a silent node, and not what it last reported about itself', () => {
    const state = nodes({}, { name: 'lon1', state: 'silent', lag_seconds: 900, unserved_zones: 5 });
    expect(findProblems(state, NOW)).toEqual([
      { weight: 'act', kind: 'silent', name: 'lon1', othersLive: 1 },
    ]);
  });

  it('reports a breaker that holds, not one that was released or has ended', () => {
    const trips = [trip, { ...trip, id: 2, released_at: moment }, { ...trip, id: 3, ended_at: moment }];
    expect(findProblems({ trips }, NOW)).toEqual([{ weight: 'act', kind: 'breaker', ...trip }]);
  });

  it('reports a freeze by an operator, which is less urgent, with its author and reason', () => {
    const freeze = { id: 4, checked: 0, turned: 0, frozen_by: 'ann@example.org', reason: 'A restore.' };
    const [problem] = findProblems({ trips: [freeze] }, NOW);
    expect(problem).toMatchObject({ weight: 'look', kind: 'frozen', by: 'ann@example.org' });
    expect(adviceOf(problem as Problem)).toMatch(
      /^ann@example.org wrote: “A restore.”.* The freeze has no end/,
    );
    const [ending] = findProblems({ trips: [{ ...freeze, until: '2026-11-29T10:02:00.000Z' }] }, NOW);
    expect(adviceOf(ending as Problem)).toContain('automatically at 2026-11-29 10:02 UTC.');
  });

  it('is fine for a queue whose jobs are processed', () => expect(conditionOf(queue)).toBe('fine'));
});

describe('live figures', () => {
  const rate = (answered: number, dropped = 0): Rates => ({ answered, dropped });

  it('are sums over all nodes, and absent if no node reports', () => {
    const rates = { ams1: rate(100, 1), fra1: rate(50.5, 2) };
    expect(sumOfRates(new Map(Object.entries(rates)))).toEqual(rate(150.5, 3));
    expect(sumOfRates(new Map())).toBeUndefined();
  });

  it('keep the last sixty samples', () => {
    let looks: readonly Rates[] = [];
    for (let i = 0; i < 70; i++) looks = withLook(looks, rate(i));
    expect([looks.length, looks[0], looks.at(-1)]).toEqual([60, rate(10), rate(69)]);
  });

  it('count the jobs of queues that respond', () => {
    const queues = [
      { name: 'checks', reachable: true, waiting: 5, dead: 1 },
      { name: 'mail', reachable: true, waiting: 2, dead: 3 },
      { name: 'away', reachable: false },
    ];
    expect(jobsIn(queues)).toEqual({ waiting: 7, dead: 4 });
  });
});

describe('rates of a node', () => {
  const node = (
    seconds: number,
    answered?: number,
    dropped?: number,
    started = '2026-01-01T00:00:00.000Z',
  ) => ({
    name: 'ams1',
    started_at: started,
    seen_at: new Date(Date.UTC(2026, 0, 2, 0, 0, seconds)).toISOString(),
    answered,
    dropped,
  });

  describe('the rate of a node', () => {
    it('is the difference between two samples', () => {
      const rates = ratesOf([node(0, 1000, 5)], [node(10, 3000, 15)]);
      expect(rates.get('ams1')).toEqual({ answered: 200, dropped: 1 });
    });

    it.each([
      ['it was seen once', undefined, node(10, 5, 5)],
      ['it has not reported since', node(10, 5, 5), node(10, 5, 5)],
      ['it was restarted', node(0, 5, 5), node(10, 50, 50, '2026-01-02T00:00:05.000Z')],
      ['it does not report', node(0), node(10)],
      ['its total decreased', node(0, 50, 5), node(10, 5, 5)],
    ])('is unknown if %s', (_why, before, after) => {
      expect(ratesOf(before && [before], [after]).size).toBe(0);
    });
  });

  it('hours without a check are empty, the newest hour last', () => {
    const hours = [
      { hour: '2026-01-02T10:00:00.000Z', checked: 10, turned: 7 },
      { hour: '2026-01-02T08:00:00.000Z', checked: 6, turned: 3 },
      { hour: '2026-01-01T10:00:00.000Z', checked: 99, turned: 99 },
    ];
    const counts = turnedByHour(hours, Date.parse('2026-01-02T10:59:59.000Z'));
    expect(counts).toHaveLength(24);
    expect(counts.slice(-3)).toEqual([0.5, 0, 0.7]);
    expect(counts.slice(0, -3)).toEqual(Array(21).fill(0));
  });
});

it('registryRows lists the total first, then held registries, then those with the highest share', () => {
  const rows = registryRows({
    checked: 100,
    turned: 25,
    parents: [
      { parent: 'fine', checked: 40, turned: 0 },
      { parent: 'small', checked: 8, turned: 4 },
      { parent: 'large', checked: 200, turned: 9 },
      { parent: 'many', checked: 40, turned: 20 },
      { parent: 'held', checked: 20, turned: 5 },
    ],
    trips: [
      { id: 2, parent: 'held', checked: 20, turned: 5 },
      { id: 1, parent: 'many', checked: 9, turned: 9, ended_at: '2026-11-28T11:00:00Z' },
    ],
  });
  expect(rows.map(({ parent, condition, share }) => [parent, condition, share])).toEqual([
    [undefined, 'many', 0.25],
    ['held', 'held', 0.25],
    ['many', 'many', 0.5],
    ['large', 'some', 0.045],
    ['small', 'some', 0.5],
    ['fine', 'fine', 0],
  ]);
});

it('registryRows marks all as held for a trip of all domains, and handles zero checks', () => {
  const trips = [{ id: 1, checked: 0, turned: 0 }];
  expect(registryRows({ checked: 0, turned: 0, parents: [], trips })).toEqual([
    { parent: undefined, checked: 0, turned: 0, share: 0, condition: 'held' },
  ]);
});
