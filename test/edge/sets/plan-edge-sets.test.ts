import { describe, expect, it } from 'vitest';
import { type Members, planEdgeSets, type RegisteredEdge } from '../../../src/edge/sets/plan-edge-sets.ts';

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
  readonly held?: { silent: number; published: number };
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
  { says: 'an edge that is heard joins', edges: [['a', 'eu', 'heard']], before: {}, members: { eu: ['a'] } },
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
    held: { silent: 2, published: 3 },
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
    held: { silent: 2, published: 2 },
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
    held: { silent: 2, published: 2 },
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
];

describe('planEdgeSets', () => {
  it.each(ROWS)('$says', ({ edges, before, members, held, stale = [] }) => {
    const registered = edges.map(([name, region, state]) => edge(name, region, state));
    expect(planEdgeSets(registered, before, NOW)).toEqual({ members, held, stale });
  });

  it('lets an edge go after 60 s of silence and not before', () => {
    const others = edge('b', 'eu', 'heard');
    const quiet = (ms: number) => ({ ...edge('a', 'eu', 'heard'), seenAtMs: NOW - ms });
    const before = { eu: ['a', 'b'] };
    expect(planEdgeSets([quiet(59_999), others], before, NOW).members).toEqual({ eu: ['a', 'b'] });
    expect(planEdgeSets([quiet(60_000), others], before, NOW).members).toEqual({ eu: ['b'] });
  });
});
