import { beforeEach, describe, expect, it } from 'vitest';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';

const api = sharedTestApi();
let domain: Domain;
let path: string;
let made = 0;
beforeEach(async () => {
  const name = `copy${made++}.test`;
  domain = await api.makeDomain(name);
  path = `/domains/${name}`;
});

const ONE = { address: '9.9.9.9' };
const put = (...primaries: object[]) => api.ask('PUT', `${path}/primaries`, { body: { primaries } });
const get = () => api.ask('GET', `${path}/primaries`);
const secret = 'c2VjcmV0IG9mIGEgcHJpbWFyeQ==';
const importKey = async (as: 'owner' | 'stranger' = 'owner') =>
  (await api.ask('POST', '/tsig-keys/', { as, body: { name: `hidden${made}.example`, secret } })).body;

describe('primaries', () => {
  it('replace those of before, and are returned with the state of the copy', async () => {
    expect((await get()).body).toMatchObject({ primaries: [], state: null, last_error: null });
    const before = await lastAudit(api.db);
    const key = await importKey();
    const { status, body } = await put({ address: '2A00:1450::0001', port: 5353, tsig_key: key.id }, ONE);
    const [first, second] = body.primaries;
    expect([status, first, second]).toEqual([
      200,
      { id: expect.any(Number), address: '2a00:1450::1', port: 5353, tsig_key: key.id },
      { id: expect.any(Number), address: '9.9.9.9', port: 53, tsig_key: null },
    ]);
    const failed = { last_error: 'PRIMARY_SILENT', last_message: 'a sentence' };
    await api.query`update secondaries set serial = 7, failures = 1, last_error = ${failed.last_error},
      last_message = ${failed.last_message} where domain_id = ${domain.id}`;
    expect((await get()).body).toMatchObject({
      ...{ primaries: [first, second], state: 'failing', serial: 7 },
      ...{ last_error: 'PRIMARY_SILENT', message: 'a sentence' },
    });
    expect((await put(ONE)).body).toMatchObject({ primaries: [second], serial: 7, last_error: null });
    const rows = await auditAfter(api.db, before);
    expect(rows.at(-1)).toMatchObject({
      action: 'primaries.edit',
      before: { primaries: [`2a00:1450::1 port 5353 key ${key.name}`, '9.9.9.9 port 53'] },
      after: { primaries: ['9.9.9.9 port 53'] },
    });
  });

  it('make writes of records fail until they are removed', async () => {
    await put(ONE);
    const write = () =>
      api.ask('POST', `${path}/records/`, { body: { name: 'a', type: 'A', destination: '9.9.9.9' } });
    expect([(await write()).status, (await write()).body.code]).toEqual([409, 'domain_secondary']);
    const ended = await api.ask('DELETE', `${path}/primaries`);
    expect(ended).toMatchObject({
      status: 200,
      body: { records: 0, dropped: 0, serial: expect.any(Number) },
    });
    expect((await write()).status).toBe(200);
    expect((await api.ask('DELETE', `${path}/primaries`)).body.code).toBe('wrong_state');
  });

  it.each<[string, () => Promise<object[]> | object[], number, string | undefined]>([
    ['none', () => [], 400, 'validation_failed'],
    ['five', () => Array(5).fill(ONE), 400, 'validation_failed'],
    ['a private address', () => [{ address: '10.0.0.53' }], 400, 'address_refused'],
    ['the port of another service', () => [{ ...ONE, port: 25 }], 400, 'validation_failed'],
    [
      'a key of another account',
      async () => [{ ...ONE, tsig_key: (await importKey('stranger')).id }],
      400,
      'validation_failed',
    ],
    [
      'a key that was not imported',
      async () => [
        { ...ONE, tsig_key: (await api.ask('POST', '/tsig-keys/', { body: { label: 'served' } })).body.id },
      ],
      400,
      'validation_failed',
    ],
  ])('may not be %s', async (_, wanted, status, code) => {
    const refused = await put(...(await wanted()));
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect((await get()).body.primaries).toEqual([]);
  });

  it('are not possible with DNSSEC or in external mode', async () => {
    await api.query`insert into signed_zones (domain_id, account_id, goal, denial, algorithm, phase)
      values (${domain.id}, ${domain.accountId}, 'signed', 'nsec', 13, 'off')`;
    expect(await put(ONE)).toMatchObject({ status: 409, body: { error: expect.stringContaining('DNSSEC') } });
    await api.query`update domains set dns_mode = 'external', status = 'unverified' where id = ${domain.id}`;
    expect((await put(ONE)).body.code).toBe('wrong_state');
  });
});

describe('retransfer', () => {
  const order = () => api.ask('POST', `${path}/retransfer`);

  it('is ordered six times per hour', async () => {
    expect((await order()).body.code).toBe('wrong_state');
    await put(ONE);
    for (let i = 0; i < 6; i++) expect((await order()).status).toBe(200);
    const refused = await order();
    expect([refused.status, Number(refused.headers['retry-after']) > 3000]).toEqual([429, true]);
    const rows = await api.query`select is_forced from secondaries where domain_id = ${domain.id}`;
    expect(rows).toEqual([{ is_forced: true }]);
  });
});
