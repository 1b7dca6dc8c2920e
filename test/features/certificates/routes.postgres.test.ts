import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { Ssl } from '../../../src/api/schemas/ssl.ts';
import { openCertificate } from '../../../src/store/certificates/open-certificate.ts';
import { setSuspended } from '../../../src/store/change/update-domain.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { sharedTestApi, startTestApi } from '../../support/api/api.ts';
import { type Issued, makeCertificate, makeChain } from '../../support/certificates/make-certificate.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';

const api = sharedTestApi();
let chain: { root: Issued; middle: Issued; leaf: Issued };
let often: Domain;

const NAME = 'shop.test';
const SSL = `/domains/${NAME}/ssl`;

beforeAll(async () => {
  for (const name of [NAME, 'issued.test', 'pending.test', 'many.test']) await api.makeDomain(name);
  await api.makeDomain('elsewhere.test', { dnsMode: 'external' });
  often = await api.makeDomain('often.test');
  await api.query`update domains set status = 'active' where name <> 'pending.test.'`;
  chain = await makeChain([NAME, `*.${NAME}`]);
});

const whole = () => chain.leaf.pem + chain.middle.pem + chain.root.pem;

const upload = (certificate: string, key: string, as = 'owner', url = SSL) =>
  api.ask('POST', url, { as, body: { certificate, private_key: key } });

const certificates = async () => {
  const rows = await api.query<{ id: number; sealed: Buffer; version: number }>`
    select c.id, sealed, version from certificates c left join edge_changes e on e.name = ${`${NAME}.`}`;
  return rows[0] as { id: number; sealed: Buffer; version: number };
};

describe('an uploaded certificate', () => {
  it('is accepted with its chain and its key, and is returned to viewers', async () => {
    const before = await lastAudit(api.db);
    const read = () => api.ask('GET', SSL, { as: 'viewer' });
    expect((await read()).body).toEqual({ status: 'none', names: [], findings: [] });
    const { status, body } = await upload(whole(), chain.leaf.key, 'admin');
    expect([status, body.status]).toEqual([200, 'custom']);
    expect(Ssl.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({ names: [NAME, `*.${NAME}`], issuer: 'Test Intermediate' });
    expect((await read()).body).toEqual(body);
    const { body: list } = await api.ask('GET', '/domains/');
    const ssl = new Map(list.map((one: { name: string; ssl: object }) => [one.name, one.ssl]));
    expect(ssl.get(NAME)).toEqual({ status: 'custom', not_after: expect.any(String) });
    const [row] = await auditAfter(api.db, before);
    expect(row).toMatchObject({ action: 'ssl.upload', after: { names: [NAME, `*.${NAME}`] } });
  });

  it('has a sealed key, which no response, log or audit row contains', async () => {
    const { id, sealed } = await certificates();
    const secret = chain.leaf.key.split('\n')[1] as string;
    expect(sealed.includes(secret)).toBe(false);
    expect((await openCertificate(api.db, id))?.privateKey).toBe(chain.leaf.key);
    const answers = await Promise.all([api.ask('GET', SSL), api.ask('GET', `/domains/${NAME}/audit`)]);
    const told = JSON.stringify([answers, api.logged, await auditAfter(api.db)]);
    expect(told).not.toContain(secret);
    expect(told).not.toContain('PRIVATE KEY');
  });

  it('that replaces another one has a new id, and is sent to edges without byte order mark and CRLF', async () => {
    await api.query`insert into edge_changes (name) values (${`${NAME}.`}) on conflict do nothing`;
    const before = await certificates();
    const other = (text: string) => `\ufeff${text.replaceAll('\n', '\r\n')}trailing words`;
    expect((await upload(other(whole()), other(chain.leaf.key))).status).toBe(200);
    const after = await certificates();
    expect(after.version).toBeGreaterThan(before.version);
    expect(await openCertificate(api.db, before.id)).toBeUndefined();
    expect(await openCertificate(api.db, after.id)).toMatchObject({
      privateKey: chain.leaf.key,
      chain: chain.leaf.pem + chain.middle.pem,
    });
  });

  it('is rejected with another certificate’s key, and for names that no host can have', async () => {
    const other = await makeCertificate({ names: [NAME] });
    const wrong = { code: 'validation_failed', fields: [{ field: 'private_key' }] };
    expect(await upload(whole(), other.key)).toMatchObject({ status: 400, body: wrong });
    for (const name of [
      '*.*.',
      'f*.',
      '.',
      'a b.',
      '-a.',
      'a;b"{$.',
      `${'a'.repeat(64)}.`,
      'a.'.repeat(125),
    ]) {
      const { pem, key } = await makeCertificate({ names: [NAME, `${name}${NAME}`], name: 'x' });
      const error = /^it is also for .*, which (is not a host name|are not in the domain shop\.test)$/;
      expect((await upload(pem, key)).body.fields?.[0]?.error, name).toMatch(error);
    }
    const deep = await makeCertificate({ names: [`*.a.b.c.${NAME}`, `_x.${NAME}`, NAME.toUpperCase()] });
    expect((await upload(deep.pem, deep.key)).body.names).toEqual([`*.a.b.c.${NAME}`, `_x.${NAME}`, NAME]);
  });

  it('is rejected with explicit curve parameters', async () => {
    const read = (name: string) => readFileSync(`fixtures/certificates/explicit-curve.${name}`, 'utf8');
    const error = expect.stringMatching(/one of the curves/);
    expect((await upload(read('crt'), read('key'))).body.fields).toEqual([{ field: 'certificate', error }]);
  });

  it('of more than 64 KiB is rejected before it is parsed', async () => {
    const body = (octets: number) => {
      const rest = JSON.stringify({ certificate: '', private_key: 'x' }).length;
      return JSON.stringify({ certificate: 'x'.repeat(octets - rest), private_key: 'x' });
    };
    expect((await api.ask('POST', SSL, { body: body(65_536) })).body.fields).toHaveLength(2);
    expect((await api.ask('POST', SSL, { body: body(65_537) })).body.error).toBe('the body is too large');
  });

  it('is removed once', async () => {
    const before = await lastAudit(api.db);
    expect((await api.ask('DELETE', SSL)).body).toEqual({ message: 'certificate removed' });
    expect((await api.ask('DELETE', SSL)).status).toBe(404);
    expect((await api.ask('GET', SSL)).body.status).toBe('none');
    expect((await auditAfter(api.db, before)).map(({ action }) => action)).toEqual(['ssl.delete']);
  });
});

describe('POST ssl/issue', () => {
  const ask = (name: string) => api.ask('POST', `/domains/${name}/ssl/issue`);
  const codeOf = async (name: string) => (await ask(name)).body.code;
  const remove = (name: string) => api.ask('DELETE', `/domains/${name}/ssl`);
  const hoursPass = (hours: number) =>
    api.query`update acme_asks set asked_at = asked_at - make_interval(hours => ${hours})`;

  it('creates one order for repeated requests', async () => {
    const before = await lastAudit(api.db);
    expect((await ask('issued.test')).body).toEqual({ status: 'pending', names: [], findings: [] });
    expect((await ask('issued.test')).body.status).toBe('pending');
    expect(await api.query`select from acme_orders`).toHaveLength(1);
    expect(await auditAfter(api.db, before)).toMatchObject([{ action: 'ssl.issue' }]);
  });

  it('requires an active domain that is not suspended, in either mode', async () => {
    expect(await codeOf('pending.test')).toBe('wrong_state');
    expect((await ask('elsewhere.test')).body.status).toBe('pending');
    const { id } = await api.makeDomain('suspended.test');
    await api.query`update domains set status = 'active' where id = ${id}`;
    await setSuspended(api.db, { domainId: id, suspended: true });
    const { status, body } = await ask('suspended.test');
    expect([status, body.code, body.error]).toEqual([400, 'wrong_state', expect.stringMatching(/suspended/)]);
  });

  it('is rejected soon after a failure, with Retry-After', async () => {
    await api.query`update acme_orders set attempts = 1, wanted = false, last_error = 'no', failed_at = now()`;
    const { body } = await api.ask('GET', '/domains/issued.test/ssl');
    expect(body).toMatchObject({ status: 'failed', last_error: 'no', next_attempt_at: expect.any(String) });
    const refused = await ask('issued.test');
    expect([refused.status, refused.body.code]).toEqual([429, 'ssl_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await api.query`update acme_orders set asked_at = now() - interval '1 hour'`;
    expect((await ask('issued.test')).body.status).toBe('pending');
  });

  it('ends with an upload or a deletion', async () => {
    const { pem, key } = await makeCertificate({ names: ['issued.test'] });
    expect((await upload(pem, key, 'owner', '/domains/issued.test/ssl')).body.status).toBe('custom');
    expect((await ask('many.test')).body.status).toBe('pending');
    expect((await remove('many.test')).status).toBe(200);
    const rows = await api.query`
      select from acme_orders o join domains d on d.id = o.domain_id
      where d.name in ('issued.test.', 'many.test.')`;
    expect(rows).toEqual([]);
  });

  it('is limited for a name, to protect the limits of the authority', async () => {
    const { id } = often;
    for (let i = 0; i < 5; i++) {
      expect((await ask('often.test')).body.status).toBe('pending');
      expect((await ask('often.test')).body.status).toBe('pending'); // the same order
      if (i % 2 === 0) expect((await remove('often.test')).status).toBe(200);
      else await api.query`update acme_orders set wanted = false where domain_id = ${id}`; // issued
    }
    const refused = await ask('often.test');
    expect([refused.status, refused.body.code]).toEqual([429, 'ssl_limited']);
    const retryAfter = Number(refused.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(3500);
    expect(retryAfter).toBeLessThanOrEqual(3600);
    await hoursPass(1);
    expect((await ask('often.test')).status).toBe(200);
    await api.query`
      insert into acme_asks (account_id, name, asked_at)
      select account_id, name, now() - interval '2 hours' from acme_asks, generate_series(1, 20)
      where name = 'often.test.' limit 20`;
    expect((await ask('often.test')).status).toBe(200); // the order in progress
    await remove('often.test');
    expect(await codeOf('often.test')).toBe('ssl_limited');
    await hoursPass(24);
    expect((await ask('often.test')).status).toBe(200);
    const rows = await api.query`select from acme_asks`;
    expect(rows).toHaveLength(1); // Requests that no longer count are deleted.
  });

  it('is limited for an account', async () => {
    await api.query`delete from acme_asks`;
    await api.query`delete from acme_orders`;
    await api.query`
      insert into acme_asks (account_id, name)
      select ${often.accountId}, n || '.example.' from generate_series(1, 300) n`;
    expect(await codeOf('often.test')).toBe('ssl_limited');
    await api.query`delete from acme_asks`;
    expect((await ask('often.test')).status).toBe(200);
  });

  it('is rejected without KEY_SECRETS or without an authority, and a repeat does not change this', async () => {
    const bare = await startTestApi({ keySecrets: [], issuesCertificates: false });
    await bare.makeDomain(NAME);
    const body = { certificate: whole(), private_key: chain.leaf.key };
    const uploaded = await bare.ask('POST', SSL, { body });
    const issued = await bare.ask('POST', `${SSL}/issue`);
    await bare.stop();
    for (const answer of [uploaded, issued])
      expect([answer.status, answer.body.code]).toEqual([503, 'ssl_unavailable']);
    expect(issued.body.error).toMatch(/the operator has not configured a certificate authority/);
    expect(issued.headers['retry-after']).toBeUndefined();
  });
});
