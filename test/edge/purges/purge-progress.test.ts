import { expect, it } from 'vitest';
import { purgeProgress } from '../../../src/edge/purges/purge-progress.ts';

const edge = (isLive: boolean, isDone: boolean) => ({ isLive, doneAt: isDone ? new Date() : null });

it.each([
  ['no edge serves the domain', [], null, [0, 0, true]],
  ['one has not done it', [edge(true, true), edge(true, false)], null, [2, 1, false]],
  ['all have done it', [edge(true, true), edge(true, true)], null, [2, 2, true]],
  ['a silent one has not', [edge(true, true), edge(false, false)], null, [1, 1, true]],
  ['a silent one had', [edge(false, true)], null, [1, 1, true]],
  ['all are silent', [edge(false, false)], null, [0, 0, false]],
  ['another takes its place', [edge(true, true)], 7, [1, 1, false]],
] as const)('a purge: %s', (_, edges, replacedBy, [counted, done, finished]) => {
  expect(purgeProgress(edges, replacedBy)).toEqual({ edges: counted, done, finished });
});
