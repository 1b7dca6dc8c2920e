// The disk of Postgres is full, really: a small tmpfs. Writes are refused truthfully, reads go on, and all works again
// when there is room.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { databaseUrl, runOn, TEMPLATE_DATABASE } from '../../support/database/database.ts';
import { lacksSmallDisk, mountSmallDisk, type SmallDisk } from '../../support/database/small-disk.ts';
import { type StartedServer, startServer } from '../../support/database/start-server.ts';
import { until } from '../../support/tests/until.ts';

const lacks = lacksSmallDisk();
const NAME = `full_${process.pid}`;

describe(lacks === undefined ? 'on a full disk' : `on a full disk (skipped: needs ${lacks})`, () => {
  /** Of its own: a full disk stops the checkpoints of the whole server. */
  let server: StartedServer | undefined;
  let disk: SmallDisk;
  let api: TestApi;

  beforeAll(async () => {
    if (lacks !== undefined) return;
    const started = await startServer('embedded');
    server = started;
    const [row] = await runOn(started, 'show data_directory');
    disk = mountSmallDisk(String(row?.data_directory), 64);
    await runOn(started, `create tablespace ${NAME} location '${disk.tablespace}'`);
    await runOn(started, `create database ${NAME} template ${TEMPLATE_DATABASE} tablespace ${NAME}`);
    const url = databaseUrl(started, NAME);
    const db = openDatabase(url);
    const drop = async () => {
      await db.destroy();
      await runOn(started, `drop database ${NAME} with (force)`);
      await runOn(started, `drop tablespace ${NAME}`);
    };
    api = await startTestApi({ database: { url, db, drop } });
    await api.makeDomain('full.example.com');
  });
  afterAll(async () => {
    disk?.clear();
    await api?.stop();
    await server?.stop();
    disk?.remove();
  });

  const path = '/domains/full.example.com/records/';
  /** So much that no page has room for it. */
  const write = (key: string) =>
    api.ask('PUT', `${path}batch`, {
      headers: { 'idempotency-key': key },
      body: {
        create: Array.from({ length: 200 }, (_, i) => ({
          name: `${key}-${i}`,
          type: 'TXT',
          destination: 'x'.repeat(2000),
        })),
      },
    });
  const lines = () => api.logged.filter(({ outage, err }) => outage !== undefined || err !== undefined);

  it.skipIf(lacks !== undefined)('writes are 503, reads go on, and the log has one line', async () => {
    expect((await write('before')).status).toBe(200);
    disk.fill();
    for (let i = 0; i < 10; i++) {
      const { status, headers, body } = await write('full');
      expect([status, headers['retry-after'], body.error]).toEqual([
        503,
        '30',
        'the database has no disk space; try again',
      ]);
    }
    expect((await api.ask('GET', path)).body.length).toBeGreaterThan(200);
    const ready = await api.ask('GET', '/readyz', { as: null });
    expect([ready.status, ready.body]).toEqual([503, { error: 'the database has no disk space' }]);
    expect(lines()).toMatchObject([
      { outage: 'no_disk_space', calls: 1, msg: 'the database has no disk space' },
    ]);
    const { rows } = await sql`select from idempotency_keys where key = 'full'`.execute(api.db);
    expect(rows).toEqual([]);
  });

  it.skipIf(lacks !== undefined)(
    'with room again the same call is carried out, and all is ready',
    async () => {
      disk.clear();
      expect((await write('full')).status).toBe(200);
      const again = await write('full');
      expect([again.status, again.headers['idempotent-replay']]).toEqual([200, 'true']);
      await until(
        async () => (await api.ask('GET', '/readyz', { as: null })).status === 200,
        'it is ready again',
        30_000,
      );
    },
  );
});
