// The facts that recommendations are based on. test/features/recommendations/rules.test.ts proves when each is made.

import { beforeEach, describe, expect, it } from 'vitest';
import { Recommendations } from '../../../src/features/recommendations/schema.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';

const api = sharedTestApi();
let domain: Domain;
let name: string;
let made = 0;

beforeEach(async () => {
  name = `shop${made++}.test`;
  domain = await api.makeDomain(name);
  await api.query`update domains set status = 'active' where id = ${domain.id}`;
});

async function create(...records: object[]): Promise<void> {
  const { status, body } = await api.ask('PUT', `/domains/${name}/records/batch`, {
    body: { create: records },
  });
  expect([status, body.fields]).toEqual([200, undefined]);
}

async function listed(as = 'viewer') {
  const { status, body } = await api.ask('GET', `/domains/${name}/recommendations`, { as });
  expect(status).toBe(200);
  return Recommendations.parse(body);
}
const codes = async () => (await listed()).map(({ code }) => code);
const dismiss = (code: string, as = 'owner') =>
  api.ask('POST', `/domains/${name}/recommendations/${code}/dismiss`, { as });

describe('recommendations', () => {
  it('read CAA, MX, SPF and DMARC records at the apex', async () => {
    await create({ name: '@', type: 'MX', mx_priority: 0, destination: '.' });
    expect(await codes()).toEqual(['unsigned', 'missing_caa']);
    const records = [{ mx_priority: 10, destination: 'mail.elsewhere.test' }];
    await api.ask('PUT', `/domains/${name}/records/batch`, {
      body: { replace: [{ name: '@', type: 'MX', records }] },
    });
    expect(await codes()).toEqual(['missing_spf', 'missing_dmarc', 'unsigned', 'missing_caa']);
    const long = `"v=spf1 ${'ip4:192.0.2.1 '.repeat(10)}" "${'ip4:192.0.2.2 '.repeat(10)}-all"`;
    await create(
      { name: '@', type: 'TXT', destination: long },
      { name: '_dmarc', type: 'CNAME', destination: 'policy.elsewhere.test' },
      { name: '@', type: 'CAA', destination: '0 issue "ca.test"' },
    );
    expect(await codes()).toEqual(['unsigned']);
  });

  it('name aliases without a target in the domain, unless a wildcard or a delegation covers it', async () => {
    await create(
      { name: 'here', type: 'A', destination: '192.0.2.1' },
      { name: 'to-here', type: 'CNAME', destination: `here.${name}` },
      { name: 'elsewhere', type: 'CNAME', destination: 'nothing.elsewhere.test' },
      { name: '*.w', type: 'A', destination: '192.0.2.1' },
      { name: 'to-wildcard', type: 'CNAME', destination: `any.w.${name}` },
      { name: 'sub', type: 'NS', destination: 'ns.elsewhere.test' },
      { name: 'to-sub', type: 'CNAME', destination: `deep.in.sub.${name}` },
      { name: 'lost', type: 'CNAME', destination: `gone.${name}` },
      { name: 'deep-lost', type: 'CNAME', destination: `a.b.gone.${name}` },
    );
    const [first] = await listed();
    expect(first).toMatchObject({ code: 'dangling_cname', severity: 'warning' });
    expect(first?.message).toContain(`deep-lost.${name} and lost.${name} point`);
  });

  it('are missing_aaaa if the apex or www has only IPv4, unless it is proxied', async () => {
    await create(
      { name: '@', type: 'A', destination: '192.0.2.1' },
      { name: 'www', type: 'A', destination: '192.0.2.1', proxied: true },
    );
    const found = await listed();
    expect(found.find(({ code }) => code === 'missing_aaaa')?.message).toBe(`${name} has no IPv6 address.`);
    await create({ name: '@', type: 'AAAA', destination: '2001:db8::1' });
    expect(await codes()).not.toContain('missing_aaaa');
  });

  it('name proxied hosts that the certificate does not cover', async () => {
    await create(
      { name: 'www', type: 'A', destination: '192.0.2.1', proxied: true },
      { name: 'deep.www', type: 'A', destination: '192.0.2.1', proxied: true },
    );
    const message = async () =>
      (await listed()).find(({ code }) => code === 'proxied_without_certificate')?.message;
    expect(await message()).toBe(
      `HTTPS does not work for deep.www.${name} and www.${name}: there is no certificate.`,
    );
    const { pem, key } = await makeCertificate({ names: [name, `*.${name}`] });
    const uploaded = await api.ask('POST', `/domains/${name}/ssl`, {
      body: { certificate: pem, private_key: key },
    });
    expect(uploaded.status).toBe(200);
    expect(await message()).toBe(
      `HTTPS does not work for deep.www.${name}: the certificate is for other names.`,
    );
  });

  it('are plan_nearly_used close to a limit of the plan', async () => {
    await api.query`update domains set plan_overrides = '{"max_records": 10}' where id = ${domain.id}`;
    await create(
      ...Array.from({ length: 9 }, (_, i) => ({ name: `n${i}`, type: 'A', destination: '192.0.2.1' })),
    );
    const found = (await listed()).find(({ code }) => code === 'plan_nearly_used');
    expect(found?.message).toBe('The domain uses 9 of 10 records of its plan.');
    await api.query`update domains set dns_mode = 'external' where id = ${domain.id}`;
    expect(await codes()).toEqual(['plan_nearly_used']); // no recommendation about its zone
  });
});

it('counts of DNS answers respond 404 without a store', async () => {
  const answer = await api.ask('GET', `/analytics/dns?domain=${name}`);
  expect([answer.status, answer.body]).toEqual([404, expect.objectContaining({ code: 'analytics_off' })]);
});

describe('a dismissed recommendation', () => {
  it('is hidden for every member, and audited', async () => {
    const before = await lastAudit(api.db);
    expect((await dismiss('missing_caa', 'admin')).status).toBe(200);
    expect(await codes()).toEqual(['unsigned']);
    expect((await dismiss('missing_caa')).status).toBe(200);
    const [row] = await auditAfter(api.db, before);
    expect(row).toMatchObject({ action: 'recommendation.dismiss', after: { recommendation: 'missing_caa' } });
  });

  it('returns if its names change', async () => {
    await create({ name: 'lost', type: 'CNAME', destination: `gone.${name}` });
    await dismiss('dangling_cname');
    expect(await codes()).not.toContain('dangling_cname');
    await create({ name: 'other', type: 'CNAME', destination: `gone.${name}` });
    expect(await codes()).toContain('dangling_cname');
  });

  it('must exist', async () => {
    expect((await dismiss('missing_spf')).status).toBe(404);
    expect((await dismiss('no_such_code')).status).toBe(404);
  });
});
