import { expect, it } from 'vitest';
import {
  conditionOf,
  findTroubles,
  type NodeState,
  type Trouble,
} from '../../../../../console/src/screens/operator/fleet/find-troubles.ts';
import { adviceOf } from '../../../../../console/src/screens/operator/fleet/trouble-words.ts';

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

type State = Parameters<typeof findTroubles>[0];
const kinds = (state: State) => findTroubles(state, NOW).map(({ weight, kind }) => `${weight} ${kind}`);
const nodes = (...changes: Partial<NodeState>[]): State => ({ nodes: changes.map(node) });
const queue = { name: 'checks', reachable: true, waiting: 100, active: 1, dead: 0 };
const trip = { id: 1, parent: 'example', checked: 50, turned: 20 };
const moment = '2026-11-28T11:00:00Z';

it.each<[string, State, string[]]>([
  ['nothing while the nodes answer', nodes({}, { name: 'old', state: 'left' }), []],
  ['nothing about what was not queried', {}, []],
  ['that no node runs', nodes(), ['act no-node']],
  ['that all nodes were stopped', nodes({ state: 'left' }), ['act no-node']],
  ['what a node holds back', nodes({ held: { zones: 300, confirmed: false } }), ['act held']],
  [
    'what an operator has confirmed',
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
  ['a queue that stands still', { queues: [{ ...queue, active: 0 }] }, ['act queue-stuck']],
  ['no queue with few jobs', { queues: [{ ...queue, active: 0, waiting: 99 }] }, []],
  ['failed jobs', { queues: [{ ...queue, active: 0, dead: 2 }] }, ['act queue-stuck', 'look queue-dead']],
  ['a queue that cannot be reached', { queues: [{ name: 'checks', reachable: false }] }, ['act queue-away']],
  ['no observer that never ran, or ran 10 minutes ago', vantages(undefined, '2026-11-28T11:50:00Z'), []],
  ['an observer that is away for longer', vantages('2026-11-28T11:49:59Z'), ['look vantage']],
  [
    'the most urgent first',
    { ...nodes({ loaded: false }), queues: [{ ...queue, waiting: 0, dead: 1 }], trips: [trip] },
    ['act breaker', 'look queue-dead', 'know loading'],
  ],
])('reports %s', (_, state, expected) => {
  expect(kinds(state)).toEqual(expected);
});

function vantages(...seen: (string | undefined)[]): State {
  return { vantages: seen.map((at) => ({ name: 'oslo', ...(at !== undefined && { seen_at: at }) })) };
}

it('reports a silent node, and not what it last reported about itself', () => {
  const state = nodes({}, { name: 'lon1', state: 'silent', lag_seconds: 900, unserved_zones: 5 });
  expect(findTroubles(state, NOW)).toEqual([{ weight: 'act', kind: 'silent', name: 'lon1', othersLive: 1 }]);
});

it('reports a breaker that holds, not one that was released or has ended', () => {
  const trips = [trip, { ...trip, id: 2, released_at: moment }, { ...trip, id: 3, ended_at: moment }];
  expect(findTroubles({ trips }, NOW)).toEqual([{ weight: 'act', kind: 'breaker', ...trip }]);
});

it('reports a freeze by an operator, which is less urgent, with its author and reason', () => {
  const freeze = { id: 4, checked: 0, turned: 0, frozen_by: 'ann@example.org', reason: 'A restore.' };
  const [trouble] = findTroubles({ trips: [freeze] }, NOW);
  expect(trouble).toMatchObject({ weight: 'look', kind: 'frozen', by: 'ann@example.org' });
  expect(adviceOf(trouble as Trouble)).toMatch(/^ann@example.org wrote: “A restore.”.* It has no end/);
  const [ending] = findTroubles({ trips: [{ ...freeze, until: '2026-11-29T10:02:00.000Z' }] }, NOW);
  expect(adviceOf(ending as Trouble)).toContain('by itself at 2026-11-29 10:02 UTC.');
});

it('finds a queue fine while its jobs are worked on', () => {
  expect(conditionOf(queue)).toBe('fine');
});
