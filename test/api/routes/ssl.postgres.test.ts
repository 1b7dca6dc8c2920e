import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
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
const domains = new Map<string, Domain>();

const NAME = 'shop.test';
const SSL = `/domains/${NAME}/ssl`;

beforeAll(async () => {
  for (const name of [
    NAME,
    'issued.test',
    'free.test',
    'pending.test',
    'elsewhere.test',
    'many.test',
    'often.test',
  ])
    domains.set(
      name,
      await api.makeDomain(name, {
        ...(name === 'free.test' && { planSlug: 'free' }),
        ...(name === 'elsewhere.test' && { dnsMode: 'external' as const }),
      }),
    );
  await sql`update domains set status = 'active' where name <> 'pending.test.'`.execute(api.db);
  chain = await makeChain([NAME, `*.${NAME}`]);
});

const whole = () => chain.leaf.pem + chain.middle.pem + chain.root.pem;

const upload = (certificate: string, key: string, as = 'owner', url = SSL) =>
  api.ask('POST', url, { as, body: { certificate, private_key: key } });

async function edgeVersion(): Promise<number | undefined> {
  const { rows } = await sql<{ version: number }>`
    select version from edge_changes where name = ${`${NAME}.`}`.execute(api.db);
  return rows[0]?.version;
}

describe('an uploaded certificate', () => {
  it('is absent at first', async () => {
    const { status, body } = await api.ask('GET', SSL, { as: 'viewer' });
    expect([status, body]).toEqual([200, { status: 'none', names: [], findings: [] }]);
  });

  it('is accepted with its chain and its key, and is returned to viewers', async () => {
    const before = await lastAudit(api.db);
    const { status, body } = await upload(whole(), chain.leaf.key, 'admin');
    expect([status, body.status]).toEqual([200, 'custom']);
    expect(Ssl.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({ names: [NAME, `*.${NAME}`], issuer: 'Test Intermediate' });
    expect((await api.ask('GET', SSL, { as: 'viewer' })).body).toEqual(body);
    const [row] = await auditAfter(api.db, before);
    expect(row).toMatchObject({ action: 'ssl.upload', after: { names: [NAME, `*.${NAME}`] } });
  });

  it('is in the list of domains with its end', async () => {
    const { body } = await api.ask('GET', '/domains/');
    const ssl = new Map(body.map((one: { name: string; ssl: object }) => [one.name, one.ssl]));
    expect(ssl.get(NAME)).toEqual({ status: 'custom', not_after: expect.any(String) });
    expect(ssl.get('free.test')).toEqual({ status: 'none' });
  });

  it('has a sealed key, which no response, log or audit row contains', async () => {
    const { rows } = await sql<{ id: number; sealed: Buffer; chain: string }>`
      select id, sealed, chain from certificates`.execute(api.db);
    const [row] = rows as [{ id: number; sealed: Buffer; chain: string }];
    const secret = chain.leaf.key.split('\n')[1] as string;
    expect(row.sealed.includes(secret)).toBe(false);
    expect((await openCertificate(api.db, row.id))?.privateKey).toBe(chain.leaf.key);
    const answers = await Promise.all([api.ask('GET', SSL), api.ask('GET', `/domains/${NAME}/audit`)]);
    const told = JSON.stringify([answers, api.logged, await auditAfter(api.db)]);
    expect(told).not.toContain(secret);
    expect(told).not.toContain('PRIVATE KEY');
  });

  it('that replaces another one has a new id, and is sent to edges', async () => {
    await sql`insert into edge_changes (name) values (${`${NAME}.`}) on conflict do nothing`.execute(api.db);
    const before = await edgeVersion();
    const { rows } = await sql<{ id: number }>`select id from certificates`.execute(api.db);
    expect((await upload(whole(), chain.leaf.key)).status).toBe(200);
    expect(await edgeVersion()).toBeGreaterThan(before as number);
    expect(await openCertificate(api.db, rows[0]?.id as number)).toBeUndefined();
  });

  it('is refused with the key of another certificate', async () => {
    const other = await makeCertificate({ names: [NAME] });
    const { status, body } = await upload(whole(), other.key);
    expect([status, body.code, body.fields]).toMatchObject([
      400,
      'validation_failed',
      [{ field: 'private_key' }],
    ]);
  });

  it('is refused for names that no host can have', async () => {
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
      const { status, body } = await upload(pem, key);
      expect([name, status, body.fields?.[0]?.error]).toEqual([
        name,
        400,
        expect.stringMatching(
          /^it is also for .*, which (is no name of a host|the domain shop.test does not have)$/,
        ),
      ]);
    }
    const deep = await makeCertificate({ names: [`*.a.b.c.${NAME}`, `_x.${NAME}`, NAME.toUpperCase()] });
    expect((await upload(deep.pem, deep.key)).body.names).toEqual([`*.a.b.c.${NAME}`, `_x.${NAME}`, NAME]);
  });

  it('may have a byte order mark and CRLF, which edges do not receive', async () => {
    const other = (text: string) => `\ufeff${text.replaceAll('\n', '\r\n')}trailing words`;
    expect((await upload(other(whole()), other(chain.leaf.key))).status).toBe(200);
    const { rows } = await sql<{ id: number }>`select id from certificates`.execute(api.db);
    const opened = await openCertificate(api.db, rows[0]?.id as number);
    expect(opened?.privateKey).toBe(chain.leaf.key);
    expect(opened?.chain).toBe(chain.leaf.pem + chain.middle.pem);
  });

  it('is refused with explicit curve parameters', async () => {
    const read = (name: string) => readFileSync(`fixtures/certificates/explicit-curve.${name}`, 'utf8');
    const { body } = await upload(read('crt'), read('key'));
    expect(body.fields).toEqual([
      { field: 'certificate', error: expect.stringMatching(/one of the curves/) },
    ]);
  });

  it('of more than 64 KiB is refused before it is parsed', async () => {
    const body = (octets: number) => {
      const rest = JSON.stringify({ certificate: '', private_key: 'x' }).length;
      return JSON.stringify({ certificate: 'x'.repeat(octets - rest), private_key: 'x' });
    };
    expect((await api.ask('POST', SSL, { body: body(65_536) })).body.fields).toHaveLength(2);
    expect((await api.ask('POST', SSL, { body: body(65_537) })).body.error).toBe('the body is too large');
  });

  it('needs a plan with the feature', async () => {
    const refused = await upload(whole(), chain.leaf.key, 'owner', '/domains/free.test/ssl');
    expect([refused.status, refused.body.code, refused.body.feature]).toEqual([
      403,
      'plan_feature',
      'custom_ssl_enabled',
    ]);
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

  it('creates one order for repeated requests', async () => {
    const before = await lastAudit(api.db);
    expect((await ask('issued.test')).body).toEqual({ status: 'pending', names: [], findings: [] });
    expect((await ask('issued.test')).body.status).toBe('pending');
    const { rows } = await sql`select from acme_orders`.execute(api.db);
    expect(rows).toHaveLength(1);
    const audit = await auditAfter(api.db, before);
    expect(audit).toMatchObject([{ action: 'ssl.issue' }]);
  });

  it('needs an active domain, in either mode', async () => {
    expect((await ask('pending.test')).body.code).toBe('wrong_state');
    expect((await ask('elsewhere.test')).body.status).toBe('pending');
  });

  it('is refused soon after a failure, with Retry-After', async () => {
    await sql`update acme_orders set attempts = 1, wanted = false, last_error = 'no', failed_at = now()`.execute(
      api.db,
    );
    const { body } = await api.ask('GET', '/domains/issued.test/ssl');
    expect(body).toMatchObject({ status: 'failed', last_error: 'no', next_attempt_at: expect.any(String) });
    const refused = await ask('issued.test');
    expect([refused.status, refused.body.code]).toEqual([429, 'ssl_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await sql`update acme_orders set asked_at = now() - interval '1 hour'`.execute(api.db);
    expect((await ask('issued.test')).body.status).toBe('pending');
  });

  it('ends with an upload or a deletion', async () => {
    const { pem, key } = await makeCertificate({ names: ['issued.test'] });
    expect((await upload(pem, key, 'owner', '/domains/issued.test/ssl')).body.status).toBe('custom');
    expect((await ask('many.test')).body.status).toBe('pending');
    expect((await api.ask('DELETE', '/domains/many.test/ssl')).status).toBe(200);
    const of = ['issued.test.', 'many.test.'];
    const { rows } = await sql`
      select from acme_orders o join domains d on d.id = o.domain_id where d.name = any(${of}::text[])`.execute(
      api.db,
    );
    expect(rows).toHaveLength(0);
  });

  it('is limited for a name, to protect the limits of the authority', async () => {
    const { id } = domains.get('often.test') as Domain;
    for (let i = 0; i < 5; i++) {
      expect((await ask('often.test')).body.status).toBe('pending');
      expect((await ask('often.test')).body.status).toBe('pending'); // the same order
      if (i % 2 === 0) expect((await api.ask('DELETE', '/domains/often.test/ssl')).status).toBe(200);
      else await sql`update acme_orders set wanted = false where domain_id = ${id}`.execute(api.db); // issued
    }
    const refused = await ask('often.test');
    expect([refused.status, refused.body.code]).toEqual([429, 'ssl_limited']);
    const retryAfter = Number(refused.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(3500);
    expect(retryAfter).toBeLessThanOrEqual(3600);
    await sql`update acme_asks set asked_at = asked_at - interval '1 hour'`.execute(api.db);
    expect((await ask('often.test')).status).toBe(200);
    await sql`
      insert into acme_asks (account_id, name, asked_at)
      select account_id, name, now() - interval '2 hours' from acme_asks, generate_series(1, 20)
      where name = 'often.test.' limit 20`.execute(api.db);
    expect((await ask('often.test')).status).toBe(200); // the order that is under way
    await api.ask('DELETE', '/domains/often.test/ssl');
    expect((await ask('often.test')).body.code).toBe('ssl_limited');
    await sql`update acme_asks set asked_at = asked_at - interval '1 day'`.execute(api.db);
    expect((await ask('often.test')).status).toBe(200);
    const { rows } = await sql`select from acme_asks`.execute(api.db);
    expect(rows).toHaveLength(1); // what counts no more is forgotten
  });

  it('is limited for an account', async () => {
    const { accountId } = domains.get('often.test') as Domain;
    await sql`delete from acme_asks`.execute(api.db);
    await sql`delete from acme_orders`.execute(api.db);
    await sql`
      insert into acme_asks (account_id, name) select ${accountId}, n || '.example.' from generate_series(1, 300) n`.execute(
      api.db,
    );
    expect((await ask('often.test')).body.code).toBe('ssl_limited');
    await sql`delete from acme_asks`.execute(api.db);
    expect((await ask('often.test')).status).toBe(200);
  });

  it('is refused while the domain is suspended', async () => {
    await setSuspended(api.db, { domainId: (domains.get('many.test') as Domain).id, suspended: true });
    const { status, body } = await ask('many.test');
    expect([status, body.code, body.error]).toEqual([400, 'wrong_state', expect.stringMatching(/suspended/)]);
  });

  it('is refused without KEY_SECRETS, or if the operator named no authority', async () => {
    const bare = await startTestApi({ keySecrets: [], issuesCertificates: false });
    await bare.makeDomain(NAME);
    const body = { certificate: whole(), private_key: chain.leaf.key };
    const uploaded = await bare.ask('POST', SSL, { body });
    const issued = await bare.ask('POST', `${SSL}/issue`);
    await bare.stop();
    for (const answer of [uploaded, issued])
      expect([answer.status, answer.body.code]).toEqual([503, 'ssl_unavailable']);
    expect(issued.body.error).toMatch(/the operator has named no authority/);
  });
});
