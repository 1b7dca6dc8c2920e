// Limits of rules, also under calls at the same time; the log of changes and what takes them back; records that go; edges.

import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setPlan } from '../../../../src/store/change/set-plan.ts';
import { loadEdgeRules } from '../../../../src/store/rules/load-edge-rules.ts';
import { type Answer, startTestApi, type TestApi } from '../../../support/api/api.ts';
import { SMALLEST } from '../../../support/rules/smallest-bodies.ts';

let api: TestApi;
let domains = 0;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

interface Fresh {
  readonly id: number;
  /** The path of the domain. */
  readonly base: string;
  readonly rules: string;
}

async function fresh(planSlug = 'pro'): Promise<Fresh> {
  const name = `s${++domains}.example`;
  const { id } = await api.makeDomain(name, { planSlug });
  return { id, base: `/domains/${name}`, rules: `/domains/${name}/rules` };
}

const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  api.ask(method, path, body === undefined ? {} : { body });
const post = (path: string, type: string, body: object = {}) =>
  ask('POST', `${path}/${type}/`, { ...SMALLEST[type], ...body });
const list = async (path: string, type: string) => (await ask('GET', `${path}/${type}/`)).body;

async function record(base: string, body: object = {}): Promise<number> {
  const answer = await ask('POST', `${base}/records/`, {
    name: 'www',
    type: 'A',
    destination: '192.0.2.7',
    proxied: true,
    ...body,
  });
  expect(answer.text).not.toContain('"error"');
  return answer.body.id;
}

const versionOf = async (base: string) => {
  const name = `${base.slice('/domains/'.length)}.`;
  const { rows } = await sql<{
    version: number;
  }>`select version from edge_changes where name = ${name}`.execute(api.database.db);
  return rows[0]?.version;
};

describe('limits', () => {
  it('a plan allows so many rules of each type', async () => {
    const { rules, base } = await fresh('free');
    for (let i = 0; i < 5; i++) expect((await post(rules, 'drop')).status).toBe(200);
    const refused = await post(rules, 'drop');
    expect([refused.status, refused.body]).toMatchObject([403, { code: 'plan_limit', limit: 5 }]);
    expect((await post(rules, 'waf')).status).toBe(200);
    const { body } = await ask('GET', `${base}/features`);
    expect(body.domain_usage).toContainEqual({ name: 'rules_drop', used: 5, limit: 5 });
    expect(body.domain_usage).toContainEqual({ name: 'rules_waf', used: 1, limit: 5 });
    expect(body.domain_usage).toContainEqual({ name: 'rules_cache', used: 0, limit: 5 });
  });

  it('a plan with fewer than there are refuses new ones, and lets the others be edited and deleted', async () => {
    const { id, rules } = await fresh();
    const made = [(await post(rules, 'waf')).body, (await post(rules, 'waf')).body];
    await setPlan(api.db, { domainId: id, planSlug: 'free', overrides: { max_rules_per_set: 1 } });
    expect((await post(rules, 'waf')).body.code).toBe('plan_limit');
    expect((await ask('PUT', `${rules}/waf/${made[0].id}`, { paranoia: 2 })).status).toBe(200);
    expect((await ask('DELETE', `${rules}/waf/${made[0].id}`)).status).toBe(200);
  });

  it('a plan without rules refuses what adds, changes or enables; a rule can be switched off and deleted', async () => {
    const { id, rules } = await fresh();
    const { body: rule } = await post(rules, 'waf');
    await setPlan(api.db, { domainId: id, planSlug: 'free', overrides: { rules_enabled: false } });
    const item = `${rules}/waf/${rule.id}`;
    const shut = { code: 'plan_feature', feature: 'rules_enabled' };
    expect((await post(rules, 'waf')).body).toMatchObject(shut);
    expect((await ask('PUT', item, { paranoia: 2 })).body).toMatchObject(shut);
    expect((await ask('PATCH', `${rules}/waf/reorder`, [{ id: rule.id, priority: 1 }])).body).toMatchObject(
      shut,
    );
    expect((await ask('PATCH', `${item}/toggle`)).body.enabled).toBe(false);
    expect((await ask('PATCH', `${item}/toggle`)).body).toMatchObject(shut);
    // a wrong value is told first
    expect((await post(rules, 'waf', { paranoia: 9 })).status).toBe(400);
    await setPlan(api.db, { domainId: id, planSlug: null });
    const none = await post(rules, 'waf');
    expect([none.status, none.body.code]).toEqual([402, 'no_active_plan']);
    expect((await ask('DELETE', item)).status).toBe(200);
  });

  it('calls at the same time never pass the limit', async () => {
    const { rules } = await fresh('free');
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(rules, 'captcha')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(answers.filter(({ body }) => body.code === 'plan_limit')).toHaveLength(15);
    expect(await list(rules, 'captcha')).toHaveLength(5);
  });

  it('without a limit of the plan a domain has at most 1,000 of a type', async () => {
    const { id, rules } = await fresh();
    const { body } = await post(rules, 'drop');
    await sql`insert into rules (domain_id, type, enabled, priority, record_ids, fields, octets, created_at, updated_at)
      select domain_id, type, enabled, priority, record_ids, fields, octets, created_at, updated_at
      from rules, generate_series(1, 999) where id = ${body.id} and domain_id = ${id}`.execute(
      api.database.db,
    );
    expect((await post(rules, 'drop')).body).toMatchObject({ code: 'plan_limit', limit: 1000 });
    expect(await list(rules, 'drop')).toHaveLength(1000);
    const all = (await list(rules, 'drop')).map((rule: { id: number }, i: number) => ({
      id: rule.id,
      priority: i,
    }));
    expect((await ask('PATCH', `${rules}/drop/reorder`, all)).body).toEqual({
      updated: 999 + (all[100].priority === 100 ? 0 : 1),
    });
  });

  it('error pages, and bodies, of one domain take at most 4 MiB together', async () => {
    const { rules } = await fresh();
    const html = 'a'.repeat(256 * 1024);
    for (let i = 0; i < 16; i++) expect((await post(rules, 'error_page', { html })).status).toBe(200);
    const refused = await post(rules, 'error_page', { html: 'a' });
    expect([refused.status, refused.body.fields[0].field]).toEqual([400, 'html']);
    const [first] = await list(rules, 'error_page');
    expect((await ask('PUT', `${rules}/error-page/${first.id}`, { html: 'b' })).status).toBe(200);
    expect((await post(rules, 'error_page', { html: 'a' })).status).toBe(200);
    await sql`update rules set octets = 4194304 where id = ${first.id}`.execute(api.database.db);
    expect((await post(rules, 'drop')).body.fields[0].field).toBe('body');
  });

  it('of pages that no rule has any more, sixteen are kept', async () => {
    const { id, rules } = await fresh();
    const { body: rule } = await post(rules, 'error_page', { html: 'page 0' });
    for (let i = 1; i < 30; i++) await ask('PUT', `${rules}/error-page/${rule.id}`, { html: `page ${i}` });
    const { rows } = await sql<{ html: string }>`
      select html from rule_pages where domain_id = ${id} order by kept_at, html`.execute(api.database.db);
    expect(rows).toHaveLength(17);
    expect(rows.map(({ html }) => html)).toContain('page 29');
    expect(rows.map(({ html }) => html)).not.toContain('page 12');
  });
});

describe('the log of changes', () => {
  it('tells what a change did to rules, of an altered one the fields that differ', async () => {
    const { base, rules } = await fresh();
    const { body: rule, headers } = await post(rules, 'error_page', { html: 'secret page' });
    const change = async (answer: Pick<Answer, 'headers'>) =>
      (await ask('GET', `${base}/changes/${answer.headers['x-change-id']}`)).body;
    const made = await change({ headers });
    expect(made).toMatchObject({ source: 'api', records: [], rules: [{ op: 'create' }] });
    expect(made.rules[0].after).toMatchObject({
      id: rule.id,
      type: 'error_page',
      status_codes: [502],
      size: 11,
    });
    expect(JSON.stringify(made)).not.toContain('secret page');
    const edited = await change(await ask('PUT', `${rules}/error-page/${rule.id}`, { priority: 4 }));
    expect(edited.rules).toEqual([
      {
        op: 'update',
        before: { id: rule.id, type: 'error_page', priority: 100 },
        after: { id: rule.id, type: 'error_page', priority: 4 },
      },
    ]);
    const gone = await change(await ask('DELETE', `${rules}/error-page/${rule.id}`));
    expect(gone.rules[0]).toMatchObject({ op: 'delete', before: { priority: 4 } });
    expect(gone.serial).toBe(made.serial); // the zone is as it was
    const { body: audit } = await ask('GET', `${base}/audit`);
    expect(audit.filter(({ action }: { action: string }) => action === 'rules.edit')).toHaveLength(3);
  });

  it.each(Object.keys(SMALLEST))('%s: every operation can be taken back', async (type) => {
    const { base, rules } = await fresh();
    const revert = (answer: Answer) => ask('POST', `${base}/changes/${answer.headers['x-change-id']}/revert`);
    const read = async (id: number) => {
      const { status, body } = await ask('GET', `${rules}/${type}/${id}`);
      const { updated_at: _, ...rest } = body;
      return status === 200 ? rest : undefined;
    };
    const made = await post(rules, type, { path_excludes: ['/x'] });
    const { id } = made.body;
    const first = await read(id);
    const steps: [string, string, unknown?][] = [
      [
        'PUT',
        `${rules}/${type}/${id}`,
        { priority: 5, path_includes: ['/a'], ...(type === 'error_page' && { html: 'other' }) },
      ],
      ['PATCH', `${rules}/${type}/${id}/toggle`],
      ['PATCH', `${rules}/${type}/reorder`, [{ id, priority: 9 }]],
      ['DELETE', `${rules}/${type}/${id}`],
    ];
    for (const [method, url, body] of steps) {
      const done = await ask(method, url, body);
      expect(await read(id)).not.toEqual(first);
      const back = await revert(done);
      expect([back.status, back.body.reverts]).toEqual([200, Number(done.headers['x-change-id'])]);
      expect(await read(id)).toEqual(first);
    }
    expect((await revert(made)).status).toBe(200);
    expect(await read(id)).toBeUndefined();
  });

  it('is not taken back when a later change touched the same rules, unless that was taken back itself', async () => {
    const { base, rules } = await fresh();
    const { body: rule } = await post(rules, 'waf');
    const item = `${rules}/waf/${rule.id}`;
    const first = await ask('PUT', item, { paranoia: 2 });
    const second = await ask('PUT', item, { priority: 7 });
    const revert = (answer: Answer) => ask('POST', `${base}/changes/${answer.headers['x-change-id']}/revert`);
    const refused = await revert(first);
    expect([refused.status, refused.body]).toEqual([
      409,
      { error: `a later change touched rule ${rule.id} of this change` },
    ]);
    expect((await revert(second)).status).toBe(200);
    expect((await revert(first)).status).toBe(200);
    expect((await ask('GET', item)).body).toMatchObject({ paranoia: 1, priority: 100 });
    expect((await revert(first)).status).toBe(409);
  });

  it('a rule that returns needs the plan, its records and its page', async () => {
    const { id, base, rules } = await fresh();
    const www = await record(base);
    const revert = (answer: Answer) => ask('POST', `${base}/changes/${answer.headers['x-change-id']}/revert`);
    const { body: rule } = await post(rules, 'waf', { record_ids: [www] });
    const gone = await ask('DELETE', `${rules}/waf/${rule.id}`);
    await setPlan(api.db, { domainId: id, planSlug: 'free', overrides: { max_rules_per_set: 0 } });
    expect((await revert(gone)).body.code).toBe('plan_limit');
    await setPlan(api.db, { domainId: id, planSlug: 'pro' });
    await ask('DELETE', `${base}/records/${www}`);
    expect((await revert(gone)).body).toMatchObject({
      code: 'wrong_state',
      error: expect.stringContaining(`record ${www}`),
    });
    const { body: page } = await post(rules, 'error_page');
    const gonePage = await ask('DELETE', `${rules}/error-page/${page.id}`);
    await sql`delete from rule_pages where domain_id = ${id}`.execute(api.database.db);
    expect((await revert(gonePage)).body).toMatchObject({
      code: 'wrong_state',
      error: expect.stringContaining('page'),
    });
  });

  it('a key for some records takes back no change of rules', async () => {
    const { base, rules } = await fresh();
    const made = await post(rules, 'waf');
    const as = await api.makeKey({ types: ['TXT'] });
    expect(
      (await api.ask('POST', `${base}/changes/${made.headers['x-change-id']}/revert`, { as })).status,
    ).toBe(403);
  });
});

describe('a record that is deleted', () => {
  it('is taken from its rules, and disables one whose last record it was', async () => {
    const { base, rules } = await fresh();
    const [a, b] = [await record(base), await record(base, { name: 'b' })];
    const { body: both } = await post(rules, 'waf', { record_ids: [a, b] });
    const { body: one } = await post(rules, 'drop', { record_ids: [a] });
    const { body: whole } = await post(rules, 'cache');
    const gone = await ask('DELETE', `${base}/records/${a}`);
    expect((await ask('GET', `${rules}/waf/${both.id}`)).body).toMatchObject({
      record_ids: [b],
      enabled: true,
    });
    const { body: disabled } = await ask('GET', `${rules}/drop/${one.id}`);
    expect(disabled).toMatchObject({ record_ids: [], enabled: false });
    expect(disabled.disabled_reason).toContain('last record');
    expect((await ask('GET', `${rules}/cache/${whole.id}`)).body).toEqual(whole);

    const change = `${base}/changes/${gone.headers['x-change-id']}`;
    expect((await ask('GET', change)).body).toMatchObject({
      records: [{ op: 'delete' }],
      rules: [
        { op: 'update', before: { id: both.id, record_ids: [a, b] }, after: { record_ids: [b] } },
        { op: 'update', before: { id: one.id, enabled: true }, after: { enabled: false } },
      ],
    });
    expect((await ask('POST', `${change}/revert`)).status).toBe(200);
    expect((await ask('GET', `${rules}/waf/${both.id}`)).body.record_ids).toEqual([a, b]);
    const { body: back } = await ask('GET', `${rules}/drop/${one.id}`);
    expect(back).toMatchObject({ record_ids: [a], enabled: true });
    expect(back).not.toHaveProperty('disabled_reason');
  });

  it('and the reason goes when the rule is enabled again or gets other records', async () => {
    const { base, rules } = await fresh();
    const b = await record(base, { name: 'b' });
    for (const mend of [
      (id: number) => ask('PATCH', `${rules}/drop/${id}/toggle`),
      (id: number) => ask('PUT', `${rules}/drop/${id}`, { enabled: true }),
      (id: number) => ask('PUT', `${rules}/drop/${id}`, { record_ids: [b] }),
    ]) {
      const a = await record(base);
      const { body } = await post(rules, 'drop', { record_ids: [a] });
      await ask('DELETE', `${base}/records/${a}`);
      const { body: kept } = await ask('PUT', `${rules}/drop/${body.id}`, { priority: 3 });
      expect(kept.disabled_reason).toBeDefined();
      expect((await mend(body.id)).body).not.toHaveProperty('disabled_reason');
    }
  });
});

describe('edges', () => {
  it('are told of every write, of enabled rules in the order in which they act', async () => {
    const { id, base, rules } = await fresh();
    const www = await record(base);
    const dark = await record(base, { name: 'dark', proxied: false });
    const seen = new Set([await versionOf(base)]);
    const noteOf = async (answer: Answer) => {
      expect(answer.text).not.toContain('"error"');
      const version = await versionOf(base);
      expect(seen.has(version)).toBe(false);
      seen.add(version);
      return answer.body.id as number;
    };
    const page = await noteOf(await post(rules, 'error_page', { html: 'Soon.' }));
    const late = await noteOf(await post(rules, 'waf', { record_ids: [www], action_mode: 'dry_run' }));
    const first = await noteOf(
      await post(rules, 'waf', { priority: 1, host_pattern: '*.a', host_match_type: 'wildcard' }),
    );
    const off = await noteOf(await post(rules, 'drop', { enabled: false }));
    await noteOf(await post(rules, 'drop', { record_ids: [dark] }));
    const told = async () => (await loadEdgeRules(api.database.db, [id])).get(id) ?? [];
    expect((await told()).map((rule) => rule.id)).toEqual([first, late, page]);
    expect((await told())[0]).toMatchObject({ host: { type: 'wildcard', pattern: '*.a' } });
    expect((await told())[1]).toMatchObject({ hosts: [`www.${base.slice(9)}`], action_mode: 'dry_run' });
    expect((await told())[2]).toMatchObject({ type: 'error_page', html: 'Soon.' });
    await noteOf(await ask('PATCH', `${rules}/drop/${off}/toggle`));
    await noteOf(await ask('PATCH', `${rules}/waf/reorder`, [{ id: first, priority: 500 }]));
    expect((await told()).map((rule) => rule.id)).toEqual([off, late, first, page]);
    await noteOf(await ask('DELETE', `${rules}/waf/${first}`));
  });
});

describe('any sequence of the seven operations', () => {
  const types = ['waf', 'drop', 'cache'];
  const step = fc.oneof(
    fc.record({
      do: fc.constant('create' as const),
      type: fc.constantFrom(...types),
      priority: fc.integer({ min: 0, max: 3 }),
    }),
    fc.record({
      do: fc.constant('update' as const),
      type: fc.constantFrom(...types),
      pick: fc.nat(20),
      priority: fc.integer({ min: -1, max: 3 }),
    }),
    fc.record({
      do: fc.constant('reorder' as const),
      type: fc.constantFrom(...types),
      priorities: fc.array(fc.integer({ min: -1, max: 3 }), { maxLength: 4 }),
    }),
    fc.record({
      do: fc.constantFrom('toggle' as const, 'delete' as const, 'get' as const),
      type: fc.constantFrom(...types),
      pick: fc.nat(20),
    }),
  );

  it('leaves the rules that a list of them would have', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const { rules } = await fresh('free');
        const model: { id: number; type: string; priority: number; enabled: boolean }[] = [];
        const sorted = (type: string) =>
          model.filter((rule) => rule.type === type).sort((a, b) => a.priority - b.priority || a.id - b.id);
        for (const each of steps) {
          const own = sorted(each.type);
          const path = `${rules}/${each.type}`;
          if (each.do === 'create') {
            const { status, body } = await ask('POST', `${path}/`, { priority: each.priority });
            expect(status).toBe(own.length < 5 ? 200 : 403);
            if (status === 200)
              model.push({ id: body.id, type: each.type, priority: each.priority, enabled: true });
          } else if (each.do === 'reorder') {
            const places = own
              .slice(0, each.priorities.length)
              .map(({ id }, i) => ({ id, priority: each.priorities[i] as number }));
            const isRight = places.every(({ priority }) => priority >= 0);
            const { status, body } = await ask('PATCH', `${path}/reorder`, places);
            expect(status).toBe(isRight ? 200 : 400);
            if (!isRight) continue;
            const changed = places.filter(
              ({ id, priority }) => own.find((rule) => rule.id === id)?.priority !== priority,
            );
            expect(body).toEqual({ updated: changed.length });
            for (const { id, priority } of places) {
              const rule = own.find((one) => one.id === id);
              if (rule !== undefined) rule.priority = priority;
            }
          } else {
            const rule = own[each.pick % Math.max(1, own.length)];
            const item = `${path}/${rule?.id ?? 999_999}`;
            const { status } =
              each.do === 'update'
                ? await ask('PUT', item, { priority: each.priority })
                : each.do === 'toggle'
                  ? await ask('PATCH', `${item}/toggle`)
                  : await ask(each.do === 'get' ? 'GET' : 'DELETE', item);
            const wrong = each.do === 'update' && each.priority < 0;
            expect(status).toBe(rule === undefined ? 404 : wrong ? 400 : 200);
            if (rule === undefined || wrong) continue;
            if (each.do === 'update') rule.priority = each.priority;
            if (each.do === 'toggle') rule.enabled = !rule.enabled;
            if (each.do === 'delete') model.splice(model.indexOf(rule), 1);
          }
          const listed = (await list(rules, each.type)) as typeof model;
          expect(listed.map(({ id, priority, enabled }) => ({ id, priority, enabled }))).toEqual(
            sorted(each.type).map(({ id, priority, enabled }) => ({ id, priority, enabled })),
          );
        }
      }),
      { numRuns: 12 },
    );
  }, 120_000);
});

it('reorders and creates at the same time leave every rule once, in one order or the other', async () => {
  const { rules } = await fresh();
  const made: number[] = [];
  for (let i = 0; i < 6; i++) made.push((await post(rules, 'waf')).body.id);
  const upwards = made.map((id, priority) => ({ id, priority }));
  const downwards = made.map((id, i) => ({ id, priority: 10 - i }));
  await Promise.all([
    ...Array.from({ length: 5 }, () => ask('PATCH', `${rules}/waf/reorder`, upwards)),
    ...Array.from({ length: 5 }, () => ask('PATCH', `${rules}/waf/reorder`, downwards)),
    ...Array.from({ length: 5 }, () => post(rules, 'waf', { priority: 50 })),
  ]);
  const listed = (await list(rules, 'waf')) as { id: number }[];
  expect(listed).toHaveLength(11);
  const order = listed.slice(0, 6).map(({ id }) => id);
  expect([made.join(), made.toReversed().join()]).toContain(order.join());
});
