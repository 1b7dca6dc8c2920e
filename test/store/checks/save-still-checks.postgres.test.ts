// Saves many checks of unchanged domains with one statement.

import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import type { CheckOrder } from '../../../src/store/checks/check-outcome.ts';
import { listChecks } from '../../../src/store/checks/check-runs.ts';
import { gatherChecks } from '../../../src/store/checks/gather-checks.ts';
import type { NameOrder } from '../../../src/store/checks/save-check.ts';
import { saveStillChecks } from '../../../src/store/checks/save-still-checks.ts';
import { BY, expectPublished, newAccount, newDomain } from '../../support/database/domains.ts';
import { checkOnce, judgedCheck, judgedOrder } from '../../support/database/saved-checks.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const OURS = 'referral ns1.example.net ns2.example.net';

const { db, query } = keptDatabase();
const ids: number[] = [];

beforeAll(async () => {
  const accountId = await newAccount(db, 'me@example.org');
  ids.length = 0;
  for (let i = 0; i < 6; i++) ids.push((await newDomain(db, accountId, `d${i}.test.`)).id);
  for (const id of ids) await checkOnce(db, id, OURS);
});

const judged = async (said: string, wanted: readonly number[] = ids): Promise<CheckOrder[]> =>
  await Promise.all(wanted.map((id) => judgedOrder(db, id, said)));
const newest = async (id: number) => (await listChecks(db, id, { limit: 1 }))[0];

test('saves all checks: a new outcome adds a run with evidence, and an equal one increments its counter', async () => {
  const orders = await judged('referral ns1.example.net');
  const first = await saveStillChecks(db, orders);
  expect([...first.keys()]).toEqual(expect.arrayContaining(orders));
  const again = await judged('referral ns1.example.net');
  const second = await saveStillChecks(db, again);
  expect(again.map((order) => second.get(order))).toEqual(orders.map((order) => first.get(order)));
  for (const [i, id] of ids.entries()) {
    const [run] = await listChecks(db, id, { limit: 1, evidence: true });
    expect(run).toMatchObject({ id: first.get(orders[i] as CheckOrder), repeated: 1, verdict: 'partial' });
    expect(run?.evidence).toEqual((orders[i] as CheckOrder).evidence);
    expect(run?.findings).toEqual((orders[i] as CheckOrder).decision.findings);
  }
  await expectPublished(db, ...ids);
});

test('skips checks that change the status, come too late, were requested, occur twice, or whose domain is locked', async () => {
  const [moves, late, asked, twice, locked, plain] = ids as [number, number, number, number, number, number];
  await query`update domains set status = 'moved', moved_since = now() where id = ${moves}`;
  const orders = await judged(OURS);
  const [move, , ask, , , last] = orders as [
    CheckOrder,
    CheckOrder,
    CheckOrder,
    CheckOrder,
    CheckOrder,
    CheckOrder,
  ];
  await changeStatus(db, { ...BY, domainId: late, event: 'ban' });
  const manual: CheckOrder = { ...ask, kind: 'manual', request: '5f0c7d0a-1111-4222-8333-444455556666' };
  const second = await judgedCheck(db, twice, OURS);
  const given = [move, orders[1], manual, orders[3], second, orders[4], last] as CheckOrder[];
  await db.transaction().execute(async (trx) => {
    await sql`select from domains where id = ${locked} for update`.execute(trx);
    const saved = await saveStillChecks(db, given);
    expect([...saved.keys()].map(({ domainId }) => domainId).sort()).toEqual([twice, plain].sort());
  });
  expect(await saveStillChecks(db, given)).toEqual(new Map([[orders[4], expect.any(Number)]]));
  expect((await newest(asked))?.kind).toBe('background');
});

test('an equal outcome neither writes nor waits for the domain’s own row, and a new one does not wait for locks either', async () => {
  const living = ids.slice(2);
  const own = () => query`select id, ctid, xmin, xmax, findings from domains order by id`;
  for (const said of ['referral ns1.example.net', OURS]) {
    const news = await judged(said, living);
    expect((await saveStillChecks(db, news)).size).toBe(living.length);
    const before = await own();
    const again = await judged(said, living);
    expect((await saveStillChecks(db, again)).size).toBe(living.length);
    expect(await own()).toEqual(before);
  }
  const same = await judged(OURS, living);
  await db.transaction().execute(async (trx) => {
    await sql`select from domains for update`.execute(trx);
    expect(await saveStillChecks(db, await judged('nxdomain', living))).toEqual(new Map());
    expect((await saveStillChecks(db, same)).size).toBe(living.length);
    await sql`update domain_checks set seq = seq + 1`.execute(trx); // like every writer under the domain's lock
    expect(await saveStillChecks(db, await judged(OURS, living))).toEqual(new Map());
  });
  for (const id of living) expect((await newest(id))?.repeated).toBe(2);
});

test('a new outcome with the same findings adds a run, and writes no row of a domain', async () => {
  const living = ids.slice(2);
  const versions = () => query`select id, ctid from domains order by id`;
  await saveStillChecks(db, await judged(OURS, living));
  const before = await versions();
  const parents = await Promise.all(
    living.map((id) => judgedOrder(db, id, OURS, { parent: parseName('other.test.') })),
  );
  expect((await saveStillChecks(db, parents)).size).toBe(living.length);
  for (const id of living) expect(await newest(id)).toMatchObject({ repeated: 0, verdict: 'match' });
  expect(await versions()).toEqual(before);
});

test('an unknown outcome with another cause adds a run, but other servers or another number of them do not', async () => {
  const one = ids.slice(5);
  const runAfter = async (said: string) => {
    await saveStillChecks(db, await judged(said, one));
    const run = await newest(one[0] as number);
    return { id: run?.id, verdict: run?.verdict, repeated: run?.repeated };
  };
  const silent = await runAfter('timeout; timeout');
  expect(silent).toMatchObject({ verdict: 'unknown', repeated: 0 });
  expect(await runAfter('timeout; timeout; timeout')).toEqual({ ...silent, repeated: 1 });
  const refused = await runAfter('refused; timeout');
  expect(refused).toMatchObject({ verdict: 'unknown', repeated: 0 });
  expect(await runAfter('timeout; refused')).toEqual({ ...refused, repeated: 1 });
  const differ = await runAfter('referral ns1.x; nxdomain');
  expect(differ).toMatchObject({ verdict: 'unknown', repeated: 0 });
  expect(await runAfter('nxdomain; nxdomain; referral ns1.x')).toEqual({ ...differ, repeated: 1 });
  expect(await runAfter('nxdomain; referral ns2.x')).toMatchObject({ verdict: 'unknown', repeated: 0 });
});

test('concurrent checks share a statement, and each gets its own result or error', async () => {
  const save = gatherChecks(db);
  const [moves, late, , twice] = ids as [number, number, number, number];
  const living = ids.filter((id) => id !== late);
  const orders = await Promise.all(living.map((id) => judgedCheck(db, id, OURS)));
  const last = await judgedCheck(db, twice, OURS);
  const broken: NameOrder = { ...last, orders: [{ ...last.orders[0], domainId: 0.5 }] };
  const kinds = (
    await Promise.allSettled([...orders, ...orders.map((order) => ({ ...order })), broken].map(save))
  ).map((result) => (result.status === 'fulfilled' ? result.value.kind : 'failed'));
  expect(kinds.at(-1)).toBe('failed');
  expect(kinds.filter((kind) => kind === 'saved')).toHaveLength(living.length);
  expect(kinds.filter((kind) => kind === 'conflict')).toHaveLength(living.length);
  expect(await query`select status from domains where id = ${moves}`).toEqual([{ status: 'active' }]);
});

test('about a hundred runs without changes are kept', async () => {
  const id = ids[5] as number;
  for (let i = 0; i < 140; i++) await checkOnce(db, id, i % 2 === 0 ? 'nxdomain' : 'timeout');
  const kept = await listChecks(db, id, { limit: 1000 });
  expect(kept.length).toBeGreaterThanOrEqual(100);
  expect(kept.length).toBeLessThanOrEqual(118);
  expect(kept.at(-1)).toMatchObject({ statusBefore: 'pending', statusAfter: 'active' }); // it has a change
});
