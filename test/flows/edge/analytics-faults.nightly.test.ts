// Questions about requests while the real engine is killed, hangs, or is not there yet: 500 (503 before it was there) until it answers, with the same numbers.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { NAME, type RequestsApi, startRequestsApi } from '../../support/analytics/requests-api.ts';
import { type Answer, startTestApi } from '../../support/api/api.ts';

let api: RequestsApi;
beforeAll(async () => {
  api = await startRequestsApi({ count: 2000 });
});
afterAll(() => api?.stop());

const ask = (): Promise<Answer> => api.ask('GET', `/analytics/summary?domain=${NAME}&period=30d`);
const FAILED = [500, { error: 'query failed' }];
const seen = ({ status, body }: Answer) => [status, body];

it('a killed engine is 500, and once it is back the same is told', async () => {
  const before = await ask();
  expect(before.status).toBe(200);
  api.engine.kill();
  for (let i = 0; i < 3; i++) expect(seen(await ask())).toEqual(FAILED);
  await api.engine.restart();
  expect(seen(await ask())).toEqual(seen(before));
});

it('an engine that hangs is 500 when the time is over, and the API answers everything else meanwhile', async () => {
  api.engine.signal('SIGSTOP');
  try {
    const asked = api.ask('GET', `/analytics/summary?domain=${NAME}&period=3h`);
    expect((await api.ask('GET', `/domains/${NAME}`)).status).toBe(200);
    expect(seen(await asked)).toEqual(FAILED);
  } finally {
    api.engine.signal('SIGCONT');
  }
  expect((await ask()).status).toBe(200);
});

it('an engine that is away when the API starts is 503 until it is there', async () => {
  api.engine.kill();
  const early = await startTestApi({ analytics: api.engine.url });
  try {
    await early.makeDomain('early.test');
    const path = '/analytics/summary?domain=early.test';
    expect((await early.ask('GET', path)).status).toBe(503);
    await api.engine.restart();
    expect((await early.ask('GET', path)).status).toBe(200);
  } finally {
    await early.stop();
  }
});
