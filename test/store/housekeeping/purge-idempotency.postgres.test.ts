// What is kept of idempotent requests has an end: in bytes for each account, and in days.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import {
  digestOf,
  type KeepRules,
  runOnce,
  type StoredResponse,
} from '../../../src/store/accounts/kept-answers.ts';
import { purgeIdempotency } from '../../../src/store/housekeeping/purge-idempotency.ts';
import { newAccount } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const RULES: KeepRules = { answerBytes: 1000, accountBytes: 4000 };
const PURGE = { keptDays: 30, accountBytes: RULES.accountBytes, rows: 1000 };

const database = sharedDatabase();
let accountId: number;
let done: string[];

beforeEach(async () => {
  accountId = await newAccount(database.db, 'a@example.org');
  done = [];
});

const ask = (key: string, response: Partial<StoredResponse & { rest: unknown }> = {}, account = accountId) =>
  runOnce(
    database.db,
    { accountId: account, key, method: 'POST', path: '/', bodyHash: new Uint8Array(32) },
    async () => {
      done.push(key);
      return { status: 200, headers: { 'X-Change-Id': '7' }, body: { key }, ...response };
    },
    RULES,
  );
const text = (bytes: number) => 'x'.repeat(bytes);

/** What stands there, and what is said to stand there. */
async function keptBytes(account = accountId): Promise<number> {
  const { rows } = await sql<{ stored: number; noted: number; total: number }>`
      select coalesce(sum(octet_length(response::text)) filter (where octets > 0), 0)::bigint as stored,
        coalesce(sum(octets), 0)::bigint as noted,
        coalesce((select octets from idempotency_octets where account_id = ${account}), 0) as total
      from idempotency_keys where account_id = ${account}`.execute(database.db);
  const { stored, noted, total } = rows[0] as { stored: number; noted: number; total: number };
  expect([stored, noted]).toEqual([total, total]);
  return total;
}

test('a large answer is kept as digest, change and what it can be made again from', async () => {
  const body = { list: text(1000) };
  expect(await ask('a', { body, rest: { n: 1 } })).toMatchObject({ kind: 'response', replayed: false });
  expect(await keptBytes()).toBeLessThan(200);
  expect(await ask('a')).toEqual({
    kind: 'condensed',
    response: {
      status: 200,
      headers: { 'X-Change-Id': '7' },
      changeId: 7,
      rest: { n: 1 },
      digest: Buffer.from(digestOf(body)),
    },
  });
  await ask('b', { body, rest: text(1000) });
  expect(await ask('b')).toMatchObject({ kind: 'condensed', response: { changeId: 7 } });
  expect(done).toEqual(['a', 'b']);
});

test('a failure leaves neither a key nor bytes', async () => {
  await ask('a', { status: 400, body: text(900) });
  expect(await keptBytes()).toBe(0);
  expect((await sql`select from idempotency_keys`.execute(database.db)).rows).toEqual([]);
});

test('an account keeps no more than it may; what comes then is known by its key alone, others are not concerned', async () => {
  const other = await newAccount(database.db, 'b@example.org');
  for (let i = 0; i < 20; i++) await ask(`k${i}`, { body: text(900) });
  expect(await keptBytes()).toBeLessThanOrEqual(RULES.accountBytes);
  for (let i = 0; i < 20; i++) expect((await ask(`k${i}`)).kind).toBe(i < 4 ? 'response' : 'condensed');
  expect(done).toHaveLength(20);
  await ask('k', { body: text(900) }, other);
  expect(await ask('k', {}, other)).toMatchObject({ kind: 'response', replayed: true });
});

test('of many at once none goes past what an account may keep', async () => {
  await Promise.all(Array.from({ length: 30 }, (_, i) => ask(`k${i}`, { body: text(900) })));
  expect(await keptBytes()).toBeLessThanOrEqual(RULES.accountBytes);
  expect(done).toHaveLength(30);
});

test('the oldest answers make room, and are known by their digests; nothing is done twice', async () => {
  const bodies = [1, 2, 3, 4].map((i) => `${i}${text(850)}é"\\u0041\n`);
  for (const [i, body] of bodies.entries()) await ask(`k${i}`, { body });
  expect(await purgeIdempotency(database.db, PURGE)).toEqual({ forgotten: 0, shrunk: 1, isMore: true });
  expect(await keptBytes()).toBeLessThanOrEqual(RULES.accountBytes * 0.8);
  expect(await purgeIdempotency(database.db, PURGE)).toEqual({ forgotten: 0, shrunk: 0, isMore: false });
  const first = await ask('k0');
  expect(first).toMatchObject({ kind: 'condensed', response: { status: 200, changeId: 7 } });
  // The server's digest is of the same bytes as ours.
  expect(first.kind === 'condensed' && first.response.digest).toEqual(Buffer.from(digestOf(bodies[0])));
  expect(await ask('k1')).toMatchObject({ kind: 'response', replayed: true });
  await ask('k4', { body: text(850) });
  expect((await ask('k4')).kind).toBe('response');
  expect(done).toHaveLength(5);
});

test('what is left of large answers makes room too', async () => {
  for (let i = 0; i < 6; i++) await ask(`k${i}`, { body: text(1000), rest: text(880) });
  expect((await purgeIdempotency(database.db, PURGE)).shrunk).toBeGreaterThan(0);
  expect(await keptBytes()).toBeLessThanOrEqual(RULES.accountBytes * 0.8);
});

test('keys of more than 30 days go, piece by piece, and their bytes with them; younger ones stay', async () => {
  for (let i = 0; i < 4; i++) await ask(`k${i}`, { body: text(500) });
  await sql`update idempotency_keys set created_at = now() - interval '30 days 1 minute' where key <> 'k3'`.execute(
    database.db,
  );
  await sql`update idempotency_keys set created_at = now() - interval '29 days 23 hours' where key = 'k3'`.execute(
    database.db,
  );
  const pieces = { ...PURGE, rows: 2 };
  expect(await purgeIdempotency(database.db, pieces)).toEqual({ forgotten: 2, shrunk: 0, isMore: true });
  expect(await purgeIdempotency(database.db, pieces)).toEqual({ forgotten: 1, shrunk: 0, isMore: false });
  expect(await keptBytes()).toBeLessThan(700);
  expect(await ask('k3')).toMatchObject({ replayed: true });
  expect(await ask('k0')).toMatchObject({ replayed: false });
});

test('one process purges at a time, and it finds what is old without reading all', async () => {
  await ask('a');
  await sql`update idempotency_keys set created_at = now() - interval '31 days'`.execute(database.db);
  const both = await Promise.all([1, 2].map(() => purgeIdempotency(database.db, PURGE)));
  expect(both.reduce((sum, { forgotten }) => sum + forgotten, 0)).toBe(1);
  await database.db.connection().execute(async (connection) => {
    await sql`set enable_seqscan = off`.execute(connection);
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
        explain select from idempotency_keys where created_at < now() and not for_ever order by created_at limit 5`.execute(
      connection,
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('idempotency_keys_created');
  });
});

test('a long path is kept as its digest, and told from others all the same', async () => {
  const asked = (path: string) =>
    runOnce(
      database.db,
      { accountId, key: 'long', method: 'DELETE', path, bodyHash: new Uint8Array(32) },
      async () => ({ status: 200, headers: {}, body: 1 }),
    );
  const path = `/?ids=${'1,'.repeat(5000)}`;
  expect(await asked(path)).toMatchObject({ replayed: false });
  expect(await asked(path)).toMatchObject({ replayed: true });
  expect(await asked(`${path}2`)).toEqual({ kind: 'mismatch' });
  const { rows } = await sql<{
    length: number;
  }>`select length(path) as length from idempotency_keys`.execute(database.db);
  expect(rows[0]?.length).toBeLessThan(100);
});
