// One check an hour, and for one of those who ask at once.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import {
  giveBackManualCheck,
  takeManualCheck,
  undoManualCheck,
} from '../../../src/store/checks/take-manual-check.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { databaseNow } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const HOUR_MS = 3_600_000;

const database = sharedDatabase();
let db: Database;
let id: number;

beforeEach(async () => {
  ({ db } = database);
  ({ id } = await newDomain(db, await newAccount(db, 'a@example.org')));
});

const last = async () => (await loadDomainById(db, id))?.lastManualNsCheckAt ?? null;

test('the next one may be taken an hour later', async () => {
  const begun = new Date('2026-05-01T12:00:00.123Z');
  const takeAt = (ms: number) => takeManualCheck(db, id, new Date(begun.getTime() + ms));
  expect(await takeAt(0)).toEqual({ kind: 'taken', taken: begun, previous: null });
  expect(await last()).toEqual(begun);
  expect(await takeAt(1)).toEqual({ kind: 'limited', retryAfterSeconds: 3600 });
  expect(await takeAt(HOUR_MS - 1)).toEqual({ kind: 'limited', retryAfterSeconds: 1 });
  expect(await takeAt(HOUR_MS)).toMatchObject({ kind: 'taken', previous: begun });
});

test('of many at once one has it, by the clock of the database', async () => {
  const before = await databaseNow(db);
  const taken = await Promise.all(Array.from({ length: 8 }, () => takeManualCheck(db, id)));
  const [won, ...rest] = taken.filter(({ kind }) => kind === 'taken');
  expect(rest).toEqual([]);
  const { rows } = await sql<{ is: boolean }>`
      select ${won?.kind === 'taken' ? won.taken : null} 
        between date_trunc('milliseconds', ${before}::timestamptz) and now() as is`.execute(db);
  expect(rows).toEqual([{ is: true }]);
  const waits = taken.flatMap((one) => (one.kind === 'limited' ? [one.retryAfterSeconds] : []));
  expect(waits).toHaveLength(7);
  expect(waits.every((seconds) => seconds > 3500 && seconds <= 3600)).toBe(true);
});

test('given back it can be taken again at once, but not from whoever has taken it since', async () => {
  const first = await takeManualCheck(db, id);
  if (first.kind !== 'taken') throw new Error(first.kind);
  await giveBackManualCheck(db, id, first);
  expect(await last()).toBeNull();
  const at = new Date(first.taken.getTime() + 5);
  const second = await takeManualCheck(db, id, at);
  expect(second).toMatchObject({ kind: 'taken', previous: null });
  await giveBackManualCheck(db, id, first);
  expect(await last()).toEqual(at);
  const third = await takeManualCheck(db, id, new Date(at.getTime() + HOUR_MS));
  if (third.kind !== 'taken') throw new Error(third.kind);
  await giveBackManualCheck(db, id, third);
  expect(await last()).toEqual(at);
});

test('is given back without end when no worker was asked to make it', async () => {
  for (let i = 0; i < 5; i++) {
    const taken = await takeManualCheck(db, id);
    if (taken.kind !== 'taken') throw new Error(taken.kind);
    await undoManualCheck(db, id, taken);
    expect(await last()).toBeNull();
  }
});

test('is given back twice a day', async () => {
  const begun = new Date('2026-05-01T12:00:00.000Z').getTime();
  const tryAt = async (ms: number) => {
    const taken = await takeManualCheck(db, id, new Date(begun + ms));
    if (taken.kind !== 'taken') return taken.kind;
    await giveBackManualCheck(db, id, taken);
    return (await last())?.getTime() === taken.taken.getTime() ? 'kept' : 'given back';
  };
  expect([await tryAt(0), await tryAt(1000), await tryAt(2000), await tryAt(3000)]).toEqual([
    'given back',
    'given back',
    'kept',
    'limited',
  ]);
  expect(await tryAt(20 * HOUR_MS)).toBe('kept');
  expect([await tryAt(25 * HOUR_MS), await tryAt(25 * HOUR_MS + 1), await tryAt(25 * HOUR_MS + 2)]).toEqual([
    'given back',
    'given back',
    'kept',
  ]);
});
