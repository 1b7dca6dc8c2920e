// A check of the DS records that a user requests: a worker makes it, at most once per hour.

import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
let domains = 0;
let path = '';
let domainId = 0;

beforeEach(async () => {
  const name = `looked-${++domains}.test`;
  domainId = (await api.makeDomain(name)).id;
  path = `/domains/${name}/dnssec`;
});

const check = (as?: string) => api.ask('POST', `${path}/check`, as === undefined ? {} : { as });
const stored = async () => {
  const { rows } = await sql<{ dsDue: boolean; isDue: boolean; isCounted: boolean }>`
    select ds_due as "dsDue", due_at <= clock_timestamp() as "isDue", look_asked_at is not null as "isCounted"
    from signed_zones where domain_id = ${domainId}`.execute(api.database.db);
  return rows[0];
};
const later = () =>
  sql`update signed_zones set due_at = clock_timestamp() + interval '1 day', ds_due = false`.execute(
    api.database.db,
  );

it('is refused while the domain has no keys', async () => {
  expect(await check()).toMatchObject({ status: 400, body: { code: 'wrong_state' } });
});

it('is due immediately, and returns the known state', async () => {
  await api.ask('POST', `${path}/enable`);
  await later();
  const asked = await check();
  expect(asked.status).toBe(200);
  expect(asked.body).toEqual((await api.ask('GET', path)).body);
  expect(await stored()).toEqual({ dsDue: true, isDue: true, isCounted: true });
});

it('is limited to once per hour', async () => {
  await api.ask('POST', `${path}/enable`);
  expect((await check()).status).toBe(200);
  await later();
  const again = await check('admin');
  expect(again).toMatchObject({ status: 429, body: { code: 'dnssec_check_limited' } });
  const seconds = Number(again.headers['retry-after']);
  expect(seconds).toBeGreaterThan(3500);
  expect(seconds).toBeLessThanOrEqual(3600);
  expect(await stored()).toMatchObject({ dsDue: false, isDue: false });
  await sql`update signed_zones set look_asked_at = look_asked_at - interval '1 hour'`.execute(
    api.database.db,
  );
  expect((await check('admin')).status).toBe(200);
  expect(await stored()).toMatchObject({ dsDue: true, isDue: true });
});

it('is neither limited nor counted for operators', async () => {
  await api.ask('POST', `${path}/enable`);
  for (let i = 0; i < 3; i++) expect((await check('operator')).status).toBe(200);
  expect(await stored()).toEqual({ dsDue: true, isDue: true, isCounted: false });
  expect((await check()).status).toBe(200);
});

it('is refused to an account with too many checks', async () => {
  await api.ask('POST', `${path}/enable`);
  await sql`
    insert into check_shares (account_id, slot_ms, manual, at) values (${api.accountIds.owner}, 0, 5000, clock_timestamp())
    on conflict (account_id) do update set manual = 5000, at = clock_timestamp()`.execute(api.database.db);
  const answer = await check();
  expect(answer).toMatchObject({ status: 429, body: { code: 'dnssec_check_limited' } });
  expect(answer.headers['retry-after']).toBe('60');
  expect(await stored()).toMatchObject({ isCounted: false });
  await sql`delete from check_shares`.execute(api.database.db);
});
