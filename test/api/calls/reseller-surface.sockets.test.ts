// What a reseller does in the domains of its clients by their number: the calls of customers, with their bodies and refusals.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api/api.ts';
import { emailOf } from '../../support/api/people.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { newDomain } from '../../support/database/domains.ts';
import { bearerSession, makeClient, makeReseller, type Reseller } from '../../support/walk/resellers.ts';

let api: TestApi;
let reseller: Reseller;
let clientId: number;
let other: { readonly reseller: Reseller; readonly domainId: number };
let names = 0;
beforeAll(async () => {
  api = await startTestApi();
  reseller = await makeReseller(api, 'reseller@domains.test');
  clientId = await makeClient(api, reseller, 'client@domains.test');
  const theirs = await makeReseller(api, 'other@domains.test');
  const accountId = await makeClient(api, theirs, 'theirs@domains.test');
  other = {
    reseller: theirs,
    domainId: (await newDomain(api.database.db, accountId, 'theirs.test.')).id,
  };
});
afterAll(() => api?.stop());

const ask = (method: string, path: string, body?: unknown, as = reseller.token): Promise<Answer> =>
  api.ask(method, `/reseller/v1/domains${path}`, {
    as,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

async function newOne(planSlug: string | null = 'pro'): Promise<{ id: number; name: string }> {
  const name = `d${++names}.test`;
  const { id } = await newDomain(api.database.db, clientId, `${name}.`, { planSlug });
  return { id, name };
}

describe('a certificate of one’s own', () => {
  it('is uploaded where the plan has it, for a client’s domain only, and its key is never returned', async () => {
    const { id, name } = await newOne('free');
    const { pem: certificate, key: private_key } = await makeCertificate({ names: [name] });
    const upload = (domainId: number) => ask('POST', `/${domainId}/ssl`, { certificate, private_key });
    const refused = await upload(id);
    expect([refused.status, refused.body.code]).toEqual([403, 'plan_feature']);
    await setPlan(api.database.db, { domainId: id, planSlug: 'pro' });
    const made = await upload(id);
    expect(made.status).toBe(200);
    expect((await upload(other.domainId)).status).toBe(403);
    const secret = private_key.split('\n')[1] as string;
    for (const { text } of [made, await ask('GET', `/${id}/ssl`), await ask('GET', `/${id}`)])
      expect(text).not.toContain(secret);
    expect(JSON.stringify(api.logged)).not.toContain(secret);
  });
});

describe('an import', () => {
  it('of nothing is 400', async () => {
    const { id } = await newOne();
    expect((await ask('POST', `/${id}/records/import`, { records: [] })).status).toBe(400);
    expect((await ask('POST', `/${id}/records/import`, {})).status).toBe(400);
  });

  it('takes each item for itself, overwrites name and type but for the proxied flag, and adds every TXT', async () => {
    const { id } = await newOne();
    const proxied = { name: 'www', type: 'A', destination: '198.51.100.1', proxied: true };
    await ask('POST', `/${id}/records/`, proxied);
    await ask('POST', `/${id}/records/`, {
      name: '@',
      type: 'MX',
      destination: 'old.example.net',
      mx_priority: 5,
    });
    const records = [
      { name: 'www', type: 'A', destination: '198.51.100.2', proxied: false, ttl: 120 },
      { name: '@', type: 'MX', destination: 'new.example.net', mx_priority: 20 },
      { name: 'new', type: 'A', destination: '198.51.100.3' },
      { name: 'bad', type: 'A', destination: 'no address' },
      { name: 't', type: 'TXT', destination: 'twice' },
    ];
    const first = (await ask('POST', `/${id}/records/import`, { records })).body;
    expect(first).toMatchObject({ created: 2, overwritten: 2 });
    expect(first.failed).toEqual([
      expect.objectContaining({ name: 'bad', type: 'A', error: expect.any(String) }),
    ]);
    expect((await ask('POST', `/${id}/records/import`, { records })).status).toBe(200);
    const rows: { name: string; type: string; [field: string]: unknown }[] = (
      await ask('GET', `/${id}/records/`)
    ).body;
    const one = (name: string, type: string) => rows.filter((row) => row.name === name && row.type === type);
    expect(one('www', 'A')).toEqual([
      expect.objectContaining({ destination: '198.51.100.2', proxied: true, ttl: 120 }),
    ]);
    expect(one('@', 'MX')).toEqual([
      expect.objectContaining({ destination: 'new.example.net', mx_priority: 20 }),
    ]);
    expect(one('t', 'TXT')).toHaveLength(2);
  });

  it('beyond the plan’s records writes none of them, and without a plan is 402', async () => {
    const { id } = await newOne('free');
    const records = Array.from({ length: 201 }, (_, i) => ({
      name: `n${i}`,
      type: 'A',
      destination: '192.0.2.1',
    }));
    const beyond = await ask('POST', `/${id}/records/import`, { records });
    expect([beyond.status, beyond.body.code]).toEqual([403, 'plan_limit']);
    const customers = async () =>
      (await ask('GET', `/${id}/records/`)).body.filter(({ editable }: { editable: boolean }) => editable);
    expect(await customers()).toEqual([]);
    await setPlan(api.database.db, { domainId: id, planSlug: null });
    const without = await ask('POST', `/${id}/records/import`, { records: records.slice(0, 1) });
    expect([without.status, without.body.code]).toEqual([402, 'no_active_plan']);
    expect(await customers()).toEqual([]);
  });

  it('is parsed from a zone file before, and that writes nothing', async () => {
    const { id } = await newOne();
    const parsed = await ask('POST', `/${id}/records/import/parse`, {
      zone_file: 'www A 192.0.2.9\nx Y z\n',
    });
    expect(parsed.body).toMatchObject({
      records: [{ name: 'www', type: 'A', destination: '192.0.2.9' }],
      errors: [{ line: 2 }],
    });
    expect((await ask('GET', `/${id}/records/?name=www`)).body).toEqual([]);
  });
});

describe('a rule', () => {
  it('is read alone in the shape of its list; below another type, or in another domain, there is none', async () => {
    const { id } = await newOne();
    const made = (await ask('POST', `/${id}/rules/waf/`, { threshold: 7 })).body;
    const read = await ask('GET', `/${id}/rules/waf/${made.id}`);
    expect([read.status, read.body]).toEqual([200, made]);
    expect((await ask('GET', `/${id}/rules/waf/`)).body).toEqual([read.body]);
    expect((await ask('GET', `/${id}/rules/drop/${made.id}`)).status).toBe(404);
    const { id: second } = await newOne();
    expect((await ask('GET', `/${second}/rules/waf/${made.id}`)).status).toBe(404);
    const unknown = await ask('GET', `/${id}/rules/teapot/${made.id}`);
    expect([unknown.status, unknown.body.code]).toEqual([404, 'unknown_rule_type']);
  });

  it('that shows a page of one’s own gives the page and its size where it is read alone, and nowhere else', async () => {
    const { id } = await newOne();
    const html = '<h1>Back soon</h1>';
    const made = await ask('POST', `/${id}/rules/error-page/`, { status_codes: [502], html });
    expect(made.status).toBe(200);
    const [listed] = (await ask('GET', `/${id}/rules/error-page/`)).body;
    const { body: alone } = await ask('GET', `/${id}/rules/error-page/${made.body.id}`);
    expect(alone).toMatchObject({ ...listed, html });
    expect(JSON.stringify(listed)).not.toContain('Back soon');
    expect(Object.keys(alone).filter((name) => !(name in listed)).length).toBeGreaterThan(1);
  });
});

it('the members of a client’s domain are the reseller’s to manage: invited, changed, taken out', async () => {
  const { id } = await newOne();
  const invited = await ask('POST', `/${id}/invites`, { email: emailOf('viewer'), role: 'viewer' });
  expect(invited.status).toBe(200);
  const token = invited.body.url.split('=')[1];
  expect((await api.ask('POST', `/invites/${token}/accept`, { as: 'viewer' })).status).toBe(200);
  const roles = async () =>
    (await ask('GET', `/${id}/members`)).body.map(
      ({ user_id, role, provider }: { user_id: number; role: string; provider?: boolean }) => [
        user_id,
        role,
        provider ?? false,
      ],
    );
  const { viewer } = api.accountIds;
  expect(await roles()).toHaveLength(3);
  expect(await roles()).toEqual(
    expect.arrayContaining([
      [clientId, 'owner', false],
      [reseller.id, 'admin', true],
      [viewer, 'viewer', false],
    ]),
  );
  expect((await ask('PATCH', `/${id}/members/${viewer}`, { role: 'editor' })).body.role).toBe('editor');
  expect((await ask('DELETE', `/${id}/members/${viewer}`)).status).toBe(200);
  expect(await roles()).toHaveLength(2);
  // The client reads them, and no more.
  const client = await bearerSession(api, clientId);
  expect((await api.ask('GET', `/domains/${id}/members`, { as: client })).body).toHaveLength(2);
  const refused = await api.ask('DELETE', `/domains/${id}/members/${reseller.id}`, { as: client });
  expect([refused.status, refused.body.code]).toEqual([403, 'managed_by_reseller']);
});

it('a disabled domain takes no write from its client either, is read, and is enabled again by its number', async () => {
  const { id, name } = await newOne();
  expect((await ask('POST', `/${id}/enable`)).status).toBe(400);
  const by = { kind: 'cli' } as const;
  await changeStatus(api.database.db, { domainId: id, event: 'disable', by, source: 'test' });
  const client = await bearerSession(api, clientId);
  const write = { name: 'www', type: 'A', destination: '192.0.2.1' };
  for (const refused of [
    await api.ask('POST', `/domains/${name}/records/`, { as: client, body: write }),
    await ask('POST', `/${id}/records/`, write),
    await ask('POST', `/${id}/rules/waf/`, { threshold: 7 }),
    await ask('PUT', `/${id}`, { sec_no_sniff: true }),
  ])
    expect([refused.status, refused.body.code]).toEqual([409, 'domain_disabled']);
  expect((await ask('GET', `/${id}/rules/waf/`)).status).toBe(200);
  expect((await ask('POST', `/${id}/enable`)).body.status).toBe('pending');
});

describe('what is below another reseller’s domain is, below one’s own, as what nobody has', () => {
  const NOBODYS = 999_999_999;
  const seen = ({ status, headers, text }: Answer) => {
    const { 'x-request-id': _, date: __, ...rest } = headers;
    return { status, text, headers: rest };
  };
  const theirs: Record<string, number> = {};
  beforeAll(async () => {
    const { domainId: id, reseller: of } = other;
    const make = async (path: string, body: unknown) => {
      const made = await ask('POST', `/${id}${path}`, body, of.token);
      expect([path, made.status]).toEqual([path, 200]);
      return made;
    };
    const record = await make('/records/', { name: 'www', type: 'A', destination: '192.0.2.1' });
    theirs.records = record.body.id;
    theirs.changes = Number(record.headers['x-change-id']);
    theirs.rules = (await make('/rules/waf/', { threshold: 3 })).body.id;
    theirs.webhooks = (await make('/webhooks', { url: 'https://hooks.example.com/a' })).body.id;
    theirs.invites = (await make('/invites', { email: 'x@y.test', role: 'viewer' })).body.id;
    theirs.subscriptions = (await ask('GET', `/${id}/subscriptions`, undefined, of.token)).body[0].id;
    theirs.members = of.id;
    theirs.tokens = (await api.ask('GET', '/reseller/v1/tokens', { as: await of.session() })).body[0].id;
  });

  it.each([
    ['GET', 'changes', '/changes/{id}'],
    ['POST', 'changes', '/changes/{id}/revert'],
    ['PUT', 'records', '/records/{id}', { ttl: 60 }],
    ['DELETE', 'records', '/records/{id}'],
    ['GET', 'rules', '/rules/waf/{id}'],
    ['PUT', 'rules', '/rules/waf/{id}', { threshold: 9 }],
    ['PATCH', 'rules', '/rules/waf/{id}/toggle'],
    ['DELETE', 'rules', '/rules/waf/{id}'],
    ['DELETE', 'webhooks', '/webhooks/{id}'],
    ['POST', 'invites', '/invites/{id}/resend'],
    ['DELETE', 'invites', '/invites/{id}'],
    ['GET', 'subscriptions', '/subscriptions/{id}'],
    ['PATCH', 'members', '/members/{id}', { role: 'editor' }],
    ['DELETE', 'members', '/members/{id}'],
  ])('%s %s %s', async (method, pool, path, body?: object) => {
    const { id } = await newOne();
    const answers: object[] = [];
    for (const of of [theirs[pool] as number, NOBODYS])
      answers.push(seen(await ask(method, `/${id}${path.replace('{id}', String(of))}`, body)));
    expect(answers[0]).toMatchObject({ status: 404 });
    expect(answers[0]).toEqual(answers[1]);
  });

  it('a machine token too, which only its own reseller revokes', async () => {
    const revoke = async (id: number) =>
      seen(await api.ask('DELETE', `/reseller/v1/tokens/${id}`, { as: await reseller.session() }));
    const foreign = await revoke(theirs.tokens as number);
    expect(foreign.status).toBe(404);
    expect(foreign).toEqual(await revoke(NOBODYS));
    expect((await ask('GET', `/${other.domainId}`, undefined, other.reseller.token)).status).toBe(200);
  });

  it('and none of it was changed', async () => {
    const { body } = await ask('GET', `/${other.domainId}/rules/waf/`, undefined, other.reseller.token);
    expect(body).toEqual([expect.objectContaining({ id: theirs.rules, threshold: 3, enabled: true })]);
    const read = await ask('GET', `/${other.domainId}/records/?name=www`, undefined, other.reseller.token);
    expect(read.body).toHaveLength(1);
  });
});
