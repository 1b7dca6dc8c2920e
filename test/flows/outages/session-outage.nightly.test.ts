// While Postgres is stopped, calls with a session or a key are asked to try again. Both are valid afterwards.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { Browser, emailOf, givePassword, PASSWORD } from '../../support/api/people.ts';
import { createDatabase } from '../../support/database/database.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';

let api: TestApi;
let proxy: TcpProxy;
beforeAll(async () => {
  const database = await createDatabase();
  proxy = await startProxy(database.url);
  api = await startTestApi({ database, db: openDatabase(proxy.url, { connectTimeoutMs: 2000 }) });
  await givePassword(api, 'owner');
});
afterAll(async () => {
  await api?.db.destroy();
  await api?.stop();
  await proxy?.stop();
});

it('while Postgres is stopped, a session gets 503 session_check_failed and a key 503, and both are valid afterwards', async () => {
  const browser = new Browser(api);
  await browser.login('owner');
  const { token } = (await new Browser(api).login('owner', { bearer: true })).body;
  const askAll = async () => [
    await browser.ask('GET', '/whoami'),
    await api.ask('GET', '/whoami', { as: token }),
    await api.ask('GET', '/whoami'),
  ];
  expect((await askAll()).map(({ status }) => status)).toEqual([200, 200, 200]);

  proxy.cut();
  const [cookie, bearer, key] = await askAll();
  for (const answer of [cookie, bearer])
    expect([answer?.status, answer?.body.code, answer?.headers['retry-after']]).toEqual([
      503,
      'session_check_failed',
      '1',
    ]);
  expect([key?.status, key?.body.code]).toEqual([503, undefined]);
  const login = await new Browser(api).ask('POST', '/auth/login', {
    email: emailOf('owner'),
    password: PASSWORD,
  });
  expect([login.status, login.body.code]).toEqual([503, undefined]);

  proxy.resume();
  await until(async () => (await askAll()).every(({ status }) => status === 200), 'all are good again');
});
