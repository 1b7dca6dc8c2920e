// Calls of a reseller for the domains of its clients. The tests of the customer routes cover what each call does.

import { beforeAll, expect, it } from 'vitest';
import { type Answer, sharedTestApi } from '../../support/api/api.ts';
import { emailOf } from '../../support/api/people.ts';
import { newDomain } from '../../support/database/domains.ts';
import { saveMembership } from '../../support/database/memberships.ts';
import { bearerSession, makeClient, makeReseller, type Reseller } from '../../support/walk/resellers.ts';

const api = sharedTestApi();
let reseller: Reseller;
let clientId: number;
/** A domain of the reseller's client. */
let own: string;
let other: Reseller;

const ask = (method: string, path: string, body?: unknown, as = reseller.token): Promise<Answer> =>
  api.ask(method, `/reseller/v1${path}`, { as, ...(body !== undefined && { body: JSON.stringify(body) }) });

/** Returns a reseller, its client, and the path of the client's domain. */
async function make(name: string) {
  const made = await makeReseller(api, `${name}@surface.test`);
  const client = await makeClient(api, made, `${name}-client@surface.test`);
  const { id } = await newDomain(api.db, client, `${name}.test.`, { planSlug: 'pro' });
  return { reseller: made, client, path: `/domains/${id}` };
}

beforeAll(async () => {
  ({ reseller, client: clientId, path: own } = await make('own'));
  ({ reseller: other } = await make('theirs'));
});

it('a reseller manages the members of a client’s domain, whom the client can only list', async () => {
  const { viewer } = api.accountIds;
  const { id: domainId } = (await ask('GET', own)).body;
  await saveMembership(api.db, domainId, reseller.id, 'viewer'); // it must still be listed only once
  const invited = await ask('POST', `${own}/invites`, { email: emailOf('viewer'), role: 'viewer' });
  const token = invited.body.url.split('=')[1];
  expect((await api.ask('POST', `/invites/${token}/accept`, { as: 'viewer' })).status).toBe(200);
  const roles = async () =>
    new Map(
      (await ask('GET', `${own}/members`)).body.map((each: { user_id: number; role: string }) => [
        each.user_id,
        each.role,
      ]),
    );
  const alone = [[clientId, 'owner'] as const, [reseller.id, 'admin'] as const];
  expect(await roles()).toEqual(new Map([...alone, [viewer, 'viewer']]));
  expect((await ask('PATCH', `${own}/members/${viewer}`, { role: 'editor' })).body.role).toBe('editor');
  expect((await ask('DELETE', `${own}/members/${viewer}`)).status).toBe(200);
  expect(await roles()).toEqual(new Map(alone));
  const as = await bearerSession(api, clientId);
  expect((await api.ask('GET', '/domains/own.test/members', { as })).body).toMatchObject([
    { user_id: reseller.id, provider: true },
    { user_id: clientId, role: 'owner' },
  ]);
  const refused = await api.ask('DELETE', `/domains/own.test/members/${reseller.id}`, { as });
  expect([refused.status, refused.body.code]).toEqual([403, 'managed_by_reseller']);
});

it('an unknown path is 404 for resellers only, and OPTIONS lists the methods of a path to its reseller', async () => {
  const statusOf = async (as: string | null, method = 'GET', path = '/nowhere') =>
    (await api.ask(method, `/reseller/v1${path}`, { as })).status;
  const session = await bearerSession(api, api.accountIds.owner);
  expect([await statusOf(null), await statusOf('owner'), await statusOf(session)]).toEqual([401, 403, 403]);
  expect(await statusOf(reseller.token)).toBe(404);
  const { body } = await ask('OPTIONS', own);
  expect(body.methods).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT']);
  expect(await statusOf(other.token, 'OPTIONS', own)).toBe(403);
});
