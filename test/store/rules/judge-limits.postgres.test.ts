// How much the rules of one domain may make edges hold.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadEdgeRules } from '../../../src/store/rules/load-edge-rules.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';

const MIB = 1024 * 1024;
let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

it('rules for many records are bounded by what edges are told: names, not ids', async () => {
  const { id: domainId } = await api.makeDomain('names.example', { planSlug: 'pro' });
  const label = 'n'.repeat(63);
  const create = Array.from({ length: 1_000 }, (_, i) => ({
    name: `r${i}.${label}.${label}.${label}`,
    type: 'A',
    destination: '192.0.2.1',
    proxied: true,
  }));
  await api.ask('PUT', '/domains/names.example/records/batch', { body: { create } });
  const { body } = await api.ask('GET', '/domains/names.example/records/?limit=1000');
  const record_ids = body.map(({ id }: { id: number }) => id);
  expect(record_ids).toHaveLength(1_000);
  let rules = 0;
  for (; rules < 60; rules++) {
    const answer = await api.ask('POST', '/domains/names.example/rules/captcha/', { body: { record_ids } });
    if (answer.status === 200) continue;
    expect([answer.status, answer.body.fields[0].field]).toEqual([400, 'body']);
    break;
  }
  expect(rules).toBeGreaterThan(20);
  expect(rules).toBeLessThan(60);
  const told = JSON.stringify((await loadEdgeRules(api.db, [domainId])).get(domainId));
  expect(told.length).toBeLessThan(10 * MIB);
});
