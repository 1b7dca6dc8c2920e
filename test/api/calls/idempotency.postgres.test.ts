import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { badRequest } from '../../../src/api/answers/problem.ts';
import type { Call } from '../../../src/api/calls/call.ts';
import { account, route } from '../../../src/api/calls/route.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';
import { unsound } from '../../support/billing/compare-money.ts';
import { type Asked, type KeyAnswer, playKeys } from '../../support/billing/play-keys.ts';

const Body = z.strictObject({
  note: z.string(),
  refuse: z.boolean().optional(),
  crash: z.boolean().optional(),
});

/** Writes to the database, which shows how often it ran. */
const common = {
  tag: 'Notes',
  summary: 'A note.',
  query: z.object({ x: z.string().optional() }),
  body: Body,
  response: z.object({ id: z.int(), note: z.string() }),
  answerHeaders: ['X-Change-Id'] as const,
};
const run = async ({ api: { db }, body, answerHeader }: Call<unknown, unknown, z.output<typeof Body>>) => {
  const { note, refuse, crash } = body;
  const { rows } = await sql<{ id: number }>`insert into notes (note) values (${note}) returning id`.execute(
    db,
  );
  if (refuse) return badRequest('refused');
  if (crash) throw new Error('a bug');
  answerHeader('X-Change-Id', 7);
  return { id: Number(rows[0]?.id), note, secret: 'not in the schema' };
};
const CREATE = route(account(), { ...common, method: 'POST', path: '/notes/', operationId: 'create', run });
const BATCH = route(account(), {
  ...common,
  method: 'PUT',
  path: '/notes/batch',
  operationId: 'batch',
  idempotent: true,
  run,
});
const PLAIN = route(account(), { ...common, method: 'PUT', path: '/notes/1', operationId: 'plain', run });

const api = ownApi(() => startTestApi({ routes: [CREATE, BATCH, PLAIN] }));
beforeAll(async () => {
  await api.query`create table notes (id serial primary key, note text)`;
  await api.query`grant all on notes, notes_id_seq to zonefleet_api`;
});

const send = (
  key: string | undefined,
  body: unknown,
  { as = 'owner', path = '/notes/', method = 'POST' } = {},
) => api.ask(method, path, { as, body, headers: key === undefined ? {} : { 'idempotency-key': key } });

async function count(note: string): Promise<number> {
  const rows = await api.query<{ n: number }>`
    select count(*)::int as n from notes where note = ${note}`;
  return rows[0]?.n ?? 0;
}

describe('a repeated request', () => {
  it('does not run again, and returns the first response with its headers', async () => {
    const first = await send('a', { note: 'once' });
    expect(first).toMatchObject({ status: 200, body: { note: 'once' }, headers: { 'x-change-id': '7' } });
    expect(first.headers['idempotent-replay']).toBeUndefined();
    expect(Object.keys(first.body)).toEqual(['id', 'note']);
    const again = await send('  a ', { note: 'once' });
    expect(again.text).toBe(first.text);
    expect(again).toMatchObject({
      status: 200,
      headers: { 'x-change-id': '7', 'idempotent-replay': 'true' },
    });
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(await count('once')).toBe(1);
  });

  it('is a 422 if it has another body, path or method', async () => {
    await send('b', { note: 'first' });
    const mismatch = { status: 422, body: { code: 'idempotency_mismatch' } };
    expect(await send('b', { note: 'other' })).toMatchObject(mismatch);
    expect(await send('b', { note: 'first' }, { path: '/notes/?x=1' })).toMatchObject(mismatch);
    expect(await send('b', { note: 'first' }, { path: '/notes/batch', method: 'PUT' })).toMatchObject(
      mismatch,
    );
    expect(await count('first')).toBe(1);
  });

  it('runs again after a failure, which leaves nothing behind', async () => {
    expect(await send('d', { note: 'tried', refuse: true })).toMatchObject({ status: 400 });
    expect(await send('d', { note: 'tried', crash: true })).toMatchObject({ status: 500 });
    expect(await count('tried')).toBe(0);
    expect(await send('d', { note: 'tried' })).toMatchObject({ status: 200 });
    expect(await count('tried')).toBe(1);
  });
});

describe('an Idempotency-Key', () => {
  it('has 1 to 191 bytes after trimming', async () => {
    for (const key of ['', '   ', 'x'.repeat(192)]) {
      const { status, body } = await send(key, { note: 'bad' });
      expect([key.length, status, Object.keys(body)]).toEqual([key.length, 400, ['error']]);
    }
    expect((await send(` ${'x'.repeat(191)} `, { note: 'longest' })).status).toBe(200);
    expect(await count('bad')).toBe(0);
  });

  it('is validated before the body is read', async () => {
    const { body } = await api.ask('POST', '/notes/', { body: '{', headers: { 'idempotency-key': '' } });
    expect(body.error).toMatch(/Idempotency-Key/);
  });

  it('is used on a PUT that declares it, and ignored on others', async () => {
    for (const path of ['/notes/batch', '/notes/1']) {
      for (const _ of [1, 2]) await send(`k ${path}`, { note: path }, { method: 'PUT', path });
    }
    expect([await count('/notes/batch'), await count('/notes/1')]).toEqual([1, 2]);
  });
});

it('matches a model for random sequences of keys and calls, while connections to PostgreSQL break', async () => {
  const money = await startTestApi();
  try {
    const { db } = money.database;
    let lost = 0;
    const client = {
      async ask({ token, method, path, body, key }: Asked): Promise<KeyAnswer> {
        for (let failures = 0; ; failures++) {
          const answer = await money.ask(method, path, {
            as: token,
            body,
            headers: { 'idempotency-key': key },
          });
          const isReplay = answer.headers['idempotent-replay'] === 'true';
          if (answer.status >= 500) lost++;
          else return { status: answer.status, body: answer.body, isReplay, failures };
        }
      },
    };
    const onPlayed = async (played: number) => {
      if (played % 5 > 0) return;
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and usename = 'zonefleet_api'`.execute(
        db,
      );
    };
    expect(await playKeys({ client, db, sequences: 25, seed: 7, onPlayed })).toEqual([]);
    expect(await unsound(db)).toEqual([]);
    expect(lost).toBeGreaterThan(0);
  } finally {
    await money.stop();
  }
});
