import { beforeEach, describe, expect, it } from 'vitest';
import { handOver } from '../../../src/store/change/hand-over.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { sharedTestApi, startTestApi } from '../../support/api/api.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';
import { BY } from '../../support/database/domains.ts';

const api = sharedTestApi();
let domain: Domain;
let path: string;
let made = 0;
beforeEach(async () => {
  const name = `second${made++}.test`;
  domain = await api.makeDomain(name);
  path = `/domains/${name}/secondaries`;
});

const create = (body: object, headers = {}) => api.ask('POST', '/tsig-keys/', { body, headers });
const put = (...secondaries: object[]) => api.ask('PUT', path, { body: { secondaries } });
const ONE = { addresses: ['9.9.9.9'], networks: ['9.9.9.9'] };
const PRINTED = { addresses: ['9.9.9.9'], networks: ['9.9.9.9/32'], port: 53, tsig_key: null };
const list = async (as: 'owner' | 'stranger' = 'owner') => (await api.ask('GET', '/tsig-keys/', { as })).body;

describe('TSIG keys', () => {
  it('have a secret that is shown once, and are listed without it to their account', async () => {
    const before = await lastAudit(api.db);
    const headers = { 'idempotency-key': `key-${made}` };
    const { status, body } = await create({ label: 'acme' }, headers);
    const { secret, ...rest } = body;
    expect([status, Buffer.from(secret, 'base64').length]).toEqual([200, 32]);
    expect(rest).toMatchObject({ algorithm: 'hmac-sha256', imported: false, in_use: false });
    expect(rest.name).toMatch(/^acme-[a-z2-7]{6}\.$/);
    expect((await create({ label: 'acme' }, headers)).body).toEqual(rest);
    expect((await list())[0]).toEqual(rest);
    expect(await list('stranger')).toEqual([]);
    const [row] = await auditAfter(api.db, before);
    expect(row).toMatchObject({ action: 'tsig.create', targetName: rest.name });
    expect(JSON.stringify(row)).not.toContain(secret);
  });

  it('of primaries are imported, without repeating their secret', async () => {
    const key = { name: 'Hidden.Example', secret: 'c2VjcmV0IG9mIGEgcHJpbWFyeQ==' };
    const { body } = await create(key);
    expect(body).toMatchObject({ name: 'hidden.example.', imported: true });
    expect(body.secret).toBeUndefined();
    expect((await create(key)).status).toBe(409);
  });

  it.each([
    [{}, 'label'],
    [{ label: 'a', name: 'b' }, 'label'],
    [{ name: 'b' }, 'label'],
    [{ label: '-' }, 'label'],
    [{ name: 'b', secret: 'c2hvcnQ=' }, 'secret'],
    [{ name: '.', secret: 'c2VjcmV0IG9mIGEgcHJpbWFyeQ==' }, 'name'],
    [{ label: 'a', algorithm: 'hmac-md5' }, 'algorithm'],
  ])('%j is rejected', async (body, field) => {
    const refused = await create(body);
    expect([refused.status, refused.body.fields[0].field]).toEqual([400, field]);
  });

  it('are at most 20, also for concurrent calls', async () => {
    const left = 20 - (await list()).length;
    const answers = await Promise.all(Array.from({ length: left + 2 }, () => create({ label: 'many' })));
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    for (const { id } of await list()) expect((await api.ask('DELETE', `/tsig-keys/${id}`)).status).toBe(200);
  });

  it('are not stored without TSIG_SECRETS', async () => {
    const lab = await startTestApi({ tsigSecrets: [] });
    const { status, body } = await lab.ask('POST', '/tsig-keys/', { body: { label: 'a' } });
    expect([status, body.code]).toEqual([503, 'tsig_unavailable']);
    await lab.stop();
  });
});

describe('secondaries', () => {
  it('replace those of before; unchanged ones keep their id', async () => {
    const before = await lastAudit(api.db);
    const key = (await create({ label: 'second' })).body;
    const keyed = { addresses: ['2A00:1450::0001'], tsig_key: key.id, port: 5353 };
    const first = await put(ONE, keyed);
    expect(first.body.secondaries).toMatchObject([
      { ...PRINTED, transfer: true, notify: true },
      { addresses: ['2a00:1450::1'], networks: [], port: 5353, tsig_key: key.id },
    ]);
    const [, kept] = first.body.secondaries;
    const second = await put(keyed, { ...ONE, notify: false });
    expect(second.body.secondaries).toEqual([
      kept,
      { ...PRINTED, id: expect.any(Number), transfer: true, notify: false },
    ]);
    expect((await api.ask('GET', path, { as: 'admin' })).body).toEqual(second.body);
    const rows = await auditAfter(api.db, before);
    expect(rows.at(-1)).toMatchObject({
      action: 'secondaries.edit',
      after: {
        secondaries: [
          `notify 2a00:1450::1 port 5353, transfer from any, key ${key.name}`,
          'transfer from 9.9.9.9/32',
        ],
      },
    });
  });

  it('do not include the primaries of the domain, and do not remove them', async () => {
    await api.query`insert into peers (domain_id, addresses) values (${domain.id}, '{9.9.9.10}')`;
    expect((await put()).body).toEqual({ secondaries: [] });
    expect(await api.query`select from peers where domain_id = ${domain.id}`).toHaveLength(1);
  });

  it('prevent the revocation of their key', async () => {
    const key = (await create({ label: 'used' })).body;
    await put({ ...ONE, tsig_key: key.id });
    const refused = await api.ask('DELETE', `/tsig-keys/${key.id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'tsig_key_in_use']);
    await put();
    expect((await api.ask('DELETE', `/tsig-keys/${key.id}`)).status).toBe(200);
    expect((await put({ ...ONE, tsig_key: key.id })).body.fields[0].field).toBe('secondaries[0].tsig_key');
  });

  it('may not use the key of another account or of a primary', async () => {
    const imported = await create({ name: 'primary', secret: 'c2VjcmV0IG9mIGEgcHJpbWFyeQ==' });
    expect((await put({ ...ONE, tsig_key: imported.body.id })).status).toBe(400);
    const { body } = await api.ask('POST', '/tsig-keys/', { as: 'stranger', body: { label: 'theirs' } });
    expect((await put({ ...ONE, tsig_key: body.id })).status).toBe(400);
    expect((await api.ask('DELETE', `/tsig-keys/${body.id}`)).status).toBe(404);
  });

  it.each([
    ['10.0.0.53'],
    ['127.0.0.1'],
    ['192.0.2.53'],
    ['::ffff:10.0.0.1'],
    ['2002:a00:1::'],
  ])('may not have the address %s', async (address) => {
    const { status, body } = await put({ ...ONE, addresses: [address] });
    expect([status, body.code, body.error]).toEqual([
      400,
      'address_refused',
      expect.stringContaining('is not a public address'),
    ]);
  });

  it.each([
    [{ ...ONE, port: 25 }, 'port'],
    [{ ...ONE, networks: ['0.0.0.0/0'] }, 'networks[0]'],
    [{ ...ONE, networks: ['2000::/3'] }, 'networks[0]'],
    [{ ...ONE, networks: [] }, 'networks'],
    [{ networks: ['9.9.9.9'] }, 'addresses'],
    [{ ...ONE, transfer: false, notify: false }, 'transfer'],
    [{ ...ONE, addresses: ['ns.example'] }, 'addresses[0]'],
    [{ ...ONE, addresses: ['9.9.9.1', '9.9.9.2', '9.9.9.3'] }, 'addresses'],
  ])('%j is rejected', async (secondary, field) => {
    const { status, body } = await put(secondary);
    expect([status, body.fields[0].field]).toEqual([400, `secondaries[0].${field}`]);
  });

  it('are at most eight', async () => {
    const eight = Array.from({ length: 9 }, (_, i) => ({ ...ONE, networks: [`9.9.9.${i}`] }));
    expect((await put(...eight)).status).toBe(400);
    expect((await put(...eight.slice(1))).body.secondaries).toHaveLength(8);
  });

  it('do not pass to another owner', async () => {
    await put(ONE);
    const order = { ...BY, domainId: domain.id, accountId: api.accountIds.stranger };
    expect((await handOver(api.db, order)).kind).toBe('passed');
    expect((await api.ask('GET', path, { as: 'stranger' })).body).toEqual({ secondaries: [] });
  });
});

it("transfers lists the domain's own secondaries, but not the operator's peers", async () => {
  await api.query`
    with p as (insert into peers (name, networks) values ('of-operator', '{9.9.9.9/32}') returning id),
    t as (insert into transfer_policies (name, is_default) values ('default', true) returning id)
    insert into policy_peers select t.id, p.id, true, true from t, p`;
  const [{ id }] = (await put(ONE)).body.secondaries;
  const { body } = await api.ask('GET', path.replace('secondaries', 'transfers'));
  expect(body).toEqual({
    serial: expect.any(Number),
    secondaries: [
      expect.objectContaining({
        id,
        addresses: ['9.9.9.9'],
        served_serial: null,
        lag_seconds: expect.any(Number),
      }),
    ],
  });
});
