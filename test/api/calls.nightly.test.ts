// The walk: every operation, by everybody, with a request that is right. The answers are those of the table in
// `test/support/walk`, which is written from the documents.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLOSED_PATHS } from '../../src/api/description/closed-paths.ts';
import { ROUTES } from '../../src/api/routes/every-route.ts';
import type { TestApi } from '../support/api/api.ts';
import { prepareWalkers, type Walkers } from '../support/walk/callers.ts';
import { NO_OPERATION, OPTIONS, WALK } from '../support/walk/table.ts';
import { startWalkApi, walkRow } from '../support/walk/walk.ts';

let api: TestApi;
let walkers: Walkers;
beforeAll(async () => {
  api = await startWalkApi();
  walkers = await prepareWalkers(api);
});
afterAll(() => api?.stop());

it('every operation has a line in the table, and every line an operation', () => {
  const operations = [...ROUTES, ...CLOSED_PATHS].map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(WALK).sort()).toEqual(operations.sort());
});

describe.each([
  ['an operation', WALK],
  ['OPTIONS', OPTIONS],
  ['what is no operation', NO_OPERATION],
])('%s answers everybody as the table says', (_, table) => {
  it.each(Object.entries(table))('%s', async (operation, row) => {
    expect(await walkRow(walkers, operation, row)).toEqual([]);
  });
});

it('none of all these calls met a bug', () => {
  expect(api.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
