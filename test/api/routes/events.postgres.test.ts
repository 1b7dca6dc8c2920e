import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { EPOCH_SQL } from '../../../src/store/feed/change-feed.ts';
import { openSession } from '../../../src/store/people/sessions.ts';
import { ownApi } from '../../support/api/api.ts';
import { EventReader } from '../../support/api/follow-events.ts';
import { startEdgeApi } from '../../support/edge/edge-api.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf, makeCheck, type Said } from '../../support/world/made-checks.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];
/** An API process checks the rights every 20 s. */
const LIMITS = { judgeMs: 50, judgedForMs: 200 };

const api = ownApi(() => startEdgeApi({ eventLimits: LIMITS }));
let domains = 0;
const readers: EventReader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.stop();
  await until(() => api.events.streams === 0, 'all streams are over');
});

async function freshDomain() {
  const name = `e${++domains}.example`;
  const { id } = await api.makeDomain(name);
  return { id, name, path: `/domains/${name}/events` };
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

interface Following {
  readonly as?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

function follow(path: string, { as = api.keys.owner, ...more }: Following = {}): EventReader {
  const reader = new EventReader(`${api.url}${path}`, { ...bearer(as), ...more.headers }, more);
  readers.push(reader);
  return reader;
}

async function add(domain: string, name = 'www'): Promise<void> {
  const body = { name, type: 'A', destination: '192.0.2.1' };
  const { status } = await api.ask('POST', `/domains/${domain}/records/`, { body });
  expect(status).toBe(200);
}

async function check(domainId: number, said: Said, kind: 'manual' | 'background' = 'manual'): Promise<void> {
  await api.query`update domain_checks set next_at = now() - interval '1 minute' where domain_id = ${domainId}`;
  const made = await makeCheck(api.db, { domainId, kind }, (domain) => evidenceOf(domain, said));
  expect(made.kind).toBe('saved');
}

async function session(account: 'owner' | 'viewer' | 'operator' = 'owner'): Promise<string> {
  return await openSession(api.db, {
    accountId: api.accountIds[account],
    carrier: 'bearer',
    address: '192.0.2.1',
    userAgent: 'test',
  });
}

describe('the events of a domain', () => {
  it('are its changes, with the actor and the number of records', async () => {
    const [one, other] = [await freshDomain(), await freshDomain()];
    const [reader, viewer] = [follow(one.path), follow(one.path, { as: api.keys.viewer })];
    await viewer.find('open');
    expect((await reader.find('open')).id).toMatch(/^\d+-0\.0-\d+$/);
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-accel-buffering': 'no',
    });
    await add(other.name);
    await add(one.name);
    const { data, id } = await reader.find('change');
    expect(data).toMatchObject({
      serial: (await api.ask('GET', `/domains/${one.name}`)).body.serial,
      source: 'api',
      actor: { kind: 'key', user_id: api.accountIds.owner, address: '127.0.0.1' },
      records: { created: 1, updated: 0, deleted: 0 },
      rules: 0,
    });
    expect(id).toBe(`${data.id}-0.0-0`);
    expect(reader.events.filter(({ event }) => event === 'change')).toHaveLength(1);
    // Only callers who manage members see the address.
    expect((await viewer.find('change')).data.actor).toEqual({ kind: 'key', user_id: api.accountIds.owner });
  });

  it('are checks as GET returns them, including repeated ones, and status changes', async () => {
    const { id, name, path } = await freshDomain();
    const reader = follow(path);
    await reader.find('open');
    await check(id, OURS);
    const told = await reader.find('check');
    const { body } = await api.ask('GET', `/domains/${name}/checks`);
    expect(told.data).toEqual(body[0]);
    expect(await reader.find('status')).toMatchObject({
      data: { from: 'pending', to: 'active', check_id: body[0].id },
    });
    await check(id, OURS, 'background');
    const again = await reader.find('check', ({ repeated }) => repeated === 1);
    expect(again.data.id).toBe(told.data.id);
  });

  it('report the number of nodes that have the newest change, until all have it', async () => {
    const { name, path } = await freshDomain();
    const { db } = api.database;
    const reader = follow(path);
    await reader.find('open');
    await sql`
      insert into nodes (name, instance, started_at, seen_at, loaded, zones, records, unserved, snapshot, epoch)
      select name, gen_random_uuid(), clock_timestamp(), clock_timestamp(), true, 0, 0, '{}',
        pg_current_snapshot(), (select ${sql.raw(EPOCH_SQL)} from feed)
      from unnest(array['one', 'two']) name`.execute(db);
    await add(name);
    const { data } = await reader.find('change');
    const ofChange = (each: { change_id: number }) => each.change_id === data.id;
    expect((await reader.find('nodes', ofChange)).data).toMatchObject({ in_sync: false, seen: 0, live: 2 });
    const sees = (node: string) =>
      sql`update nodes set snapshot = pg_current_snapshot() where name = ${node}`.execute(db);
    await sees('one');
    await reader.find('nodes', (each) => ofChange(each) && each.seen === 1);
    await sees('two');
    const green = await reader.find('nodes', (each) => ofChange(each) && each.in_sync);
    const ms = expect.any(Number);
    expect(green.data).toEqual({ change_id: data.id, in_sync: true, seen: 2, live: 2, ms });
    await sql`delete from nodes`.execute(db);
  });

  it('report the progress of a check to followers of its domain', async () => {
    const [one, other] = [await freshDomain(), await freshDomain()];
    const readers = [follow(one.path), follow(other.path)];
    await Promise.all(readers.map((reader) => reader.find('open')));
    const progress = { domain_id: one.id, walk: [{ zone: '.' }], servers: [] };
    const say = sql`select pg_notify('zonefleet_progress', ${JSON.stringify(progress)})`;
    await until(async () => {
      await say.execute(api.db); // progress that was not received yet is not sent again
      return readers[0]?.events.some(({ event }) => event === 'progress');
    });
    expect((await readers[0]?.find('progress'))?.data).toEqual({ walk: [{ zone: '.' }], servers: [] });
    expect(readers[1]?.events.map(({ event }) => event)).not.toContain('progress');
    const listening = await api.query`
      select from pg_stat_activity where datname = current_database() and application_name = 'zonefleet events'`;
    expect(listening).toHaveLength(1); // operators see the purpose of the connection
  });
});

describe('a reconnect', () => {
  it('receives missed events once, in order, by header or by query', async () => {
    const { id, name, path } = await freshDomain();
    const first = follow(path);
    const { id: known } = await first.find('open');
    first.stop();
    await check(id, OURS);
    await add(name, 'a');
    await add(name, 'b');
    for (const [url, headers] of [
      [`${path}?after=1-1.1-1`, { 'last-event-id': known as string }],
      [`${path}?after=${known}`, {}],
    ] as const) {
      const reader = follow(url, { headers });
      const changes = () => reader.events.filter(({ event }) => event === 'change');
      await until(() => changes().length >= 3);
      await add(name, `c${readers.length}`);
      await until(() => changes().length >= 4);
      const told = reader.events.map(({ event }) => event).filter((event) => event !== 'nodes');
      expect(told.slice(0, 5)).toEqual(['check', 'status', 'change', 'change', 'change']);
      const ids = changes().map(({ data }) => data.id);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      reader.stop();
    }
  });

  it('receives a reset if too much was missed, or if the cursor is unknown or too new', async () => {
    const { name, path } = await freshDomain();
    const reset = async (after: string) => {
      const { text, status } = await api.ask('GET', `${path}?once=true&after=${after}`);
      expect(status).toBe(200);
      return text.startsWith('id: ') && text.includes('event: reset\n');
    };
    const { text } = await api.ask('GET', `${path}?once=true`);
    const known = /^id: (.*)$/m.exec(text)?.[1] as string;
    expect(await reset(known)).toBe(false);
    expect(await reset('nonsense')).toBe(true);
    expect(await reset('999999999999-0.0-0')).toBe(true);
    for (let i = 0; i < 51; i += 3) await Promise.all([0, 1, 2].map((n) => add(name, `r${i + n}`)));
    expect(await reset(known)).toBe(true);
  });

  it('receives a reset if missed changes are too large, individually or in total', async () => {
    const { id, name, path } = await freshDomain();
    const missed = async (after: string) =>
      (await api.ask('GET', `${path}?once=true&after=${after}`)).text.match(/^event: .*$/gm);
    const { text } = await api.ask('GET', `${path}?once=true`);
    const known = /^id: (.*)$/m.exec(text)?.[1] as string;
    for (const label of ['a', 'b', 'c']) await add(name, label);
    // The size as stored, without compression.
    await api.query`alter table domain_changes alter column ops set storage external`;
    const enlarge = async (nth: number, mib: number) =>
      await api.query`update domain_changes
        set ops = jsonb_build_array(jsonb_build_object('op', 'create', 'x', repeat('x', ${Math.round(mib * 2 ** 20)}::integer)))
        where id = (select id from domain_changes where domain_id = ${id} order by id offset ${nth - 1} limit 1)`;
    for (const nth of [2, 3]) await enlarge(nth, 1.9);
    expect(await missed(known)).toEqual(Array(3).fill('event: change'));
    await enlarge(4, 1.9);
    expect(await missed(known)).toEqual(['event: reset']);
    for (const nth of [3, 4]) await enlarge(nth, 0);
    await enlarge(2, 4.1);
    expect(await missed(known)).toEqual(['event: reset']);
  });
});

describe('streams', () => {
  it('are limited to 4 per credential and 20 per account', async () => {
    const { path } = await freshDomain();
    const token = await session();
    const own = Array.from({ length: 5 }, () => follow(path, { as: token }));
    const statuses = await Promise.all(own.map((reader) => reader.answered()));
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 429]);
    const refused = own[statuses.indexOf(429)] as EventReader;
    await until(() => refused.isOver);
    expect([JSON.parse(refused.text).code, refused.headers['retry-after']]).toEqual(['rate_limited', '10']);
    own[statuses.indexOf(200)]?.stop();
    await until(() => api.events.streams === 3);
    expect(await follow(path, { as: token }).answered()).toBe(200);
    const more = await Promise.all(Array.from({ length: 10 }, () => session()));
    const all = more.flatMap((each) => Array.from({ length: 4 }, () => follow(path, { as: each })));
    const answers = await Promise.all(all.map((reader) => reader.answered()));
    expect(answers.filter((status) => status === 200)).toHaveLength(16);
    expect(api.events).toMatchObject({ streams: 20, domains: 1 });
  });

  it('end with the session, the key, the membership, or a change of the role', async () => {
    const { id, path } = await freshDomain();
    const { db } = api.database;
    const token = await session();
    const key = await api.makeKey();
    const stays = follow(path);
    const all = [token, key, api.keys.viewer, api.keys.editor]
      .map((as) => follow(path, { as }))
      .concat(stays);
    await Promise.all(all.map((reader) => reader.find('open')));
    const { owner, viewer, editor } = api.accountIds;
    for (const change of [
      sql`delete from sessions where account_id = ${owner}`,
      sql`update api_keys set revoked_at = now() where account_id = ${owner} and id = (select max(id) from api_keys)`,
      sql`delete from memberships where domain_id = ${id} and account_id = ${viewer}`,
      sql`update memberships set role = 'admin' where account_id = ${editor} and domain_id = ${id}`,
    ])
      await change.execute(db);
    await until(() => all.slice(0, 4).every((reader) => reader.isOver));
    expect(stays.isOver).toBe(false);
  });

  it('are not opened by HEAD', async () => {
    const { path } = await freshDomain();
    const reader = follow(path, { method: 'HEAD' });
    expect(await reader.answered()).toBe(200);
    await until(() => reader.isOver && api.events.streams === 0);
  });
});
