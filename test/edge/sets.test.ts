// The sets of addresses that regions publish.

import { describe, expect, it, test } from 'vitest';
import { nextEdgeSets } from '../../src/edge/sets/next-edge-sets.ts';
import {
  type DecidedBefore,
  type EdgeSetsPlan,
  type Members,
  planEdgeSets,
  type RegisteredEdge,
} from '../../src/edge/sets/plan-edge-sets.ts';
import type { EdgeSets } from '../../src/zone/edge-sets.ts';

describe('the published addresses of a region', () => {
  const NOTHING: EdgeSets = { version: 0, regions: [], countries: {} };
  const edge = (name: string, region: string, v4: string[], v6: string[] = []): RegisteredEdge => ({
    name,
    region,
    v4,
    v6,
    isDrained: false,
    seenAtMs: 0,
  });
  const A = edge('a', 'eu', ['192.0.2.1'], ['2001:db8::1']);
  const B = edge('b', 'eu', ['192.0.2.2']);

  test('a region publishes the addresses of its members', () => {
    expect(nextEdgeSets([A, B], { eu: ['b', 'a'] }, { DE: 'eu', US: 'us' }, NOTHING)).toEqual({
      version: 1,
      regions: [{ region: 'eu', v4: [['192.0.2.1', '192.0.2.2']], v6: [['2001:db8::1']] }],
      countries: { DE: 'eu' },
    });
  });

  test('what was published before stands behind what is now, and only the last of it', () => {
    const first = nextEdgeSets([A, B], { eu: ['a', 'b'] }, {}, NOTHING);
    const second = nextEdgeSets([A, B], { eu: ['a'] }, {}, first);
    expect(second.regions[0]?.v4).toEqual([['192.0.2.1'], ['192.0.2.1', '192.0.2.2']]);
    const third = nextEdgeSets([A, B], { eu: ['b'] }, {}, second);
    expect(third.regions[0]?.v4).toEqual([['192.0.2.2'], ['192.0.2.1']]);
    expect(third.regions[0]?.v6).toEqual([]);
  });

  test('nothing new is the very same, whatever the order', () => {
    const first = nextEdgeSets([A, B], { eu: ['a', 'b'] }, { FR: 'eu', DE: 'eu' }, NOTHING);
    const stored = { ...first, countries: { FR: 'eu', DE: 'eu' } };
    expect(nextEdgeSets([B, A], { eu: ['b', 'a'] }, { DE: 'eu', FR: 'eu' }, stored)).toBe(stored);
  });

  test('a region has sixteen addresses of a family at most, of the first edges by name', () => {
    const many = Array.from({ length: 20 }, (_, i) =>
      edge(`e${String(i).padStart(2, '0')}`, 'eu', [`192.0.2.${i}`]),
    );
    const sets = nextEdgeSets(many, { eu: many.map(({ name }) => name) }, {}, NOTHING);
    expect(sets.regions[0]?.v4[0]).toHaveLength(16);
    expect(sets.regions[0]?.v4[0]?.[0]).toBe('192.0.2.0');
  });
});

describe('the plan of published addresses', () => {
  const NOW = 1_000_000;
  const SILENT_MS = 60_000;
  type State = 'heard' | 'silent' | 'never' | 'drained' | 'drained silent';

  function edge(name: string, region: string, state: State): RegisteredEdge {
    const seenAtMs = {
      heard: NOW,
      drained: NOW,
      silent: NOW - SILENT_MS,
      'drained silent': NOW - SILENT_MS,
      never: undefined,
    };
    return {
      name,
      region,
      v4: ['192.0.2.1'],
      v6: [],
      isDrained: state.startsWith('drained'),
      seenAtMs: seenAtMs[state],
    };
  }

  interface Row {
    readonly says: string;
    readonly edges: readonly [name: string, region: string, state: State][];
    readonly before: Members;
    readonly members: Members;
    readonly held?: { silent: number; published: number; atMs: number };
    readonly stale?: readonly string[];
  }

  const ROWS: readonly Row[] = [
    { says: 'no edges publish nothing', edges: [], before: {}, members: {} },
    {
      says: 'a region whose edges were all revoked publishes the default',
      edges: [],
      before: { eu: ['a'] },
      members: {},
    },
    {
      says: 'an edge that is heard joins',
      edges: [['a', 'eu', 'heard']],
      before: {},
      members: { eu: ['a'] },
    },
    {
      says: 'an edge that was never heard does not join',
      edges: [['a', 'eu', 'never']],
      before: {},
      members: {},
    },
    { says: 'a silent edge does not join', edges: [['a', 'eu', 'silent']], before: {}, members: {} },
    { says: 'a drained edge does not join', edges: [['a', 'eu', 'drained']], before: {}, members: {} },
    {
      says: 'a silent edge leaves',
      edges: [
        ['a', 'eu', 'heard'],
        ['b', 'eu', 'silent'],
      ],
      before: { eu: ['a', 'b'] },
      members: { eu: ['a'] },
    },
    {
      says: 'a drained edge leaves',
      edges: [
        ['a', 'eu', 'heard'],
        ['b', 'eu', 'drained'],
      ],
      before: { eu: ['a', 'b'] },
      members: { eu: ['a'] },
    },
    {
      says: 'the last edge of a region stays when it is silent',
      edges: [
        ['a', 'eu', 'silent'],
        ['b', 'us', 'heard'],
        ['c', 'us', 'heard'],
      ],
      before: { eu: ['a'], us: ['b', 'c'] },
      members: { eu: ['a'], us: ['b', 'c'] },
      stale: ['eu'],
    },
    {
      says: 'the last edge of a region stays when it is drained',
      edges: [['a', 'eu', 'drained']],
      before: { eu: ['a'] },
      members: { eu: ['a'] },
      stale: ['eu'],
    },
    {
      says: 'the last known set stays whole when all of it goes at once',
      edges: [
        ['a', 'eu', 'drained'],
        ['b', 'eu', 'drained silent'],
      ],
      before: { eu: ['a', 'b'] },
      members: { eu: ['a', 'b'] },
      stale: ['eu'],
    },
    {
      says: 'a new edge takes the place of the last one, which is silent',
      edges: [
        ['a', 'eu', 'silent'],
        ['b', 'eu', 'heard'],
        ['c', 'us', 'heard'],
      ],
      before: { eu: ['a'], us: ['c'] },
      members: { eu: ['b'], us: ['c'] },
    },
    {
      says: 'half of all may leave',
      edges: [
        ['a', 'eu', 'heard'],
        ['b', 'eu', 'silent'],
        ['c', 'us', 'heard'],
        ['d', 'us', 'silent'],
      ],
      before: { eu: ['a', 'b'], us: ['c', 'd'] },
      members: { eu: ['a'], us: ['c'] },
    },
    {
      says: 'when more than half would leave, nobody does',
      edges: [
        ['a', 'eu', 'heard'],
        ['b', 'eu', 'silent'],
        ['c', 'us', 'silent'],
      ],
      before: { eu: ['a', 'b'], us: ['c'] },
      members: { eu: ['a', 'b'], us: ['c'] },
      held: { silent: 2, published: 3, atMs: NOW },
    },
    {
      says: 'what is drained leaves although the breaker holds',
      edges: [
        ['a', 'eu', 'drained'],
        ['b', 'eu', 'silent'],
        ['c', 'us', 'silent'],
      ],
      before: { eu: ['a', 'b'], us: ['c'] },
      members: { eu: ['b'], us: ['c'] },
      held: { silent: 2, published: 2, atMs: NOW },
    },
    {
      says: 'draining most of the edges does not trip the breaker',
      edges: [
        ['a', 'eu', 'heard'],
        ['b', 'eu', 'drained'],
        ['c', 'eu', 'drained'],
      ],
      before: { eu: ['a', 'b', 'c'] },
      members: { eu: ['a'] },
    },
    {
      says: 'who is heard joins although the breaker holds',
      edges: [
        ['a', 'eu', 'silent'],
        ['b', 'eu', 'silent'],
        ['c', 'eu', 'heard'],
      ],
      before: { eu: ['a', 'b'] },
      members: { eu: ['a', 'b', 'c'] },
      held: { silent: 2, published: 2, atMs: NOW },
    },
    {
      says: 'an edge that moved to another region is no member there until it is heard',
      edges: [
        ['a', 'us', 'silent'],
        ['b', 'eu', 'heard'],
      ],
      before: { eu: ['a', 'b'] },
      members: { eu: ['b'] },
    },
    {
      says: 'a region may have the name of a member that every object has',
      edges: [['a', 'constructor', 'heard']],
      before: {},
      members: { constructor: ['a'] },
    },
  ];

  it.each(ROWS)('$says', ({ edges, before, members, held, stale = [] }) => {
    const registered = edges.map(([name, region, state]) => edge(name, region, state));
    expect(planEdgeSets(registered, { members: before }, NOW)).toEqual({ members, held, stale });
  });

  it('lets an edge go after 60 s of silence and not before', () => {
    const others = edge('b', 'eu', 'heard');
    const quiet = (ms: number) => ({ ...edge('a', 'eu', 'heard'), seenAtMs: NOW - ms });
    const before = { eu: ['a', 'b'] };
    expect(planEdgeSets([quiet(59_999), others], { members: before }, NOW).members).toEqual({
      eu: ['a', 'b'],
    });
    expect(planEdgeSets([quiet(60_000), others], { members: before }, NOW).members).toEqual({ eu: ['b'] });
  });

  describe('when the reports of all edges are missing for a while', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    const members = { eu: names.slice(0, 5), us: names.slice(5) };
    const SECOND = 1000;

    /** Rounds every 2 s; `heard` says when an edge was heard last at a time, in seconds. */
    function decide(from: number, to: number, heard: (i: number, at: number) => number): EdgeSetsPlan[] {
      const plans: EdgeSetsPlan[] = [];
      let before: DecidedBefore = { members };
      for (let at = from; at <= to; at += 2) {
        const edges = names.map((name, i) => ({
          ...edge(name, i < 5 ? 'eu' : 'us', 'heard'),
          seenAtMs: SECOND * heard(i, at),
        }));
        const plan = planEdgeSets(edges, before, SECOND * at);
        plans.push(plan);
        before = plan;
      }
      return plans;
    }

    it('nobody leaves, neither one after the other nor while they return', () => {
      // the last reports are at 0 to 9 s; from 120 s on one edge a second returns
      const heard = (i: number, at: number) => (at >= 120 + i ? at - ((at - i) % 10) : i);
      const plans = decide(50, 300, heard);
      for (const plan of plans) expect(plan.members).toEqual(members);
      expect(plans.some(({ held }) => held !== undefined)).toBe(true);
      expect(plans.at(-1)?.held).toBeUndefined();
    });

    it('an edge that does not return leaves a minute after the others have', () => {
      const heard = (i: number, at: number) => (i > 0 && at >= 120 + i ? at - ((at - i) % 10) : i);
      const plans = decide(50, 300, heard);
      const held = plans.filter((plan) => plan.held !== undefined).at(-1) as EdgeSetsPlan;
      expect(held.members).toEqual(members);
      expect(plans.at(-1)?.members).toEqual({ ...members, eu: ['b', 'c', 'd', 'e'] });
    });
  });
});
