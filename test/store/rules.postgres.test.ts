import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { hashSecret } from '../../src/store/accounts/hashed-secrets.ts';
import { setPlan } from '../../src/store/change/set-plan.ts';
import { createEdge, findEdges, revokeEdge, saveEdgeHealth } from '../../src/store/edges/edges.ts';
import { loadEdgeRules } from '../../src/store/rules/edge-rules.ts';
import { type Answer, sharedTestApi } from '../support/api/api.ts';

const api = sharedTestApi();

describe('judge-limits', () => {
  const MIB = 1024 * 1024;

  it('limits rules for many records by the size of the names that edges receive, not by the size of ids', async () => {
    const { id: domainId } = await api.makeDomain('names.example', { planSlug: 'pro' });
    const label = 'n'.repeat(63);
    const create = Array.from({ length: 1_000 }, (_, i) => ({
      name: `r${i}.${label}.${label}.${label}`,
      type: 'A',
      destination: '192.0.2.1',
      proxied: true,
    }));
    await api.ask('PUT', '/domains/names.example/records/batch', { body: { create } });
    const { body } = await api.ask('GET', '/domains/names.example/records/?type=A&limit=1000');
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
});

describe('load-unsupported', () => {
  const rules = '/domains/told.example/rules';

  beforeAll(() => api.makeDomain('told.example', { planSlug: 'pro' }));

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

  it('returns the reason and the number of edges that report it, until they report otherwise', async () => {
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
    // The same body is sent back.
    expect((await api.ask('PUT', `${rules}/captcha/${first}`, { body: await read(first) })).status).toBe(200);
    await paris({ rule_id: second, why: 'another reason' });
    expect((await read(first)).unsupported).toEqual([{ why, edges: 1 }]);
    expect((await read(second)).unsupported).toEqual([{ why: 'another reason', edges: 1 }]);
    await api.ask('PATCH', `${rules}/captcha/${second}/toggle`);
    expect(await read(second)).not.toHaveProperty('unsupported');
    await revokeEdge(api.db, 'rome');
    expect(await read(first)).not.toHaveProperty('unsupported');
  });

  it('counts only edges that are present and receive the domain', async () => {
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
});

describe('plan-rule-revert', () => {
  // Reverted changes are validated like new writes: origins, space, and the plan.
  let domains = 0;

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

  it('an origin that has become an edge is not restored, neither with its rule nor by an update', async () => {
    const { ask, revert } = await fresh();
    const made = await ask('POST', '/rules/origin-route/', { destination: '203.0.113.77' });
    const changed = await ask('PUT', `/rules/origin-route/${made.body.id}`, { destination: 'other.example' });
    const reordered = await ask('PUT', `/rules/origin-route/${made.body.id}`, { priority: 5 });
    await registerEdge('origin-route', '203.0.113.77');
    expect((await revert(reordered)).status).toBe(200); // the origin is unchanged
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

  it('the origin of a record is validated again, too', async () => {
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

  it('error pages are limited to 4 MiB in total, whether written or restored', async () => {
    const { ask, revert } = await fresh();
    const page = (octets: number) => ({ status_codes: [404], html: 'x'.repeat(octets) });
    const full = 256 * 1024;
    const first = await ask('POST', '/rules/error-page/', page(full));
    const smaller = await ask('PUT', `/rules/error-page/${first.body.id}`, page(1));
    for (let i = 0; i < 15; i++)
      expect((await ask('POST', '/rules/error-page/', page(full))).status).toBe(200);
    expect((await ask('POST', '/rules/error-page/', page(full - 1))).status).toBe(200);
    expect((await ask('POST', '/rules/error-page/', page(2))).body.fields[0].field).toBe('html');
    const refused = await revert(smaller);
    expect([refused.status, refused.body.code]).toEqual([400, 'wrong_state']);
    expect(refused.body.error).toContain('4 MiB');
    expect((await ask('GET', `/rules/error-page/${first.body.id}`)).body.size).toBe(1);
  });

  it('reverting an update requires a plan with rules, but disabling and deleting do not', async () => {
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
});
