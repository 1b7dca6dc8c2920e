import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { postgresTrials } from '../../../src/store/accounts/address-trials.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const database = sharedDatabase();
let db: Database;
beforeEach(async () => {
  ({ db } = database);
});

const open = () => postgresTrials(db, () => {});
const silences = async (address: string) =>
  (
    await sql<{ silences: number; open: boolean }>`
      select silences, open_until is not null as open from resolver_addresses where address = ${address}`.execute(
      db,
    )
  ).rows[0];

test('of many processes one asks at a time, and three times a minute', async () => {
  const workers = Array.from({ length: 4 }, open);
  const kinds: string[] = [];
  for (let round = 1; round <= 4; round++) {
    const trials = await Promise.all(
      workers.flatMap((each) => [each.ask('192.0.2.1'), each.ask('192.0.2.1')]),
    );
    kinds.push(
      trials
        .map(({ kind }) => kind)
        .sort()
        .join(' '),
    );
    if (round === 4) break;
    workers[0]?.report('192.0.2.1', false);
    await until(async () => (await silences('192.0.2.1'))?.open === false);
  }
  const [once, never] = [`go ${'wait '.repeat(7)}`.trim(), 'wait '.repeat(8).trim()];
  // the askers of one process share a judgement, and the gate lets one of them ask
  expect(
    kinds.map((kind) =>
      kind
        .replace(/^go go/, 'go wait')
        .split(' ')
        .sort()
        .join(' '),
    ),
  ).toEqual([once, once, once, never]);
  expect(await silences('192.0.2.1')).toEqual({ silences: 3, open: false });
});

test('an address that has answered one process is proven for all', async () => {
  const [a, b] = [open(), open()];
  expect((await a.ask('192.0.2.1')).kind).toBe('go');
  expect((await b.ask('192.0.2.1')).kind).toBe('wait');
  a.report('192.0.2.1', true);
  await until(async () => (await b.ask('192.0.2.1')).kind === 'proven');
  expect((await b.ask('192.0.2.2')).kind).toBe('go');
  await sql`update resolver_addresses set replied_at = replied_at - interval '1 day', window_at = window_at - interval '1 day'`.execute(
    db,
  );
  expect((await a.ask('192.0.2.1')).kind).toBe('go');
});

test('rows of long ago are deleted', async () => {
  const trials = open();
  await trials.ask('192.0.2.1');
  await sql`update resolver_addresses set window_at = now() - interval '2 days'`.execute(db);
  await Promise.all(Array.from({ length: 500 }, (_, i) => trials.ask(`2001:db8::${i.toString(16)}`)));
  await until(async () => (await silences('192.0.2.1')) === undefined);
});

test('while the database is away the caller is told', async () => {
  const trials = open();
  await sql`alter table resolver_addresses rename to away`.execute(db);
  await expect(trials.ask('192.0.2.1')).rejects.toThrow();
  await sql`alter table away rename to resolver_addresses`.execute(db);
  expect((await trials.ask('192.0.2.1')).kind).toBe('go');
});
