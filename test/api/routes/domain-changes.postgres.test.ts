import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { handOver } from '../../../src/store/handover/hand-over.ts';
import { connectionTypes } from '../../../src/store/postgres/connection-types.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
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

async function write(base: string, body: object, as = 'owner'): Promise<number> {
  const answer = await api.ask('PUT', `${base}records/batch`, { as, body });
  if (answer.body.change_id === undefined) throw new Error(answer.text);
  return answer.body.change_id;
}

const A = (name: string, destination = '192.0.2.1', more = {}) => ({ name, type: 'A', destination, ...more });
const idsOf = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id);

async function records(base: string): Promise<{ id: number }[]> {
  const { body } = await api.ask('GET', `${base}records/`);
  return body
    .filter((r: { editable: boolean }) => r.editable)
    .map(({ updated_at: _, ...record }: Record<string, unknown>) => record);
}

it('after a handover the new account sees older changes without keys and addresses, and the old account no newer ones', async () => {
  const base = await freshDomain();
  const before = await write(base, { create: [A('a')] });
  const { body: domain } = await api.ask('GET', base.slice(0, -1));
  const repeated = { body: A('once'), headers: { 'idempotency-key': 'once' } };
  expect((await api.ask('POST', `${base}records/`, repeated)).status).toBe(200);
  const { stranger, owner } = api.accountIds;
  const by = { by: { kind: 'cli', name: 'root' }, source: 'cli' } as const;
  const passed = await handOver(api.database.db, { domainId: domain.id, accountId: stranger, ...by });
  expect(passed).toMatchObject({ kind: 'passed' });
  const after = await write(base, { create: [A('b')] }, 'stranger');
  const { body: log } = await api.ask('GET', `${base}changes?limit=50`, { as: 'stranger' });
  const actorOf = (id: number) => log.find((change: { id: number }) => change.id === id).actor;
  const untraced = { kind: 'key', user_id: owner };
  const traced = { key_id: expect.any(Number), address: '127.0.0.1' };
  expect(actorOf(before)).toEqual(untraced);
  expect(actorOf(after)).toMatchObject(traced);
  for (const [method, path, more] of [
    ['GET', 'changes', {}],
    ['PUT', 'records/batch', { body: { create: [A('c')] } }],
    ['POST', 'records/', repeated],
  ] as const)
    expect((await api.ask(method, `${base}${path}`, more)).status).toBe(404);

  const { body: feed } = await api.ask('GET', `/changes?after=${before - 1}&limit=50`);
  const own = feed.filter((change: { domain_id: number }) => change.domain_id === domain.id);
  expect(idsOf({ body: own })).not.toContain(after);
  expect([own[0].id, own[0].actor]).toEqual([before, untraced]);
  expect(own.at(-1)).toMatchObject({ actor: { kind: 'cli' }, source: 'cli', status: { from: 'pending' } });
  expect(own.at(-1).status).not.toHaveProperty('to');

  const actors = async (as: string) => {
    const { body } = await api.ask('GET', `${base}audit?action=records.edit`, { as });
    return body.map(({ actor }: { actor: object }) => actor);
  };
  const newest = { kind: 'key', user_id: stranger, ...traced };
  for (const as of ['stranger', 'admin']) expect(await actors(as)).toEqual([newest, untraced, untraced]);
  const whole = { ...untraced, ...traced };
  expect(await actors('operator')).toEqual([newest, whole, whole]);
});

describe('GET changes', () => {
  it('lists actor, time and the records before and after, newest first', async () => {
    const base = await freshDomain();
    const first = await write(base, { create: [A('a'), A('b', '192.0.2.2')] });
    const { body } = await api.ask('GET', `${base}records/?type=A`);
    const second = await write(base, { update: [{ id: body[0].id, ttl: 900 }], delete: [body[1].id] });
    const list = (await api.ask('GET', `${base}changes`)).body;
    expect(idsOf({ body: list }).slice(0, 2)).toEqual([second, first]);
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

  it('shows key and address to those who manage members, and those of operators only to operators', async () => {
    const base = await freshDomain();
    const { owner, operator } = api.accountIds;
    for (const [by, account, viewers] of [
      ['owner', owner, { owner: true, admin: true, operator: true, editor: false, viewer: false }],
      ['operator', operator, { owner: false, admin: false, operator: true }],
    ] as const) {
      const id = await write(base, { create: [A(by)] }, by);
      for (const [as, isTraced] of Object.entries(viewers)) {
        for (const url of [
          `${base}changes/${id}`,
          `${base}changes?limit=1`,
          `/changes?after=${id - 1}&limit=1`,
        ]) {
          const { body } = await api.ask('GET', url, { as });
          const { actor } = [body].flat()[0];
          const traced = isTraced ? { key_id: expect.any(Number), address: '127.0.0.1' } : {};
          expect([as, url, actor]).toEqual([as, url, { kind: 'key', user_id: account, ...traced }]);
        }
      }
    }
  });

  it('filters, sorts, counts and pages, as the log of an account does', async () => {
    const base = await freshDomain();
    const ids: number[] = [];
    for (let i = 0; i < 3; i++) ids.push(await write(base, { create: [A(`a${i}`)] }));
    const revert = await api.ask('POST', `${base}changes/${ids[2]}/revert`);
    ids.push(revert.body.id);
    const after = (ids[0] as number) - 1;
    const newest = ids.toReversed();
    for (const [url, first] of [
      [`${base}changes`, newest],
      [`/changes`, ids],
    ] as const) {
      const seen = async (query: string) => {
        const answer = await api.ask('GET', `${url}?after=${after}&count=true&${query}`);
        return [idsOf(answer), answer.headers['x-total-count']];
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
    'limit=0',
    'cursor=0',
    'source=nobody',
    'actor=me',
    'sort=at',
  ])('responds 400 to ?%s', async (query) => {
    const base = await freshDomain();
    for (const url of [`${base}changes?${query}`, `/changes?${query}`]) {
      const { status, body } = await api.ask('GET', url);
      expect([status, body.fields?.[0]?.field]).toEqual([400, query.split('=')[0]]);
    }
  });

  it("responds 404 to another domain's change, to read and to revert", async () => {
    const base = await freshDomain();
    const id = await write(await freshDomain(), { create: [A('a')] });
    for (const none of [id, '0', 'x', '999999999']) {
      expect((await api.ask('GET', `${base}changes/${none}`)).status).toBe(404);
      expect((await api.ask('GET', `${base}changes/${none}?wait=1`)).status).toBe(404);
      expect((await api.ask('POST', `${base}changes/${none}/revert`)).status).toBe(404);
    }
  });
});

describe('POST revert', () => {
  it('restores the records under their ids, in a new change that can be reverted too', async () => {
    const base = await freshDomain();
    await write(base, {
      create: [A('a', '192.0.2.1', { comment: 'c' }), A('b', '192.0.2.2', { ttl: 600 }), A('b', '192.0.2.3')],
    });
    const before = await records(base);
    const change = await write(base, {
      create: [A('n', '192.0.2.9')],
      update: [{ id: before[0]?.id, name: 'z', type: 'TXT', destination: 'text' }],
      delete: [before[1]?.id],
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
  });

  it('responds 409 if a later change touched the records', async () => {
    const base = await freshDomain();
    const first = await write(base, { create: [A('a')] });
    const [a] = await records(base);
    const second = await write(base, { update: [{ id: a?.id, ttl: 900 }] });
    const refused = await api.ask('POST', `${base}changes/${first}/revert`);
    expect([refused.status, refused.body.code]).toEqual([409, 'record_conflict']);
    expect((await api.ask('POST', `${base}changes/${second}/revert`)).status).toBe(200);
    expect((await api.ask('POST', `${base}changes/${second}/revert`)).status).toBe(409);
    expect((await api.ask('POST', `${base}changes/${first}/revert`)).status).toBe(200);
    expect(await records(base)).toEqual([]);
  });

  it('obeys the plan and the key, and responds 400 to a change without records', async () => {
    const base = await freshDomain({ planSlug: 'free' });
    const creation = (await api.ask('GET', `${base}changes`)).body[0].id;
    const refused = await api.ask('POST', `${base}changes/${creation}/revert`);
    expect([refused.status, refused.body.code]).toEqual([400, 'wrong_state']);
    await write(base, { create: Array.from({ length: 200 }, (_, i) => A(`n${i}`)) });
    const [one] = await records(base);
    const gone = `${base}changes/${await write(base, { delete: [one?.id] })}/revert`;
    await write(base, { create: [A('other')] });
    const over = await api.ask('POST', gone);
    expect([over.status, over.body.code, over.body.limit]).toEqual([403, 'plan_limit', 200]);
    const as = await api.makeKey({ types: ['TXT'] });
    expect((await api.ask('POST', gone, { as })).status).toBe(403);
    const extra = await api.ask('POST', gone, { body: { force: true } });
    expect(extra.body.fields?.[0]?.field).toBe('force');
  });
});

describe('in_sync', () => {
  let node: FollowingNode;
  beforeAll(async () => {
    node = await followLoaded({ databaseUrl: api.database.url, nodeName: 'a' });
  });
  afterAll(() => node.stop());
  const isServed = (base: string) => node.zones.has(parseName(`${base.split('/')[2]}.`));

  it('becomes true when every node serves the change, which ends the wait', async () => {
    const base = await freshDomain();
    const end = holdTimers(10_000); // the time never runs out
    try {
      for (let i = 0; i < 5; i++) {
        const id = await write(base, {
          replace: [{ name: `a${i}`, type: 'A', records: [{ destination: '192.0.2.1' }] }],
        });
        const { body } = await api.ask('GET', `${base}changes/${id}?wait=10`);
        expect([body.in_sync, body.nodes, isServed(base)]).toEqual([true, { seen: 1, live: 1 }, true]);
      }
    } finally {
      end.release();
    }
  });

  it('stays false while a node lacks the change, until the wait is over', async () => {
    const base = await freshDomain();
    const far = { name: 'far', instance: randomUUID(), started_at: new Date(), loaded: true };
    await api.db
      .insertInto('nodes')
      .values({ ...far, zones: 0, records: 0, held_zones: 0 } as never)
      .execute();
    const end = holdTimers(9_000);
    try {
      const id = await write(base, { create: [A('a')] });
      let isAnswered = false;
      const waiting = api.ask('GET', `${base}changes/${id}?wait=9`).finally(() => {
        isAnswered = true;
      });
      await until(() => isServed(base));
      await until(async () => (await api.ask('GET', `${base}changes/${id}?wait=0`)).body.nodes.seen === 1);
      await pause(150); // The waiting call checks each 25 ms.
      expect(isAnswered).toBe(false);
      end.fire();
      const { body } = await waiting;
      expect([body.in_sync, body.nodes]).toEqual([false, { seen: 1, live: 2 }]);
    } finally {
      end.release();
      await api.db.deleteFrom('nodes').where('name', '=', 'far').execute();
    }
  });

  it('responds 400 to a wrong wait', async () => {
    const base = await freshDomain();
    const id = await write(base, { create: [A('a')] });
    for (const wait of ['11', '-1', '1.5', '']) {
      const { status, body } = await api.ask('GET', `${base}changes/${id}?wait=${wait}`);
      expect([wait, status, body.fields?.[0]?.field]).toEqual([wait, 400, 'wait']);
    }
  });
});

describe('a wait', () => {
  let own: TestApi;
  let db: Database;
  let url: string;
  let checks = 0;

  beforeAll(async () => {
    const database = await createDatabase();
    const pool = new Pool({ connectionString: database.url, types: connectionTypes });
    // A connection that is closed because its database is dropped reports an error, and so does its pool.
    pool.on('connect', (client) => client.on('error', () => {}));
    pool.on('error', () => {});
    db = new Kysely<Schema>({
      dialect: new PostgresDialect({ pool }),
      log: ({ query }) => {
        if (query.sql.includes('pg_visible_in_snapshot')) checks++;
      },
    });
    own = await startTestApi({ database, db });
    await own.makeDomain('wait.example');
    const made = await own.ask('POST', '/domains/wait.example/records/', { body: A('a') });
    const address = await own.app.listen({ host: '127.0.0.1', port: 0 });
    url = `${address}/domains/wait.example/changes/${made.headers['x-change-id']}?wait=10`;
  });
  afterAll(async () => {
    await db.destroy();
    await own.stop();
  });

  async function startWait() {
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${own.keys.owner}` };
    const answer = fetch(url, { headers, signal: gone.signal }).catch((error: Error) => error);
    const before = checks;
    await until(() => checks > before + 3, 'the state is checked repeatedly');
    return { answer, gone };
  }

  it('ends when its client disconnects', async () => {
    const end = holdTimers(10_000);
    const { answer, gone } = await startWait();
    gone.abort();
    await answer;
    await until(async () => {
      const before = checks;
      await pause(200);
      return before === checks;
    }, 'the state is no longer checked');
    end.release();
  });

  it('ends when the process stops, with the known state', async () => {
    const end = holdTimers(10_000);
    const { answer } = await startWait().finally(() => end.release());
    await own.app.close();
    const response = await answer;
    if (response instanceof Error) throw response;
    const { in_sync } = (await response.json()) as { in_sync: boolean };
    expect([response.status, in_sync]).toEqual([200, false]);
  });
});
