// The address sets that regions publish.

import { describe, expect, it, test } from 'vitest';
import { nextEdgeSets } from '../../src/edge/sets/next-edge-sets.ts';
import {
  type DecidedBefore,
  type EdgeSetsPlan,
  planEdgeSets,
  type RegisteredEdge,
} from '../../src/edge/sets/plan-edge-sets.ts';
import type { EdgeSets } from '../../src/zone/edge-sets.ts';
import { rowsOf } from '../support/tests/rows-of.ts';

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

  test('the last previously published set follows the current one', () => {
    const first = nextEdgeSets([A, B], { eu: ['a', 'b'] }, {}, NOTHING);
    const second = nextEdgeSets([A, B], { eu: ['a'] }, {}, first);
    expect(second.regions[0]?.v4).toEqual([['192.0.2.1'], ['192.0.2.1', '192.0.2.2']]);
    const third = nextEdgeSets([A, B], { eu: ['b'] }, {}, second);
    expect(third.regions[0]?.v4).toEqual([['192.0.2.2'], ['192.0.2.1']]);
    expect(third.regions[0]?.v6).toEqual([]);
  });

  test('an unchanged set is the same in any order', () => {
    const first = nextEdgeSets([A, B], { eu: ['a', 'b'] }, { FR: 'eu', DE: 'eu' }, NOTHING);
    const stored = { ...first, countries: { FR: 'eu', DE: 'eu' } };
    expect(nextEdgeSets([B, A], { eu: ['b', 'a'] }, { DE: 'eu', FR: 'eu' }, stored)).toBe(stored);
  });

  test('a region has at most sixteen addresses of a family, from the first edges by name', () => {
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
  const SEEN_AT = { heard: NOW, silent: NOW - SILENT_MS, never: undefined };

  const edge = (name: string, region: string, state: string): RegisteredEdge => ({
    name,
    region,
    v4: ['192.0.2.1'],
    v6: [],
    isDrained: state.startsWith('drained'),
    seenAtMs: state === 'drained' ? NOW : SEEN_AT[state.replace('drained-', '') as keyof typeof SEEN_AT],
  });

  /** Parses `eu: a b, us: c`. */
  const listed = (text = ''): [string, string[]][] =>
    text.split(', ').flatMap((part) => {
      const [region = '', names] = part.split(': ');
      return names === undefined ? [] : [[region, names.split(' ')]];
    });

  // what it says | the edges of each region | members before | members after | silent and published if the breaker holds | stale
  it.each(
    rowsOf(`
no edges publish nothing | | |
a region whose edges were all revoked publishes the default | | eu: a |
an edge that is heard joins | eu: a=heard | | eu: a
an edge that was never heard does not join | eu: a=never | |
a silent edge does not join | eu: a=silent | |
a drained edge does not join | eu: a=drained | |
a silent edge leaves | eu: a=heard b=silent | eu: a b | eu: a
a drained edge leaves | eu: a=heard b=drained | eu: a b | eu: a
the last edge of a region stays when it is silent | eu: a=silent, us: b=heard c=heard | eu: a, us: b c | eu: a, us: b c | | eu
the last edge of a region stays when it is drained | eu: a=drained | eu: a | eu: a | | eu
the last known set stays whole when all of it goes at once | eu: a=drained b=drained-silent | eu: a b | eu: a b | | eu
a new edge takes the place of the last one, which is silent | eu: a=silent b=heard, us: c=heard | eu: a, us: c | eu: b, us: c
half of all may leave | eu: a=heard b=silent, us: c=heard d=silent | eu: a b, us: c d | eu: a, us: c
when more than half would leave, nobody does | eu: a=heard b=silent, us: c=silent | eu: a b, us: c | eu: a b, us: c | 2 3
what is drained leaves although the breaker holds | eu: a=drained b=silent, us: c=silent | eu: a b, us: c | eu: b, us: c | 2 2
draining most of the edges does not trip the breaker | eu: a=heard b=drained c=drained | eu: a b c | eu: a
who is heard joins although the breaker holds | eu: a=silent b=silent c=heard | eu: a b | eu: a b c | 2 2
an edge that moved to another region is no member there until it is heard | us: a=silent, eu: b=heard | eu: a b | eu: b
a region may have the name of a member that every object has | constructor: a=heard | | constructor: a`),
  )('%s', (_, edges, before, members, breaker = '', stale = '') => {
    const registered = listed(edges).flatMap(([region, list]) =>
      list.map((each) => {
        const [name = '', state = ''] = each.split('=');
        return edge(name, region, state);
      }),
    );
    const [silent, published] = breaker.split(' ').map(Number);
    expect(planEdgeSets(registered, { members: Object.fromEntries(listed(before)) }, NOW)).toEqual({
      members: Object.fromEntries(listed(members)),
      held: breaker === '' ? undefined : { silent, published, atMs: NOW },
      stale: stale === '' ? [] : [stale],
    });
  });

  it('removes an edge after 60 s of silence and not before', () => {
    const others = edge('b', 'eu', 'heard');
    const quiet = (ms: number) => ({ ...edge('a', 'eu', 'heard'), seenAtMs: NOW - ms });
    const before = { eu: ['a', 'b'] };
    expect(planEdgeSets([quiet(59_999), others], { members: before }, NOW).members).toEqual({
      eu: ['a', 'b'],
    });
    expect(planEdgeSets([quiet(60_000), others], { members: before }, NOW).members).toEqual({ eu: ['b'] });
  });

  describe('if the reports of all edges are missing for a while', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    const members = { eu: names.slice(0, 5), us: names.slice(5) };
    const SECOND = 1000;

    /** Rounds every 2 s. `heard` returns when an edge last reported, in seconds. */
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

    it('no edge is removed, neither one after the other nor while they return', () => {
      // the last reports are at 0 to 9 s, and from 120 s on one edge per second returns
      const heard = (i: number, at: number) => (at >= 120 + i ? at - ((at - i) % 10) : i);
      const plans = decide(50, 300, heard);
      for (const plan of plans) expect(plan.members).toEqual(members);
      expect(plans.some(({ held }) => held !== undefined)).toBe(true);
      expect(plans.at(-1)?.held).toBeUndefined();
    });

    it('an edge that does not return is removed a minute after the others have', () => {
      const heard = (i: number, at: number) => (i > 0 && at >= 120 + i ? at - ((at - i) % 10) : i);
      const plans = decide(50, 300, heard);
      const held = plans.filter((plan) => plan.held !== undefined).at(-1) as EdgeSetsPlan;
      expect(held.members).toEqual(members);
      expect(plans.at(-1)?.members).toEqual({ ...members, eu: ['b', 'c', 'd', 'e'] });
    });
  });
});
