// The HTTP access to the embedded engine: the password, and limits on reading, running and waiting.

import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createDoor } from '../../../src/start/analytics/door.ts';
import { Sessions } from '../../../src/start/analytics/sessions.ts';
import { until } from '../../support/tests/until.ts';

const PASSWORD = { authorization: `Basic ${Buffer.from('zonefleet:secret').toString('base64')}` };
const closing: (() => void)[] = [];
afterEach(() => {
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) close();
});

/** Uses an engine that only records its statements. */
async function openDoor() {
  const ran: string[] = [];
  const session = {
    async queryAsync(sql: string) {
      ran.push(sql);
      return { text: () => '{"a":1}\n' };
    },
    close: () => {},
  };
  const reads = new Sessions([session]);
  const engine = {
    reads,
    writes: new Sessions([session]),
    pings: new Sessions([session]),
    sources: new Set<string>(),
  };
  const door = createDoor(engine, 'secret');
  await new Promise<void>((done) => door.listen(0, '127.0.0.1', done));
  closing.push(() => {
    door.closeAllConnections();
    door.close();
  });
  const origin = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
  const ask = async (body: string | Uint8Array, path = '/', headers: Record<string, string> = PASSWORD) => {
    const answer = await fetch(origin + path, { method: 'POST', body: body as string, headers });
    return {
      status: answer.status,
      text: await answer.text(),
      code: answer.headers.get('x-clickhouse-exception-code'),
    };
  };
  return { ask, ran };
}

it('accepts the password in both forms, and no other', async () => {
  const { ask, ran } = await openDoor();
  const named = { 'x-clickhouse-user': 'zonefleet', 'x-clickhouse-key': 'secret' };
  for (const headers of [PASSWORD, named]) expect((await ask('SELECT 1', '/', headers)).status).toBe(200);
  const wrong: Record<string, string>[] = [
    {},
    { authorization: 'Basic eDp5' },
    { ...named, 'x-clickhouse-key': 'secre' },
  ];
  for (const headers of wrong)
    expect(await ask('SELECT 1', '/', headers)).toMatchObject({ status: 403, code: '516' });
  expect(ran).toHaveLength(2);
});

it('runs reads with readonly, and limits the time of every statement', async () => {
  const { ask, ran } = await openDoor();
  await ask('SELECT 1');
  expect(ran).toEqual(['SELECT 1\nFORMAT JSONEachRow\nSETTINGS readonly = 1, max_execution_time = 60\n']);
});

it('rejects statements over 256 KiB, rows over 64 MiB, and compressed bodies', async () => {
  const { ask, ran } = await openDoor();
  const long = await ask(`SELECT '${'x'.repeat(256 * 1024)}'`).catch(() => ({ code: '307' })); // aborted while it sends
  expect(long.code).toBe('307');
  const insert = `/?query=${encodeURIComponent('INSERT INTO t FORMAT JSONEachRow')}`;
  const rows = await ask(new Uint8Array(64 * 1024 * 1024 + 1), insert).catch(() => ({ code: '307' }));
  expect(rows.code).toBe('307');
  expect((await ask('SELECT 1', '/', { ...PASSWORD, 'content-encoding': 'gzip' })).code).toBe('48');
  expect((await ask('SELECT 1', '/?database=default')).code).toBe('81');
  expect(ran).toEqual([]);
});

it('lets 64 statements wait, rejects the next, and forgets those whose callers have disconnected', async () => {
  const ran: string[] = [];
  const held: (() => void)[] = [];
  const session = { queryAsync: async () => ({ text: () => '' }), close: () => {} };
  const sessions = new Sessions([session]);
  const use = (name: string, gone = new AbortController().signal) =>
    sessions.use(gone, async () => {
      ran.push(name);
      await new Promise<void>((done) => held.push(done));
    });
  const running = use('first');
  const leaving = new AbortController();
  const waiting = Array.from({ length: 64 }, () => use('gone', leaving.signal));
  await expect(use('too many')).rejects.toThrow(/TOO_MANY_SIMULTANEOUS_QUERIES/);
  leaving.abort(new Error('the caller has gone'));
  for (const each of waiting) await expect(each).rejects.toThrow('the caller has gone');
  const next = use('next');
  held[0]?.();
  await running;
  await until(() => held.length === 2);
  held[1]?.();
  await next;
  expect(ran).toEqual(['first', 'next']);
});
