// A change that is taken back is judged as if it was written now: origins, room, and what the plan includes.

import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api/api.ts';

let api: TestApi;
let domains = 0;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

async function fresh(planSlug = 'pro') {
  const name = `b${++domains}.example`;
  const { id } = await api.makeDomain(name, { planSlug });
  const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
    api.ask(method, `/domains/${name}${path}`, body === undefined ? {} : { body });
  const revert = ({ headers }: Answer) => ask('POST', `/changes/${headers['x-change-id']}/revert`);
  return { id, ask, revert };
}

async function registerEdge(name: string, address: string): Promise<void> {
  await sql`insert into edges (name, region, v4, token_hash, token_prefix)
    values (${name}, 'eu', ${[address]}, ${Buffer.from(name)}, 'edge_x')`.execute(api.database.db);
}

it('an origin that has become an edge comes back neither with its rule nor by an update', async () => {
  const { ask, revert } = await fresh();
  const made = await ask('POST', '/rules/origin-route/', { destination: '203.0.113.77' });
  const changed = await ask('PUT', `/rules/origin-route/${made.body.id}`, { destination: 'other.example' });
  const reordered = await ask('PUT', `/rules/origin-route/${made.body.id}`, { priority: 5 });
  await registerEdge('origin-route', '203.0.113.77');
  expect((await revert(reordered)).status).toBe(200); // the origin stays as it is
  const refused = await revert(changed);
  expect([refused.status, refused.body]).toEqual([
    400,
    { code: 'wrong_state', error: `rule ${made.body.id}: this is an address of an edge: 203.0.113.77` },
  ]);
  const pool = { origins: [{ host: '192.0.2.4' }, { host: '203.0.113.78' }] };
  const other = await ask('POST', '/rules/origin-pool/', pool);
  const gone = await ask('DELETE', `/rules/origin-pool/${other.body.id}`);
  await registerEdge('origin-pool', '203.0.113.78');
  expect((await revert(gone)).body.error).toContain('an address of an edge: 203.0.113.78');
});

it('the origin of a record is judged again, too', async () => {
  const { ask, revert } = await fresh();
  const record = { name: 'www', type: 'A', destination: '203.0.113.79', proxied: true };
  const made = await ask('POST', '/records/', record);
  const changed = await ask('PUT', `/records/${made.body.id}`, { destination: '192.0.2.5' });
  await registerEdge('record', '203.0.113.79');
  const refused = await revert(changed);
  expect([refused.status, refused.body.code]).toEqual([400, 'wrong_state']);
  expect(refused.body.error).toContain('an address of an edge');
  expect((await ask('GET', `/records/${made.body.id}`)).body.destination).toBe('192.0.2.5');
});

it('error pages of 4 MiB together are the most, however they come', async () => {
  const { ask, revert } = await fresh();
  const page = (octets: number) => ({ status_codes: [404], html: 'x'.repeat(octets) });
  const full = 256 * 1024;
  const first = await ask('POST', '/rules/error-page/', page(full));
  const smaller = await ask('PUT', `/rules/error-page/${first.body.id}`, page(1));
  for (let i = 0; i < 15; i++) expect((await ask('POST', '/rules/error-page/', page(full))).status).toBe(200);
  expect((await ask('POST', '/rules/error-page/', page(full - 1))).status).toBe(200);
  const refused = await revert(smaller);
  expect([refused.status, refused.body.code]).toEqual([400, 'wrong_state']);
  expect(refused.body.error).toContain('4 MiB');
  expect((await ask('GET', `/rules/error-page/${first.body.id}`)).body.size).toBe(1);
});

it('an update is taken back only where the plan includes rules; switching off and deleting need no plan', async () => {
  const { id, ask, revert } = await fresh();
  const { body: rule } = await ask('POST', '/rules/waf/', {});
  const toggled = await ask('PATCH', `/rules/waf/${rule.id}/toggle`);
  const made = await ask('POST', '/rules/drop/', { enabled: false });
  const enabled = await ask('PATCH', `/rules/drop/${made.body.id}/toggle`);
  await setPlan(api.db, { domainId: id, planSlug: 'pro', overrides: { rules_enabled: false } });
  const refused = await revert(toggled);
  expect([refused.status, refused.body.code]).toEqual([403, 'plan_feature']);
  expect((await ask('GET', `/rules/waf/${rule.id}`)).body.enabled).toBe(false);
  expect((await revert(enabled)).status).toBe(200);
  expect((await revert(made)).status).toBe(200);
});
