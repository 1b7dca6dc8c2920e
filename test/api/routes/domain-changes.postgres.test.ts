import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { handOver } from '../../../src/store/handover/hand-over.ts';
import { connectionTypes } from '../../../src/store/postgres/connection-types.ts';
import type { Schema } from '../../../src/store/postgres/tables/schema.ts';
import { sharedTestApi, startTestApi, type TestApi } from '../../support/api/api.ts';
import { createDatabase } from '../../support/database/database.ts';
import { type FollowingNode, followLoaded } from '../../support/processes/follow.ts';
import { holdTimers } from '../../support/tests/hold-timers.ts';
import { until } from '../../support/tests/until.ts';

const BEGAN_AT = Date.now();
const api = sharedTestApi();
let domains = 0;

async function freshDomain(options?: Parameters<TestApi['makeDomain']>[1]): Promise<string> {
  const name = `c${++domains}.example`;
  await api.makeDomain(name, options);
  return `/domains/${name}/`;
}

async function write(base: string, body: object): Promise<number> {
  const answer = await api.ask('PUT', `${base}records/batch`, { body });
  if (answer.body.change_id === undefined) throw new Error(answer.text);
  return answer.body.change_id;
}

const A = (name: string, destination: string, more = {}) => ({ name, type: 'A', destination, ...more });

async function records(base: string): Promise<object[]> {
  const { body } = await api.ask('GET', `${base}records/`);
  return body
    .filter((r: { editable: boolean }) => r.editable)
    .map(({ updated_at: _, ...record }: Record<string, unknown>) => record);
}

describe('the log of a domain that passed to another account', () => {
  it('has all changes for the new one, without addresses and keys from before, and the old one reads nothing new', async () => {
    const base = await freshDomain();
    const before = await write(base, { create: [A('a', '192.0.2.1')] });
    const { body: domain } = await api.ask('GET', base.slice(0, -1));
    const repeated = {
      body: { name: 'once', type: 'A', destination: '192.0.2.5' },
      headers: { 'idempotency-key': 'once' },
    };
    expect((await api.ask('POST', `${base}records/`, repeated)).status).toBe(200);
    const { stranger: accountId, owner } = api.accountIds;
    const passed = await handOver(api.database.db, {
      domainId: domain.id,
      accountId,
      by: { kind: 'cli', name: 'root' },
      source: 'cli',
    });
    expect(passed).toMatchObject({ kind: 'passed' });
    const answer = await api.ask('PUT', `${base}records/batch`, {
      as: 'stranger',
      body: { create: [A('b', '192.0.2.2')] },
    });
    const after = answer.body.change_id;
    const { body: log } = await api.ask('GET', `${base}changes?limit=50`, { as: 'stranger' });
    const actorOf = (id: number) => log.find((change: { id: number }) => change.id === id).actor;
    expect(actorOf(before)).toEqual({ kind: 'key', user_id: owner });
    expect(actorOf(after)).toMatchObject({ key_id: expect.any(Number), address: '127.0.0.1' });
    for (const [method, path, more] of [
      ['GET', 'changes', {}],
      ['PUT', 'records/batch', { body: { create: [A('c', '192.0.2.3')] } }],
      ['POST', 'records/', repeated],
    ] as const)
      expect((await api.ask(method, `${base}${path}`, more)).status).toBe(404);
    const { body: feed } = await api.ask('GET', `/changes?after=${before - 1}&limit=50`);
    const own = feed.filter((change: { domain_id: number }) => change.domain_id === domain.id);
    expect(own.map(({ id }: { id: number }) => id)).not.toContain(after);
    expect(own[0]).toMatchObject({ id: before, actor: { kind: 'key', user_id: owner } });
    expect(own[0].actor).not.toHaveProperty('address');
    expect(own.at(-1)).toMatchObject({ actor: { kind: 'cli' }, source: 'cli', status: { from: 'pending' } });
    expect(own.at(-1).status).not.toHaveProperty('to');
  });

  it('and so does its audit log', async () => {
    const base = await freshDomain();
    await write(base, { create: [A('a', '192.0.2.1')] });
    const { body: domain } = await api.ask('GET', base.slice(0, -1));
    await handOver(api.database.db, {
      domainId: domain.id,
      accountId: api.accountIds.stranger,
      by: { kind: 'cli', name: 'root' },
      source: 'cli',
    });
    await api.ask('PUT', `${base}records/batch`, {
      as: 'stranger',
      body: { create: [A('b', '192.0.2.2')] },
    });
    const actors = async (as: string) => {
      const { body } = await api.ask('GET', `${base}audit?action=records.edit`, { as });
      return body.map(({ actor }: { actor: object }) => actor);
    };
    const { stranger, owner } = api.accountIds;
    const traced = { key_id: expect.any(Number), address: '127.0.0.1' };
    const after = { kind: 'key', user_id: stranger, ...traced };
    expect(await actors('stranger')).toEqual([after, { kind: 'key', user_id: owner }]);
    expect(await actors('admin')).toEqual([after, { kind: 'key', user_id: owner }]);
    expect(await actors('operator')).toEqual([after, { kind: 'key', user_id: owner, ...traced }]);
  });
});

describe('the log', () => {
  it('has who, when, before and after, newest first', async () => {
    const base = await freshDomain();
    const first = await write(base, { create: [A('a', '192.0.2.1'), A('b', '192.0.2.2')] });
    const { body } = await api.ask('GET', `${base}records/?type=A`);
    const second = await write(base, { update: [{ id: body[0].id, ttl: 900 }], delete: [body[1].id] });
    const list = (await api.ask('GET', `${base}changes`)).body;
    expect(list.map((c: { id: number }) => c.id).slice(0, 2)).toEqual([second, first]);
    expect(list.at(-1)).toMatchObject({ serial: 1, status: { to: 'pending' }, records: [] });
    expect(list[0]).toMatchObject({
      domain_id: expect.any(Number),
      serial: 3,
      source: 'api',
      actor: { kind: 'key', user_id: api.accountIds.owner, key_id: expect.any(Number), address: '127.0.0.1' },
    });
    expect(list[0].records).toEqual([
      { op: 'delete', before: expect.objectContaining({ id: body[1].id, name: 'b' }) },
      {
        op: 'update',
        before: expect.objectContaining({ id: body[0].id, ttl: 300 }),
        after: expect.objectContaining({ id: body[0].id, ttl: 900 }),
      },
    ]);
    expect(Date.parse(list[0].at)).toBeGreaterThanOrEqual(BEGAN_AT);
    expect((await api.ask('GET', `${base}changes/${second}`)).body).toEqual(list[0]);
  });

  it('shows key and address only to those who manage members', async () => {
    const base = await freshDomain();
    const id = await write(base, { create: [A('a', '192.0.2.1')] });
    for (const [as, known] of [
      ['owner', true],
      ['admin', true],
      ['operator', true],
      ['editor', false],
      ['viewer', false],
    ] as const) {
      for (const url of [
        `${base}changes/${id}`,
        `${base}changes?limit=1`,
        `/changes?after=${id - 1}&limit=1`,
      ]) {
        const { body } = await api.ask('GET', url, { as });
        const { actor } = Array.isArray(body) ? body[0] : body;
        expect([as, url, 'key_id' in actor, 'address' in actor, actor.user_id]).toEqual([
          as,
          url,
          known,
          known,
          api.accountIds.owner,
        ]);
      }
    }
  });

  it('hides from customers where operators work', async () => {
    const base = await freshDomain();
    const made = await api.ask('PUT', `${base}records/batch`, {
      as: 'operator',
      body: { create: [A('a', '192.0.2.1')] },
    });
    const id = made.body.change_id;
    for (const url of [
      `${base}changes/${id}`,
      `${base}changes?limit=1`,
      `/changes?after=${id - 1}&limit=1`,
    ]) {
      const actorFor = async (as: string) => {
        const { body } = await api.ask('GET', url, { as });
        return (Array.isArray(body) ? body[0] : body).actor;
      };
      const account = { kind: 'key', user_id: api.accountIds.operator };
      for (const as of ['owner', 'admin']) expect([as, url, await actorFor(as)]).toEqual([as, url, account]);
      expect(await actorFor('operator')).toEqual({
        ...account,
        key_id: expect.any(Number),
        address: '127.0.0.1',
      });
    }
  });

  it('in pages is the whole log once; `after` leaves older ones out', async () => {
    const base = await freshDomain();
    const ids: number[] = [];
    for (let i = 0; i < 45; i++) ids.push(await write(base, { create: [A(`a${i}`, '192.0.2.1')] }));
    const whole = (await api.ask('GET', `${base}changes`)).body;
    expect(whole.length).toBe(46);
    for (const limit of [1, 7, 46, 1000]) {
      const seen: unknown[] = [];
      for (let url: string | undefined = `${base}changes?limit=${limit}`; url !== undefined; ) {
        const page = await api.ask('GET', url);
        seen.push(...page.body);
        url = /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link))?.[1];
      }
      expect(seen).toEqual(whole);
    }
    const newer = (await api.ask('GET', `${base}changes?after=${ids[40]}`)).body;
    expect(newer.map((c: { id: number }) => c.id)).toEqual(ids.slice(41).reverse());
  });

  it('filters, sorts and counts as other lists do, and so does the log of an account', async () => {
    const base = await freshDomain();
    const ids: number[] = [];
    for (let i = 0; i < 3; i++) ids.push(await write(base, { create: [A(`a${i}`, '192.0.2.1')] }));
    const revert = await api.ask('POST', `${base}changes/${ids[2]}/revert`);
    ids.push(revert.body.id);
    const after = (ids[0] as number) - 1;
    const newest = [...ids].reverse();
    for (const [url, first] of [
      [`${base}changes`, newest],
      [`/changes`, ids],
    ] as const) {
      const seen = async (query: string) => {
        const { body, headers } = await api.ask('GET', `${url}?after=${after}&count=true&${query}`);
        return [body.map(({ id }: { id: number }) => id), headers['x-total-count']];
      };
      expect(await seen('')).toEqual([first, '4']);
      expect(await seen('sort=id')).toEqual([ids, '4']);
      expect(await seen('sort=-id')).toEqual([newest, '4']);
      expect(await seen('source=revert,scan')).toEqual([[ids[3]], '1']);
      expect(await seen('source=API&actor=key&limit=2&sort=id')).toEqual([ids.slice(0, 2), '3']);
      expect(await seen('source=api&sort=id&offset=1')).toEqual([ids.slice(1, 3), '3']);
      expect(await seen('actor=session')).toEqual([[], '0']);
      const page = await api.ask('GET', `${url}?after=${after}&sort=-id&limit=3`);
      const next = /^<([^>]+)>/.exec(String(page.headers.link))?.[1] as string;
      expect((await api.ask('GET', next)).body).toMatchObject([{ id: ids[0] }]);
      const turned = await api.ask('GET', next.replace('sort=-id', 'sort=id'));
      expect([turned.status, turned.body.fields[0].field]).toEqual([400, 'cursor']);
    }
  });

  it.each([
    'after=-1',
    'after=x',
    'limit=0',
    'limit=1001',
    'cursor=x',
    'cursor=0',
    'source=nobody',
    'actor=me',
    'sort=at',
  ])('?%s is a 400', async (query) => {
    const base = await freshDomain();
    for (const url of [`${base}changes?${query}`, `/changes?${query}`]) {
      const { status, body } = await api.ask('GET', url);
      expect([status, body.fields?.[0]?.field]).toEqual([400, query.split('=')[0]]);
    }
  });

  it("another domain's change is a 404, to read and to take back", async () => {
    const base = await freshDomain();
    const id = await write(base, { create: [A('a', '192.0.2.1')] });
    const own = await freshDomain();
    for (const [as, from] of [
      ['stranger', base],
      ['owner', own],
    ] as const) {
      expect((await api.ask('GET', `${from}changes/${id}`, { as })).status).toBe(404);
      expect((await api.ask('GET', `${from}changes/${id}?wait=1`, { as })).status).toBe(404);
      expect((await api.ask('POST', `${from}changes/${id}/revert`, { as })).status).toBe(404);
    }
    expect((await api.ask('GET', `${base}changes`, { as: 'stranger' })).status).toBe(404);
    for (const none of ['0', 'x', '999999999']) {
      expect((await api.ask('GET', `${base}changes/${none}`)).status).toBe(404);
      expect((await api.ask('POST', `${base}changes/${none}/revert`)).status).toBe(404);
    }
  });
});

describe('taken back', () => {
  it('records are what they were, under the same ids; the serial grows', async () => {
    const base = await freshDomain();
    await write(base, {
      create: [A('a', '192.0.2.1', { comment: 'c' }), A('b', '192.0.2.2', { ttl: 600 }), A('b', '192.0.2.3')],
    });
    const before = await records(base);
    const [a, b] = before as { id: number }[];
    const change = await write(base, {
      create: [A('n', '192.0.2.9')],
      update: [{ id: a?.id, name: 'z', type: 'TXT', destination: 'text' }],
      delete: [b?.id],
    });
    const answer = await api.ask('POST', `${base}changes/${change}/revert`);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { source: 'revert', reverts: change, serial: 4 },
    ]);
    expect(answer.headers['x-change-id']).toBe(String(answer.body.id));
    expect(answer.headers['x-zone-serial']).toBe('4');
    expect(await records(base)).toEqual(before);
    const again = await api.ask('POST', `${base}changes/${answer.body.id}/revert`);
    expect(again.body).toMatchObject({ reverts: answer.body.id, serial: 5 });
    expect((await records(base)).length).toBe(3);
  });

  it('is a 409 when a later change touched the same records, and the same twice', async () => {
    const base = await freshDomain();
    const first = await write(base, { create: [A('a', '192.0.2.1')] });
    const [a] = (await records(base)) as { id: number }[];
    const second = await write(base, { update: [{ id: a?.id, ttl: 900 }] });
    const refused = await api.ask('POST', `${base}changes/${first}/revert`);
    expect([refused.status, refused.body.code]).toEqual([409, 'record_conflict']);
    expect((await api.ask('POST', `${base}changes/${second}/revert`)).status).toBe(200);
    expect((await api.ask('POST', `${base}changes/${second}/revert`)).status).toBe(409);
    expect((await api.ask('POST', `${base}changes/${first}/revert`)).status).toBe(200);
    expect(await records(base)).toEqual([]);
  });

  it('is a 409 when something else has the place by now', async () => {
    const base = await freshDomain();
    await write(base, { create: [A('a', '192.0.2.1')] });
    const [a] = (await records(base)) as { id: number }[];
    const gone = await write(base, { delete: [a?.id] });
    await write(base, { create: [{ name: 'a', type: 'CNAME', destination: 'o.example.net' }] });
    const refused = await api.ask('POST', `${base}changes/${gone}/revert`);
    expect([refused.status, refused.body.code]).toEqual([409, 'record_conflict']);
  });

  it('is a 400 for a change without records, and obeys role, plan and key', async () => {
    const base = await freshDomain({ planSlug: 'free' });
    const creation = (await api.ask('GET', `${base}changes`)).body[0].id;
    const refused = await api.ask('POST', `${base}changes/${creation}/revert`);
    expect([refused.status, refused.body.code]).toEqual([400, 'wrong_state']);

    const full = Array.from({ length: 200 }, (_, i) => A(`n${i}`, '192.0.2.1'));
    await write(base, { create: full });
    const [one] = (await records(base)) as { id: number }[];
    const gone = await write(base, { delete: [one?.id] });
    await write(base, { create: [A('other', '192.0.2.1')] });
    const over = await api.ask('POST', `${base}changes/${gone}/revert`);
    expect([over.status, over.body.code, over.body.limit]).toEqual([403, 'plan_limit', 200]);
    expect((await api.ask('POST', `${base}changes/${gone}/revert`, { as: 'viewer' })).status).toBe(403);
    const as = await api.makeKey({ types: ['TXT'] });
    expect((await api.ask('POST', `${base}changes/${gone}/revert`, { as })).status).toBe(403);
    const extra = await api.ask('POST', `${base}changes/${gone}/revert`, { body: { force: true } });
    expect(extra.body.fields?.[0]?.field).toBe('force');
  });
});

describe('in_sync', () => {
  let nodes: FollowingNode[];
  beforeAll(async () => {
    nodes = await Promise.all(
      ['a', 'b', 'c'].map((nodeName) => followLoaded({ databaseUrl: api.database.url, nodeName })),
    );
  });
  afterAll(() => Promise.all(nodes.map((node) => node.stop())));

  it('turns true when every node serves the change, and the wait ends then', async () => {
    const base = await freshDomain();
    const apex = parseName(`${base.split('/')[2]}.`);
    const end = holdTimers(10_000); // the time never runs out
    try {
      for (let i = 0; i < 20; i++) {
        const id = await write(base, {
          replace: [{ name: 'a', type: 'A', records: [{ destination: `192.0.2.${i}` }] }],
        });
        const { body } = await api.ask('GET', `${base}changes/${id}?wait=10`);
        expect([body.in_sync, body.nodes]).toEqual([true, { seen: 3, live: 3 }]);
        for (const node of nodes) expect(node.zones.get(apex)?.serial).toBeGreaterThanOrEqual(body.serial);
      }
    } finally {
      end.release();
    }
  });

  it('is false, and the wait as long as asked, while a node lacks the change', async () => {
    const base = await freshDomain();
    const far = {
      name: 'far',
      instance: randomUUID(),
      started_at: new Date(),
      loaded: true,
      zones: 0,
      records: 0,
    };
    await api.db
      .insertInto('nodes')
      .values({ ...far, held_zones: 0 } as never)
      .execute();
    const end = holdTimers(9_000);
    try {
      const id = await write(base, { create: [A('a', '192.0.2.1')] });
      let isAnswered = false;
      const waiting = api.ask('GET', `${base}changes/${id}?wait=9`).finally(() => {
        isAnswered = true;
      });
      await until(() => nodes.every((node) => node.zones.has(parseName(`${base.split('/')[2]}.`))));
      await until(async () => (await api.ask('GET', `${base}changes/${id}?wait=0`)).body.nodes.seen === 3);
      await pause(500); // the call that waits looks every 25 to 100 ms
      expect(isAnswered).toBe(false);
      end.fire();
      const { body } = await waiting;
      expect([body.in_sync, body.nodes]).toEqual([false, { seen: 3, live: 4 }]);
      expect((await api.ask('GET', `${base}changes/${id}?wait=0`)).body.in_sync).toBe(false);
    } finally {
      end.release();
      await api.db.deleteFrom('nodes').where('name', '=', 'far').execute();
    }
  });

  it.each(['11', '-1', 'x', '1.5', ''])('?wait=%s is a 400', async (wait) => {
    const base = await freshDomain();
    const id = await write(base, { create: [A('a', '192.0.2.1')] });
    const { status, body } = await api.ask('GET', `${base}changes/${id}?wait=${wait}`);
    expect([status, body.fields?.[0]?.field]).toEqual([400, 'wait']);
  });
});

describe('a wait', () => {
  /** An API that listens, with a count of how often it asked how far a change is. */
  async function listening() {
    const database = await createDatabase();
    let questions = 0;
    const pool = new Pool({ connectionString: database.url, types: connectionTypes });
    // A connection that is being closed when the database is dropped gets an error, and so does its pool, while no call uses it.
    pool.on('connect', (client) => client.on('error', () => {}));
    pool.on('error', () => {});
    const db = new Kysely<Schema>({
      dialect: new PostgresDialect({ pool }),
      log: ({ query }) => {
        if (query.sql.includes('pg_visible_in_snapshot')) questions++;
      },
    });
    const own = await startTestApi({ database, db });
    await own.makeDomain('wait.example');
    const record = { name: 'a', type: 'A', destination: '192.0.2.1' };
    const made = await own.ask('POST', '/domains/wait.example/records/', { body: record });
    const address = await own.app.listen({ host: '127.0.0.1', port: 0 });
    const waiting = new AbortController();
    const url = `${address}/domains/wait.example/changes/${made.headers['x-change-id']}?wait=10`;
    const answer = fetch(url, {
      headers: { authorization: `Bearer ${own.keys.owner}` },
      signal: waiting.signal,
    }).catch((error: Error) => error);
    await until(() => questions > 3, 'it asks again and again');
    return { own, db, answer, waiting, questions: () => questions };
  }

  it('ends when the caller goes', async () => {
    const { own, db, answer, waiting, questions } = await listening();
    waiting.abort();
    await answer;
    let last = -1;
    await until(async () => {
      const before = last;
      last = questions();
      await pause(150);
      return before === last && last === questions();
    }, 'it asks no more');
    await own.app.close();
    await db.destroy();
    await own.stop();
  });

  it('ends when the process stops, with what is known', async () => {
    const end = holdTimers(10_000);
    const { own, db, answer } = await listening().finally(() => end.release());
    await own.app.close();
    const response = await answer;
    if (response instanceof Error) throw response;
    const { in_sync } = (await response.json()) as { in_sync: boolean };
    expect([response.status, in_sync]).toEqual([200, false]);
    await db.destroy();
    await own.stop();
  });
});
