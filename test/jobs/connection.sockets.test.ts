import { Queue } from 'bullmq';
import { expect, test } from 'vitest';
import { QUEUES } from '../../src/features/every-feature.ts';
import { connectQueue, migrateQueue } from '../../src/jobs/connection.ts';
import { runOn } from '../support/database/database.ts';
import { keptDatabase } from '../support/tests/shared-database.ts';

const database = keptDatabase();

const schemas = async () =>
  (await runOn(database, 'select nspname from pg_namespace')).map(({ nspname }) => nspname);

test('the queue has its own schema, which the first process creates once', async () => {
  expect(await schemas()).not.toContain('bullmq');
  const place = { databaseUrl: database.url, redisUrl: undefined };
  await Promise.all([migrateQueue(place, QUEUES), migrateQueue(place, QUEUES)]);
  expect(await schemas()).toContain('bullmq');
  const before = await runOn(database, 'select * from bullmq.migration order by version');
  await migrateQueue(place, QUEUES);
  expect(await runOn(database, 'select * from bullmq.migration order by version')).toEqual(before);
  const ours = await runOn(database, "select tablename from pg_tables where schemaname = 'public'");
  expect(ours.map(({ tablename }) => tablename)).not.toContain('job');
});

test('Redis needs no preparation', async () => {
  await migrateQueue(
    {
      databaseUrl: 'postgresql://nobody@127.0.0.1:1/none',
      redisUrl: 'redis://127.0.0.1:1',
    },
    QUEUES,
  );
});

test('options in the database URL are kept besides those of the queue', async () => {
  await migrateQueue({ databaseUrl: database.url, redisUrl: undefined }, QUEUES);
  const join = database.url.includes('?') ? '&' : '?';
  const databaseUrl = `${database.url}${join}options=-c%20work_mem%3D7MB`;
  const { factory, options } = connectQueue({ databaseUrl, redisUrl: undefined }, 'worker', () => {});
  const queue = new Queue('test', options, factory);
  queue.on('error', () => {});
  const { pool } = (
    queue.getBackend() as unknown as {
      connection: { pool: { query(text: string): Promise<{ rows: unknown[] }> } };
    }
  ).connection;
  const { rows } = await pool.query(
    `select current_setting('work_mem') as work_mem, current_setting('search_path') as path,
       current_setting('synchronous_commit') as durable`,
  );
  expect(rows).toEqual([{ work_mem: '7MB', path: '"bullmq"', durable: 'off' }]);
  await queue.close();
});
