import { beforeEach, describe, expect, it } from 'vitest';
import { RETENTION_OF_FEATURES } from '../../../src/features/every-feature.ts';
import { orderEvent } from '../../../src/features/webhooks/sql.ts';
import { saveTry } from '../../../src/features/webhooks/sql-deliveries.ts';
import { handOver } from '../../../src/store/change/hand-over.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { deleteOld } from '../../../src/store/housekeeping/retention.ts';
import { sharedTestApi, startTestApi } from '../../support/api/api.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';
import { BY } from '../../support/database/domains.ts';

const api = sharedTestApi();
let domain: Domain;
let name: string;
let made = 0;
beforeEach(async () => {
  name = `hooks${made++}.test`;
  domain = await api.makeDomain(name);
});

const URL = 'https://hooks.shop.test/secret-path?x=1';
const path = (rest = '', of = name) => `/domains/${of}/webhooks${rest}`;
const make = (body: object = { url: URL }, headers = {}) => api.ask('POST', path(), { body, headers });
const list = async () => (await api.ask('GET', path(), { as: 'admin' })).body;

describe('a webhook', () => {
  it('has a secret that is shown once and stored sealed', async () => {
    const before = await lastAudit(api.db);
    const { status, body } = await make();
    const { secret, ...rest } = body;
    expect([status, secret]).toEqual([200, expect.stringMatching(/^whsec_[\w-]{43}$/)]);
    expect(rest).toEqual({ id: expect.any(Number), url: URL, created_at: expect.any(String) });
    expect(await list()).toEqual([rest]);
    const rows = await api.query<{ sealed: Buffer }>`select * from webhooks where id = ${body.id}`;
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(rows[0]?.sealed.includes(secret)).toBe(false);
    const [row] = await auditAfter(api.db, before);
    const after = { webhook: body.id, host: 'hooks.shop.test' };
    expect(row).toMatchObject({ action: 'webhook.create', after });
    expect(JSON.stringify(row)).not.toMatch(/whsec_|secret-path/);
  });

  it('is created once under an Idempotency-Key, and the replay has no secret', async () => {
    const headers = { 'idempotency-key': `key-${name}` };
    const first = (await make(undefined, headers)).body;
    const again = await make(undefined, headers);
    expect([again.status, again.body.id, again.body.secret]).toEqual([200, first.id, undefined]);
    expect(await list()).toHaveLength(1);
  });

  it('is rejected if its URL is not public', async () => {
    const { status, body } = await make({ url: 'https://10.0.0.1/' });
    expect([status, body.fields[0].field]).toEqual([400, 'url']);
    expect(await list()).toEqual([]);
  });

  it('is one of at most five, also for concurrent calls', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => make()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 409, 409, 409]);
    expect(await list()).toHaveLength(5);
    const [first] = await list();
    expect((await api.ask('DELETE', path(`/${first.id}`))).status).toBe(200);
    expect((await make()).status).toBe(200);
  });

  it('is deleted when the domain is handed over', async () => {
    await make();
    const order = { ...BY, domainId: domain.id, accountId: api.accountIds.stranger };
    expect((await handOver(api.db, order)).kind).toBe('passed');
    expect((await api.ask('GET', path(), { as: 'stranger' })).body).toEqual([]);
  });

  it('may lead to networks that the operator allows, and is not created without KEY_SECRETS', async () => {
    const lab = await startTestApi({ webhookAllow: ['127.0.0.0/8'], keySecrets: [] });
    await lab.makeDomain('lab.test');
    const made = await lab.ask('POST', '/domains/lab.test/webhooks', {
      body: { url: 'https://127.0.0.1:8443/' },
    });
    expect([made.status, made.body.error]).toEqual([503, expect.stringContaining('KEY_SECRETS')]);
    await lab.stop();
  });
});

describe('deliveries', () => {
  const deliveries = async (id: number) => (await api.ask('GET', path(`/${id}/deliveries`))).body;

  it('are listed with their outcome, newest first', async () => {
    const { id } = (await make()).body;
    await orderEvent(api.db, { domainId: domain.id, event: 'outage.begun', data: { incident: 7 } });
    const tested = await api.ask('POST', path(`/${id}/test`));
    expect(tested.status).toBe(200);
    const [test, outage] = await deliveries(id);
    expect(test).toEqual({
      id: tested.body.delivery,
      event: 'test',
      event_id: expect.any(String),
      state: 'waiting',
      attempts: 0,
      created_at: expect.any(String),
      next_at: expect.any(String),
    });
    expect(await saveTry(api.db, outage.id, { status: 500 })).toBe('again');
    expect(await saveTry(api.db, test.id, { error: 'tls' })).toBe('given_up');
    expect(await deliveries(id)).toMatchObject([
      { event: 'test', state: 'failed', attempts: 1, error: 'tls', tried_at: expect.any(String) },
      { event: 'outage.begun', state: 'waiting', attempts: 1, status: 500, next_at: expect.any(String) },
    ]);
    expect(await saveTry(api.db, outage.id, { status: 204 })).toBe('delivered');
    expect((await deliveries(id))[1]).toMatchObject({ state: 'delivered', attempts: 2, status: 204 });
    expect(await list()).toMatchObject([{ id, answered_at: expect.any(String) }]);
  });

  it('tests are limited to five a minute and fifty a day per domain', async () => {
    const ids = [(await make()).body.id, (await make()).body.id];
    const test = async (n: number) => (await api.ask('POST', path(`/${ids[n % 2]}/test`))).status;
    for (let n = 0; n < 5; n++) expect(await test(n)).toBe(200);
    const often = await api.ask('POST', path(`/${ids[0]}/test`));
    expect([often.status, often.body.error]).toEqual([429, 'rate limit exceeded']);
    const seconds = Number(often.headers['retry-after']);
    expect([seconds > 0, seconds <= 60]).toEqual([true, true]);
    await api.query`update invite_windows set count = 49 where subject like '%day%'`;
    const pass = (time: string) => api.query`update invite_windows set ends_at = ends_at - ${time}::interval`;
    await pass('1 minute');
    expect([await test(0), await test(0)]).toEqual([200, 429]);
    for (let n = 0; n < 5; n++) expect(await test(n)).toBe(429);
    await pass('1 day');
    expect(await test(1)).toBe(200);
  });

  it('are kept for seven days', async () => {
    const { id } = (await make()).body;
    await orderEvent(api.db, { domainId: domain.id, event: 'outage.begun', data: {} });
    for (const [age, kept] of [
      ['6 days 23 hours', 1],
      ['2 hours', 0],
    ] as const) {
      await api.query`update webhook_deliveries set created_at = created_at - ${age}::interval`;
      await deleteOld(api.db, RETENTION_OF_FEATURES);
      expect(await deliveries(id)).toHaveLength(kept);
    }
  });
});
