// What an API process has answered of an edge's requests is there after it was killed, while no store can be reached.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEdge } from '../../../src/store/edges/edges.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { linesOf, requestLine, sendBatch } from '../../support/edge/report-requests.ts';
import { startApi } from '../../support/processes/api-process.ts';
import { until } from '../../support/tests/until.ts';

let database: TestDatabase;
const directory = mkdtempSync(join(tmpdir(), 'zonefleet-data-'));
beforeAll(async () => {
  database = await createDatabase();
  await newDomain(database.db, await newAccount(database.db, 'owner@zonefleet.test'), 'shop.example.');
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

it('the next process takes over what one that was killed has left, and knows a repeat', async () => {
  const created = await createEdge(database.db, { name: 'one', region: 'eu', v4: ['192.0.2.1'], v6: [] });
  if (created.kind !== 'created') throw new Error(created.kind);
  const { token } = created;
  // Nothing listens there.
  const env = {
    ANALYTICS_URL: 'http://user:password@127.0.0.1:9/zonefleet',
    ANALYTICS_SPOOL: join(directory, 'spool'),
  };
  const body = linesOf([requestLine(), requestLine()]);
  const first = await startApi(database.url, { env });
  for (const batch of ['a', 'b', 'c']) {
    const { body: answer } = await sendBatch({ url: first.url, token, batch, body });
    expect([batch, answer.accepted]).toEqual([batch, 2]);
  }
  expect(await first.metric('zonefleet_spool_batches')).toBe(3);
  expect(await first.metric('zonefleet_edge_lines_total{outcome="accepted"}')).toBe(6);
  await first.stop('SIGKILL');
  const second = await startApi(database.url, { env });
  await until(async () => (await second.metric('zonefleet_spool_batches')) === 3);
  expect((await sendBatch({ url: second.url, token, batch: 'a', body })).body.accepted).toBe(2);
  expect(await second.metric('zonefleet_spool_batches')).toBe(3);
  await second.stop();
});
