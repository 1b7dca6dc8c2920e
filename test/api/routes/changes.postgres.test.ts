import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { handOver } from '../../../src/store/change/hand-over.ts';
import { readPages, sharedTestApi, type TestApi } from '../../support/api/api.ts';
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
const TRACED = { key_id: expect.any(Number), address: '127.0.0.1' };
const idsOf = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id);

async function records(base: string): Promise<{ id: number }[]> {
  const { body } = await api.ask('GET', `${base}records/`);
  return body
    .filter((r: { editable: boolean }) => r.editable)
    .map(({ updated_at: _, ...record }: Record<string, unknown>) => record);
}

it('a handover hides keys and addresses in older changes, and ends replays for the previous account', async () => {
  const base = await freshDomain();
  const { id: domainId } = (await api.ask('GET', base.slice(0, -1))).body;
  const repeated = { body: A('once'), headers: { 'idempotency-key': 'once' } };
  const made = await api.ask('POST', `${base}records/`, repeated);
  const { stranger, owner } = api.accountIds;
  const by = { by: { kind: 'cli', name: 'root' }, source: 'cli' } as const;
  await handOver(api.database.db, { domainId, accountId: stranger, ...by });
  await write(base, { create: [A('b')] }, 'stranger');
  expect((await api.ask('POST', `${base}records/`, repeated)).status).toBe(404);
  const actors = async (path: string, as: string) => {
    const { body } = await api.ask('GET', path, { as });
    return body.map(({ actor }: { actor: object }) => actor);
  };
  const newest = { kind: 'key', user_id: stranger, ...TRACED };
  const untraced = { kind: 'key', user_id: owner };
  expect(await actors(`${base}changes?actor=key`, 'stranger')).toEqual([newest, untraced]);
  const feed = `/changes?after=${Number(made.headers['x-change-id']) - 1}&limit=1`;
  expect(await actors(feed, 'owner')).toEqual([untraced]);
  const audit = `${base}audit?action=records.edit`;
  for (const as of ['stranger', 'admin']) expect(await actors(audit, as)).toEqual([newest, untraced]);
  expect(await actors(audit, 'operator')).toEqual([newest, { ...untraced, ...TRACED }]);
});

describe('GET changes', () => {
  it('lists actor, time and the records before and after, newest first', async () => {
    const base = await freshDomain();
    const first = await write(base, { create: [A('a'), A('b', '192.0.2.2')] });
    const { body } = await api.ask('GET', `${base}records/?type=A`);
    const [a, b] = body.map(({ id }: { id: number }) => id);
    const second = await write(base, { update: [{ id: a, ttl: 900 }], delete: [b] });
    const list = (await api.ask('GET', `${base}changes`)).body;
    expect(idsOf({ body: list }).slice(0, 2)).toEqual([second, first]);
    expect(list.at(-1)).toMatchObject({ status: { to: 'pending' }, records: [] });
    const actor = { kind: 'key', user_id: api.accountIds.owner, ...TRACED };
    expect(list[0]).toMatchObject({ domain_id: expect.any(Number), source: 'api', actor });
    expect(list[0].serial).toBeGreaterThan(list[1].serial);
    expect(list[0].records).toEqual([
      { op: 'delete', before: expect.objectContaining({ id: b, name: 'b' }) },
      {
        op: 'update',
        before: expect.objectContaining({ id: a, ttl: 300 }),
        after: expect.objectContaining({ id: a, ttl: 900 }),
      },
    ]);
    expect(Date.parse(list[0].at)).toBeGreaterThanOrEqual(BEGAN_AT);
    expect((await api.ask('GET', `${base}changes/${second}`)).body).toEqual(list[0]);
  });

  it('shows key and address to callers who manage members, and those of operators only to operators', async () => {
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
          expect([as, url, actor]).toEqual([
            as,
            url,
            { kind: 'key', user_id: account, ...(isTraced && TRACED) },
          ]);
        }
      }
    }
  });

  it('filters, sorts, counts and pages, like the log of an account', async () => {
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
      for (const [query, expected, count] of [
        ['', first, 4],
        ['sort=-id', newest, 4],
        ['source=revert,scan', [ids[3]], 1],
        ['source=API&actor=key&limit=2&sort=id&offset=1', ids.slice(1, 3), 3],
        ['actor=session', [], 0],
      ] as const) {
        const answer = await api.ask('GET', `${url}?after=${after}&count=true&${query}`);
        expect([query, idsOf(answer)]).toEqual([query, expected]);
        expect(answer.headers['x-total-count']).toBe(String(count));
      }
      const pages = await readPages(api, `${url}?after=${after}&sort=-id&limit=3`);
      expect(pages.flatMap(idsOf)).toEqual(newest);
      for (const wrong of ['after=-1', 'limit=0', 'cursor=0', 'source=nobody', 'actor=me', 'sort=at'])
        expect(await api.ask('GET', `${url}?${wrong}`)).toMatchObject({
          status: 400,
          body: { fields: [{ field: wrong.split('=')[0] }] },
        });
    }
  });

  it('of an account covers its domains, or the domains of a restricted key', async () => {
    const base = await freshDomain();
    const { id } = (await api.ask('GET', base.slice(0, -1))).body;
    const written = await write(base, { create: [A('a')] });
    const as = await api.makeKey({ domains: [base.split('/')[2] as string] });
    const list = async (as: string) => (await api.ask('GET', '/changes', { as })).body;
    await until(async () => (await list('owner')).at(-1)?.id === written);
    const narrowed = await list(as);
    expect(narrowed).toMatchObject([{ domain_id: id, status: { to: 'pending' } }, { id: written }]);
    expect(narrowed[1].records[0].after.original_name).toBe(`a.${base.split('/')[2]}.`);
    expect((await api.ask('GET', '/changes?count=true', { as })).headers['x-total-count']).toBe('2');
  });
});

describe('POST revert', () => {
  it('restores the records with their ids, in a new change that can be reverted too', async () => {
    const base = await freshDomain();
    await write(base, { create: [A('a'), A('b', '192.0.2.2', { ttl: 600, comment: 'c' })] });
    const before = await records(base);
    const change = await write(base, { create: [A('n')], delete: [before[1]?.id] });
    const { status, headers, body } = await api.ask('POST', `${base}changes/${change}/revert`);
    expect([status, body]).toMatchObject([200, { source: 'revert', reverts: change }]);
    expect(headers).toMatchObject({ 'x-change-id': `${body.id}`, 'x-zone-serial': `${body.serial}` });
    expect(await records(base)).toEqual(before);
    const again = await api.ask('POST', `${base}changes/${body.id}/revert`);
    expect(again.body.reverts).toBe(body.id);
    expect(again.body.serial).toBeGreaterThan(body.serial);
  });

  it('is refused if a later change touched the records, if there are no records, and beyond the plan or the key', async () => {
    const base = await freshDomain({ planSlug: 'free' });
    const revert = async (id: number, more = {}) => {
      const { status, body } = await api.ask('POST', `${base}changes/${id}/revert`, more);
      return status === 200 ? 200 : [status, body.code, body.limit ?? body.fields?.[0]?.field];
    };
    const [creation] = idsOf(await api.ask('GET', `${base}changes`));
    expect(await revert(creation as number)).toEqual([400, 'wrong_state', undefined]);
    const first = await write(base, { create: [A('a')] });
    const [a] = await records(base);
    const second = await write(base, { update: [{ id: a?.id, ttl: 900 }] });
    expect(await revert(first)).toEqual([409, 'record_conflict', undefined]);
    expect(await revert(second)).toBe(200);
    expect(await revert(second)).toEqual([409, 'record_conflict', undefined]);
    expect(await revert(first)).toBe(200);
    expect(await records(base)).toEqual([]);
    await write(base, { create: Array.from({ length: 200 }, (_, i) => A(`n${i}`)) });
    const [one] = await records(base);
    const deletion = await write(base, { delete: [one?.id] });
    await write(base, { create: [A('other')] });
    expect(await revert(deletion)).toEqual([403, 'plan_limit', 200]);
    const as = await api.makeKey({ types: ['TXT'] });
    expect(await revert(deletion, { as })).toEqual([403, undefined, undefined]);
    expect(await revert(deletion, { body: { force: true } })).toEqual([400, 'validation_failed', 'force']);
  });
});

describe('in_sync', () => {
  let node: FollowingNode;
  beforeAll(async () => {
    node = await followLoaded({ databaseUrl: api.database.url, nodeName: 'a' });
  });
  afterAll(() => node.stop());
  const isServed = (base: string) => node.zones.has(parseName(`${base.split('/')[2]}.`));
  const stateOf = async (url: string) => {
    const { body } = await api.ask('GET', url);
    return [body.in_sync, body.nodes];
  };

  it('becomes true when every node serves the change, which ends the wait', async () => {
    const base = await freshDomain();
    const end = holdTimers(10_000); // the time limit is never reached
    for (let i = 0; i < 5; i++) {
      const id = await write(base, { create: [A(`a${i}`)] });
      expect(await stateOf(`${base}changes/${id}?wait=10`)).toEqual([true, { seen: 1, live: 1 }]);
      expect(isServed(base)).toBe(true);
    }
    end.release();
  });

  it('stays false while a node lacks the change, until the wait is over', async () => {
    const base = await freshDomain();
    const far = { name: 'far', instance: randomUUID(), started_at: new Date(), loaded: true };
    await api.db
      .insertInto('nodes')
      .values({ ...far, zones: 0, records: 0, held_zones: 0 } as never)
      .execute();
    const end = holdTimers(9_000);
    const url = `${base}changes/${await write(base, { create: [A('a')] })}`;
    let isAnswered = false;
    const waiting = stateOf(`${url}?wait=9`).finally(() => {
      isAnswered = true;
    });
    const behind = [false, { seen: 1, live: 2 }];
    await until(async () => isServed(base) && isDeepStrictEqual(await stateOf(`${url}?wait=0`), behind));
    await pause(150); // The waiting call checks each 25 ms.
    expect(isAnswered).toBe(false);
    end.fire();
    expect(await waiting).toEqual(behind);
    end.release();
    await api.db.deleteFrom('nodes').where('name', '=', 'far').execute();
    for (const wait of ['11', '-1', '1.5', ''])
      expect(await api.ask('GET', `${url}?wait=${wait}`)).toMatchObject({
        status: 400,
        body: { fields: [{ field: 'wait' }] },
      });
  });
});
