// The walk: sends every operation as every caller, with a valid request, and compares with fixtures/api-access.

import { beforeAll, describe, expect, it } from 'vitest';
import { CLOSED_PATHS } from '../../src/api/description/documents.ts';
import { ROUTES } from '../../src/features/every-route.ts';
import { ownApi } from '../support/api/api.ts';
import { readAccess } from '../support/walk/access.ts';
import { CALLER_GROUPS, CALLERS } from '../support/walk/caller-names.ts';
import { prepareWalkers, type Walkers } from '../support/walk/callers.ts';
import { startWalkApi, walk } from '../support/walk/walk.ts';

const api = ownApi(() => startWalkApi());
let walkers: Walkers;
beforeAll(async () => {
  walkers = await prepareWalkers(api);
});

const read = (file: string) => readAccess(file, CALLERS, CALLER_GROUPS);

it('operations.txt lists exactly the operations of the API', () => {
  const operations = [...ROUTES, ...CLOSED_PATHS].map(({ method, path }) => `${method} ${path}`);
  expect([...read('operations.txt').keys()].sort()).toEqual(operations.sort());
});

describe.each(['operations.txt', 'options.txt', 'unknown-paths.txt'])('every caller of %s', (file) => {
  it.each([...read(file)])('receives the listed outcome from %s', async (operation, outcomes) => {
    expect(await walk(walkers, operation, outcomes)).toEqual([]);
  });
});

it('the API logs no error during the walk', () => {
  expect(api.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
