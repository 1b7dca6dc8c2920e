import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { updateAccount } from '../../../src/store/accounts/accounts.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { addToken } from '../../../src/store/sharing/accept-invite.ts';
import {
  type Answer,
  PUBLIC_URL,
  readPages,
  sharedTestApi,
  type TestAccount,
} from '../../support/api/api.ts';
import { emailOf } from '../../support/api/people.ts';
import { BY } from '../../support/database/domains.ts';
import { deleteMembership, saveMembership } from '../../support/database/memberships.ts';

const api = sharedTestApi();
let ids: Readonly<Record<TestAccount, number>>;
let domainId: number;
const DOMAIN = '/domains/shared.example';
const INVITES = `${DOMAIN}/invites`;
const MEMBERS = `${DOMAIN}/members`;
beforeAll(async () => {
  ids = api.accountIds;
  domainId = (await api.makeDomain('shared.example')).id;
});
beforeEach(async () => {
  const { db } = api;
  for (const role of ['admin', 'editor', 'viewer'] as const)
    await saveMembership(db, domainId, ids[role], role);
  await deleteMembership(db, domainId, ids.stranger);
  for (const table of ['mails', 'invites', 'invite_windows'])
    await sql.raw(`delete from ${table}`).execute(db);
});

const STRANGER = emailOf('stranger');
const invite = (body: object = {}, as: string = 'owner', headers: Record<string, string> = {}) =>
  api.ask('POST', INVITES, { as, headers, body: { email: STRANGER, role: 'editor', ...body } });
const resend = (id: number, as = 'owner') => api.ask('POST', `${INVITES}/${id}/resend`, { as });
const revoke = (id: number, as = 'owner') => api.ask('DELETE', `${INVITES}/${id}`, { as });
const look = (token: string, as: string = 'stranger') => api.ask('GET', `/invites/${token}`, { as });
const accept = (token: string, as: string = 'stranger') =>
  api.ask('POST', `/invites/${token}/accept`, { as });
const tokenOf = ({ body }: Answer) => body.url.split('=')[1] as string;
const statuses = async () =>
  (await api.ask('GET', `${INVITES}?sort=id`)).body.map(({ status }: { status: string }) => status);

describe('an invite', () => {
  it('is a link that is valid for seven days and shown once', async () => {
    const made = await invite();
    const { url, ...rest } = made.body;
    expect(url).toMatch(new RegExp(`^${PUBLIC_URL}/console/#invite=inv_[0-9A-Za-z]{43}$`));
    const { id, expires_at, created_at, ...told } = rest;
    expect(told).toEqual({ email: STRANGER, role: 'editor', status: 'open', invited_by: ids.owner });
    expect(id).toEqual(expect.any(Number));
    expect(Math.round((Date.parse(expires_at) - Date.parse(created_at)) / 86_400_000)).toBe(7);
    expect((await api.ask('GET', INVITES)).body).toEqual([rest]);
    const rows = await api.query<{ line: string }>`
      select t::text as line from invite_tokens t union all select i::text from invites i union all
      select m::text from mails m`;
    expect(rows.length).toBeGreaterThan(2);
    for (const { line } of rows) expect(line).not.toContain(tokenOf(made));
  });

  it('is made once under an Idempotency-Key, and the repeated response has no link', async () => {
    const once = { 'idempotency-key': 'invite-1' };
    const first = await invite({}, 'owner', once);
    const again = await invite({}, 'owner', once);
    expect(again.headers['idempotent-replay']).toBe('true');
    expect(again.body).toEqual({ ...first.body, url: undefined });
    expect(await statuses()).toEqual(['open']);
  });

  it('is rejected with the field that is wrong', async () => {
    for (const [body, field] of [
      [{ email: 'nobody' }, 'email'],
      [{ email: 'a b@c.example' }, 'email'],
      [{ role: 'owner' }, 'role'],
      [{ message: 'come' }, 'message'],
    ] as const)
      expect((await invite(body)).body.fields[0].field).toBe(field);
  });

  it('is shown to every caller who has the link, with a masked email', async () => {
    const made = await invite();
    const narrowed = await api.makeKey({ readOnly: true, types: ['TXT'] }, 'stranger');
    for (const as of ['stranger', 'viewer', narrowed])
      expect((await look(tokenOf(made), as)).body).toEqual({
        domain: 'shared.example',
        role: 'editor',
        invited_email: 's•••@z•••.test',
        expires_at: made.body.expires_at,
      });
    expect((await api.ask('GET', `/invites/${tokenOf(made)}`, { as: null })).status).toBe(401);
    for (const wrong of ['x', 'inv_x', `inv_${'a'.repeat(43)}`, 'a'.repeat(5000)])
      expect((await look(wrong)).body).toEqual({ error: 'invite not found' });
  });
});

describe('accepting an invite', () => {
  it('adds a member, once', async () => {
    const token = tokenOf(await invite());
    const accepted = await accept(token);
    expect(accepted.body).toMatchObject({ name: 'shared.example', my_role: 'editor' });
    expect((await accept(token)).body).toEqual({ error: 'invite not found' });
    expect((await look(token)).status).toBe(404);
    expect(await statuses()).toEqual(['accepted']);
    const edit = { as: 'stranger', body: { name: 'x', type: 'TXT', destination: 'x' } };
    expect((await api.ask('POST', `${DOMAIN}/records/`, edit)).status).toBe(200);
  });

  it('is repeated under an Idempotency-Key, without storing the token', async () => {
    const token = tokenOf(await invite());
    const once = { as: 'stranger', headers: { 'idempotency-key': 'accept-1' } };
    const first = await api.ask('POST', `/invites/${token}/accept`, once);
    const again = await api.ask('POST', `/invites/${token}/accept`, once);
    expect([again.body, again.headers['idempotent-replay']]).toEqual([first.body, 'true']);
    const other = await api.ask('POST', `/invites/inv_${'a'.repeat(43)}/accept`, once);
    expect(other.body.code).toBe('idempotency_mismatch');
    const rows = await api.query<{ path: string }>`
      select path from idempotency_keys where key = 'accept-1'`;
    expect(rows).toEqual([{ path: expect.stringMatching(/^\/invites\/[0-9a-f]{64}\/accept$/) }]);
  });

  it('requires the account with this email address, in any case', async () => {
    const refused = await accept(tokenOf(await invite({ email: 'Ann@Example.com' })));
    const problem = { error: 'this invite is for another email address', code: 'invite_email_mismatch' };
    expect([refused.status, refused.body]).toEqual([403, { ...problem, invited_email: 'A•••@E•••.com' }]);
    expect((await accept(tokenOf(await invite({ email: STRANGER.toUpperCase() })))).status).toBe(200);
  });

  it('requires a confirmed email address', async () => {
    const token = tokenOf(await invite());
    const confirm = (at: Date | null) =>
      api.query`update accounts set email_confirmed_at = ${at} where id = ${ids.stranger}`;
    await confirm(null);
    expect((await accept(token)).body).toEqual({ error: 'confirm your email address first' });
    await confirm(new Date());
    expect((await accept(token)).status).toBe(200);
  });

  it('succeeds once for concurrent calls', async () => {
    const token = tokenOf(await invite());
    const came = await Promise.all(Array.from({ length: 6 }, () => accept(token)));
    expect(came.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404]);
  });

  it('is possible for a disabled domain, but not for a banned one', async () => {
    const move = (event: 'ban' | 'unban' | 'disable' | 'enable') =>
      changeStatus(api.db, { ...BY, domainId, event, exempt: true });
    const token = tokenOf(await invite());
    await move('ban');
    expect((await accept(token)).body.code).toBe('domain_banned');
    await move('unban');
    await move('disable');
    expect((await accept(token)).status).toBe(200);
    await move('enable');
  });
});

describe('an invite ends', () => {
  const ends = async (token: string) => {
    expect((await look(token)).status).toBe(404);
    expect((await accept(token)).status).toBe(404);
  };
  const expire = (id: number) =>
    api.query`update invites set expires_at = clock_timestamp() where id = ${id}`;
  const member = (method: string, more: { as?: string; body?: object } = {}) =>
    api.ask(method, `${MEMBERS}/${ids.admin}`, more);

  it.each<[string, string, (id: number) => Promise<unknown>]>([
    ['it is revoked', 'revoked', (id) => revoke(id)],
    ['it has expired', 'expired', (id) => expire(id)],
    ['its mailed link is used', 'accepted', async (id) => accept(await addToken(api.db, id, true))],
    ['its address is invited again', 'revoked', () => invite({ email: STRANGER.toUpperCase() })],
    ['the inviter gets a lower role', 'revoked', () => member('PATCH', { body: { role: 'editor' } })],
    ['the inviter is removed', 'revoked', () => member('DELETE')],
    ['the inviter leaves', 'revoked', () => member('DELETE', { as: 'admin' })],
    ['the inviter is deactivated', 'revoked', () => updateAccount(api.db, ids.admin, { active: false })],
  ])('permanently when %s: %s', async (_when, status, end) => {
    const made = await invite({}, 'admin');
    const other = await invite({ email: 'other@b.example' });
    await end(made.body.id);
    await ends(tokenOf(made));
    await updateAccount(api.db, ids.admin, { active: true });
    await saveMembership(api.db, domainId, ids.admin, 'admin');
    await ends(tokenOf(made));
    expect((await statuses()).slice(0, 2)).toEqual([status, 'open']);
    expect((await look(tokenOf(other))).status).toBe(200);
  });

  it('with all its links when it is sent again, even if it had expired', async () => {
    const made = await invite();
    const { id } = made.body;
    const mailed = await addToken(api.db, id, true);
    expect((await look(mailed)).status).toBe(200);
    await expire(id);
    const again = await resend(id);
    expect(again.body).toMatchObject({ id, status: 'open' });
    for (const token of [tokenOf(made), mailed]) await ends(token);
    expect((await look(tokenOf(again))).status).toBe(200);
    expect((await revoke(id)).body).toEqual({ message: 'invite revoked' });
    for (const refused of [await revoke(id), await resend(id)])
      expect(refused.body).toMatchObject({ code: 'wrong_state' });
  });

  it('when the inviter is no longer a global admin', async () => {
    const made = await invite({}, 'operator');
    await updateAccount(api.db, ids.operator, { isAdmin: false });
    await ends(tokenOf(made));
    await updateAccount(api.db, ids.operator, { isAdmin: true });
  });
});

describe('limits', () => {
  it('a domain sends at most 50 invites per day, including resent ones but not rejected ones', async () => {
    const { id } = (await invite()).body;
    await api.query`update invite_windows set count = 47 where subject like 'domain%'`;
    expect((await invite({ role: 'owner' })).status).toBe(400);
    for (const sent of [await resend(id), await invite({ email: 'a@b.example' }), await resend(id)])
      expect(sent.status).toBe(200);
    const refused = await invite({ email: 'more@b.example' }, 'admin');
    expect([refused.status, Number(refused.headers['retry-after']) > 86_000]).toEqual([429, true]);
    expect((await resend(id)).status).toBe(429);
    await api.query`update invite_windows set ends_at = clock_timestamp() - interval '1 second'`;
    expect((await resend(id)).status).toBe(200);
  });

  it('a domain has at most 100 open invites, not counting replaced ones', async () => {
    await api.query`
      insert into invites (domain_id, email, email_key, role, expires_at)
      select ${domainId}, i || '@b.example', i || '@b.example', 'viewer', clock_timestamp() + interval '1 day'
      from generate_series(1, 100) i`;
    expect((await invite()).status).toBe(409);
    expect((await invite({ email: '7@B.example' })).status).toBe(200);
    await api.query`update invites set expires_at = clock_timestamp() where email_key = '8@b.example'`;
    expect((await invite()).status).toBe(200);
  });

  it('a domain has at most 200 members, and existing members may still accept', async () => {
    const token = tokenOf(await invite());
    await api.query`
      with made as (
        insert into accounts (email, email_key) select m || '@many.example', m || '@many.example'
        from generate_series(1, 197) m returning id)
      insert into memberships (domain_id, account_id, role) select ${domainId}, id, 'viewer' from made`;
    const refused = await accept(token);
    expect([refused.status, refused.body.error]).toEqual([409, 'a domain may have 200 members']);
    const raised = tokenOf(await invite({ email: emailOf('viewer') }));
    expect((await accept(raised, 'viewer')).status).toBe(200);
    await deleteMembership(api.db, domainId, ids.editor);
    expect((await accept(token)).status).toBe(200);
    await api.query`
      delete from memberships where account_id in (select id from accounts where email like '%@many.example')`;
  });

  it('an address receives at most three mails per hour, and further invites are made without a mail', async () => {
    for (let i = 0; i < 5; i++) expect((await invite()).body.url).toBeDefined();
    const rows = await api.query<{ kind: string }>`select kind from mails`;
    expect(rows).toEqual(Array(3).fill({ kind: 'invite' }));
  });
});

it('a token appears neither in the log nor in an error', async () => {
  const token = tokenOf(await invite());
  for (const [method, end, wanted] of [
    ['GET', '/', 404],
    ['GET', '/accept/', 404],
    ['DELETE', '', 405],
  ] as const) {
    const { status, text } = await api.ask(method, `/invites/${token}${end}`);
    expect([status, text.includes(token)]).toEqual([wanted, false]);
  }
  await api.query`alter table invite_tokens rename to elsewhere`;
  for (const spelled of [token, token.replace('inv_', '%69nv%5F')]) {
    const failed = await look(spelled);
    expect([failed.status, failed.body]).toEqual([500, { error: 'internal error' }]);
  }
  await api.query`alter table elsewhere rename to invite_tokens`;
  const log = JSON.stringify(api.logged);
  expect(log).toContain('"url":"/invites/***"');
  expect(log).not.toContain(token.slice(4));
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

describe('the list of members', () => {
  it('contains the owner and every member, and is the same for each of them', async () => {
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
});

it('hides the domain from a member who left, from the next request on', async () => {
  expect((await remove(ids.viewer, 'viewer')).body).toEqual({ message: 'you left the domain' });
  for (const url of [DOMAIN, MEMBERS, `${DOMAIN}/records/`])
    expect((await api.ask('GET', url, { as: 'viewer' })).status).toBe(404);
  const list = await api.ask('GET', '/domains/?count=true', { as: 'viewer' });
  expect([list.body, list.headers['x-total-count']]).toEqual([[], '0']);
  expect((await api.ask('GET', '/changes', { as: 'viewer' })).body).toEqual([]);
});

it('can be removed with members.manage, also with a key for the domain', async () => {
  for (const as of ['editor', 'viewer']) expect((await remove(ids.admin, as)).status).toBe(403);
  for (const answer of [await remove(999_999, 'viewer'), await patch(ids.stranger, 'admin', 'viewer')])
    expect([answer.status, answer.body]).toEqual([404, { error: 'member not found' }]);
  expect((await remove(ids.viewer, await api.makeKey({ domains: ['shared.example'] }))).body).toEqual({
    message: 'member removed',
  });
  expect((await api.ask('GET', DOMAIN, { as: 'viewer' })).status).toBe(404);
  expect((await remove(ids.viewer, 'owner')).status).toBe(404);
});
