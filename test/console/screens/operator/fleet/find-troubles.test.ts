import { describe, expect, it } from 'vitest';
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

const kinds = (state: Parameters<typeof findTroubles>[0]) =>
  findTroubles(state, NOW).map(({ weight, kind }) => `${weight} ${kind}`);

describe('what is wrong with nameservers', () => {
  it('is nothing while they answer, and nothing is concluded from what was not asked', () => {
    expect(kinds({ nodes: [node(), node({ name: 'old', state: 'left' })] })).toEqual([]);
    expect(kinds({})).toEqual([]);
  });

  it('is that none runs, also where all were stopped', () => {
    expect(kinds({ nodes: [] })).toEqual(['act no-node']);
    expect(kinds({ nodes: [node({ state: 'left' })] })).toEqual(['act no-node']);
  });

  it('is that one is silent, whose last words on itself do not count', () => {
    const nodes = [node(), node({ name: 'lon1', state: 'silent', lag_seconds: 900, unserved_zones: 5 })];
    expect(findTroubles({ nodes }, NOW)).toEqual([
      { weight: 'act', kind: 'silent', name: 'lon1', othersLive: 1 },
    ]);
  });

  it('is what it holds back until an operator has confirmed it', () => {
    const held = (confirmed: boolean) => kinds({ nodes: [node({ held: { zones: 300, confirmed } })] });
    expect(held(false)).toEqual(['act held']);
    expect(held(true)).toEqual(['know held-confirmed']);
  });

  it('is what it does not serve, also beyond 1,000, but not while it loads', () => {
    expect(kinds({ nodes: [node({ unserved_zones: 1 })] })).toEqual(['act unserved']);
    expect(kinds({ nodes: [node({ unserved_zones: undefined })] })).toEqual(['act unserved']);
    expect(kinds({ nodes: [node({ unserved_zones: 1, loaded: false })] })).toEqual(['know loading']);
  });

  it('is that its memory for zones is nearly full', () => {
    const full = (used: number | undefined) =>
      kinds({ nodes: [node({ image_bytes: used, image_capacity_bytes: 1000 })] });
    expect(full(849)).toEqual([]);
    expect(full(850)).toEqual(['look image']);
    expect(full(950)).toEqual(['act image']);
    expect(full(undefined)).toEqual([]);
    expect(
      kinds({ nodes: [node({ state: 'silent', image_bytes: 999, image_capacity_bytes: 1000 })] }),
    ).not.toContain('act image');
  });

  it('is how far it is behind', () => {
    const behind = (seconds: number | undefined) => kinds({ nodes: [node({ lag_seconds: seconds })] });
    expect(behind(29.9)).toEqual([]);
    expect(behind(30)).toEqual(['look behind']);
    expect(behind(300)).toEqual(['act behind']);
    expect(behind(undefined)).toEqual([]);
  });
});

describe('what is wrong elsewhere', () => {
  it('is a breaker that holds, not one that was released or has ended', () => {
    const trip = { id: 1, parent: 'example', checked: 50, turned: 20 };
    const moment = '2026-11-28T11:00:00Z';
    expect(
      findTroubles(
        {
          trips: [trip, { ...trip, id: 2, released_at: moment }, { ...trip, id: 3, ended_at: moment }],
        },
        NOW,
      ),
    ).toEqual([{ weight: 'act', kind: 'breaker', ...trip }]);
  });

  it('is what somebody froze by hand, less urgent, with who and why', () => {
    const freeze = { id: 4, checked: 0, turned: 0, frozen_by: 'ann@example.org', reason: 'A restore.' };
    const [trouble] = findTroubles({ trips: [freeze] }, NOW);
    expect(trouble).toMatchObject({ weight: 'look', kind: 'frozen', by: 'ann@example.org' });
    expect(adviceOf(trouble as Trouble)).toMatch(/^ann@example.org wrote: “A restore.”.* It has no end/);
    const [ending] = findTroubles({ trips: [{ ...freeze, until: '2026-11-29T10:02:00.000Z' }] }, NOW);
    expect(adviceOf(ending as Trouble)).toContain('by itself at 2026-11-29 10:02 UTC.');
  });

  it('is a queue that is away, stands still or has failed jobs', () => {
    const queue = { name: 'checks', reachable: true, waiting: 100, active: 1, dead: 0 };
    expect(conditionOf(queue)).toBe('fine');
    expect(kinds({ queues: [{ ...queue, active: 0 }] })).toEqual(['act queue-stuck']);
    expect(kinds({ queues: [{ ...queue, active: 0, waiting: 99 }] })).toEqual([]);
    expect(kinds({ queues: [{ ...queue, active: 0, dead: 2 }] })).toEqual([
      'act queue-stuck',
      'look queue-dead',
    ]);
    expect(kinds({ queues: [{ name: 'checks', reachable: false }] })).toEqual(['act queue-away']);
  });

  it('is an observer that has run and is away', () => {
    expect(
      kinds({ vantages: [{ name: 'oslo' }, { name: 'paris', seen_at: '2026-11-28T11:50:00Z' }] }),
    ).toEqual([]);
    expect(kinds({ vantages: [{ name: 'rome', seen_at: '2026-11-28T11:49:59Z' }] })).toEqual([
      'look vantage',
    ]);
  });

  it('comes in the order of its weight', () => {
    expect(
      kinds({
        nodes: [node({ loaded: false })],
        queues: [{ name: 'checks', reachable: true, dead: 1 }],
        trips: [{ id: 1, checked: 1, turned: 1 }],
      }),
    ).toEqual(['act breaker', 'look queue-dead', 'know loading']);
  });
});
