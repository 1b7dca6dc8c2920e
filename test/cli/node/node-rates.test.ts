import { expect, it } from 'vitest';
import { ratesOf } from '../../../src/cli/node/node-rates.ts';
import type { ListedNode } from '../../../src/store/feed/nodes.ts';

it('has no rate for a node that was restarted, did not report, or is not listed', () => {
  const node = {
    name: 'ams1',
    startedAt: new Date(0),
    seenAt: new Date(5000),
    traffic: { answered: 50, dropped: 1 },
  };
  const later = { ...node, seenAt: new Date(7000), traffic: { answered: 90, dropped: 1 } };
  const rates = (after: object) =>
    ratesOf([node as ListedNode], [{ ...later, ...after } as ListedNode]).get('ams1');
  expect(rates({})).toEqual({ answered: 20, dropped: 0 });
  for (const after of [
    { startedAt: new Date(1) },
    { traffic: { answered: 1, dropped: 0 } },
    { traffic: null },
    { seenAt: new Date(5000) },
    { name: 'fra1' },
  ])
    expect([after, rates(after)]).toEqual([after, undefined]);
});
