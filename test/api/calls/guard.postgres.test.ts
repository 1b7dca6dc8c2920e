import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { domain, type Method, route } from '../../../src/api/calls/route.ts';
import { idText } from '../../../src/api/schemas/fields.ts';
import { updateAccount } from '../../../src/store/accounts/accounts.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { ownApi, startTestApi, type TestApi } from '../../support/api/api.ts';
import { BY, newDomain } from '../../support/database/domains.ts';
import { saveMembership } from '../../support/database/memberships.ts';

const NAME = 'guarded.test';
const PATH = `/domains/${NAME}`;

const common = {
  tag: 'Things',
  summary: 'A thing.',
  response: z.object({ ran: z.string(), body: z.unknown() }),
};
const Body = z.strictObject({ wanted: z.int() });

function routeTo(access: ReturnType<typeof domain>, method: Method, path: string) {
  return route(access, {
    ...common,
    method,
    path: `/domains/{domain}${path}`,
    operationId: `${method} ${path}`,
    ...(method === 'GET' ? {} : { body: Body }),
    run: ({ domain, body }) => ({ ran: domain.unicode, body }),
  });
}

const THING = route(domain('records.edit'), {
  ...common,
  method: 'PUT',
  path: '/domains/{domain}/things/{id}',
  operationId: 'putThing',
  params: z.object({ id: idText }),
  body: Body,
  finds: 'thing',
  find: async ({ params, domain }) => (params.id === 7 ? `${domain.unicode} 7` : undefined),
  run: ({ found, body }) => ({ ran: found, body }),
});

const ID = route(domain('domain.view'), {
  ...common,
  method: 'GET',
  path: '/domains/{domain}/id',
  operationId: 'getId',
  run: ({ domain }) => ({ ran: String(domain.id), body: undefined }),
});

const api = ownApi(() =>
  startTestApi({
    routes: [
      routeTo(domain('domain.view'), 'GET', '/view'),
      ID,
      routeTo(domain('domain.settings'), 'PUT', '/settings'),
      routeTo(domain('records.edit', { writesRecords: true }), 'PUT', '/records'),
      routeTo(domain('domain.delete', { whileDisabled: true }), 'DELETE', '/'),
      routeTo(domain('billing'), 'GET', '/money'),
      THING,
    ],
  }),
);
let domainId: number;
beforeAll(async () => {
  domainId = (await api.makeDomain(NAME)).id;
});
beforeEach(() => setStatus('pending'));

async function setStatus(status: string): Promise<void> {
  const served = status === 'pending' ? 'full' : 'none';
  await api.query`update domains set status = ${status}, served = ${served} where id = ${domainId}`;
}

/** Returns the outcome of a request whose body is invalid too. The body is read only after all guards have passed. */
async function refusalOf(method: string, path: string, asked: Parameters<TestApi['ask']>[2] = {}) {
  const answer = await api.ask(method, path, { body: '{', ...asked });
  return [answer.status, answer.body?.code ?? answer.body?.error];
}
const BODY_REFUSAL = [400, 'the body is not valid JSON'];

describe('the guards', () => {
  it('run in the order of api.md: each request fails at the first guard that refuses it', async () => {
    const readOnly = await api.makeKey({ readOnly: true });
    const write = (as: string | null, path = '/settings') => refusalOf('PUT', PATH + path, { as });
    await setStatus('disabled');
    expect(await write(null)).toEqual([401, 'a valid API key is required']);
    expect(await refusalOf('PUT', '/users/me', { as: null })).toEqual([401, 'a valid API key is required']);
    await updateAccount(api.db, api.accountIds.owner, { active: false });
    expect(await write(readOnly)).toEqual([403, 'account_suspended']);
    expect(await refusalOf('GET', `${PATH}/view`)).toEqual([403, 'account_suspended']);
    await updateAccount(api.db, api.accountIds.owner, { active: true });
    expect(await write(readOnly)).toEqual([403, 'read-only API key']);
    expect(await refusalOf('PUT', '/users/me', { as: readOnly })).toEqual([403, 'read-only API key']);
    expect(await refusalOf('PUT', '/nowhere', { as: readOnly })).toEqual([403, 'read-only API key']);
    expect(await refusalOf('PUT', '/users/me')).toEqual([403, 'API keys may not use this path']);
    expect(await refusalOf('PUT', '/nowhere')).toEqual([404, 'path not found']);
    expect(await write('stranger')).toEqual([404, 'domain not found']);
    expect(await refusalOf('PUT', `${PATH}/things/8`, { as: 'viewer' })).toEqual([404, 'thing not found']);
    expect(await refusalOf('PUT', `${PATH}/things/7`, { as: 'viewer' })).toEqual([
      403,
      'your role lacks records.edit',
    ]);
    expect(await write('editor')).toEqual([403, 'your role lacks domain.settings']);
    expect(await write('owner')).toEqual([409, 'domain_disabled']);
    await setStatus('pending');
    expect(await write('owner')).toEqual(BODY_REFUSAL);
  });

  it('allow reads with a read-only key, including HEAD and OPTIONS', async () => {
    const as = await api.makeKey({ readOnly: true });
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      expect((await api.ask(method, `${PATH}/view`, { as })).status).toBe(200);
  });

  it('allow reads and the documented exceptions for a disabled domain', async () => {
    await setStatus('disabled');
    expect((await api.ask('GET', `${PATH}/view`)).status).toBe(200);
    expect((await api.ask('OPTIONS', `${PATH}/settings`)).status).toBe(200);
    expect(await refusalOf('DELETE', `${PATH}/`)).toEqual(BODY_REFUSAL);
    expect(await refusalOf('PUT', `${PATH}/things/7`)).toEqual([409, 'domain_disabled']);
  });

  it('allow only reads for a banned domain', async () => {
    await setStatus('banned');
    expect((await api.ask('GET', `${PATH}/view`)).status).toBe(200);
    expect(await refusalOf('PUT', `${PATH}/settings`)).toEqual([403, 'domain_banned']);
    expect(await refusalOf('DELETE', `${PATH}/`)).toEqual([403, 'domain_banned']);
    expect(await refusalOf('PUT', `${PATH}/settings`, { as: 'viewer' })).toEqual([
      403,
      'your role lacks domain.settings',
    ]);
  });
});

describe('a domain in a path', () => {
  it.each([
    'GUARDED.test',
    'guarded.test.',
    '%67uarded%2etest',
    'ｇｕａｒｄｅｄ.test',
    'guarded。test',
  ])('is found in any case and spelling: %s', async (spelling) => {
    const { status, body } = await api.ask('GET', `/domains/${encodeURI(decodeURI(spelling))}/view`);
    expect([status, body?.ran]).toEqual([200, NAME]);
  });

  it('is found by its Unicode name and by its A-labels', async () => {
    await api.makeDomain('bücher.test');
    for (const spelling of ['b%C3%BCcher.test', 'B%C3%9CCHER.test', 'XN--BCHER-KVA.TEST']) {
      const { status, body } = await api.ask('GET', `/domains/${spelling}/view`);
      expect([spelling, status, body?.ran]).toEqual([spelling, 200, 'bücher.test']);
    }
  });

  it('responds 404 if it does not exist, is not a name, or is an invalid id', async () => {
    const numbers = ['999999', '0', '01', '9007199254740993'];
    for (const spelling of [
      'nowhere.test',
      'a..b',
      '%00',
      'x'.repeat(300),
      'a%2fb.test',
      '%F0%9F%98%80',
      ...numbers,
    ])
      expect(await refusalOf('GET', `/domains/${spelling}/view`, { body: undefined })).toEqual([
        404,
        'domain not found',
      ]);
    for (const id of ['0', '-1', '1.5', 'x', '007', '9007199254740993', '99999999999999999999'])
      expect([id, await refusalOf('PUT', `${PATH}/things/${id}`)]).toEqual([id, [404, 'thing not found']]);
  });
});

describe('a domain id in a path', () => {
  const view = async (id: number | string, as: string) => {
    const { status, body } = await api.ask('GET', `/domains/${id}/view`, { as });
    return status === 200 ? body.ran : status;
  };

  it('is found by global admins only', async () => {
    for (const as of ['owner', 'viewer', 'stranger'])
      expect([as, await view(domainId, as)]).toEqual([as, 404]);
    expect(await view(domainId, 'operator')).toBe(NAME);
    const write = (as: string) => refusalOf('PUT', `/domains/${domainId}/settings`, { as });
    expect(await write('owner')).toEqual([404, 'domain not found']);
    expect(await write('operator')).toEqual(BODY_REFUSAL);
  });

  it('responds 404 after the domain is deleted', async () => {
    const { id } = await api.makeDomain('gone.test');
    await deleteDomain(api.db, { ...BY, domainId: id });
    expect(await view(id, 'operator')).toBe(404);
  });
});

it("is found by a key for some domains only if the key has the domain's name", async () => {
  const inside = await api.makeKey({ domains: [NAME] });
  const outside = await api.makeKey({ domains: ['other.test', String(domainId)] });
  const write = (as: string) => refusalOf('PUT', `${PATH}/settings`, { as });
  expect(await write(inside)).toEqual(BODY_REFUSAL);
  expect(await write(outside)).toEqual([404, 'domain not found']);
});

describe('a name that several accounts have', () => {
  let ids: { strangers: number; owners: number; operators: number };
  const idSeen = async (as: string) => (await api.ask('GET', '/domains/several.test/id', { as })).body?.ran;

  beforeAll(async () => {
    // the oldest belongs to the stranger
    const strangers = await newDomain(api.db, api.accountIds.stranger, 'several.test.');
    const owners = await api.makeDomain('several.test');
    const operators = await newDomain(api.db, api.accountIds.operator, 'several.test.');
    ids = { strangers: strangers.id, owners: owners.id, operators: operators.id };
  });

  it("refers to the caller's own domain first, then to a shared one", async () => {
    expect(await idSeen('owner')).toBe(String(ids.owners));
    expect(await idSeen('stranger')).toBe(String(ids.strangers));
    expect(await idSeen('viewer')).toBe(String(ids.owners));
    expect(await idSeen('operator')).toBe(String(ids.operators));
    await saveMembership(api.db, ids.owners, api.accountIds.stranger, 'viewer');
    expect(await idSeen('stranger')).toBe(String(ids.strangers));
  });

  it('refers, for global admins, to the domain that is answered, otherwise to the oldest', async () => {
    await deleteDomain(api.db, { ...BY, domainId: ids.operators });
    const answer = (id: number | undefined) =>
      api.query`with z as (select id from zones where name = 'several.test.')
        update domains d set zone_id = case when d.id = ${id ?? 0} then z.id end, served = case when d.id = ${id ?? 0} then 'full' else 'none' end
        from z where d.name = 'several.test.' and deleted_at is null`;
    await answer(undefined);
    expect(await idSeen('operator')).toBe(String(ids.strangers));
    await answer(ids.owners);
    expect(await idSeen('operator')).toBe(String(ids.owners));
  });

  it('is refused to writes of global admins, unless they use an id', async () => {
    const write = (domain: string | number, as = 'operator') =>
      api.ask('PUT', `/domains/${domain}/settings`, { as });
    const statusOf = async (...order: Parameters<typeof write>) => (await write(...order)).status;
    const refused = await write('several.test');
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        code: 'domain_ambiguous',
        error: 'several accounts have this domain: use its id in the path',
        domains: [
          { id: ids.owners, user_id: api.accountIds.owner, status: 'pending' },
          { id: ids.strangers, user_id: api.accountIds.stranger, status: 'pending' },
        ],
      },
    ]);
    // An admitted write is refused here because of its body.
    const admitted = BODY_REFUSAL[0];
    expect(await statusOf(ids.strangers)).toBe(admitted);
    expect(await statusOf(NAME)).toBe(admitted);
    expect(await statusOf('several.test', 'stranger')).toBe(admitted);
    await newDomain(api.db, api.accountIds.operator, 'several.test.');
    expect(await statusOf('several.test')).toBe(admitted);
  });
});

it.each([
  { names: [`_acme-challenge.${NAME}`] },
  { types: ['TXT'] },
])('a key for some records may not write anything else: %j', async (narrowing) => {
  const as = await api.makeKey(narrowing);
  const refusal = [403, 'this API key may write only certain records'];
  expect(await refusalOf('PUT', `${PATH}/settings`, { as })).toEqual(refusal);
  expect(await refusalOf('PUT', `${PATH}/records`, { as })).toEqual(BODY_REFUSAL);
  expect((await api.ask('GET', `${PATH}/view`, { as })).status).toBe(200);
});
