// What members of a domain are told of rules that edges cannot obey.

import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashSecret } from '../../../src/store/accounts/secret-text.ts';
import { createEdge, findEdges, revokeEdge, saveEdgeHealth } from '../../../src/store/edges/edges.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';

let api: TestApi;
const rules = '/domains/told.example/rules';

beforeAll(async () => {
  api = await startTestApi();
  await api.makeDomain('told.example', { planSlug: 'pro' });
});
afterAll(() => api.stop());

async function makeEdge(name: string, region: string) {
  const made = await createEdge(api.db, { name, region, v4: [], v6: [] });
  if (made.kind !== 'created') throw new Error(made.kind);
  const hash = hashSecret(made.token);
  return async (...unsupported: readonly { rule_id: number; why: string }[]) => {
    const edge = (await findEdges(api.db, [hash])).get(hash.toString('hex'));
    if (edge === undefined) throw new Error('no edge');
    const health = { load: 0, software: 'x', cursor: undefined, address: null };
    await saveEdgeHealth(api.db, edge, { ...health, unsupported });
  };
}

const make = async () => (await api.ask('POST', `${rules}/captcha/`, { body: {} })).body.id as number;
const read = async (id: number, as = 'viewer') =>
  (await api.ask('GET', `${rules}/captcha/${id}`, { as })).body;

it('tells why, and how many say so, until they say otherwise', async () => {
  const [paris, rome] = [await makeEdge('paris', 'eu'), await makeEdge('rome', 'eu')];
  const [first, second] = [await make(), await make()];
  expect(await read(first)).not.toHaveProperty('unsupported');
  const why = 'nginx has no challenges';
  await paris({ rule_id: first, why }, { rule_id: first, why: 'twice' }, { rule_id: second, why });
  await rome({ rule_id: first, why });
  expect((await read(first)).unsupported).toEqual([{ why, edges: 2 }]);
  const { body } = await api.ask('GET', `${rules}/captcha/`);
  expect(body.map((rule: { unsupported: unknown }) => rule.unsupported)).toEqual([
    [{ why, edges: 2 }],
    [{ why, edges: 1 }],
  ]);
  // what was read is sent back
  expect((await api.ask('PUT', `${rules}/captcha/${first}`, { body: await read(first) })).status).toBe(200);
  await paris({ rule_id: second, why: 'another reason' });
  expect((await read(first)).unsupported).toEqual([{ why, edges: 1 }]);
  expect((await read(second)).unsupported).toEqual([{ why: 'another reason', edges: 1 }]);
  await api.ask('PATCH', `${rules}/captcha/${second}/toggle`);
  expect(await read(second)).not.toHaveProperty('unsupported');
  await revokeEdge(api.db, 'rome');
  expect(await read(first)).not.toHaveProperty('unsupported');
});

it('listens to edges that are heard and are told the domain, no others', async () => {
  const [lima, oslo] = [await makeEdge('lima', 'sa'), await makeEdge('oslo', 'eu')];
  const id = await make();
  await lima({ rule_id: id, why: 'from afar' });
  await oslo({ rule_id: id, why: 'here' });
  expect((await read(id)).unsupported).toHaveLength(2);
  await sql`update domains set edge_regions = '{eu}' where name = 'told.example.'`.execute(api.database.db);
  expect((await read(id)).unsupported).toEqual([{ why: 'here', edges: 1 }]);
  await sql`update edges set seen_at = now() - interval '2 minutes'`.execute(api.database.db);
  expect(await read(id)).not.toHaveProperty('unsupported');
});
