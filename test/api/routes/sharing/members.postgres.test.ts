import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readPages, sharedTestApi, type TestAccount } from '../../../support/api/api.ts';
import { emailOf } from '../../../support/api/people.ts';
import { saveMembership } from '../../../support/database/memberships.ts';

const api = sharedTestApi();
let ids: Readonly<Record<TestAccount, number>>;
let domainId: number;
const DOMAIN = '/domains/shared.example';
const MEMBERS = `${DOMAIN}/members`;
beforeAll(async () => {
  ids = api.accountIds;
  domainId = (await api.makeDomain('shared.example')).id;
});
beforeEach(async () => {
  for (const role of ['admin', 'editor', 'viewer'] as const)
    await saveMembership(api.db, domainId, ids[role], role);
});

const rolesOf = async (as: TestAccount = 'owner') =>
  Object.fromEntries(
    (await api.ask('GET', MEMBERS, { as })).body.map((member: { email: string; role: string }) => [
      member.email.split('@')[0],
      member.role,
    ]),
  );
const patch = (id: number, role: unknown, as: string) =>
  api.ask('PATCH', `${MEMBERS}/${id}`, { as, body: { role } });
const remove = (id: number, as: string) => api.ask('DELETE', `${MEMBERS}/${id}`, { as });

describe('the list', () => {
  it('has the owner and every member, for each of them', async () => {
    const roles = { owner: 'owner', admin: 'admin', editor: 'editor', viewer: 'viewer' };
    for (const as of ['owner', 'admin', 'viewer', 'operator'] as const)
      expect(await rolesOf(as)).toEqual(roles);
    const created_at = expect.stringMatching(/Z$/);
    const owner = { user_id: ids.owner, email: emailOf('owner'), role: 'owner', created_at };
    expect((await api.ask('GET', MEMBERS)).body[0]).toEqual(owner);
  });

  it('has pages and a count', async () => {
    const pages = await readPages(api, `${MEMBERS}?limit=3&count=true`);
    expect(pages.map(({ headers }) => headers['x-total-count'])).toEqual(['4', '4']);
    const seen = pages.flatMap(({ body }) => body.map((each: { user_id: number }) => each.user_id));
    expect(seen).toEqual([ids.owner, ids.admin, ids.editor, ids.viewer].sort((a, b) => a - b));
  });
});

describe('a role', () => {
  it('applies from the next request on, and is shown with the domain', async () => {
    const member = { user_id: ids.viewer, role: 'editor' };
    expect((await patch(ids.viewer, 'editor', 'admin')).body).toMatchObject(member);
    const my_permissions = expect.arrayContaining(['records.edit']);
    const { body } = await api.ask('GET', DOMAIN, { as: 'viewer' });
    expect(body).toMatchObject({ my_role: 'editor', my_permissions });
    const [listed] = (await api.ask('GET', '/domains/', { as: 'viewer' })).body;
    expect(listed).toMatchObject({ name: 'shared.example', my_role: 'editor' });
    expect((await patch(ids.viewer, 'viewer', 'owner')).status).toBe(200);
    const record = { name: 'a', type: 'TXT', destination: 'a' };
    const write = await api.ask('POST', `${DOMAIN}/records/`, { as: 'viewer', body: record });
    expect(write.status).toBe(403);
  });

  it('of the owner cannot be changed', async () => {
    const error = { error: 'the owner cannot be changed', code: 'wrong_state' };
    for (const answer of [await patch(ids.owner, 'viewer', 'operator'), await remove(ids.owner, 'admin')])
      expect([answer.status, answer.body]).toEqual([400, error]);
  });

  it('is rejected if it is owner or unknown', async () => {
    for (const role of ['owner', 'king', null, undefined]) {
      const { status, body } = await patch(ids.viewer, role, 'owner');
      expect([status, body.fields[0].field]).toEqual([400, 'role']);
    }
    const unknown = { role: 'editor', x: 1 };
    expect((await api.ask('PATCH', `${MEMBERS}/${ids.viewer}`, { body: unknown })).status).toBe(400);
  });

  it('of a stranger is not found, even by callers whose role is too low', async () => {
    for (const as of ['owner', 'viewer']) {
      expect((await patch(ids.stranger, 'admin', as)).body).toEqual({ error: 'member not found' });
      expect((await remove(999_999, as)).status).toBe(404);
    }
    expect((await api.ask('DELETE', `${MEMBERS}/x`)).status).toBe(404);
    expect((await patch(ids.viewer, 'admin', 'stranger')).body).toEqual({ error: 'domain not found' });
  });
});

describe('leaving', () => {
  it('hides the domain from the next request on', async () => {
    expect((await remove(ids.viewer, 'viewer')).body).toEqual({ message: 'you have left the domain' });
    for (const url of [DOMAIN, MEMBERS, `${DOMAIN}/records/`])
      expect((await api.ask('GET', url, { as: 'viewer' })).status).toBe(404);
    const list = await api.ask('GET', '/domains/?count=true', { as: 'viewer' });
    expect([list.body, list.headers['x-total-count']]).toEqual([[], '0']);
    expect((await api.ask('GET', '/changes', { as: 'viewer' })).body).toEqual([]);
  });
});

describe('removing a member', () => {
  it('requires members.manage, and works with a key for the domain', async () => {
    for (const as of ['editor', 'viewer']) expect((await remove(ids.admin, as)).status).toBe(403);
    expect((await remove(ids.viewer, await api.makeKey({ domains: ['shared.example'] }))).body).toEqual({
      message: 'member removed',
    });
    expect((await api.ask('GET', DOMAIN, { as: 'viewer' })).status).toBe(404);
    expect((await remove(ids.viewer, 'owner')).status).toBe(404);
  });
});
