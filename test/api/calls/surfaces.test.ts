import { describe, expect, it } from 'vitest';
import { isCallOfSessions, judgeSurface } from '../../../src/api/calls/surfaces.ts';

const own = { isManaged: false };
const managed = { isManaged: true };
const session = { isManaged: false, isSession: true };
const KEYS = 'this surface is not open to API keys';

it('calls that only sessions may make are told by method and path', () => {
  expect(isCallOfSessions('POST', '/domains/a.test/subscriptions/switch')).toBe(true);
  expect(isCallOfSessions('GET', '/domains/a.test/subscriptions/switch')).toBe(false);
  expect(isCallOfSessions('POST', '/users/me')).toBe(false);
});

describe('for every key', () => {
  it.each([
    ['GET', '/users'],
    ['GET', '/users/me'],
    ['DELETE', '/users/me/keys/1'],
    ['POST', '/auth/login'],
    ['GET', '/billing/plans'],
    ['GET', '/admin/domains/'],
    ['POST', '/wallet/topup'],
    ['GET', '/wallet/topups/ABC/page'],
    ['POST', '/domains/a.test/subscriptions/purchase'],
    ['POST', '/domains/a.test/subscriptions/switch'],
    ['POST', '/domains/a.test/subscriptions/auto-renew'],
    ['POST', '/subscriptions/purchase'],
    ['POST', '/subscriptions/switch'],
    ['POST', '/subscriptions/auto-renew'],
  ])('%s %s is closed', (method, path) => {
    expect(judgeSurface(method, path, own)).toMatchObject({ status: 403, error: KEYS, code: undefined });
    const ofSessions = path.startsWith('/subscriptions/') ? 410 : undefined;
    expect(judgeSurface(method, path, session)?.status).toBe(path.startsWith('/admin') ? 404 : ofSessions);
  });

  it.each([
    ['GET', '/wallet'],
    ['GET', '/domains/a.test/subscriptions'],
    ['GET', '/domains/users/records/'],
    ['GET', '/usersx'],
    ['GET', '/domains/a.test/subscriptions/7'],
    ['POST', '/domains/'],
  ])('%s %s is not', (method, path) => {
    expect(judgeSurface(method, path, own)).toBeUndefined();
  });

  it('a removed route is 410 with a code for programs and a text for people', () => {
    const refused = judgeSurface('GET', '/subscriptions/current', own);
    expect(refused?.status).toBe(410);
    expect(refused?.body).toEqual({ error: 'route_removed', message: expect.stringMatching(/ .*\.$/) });
    expect(judgeSurface('DELETE', '/subscriptions/current', own)).toBeUndefined();
    const write = judgeSurface('POST', '/subscriptions/switch', session);
    expect(write?.body).toEqual({ error: 'route_removed', message: expect.stringMatching(/ .*\.$/) });
    expect(judgeSurface('GET', '/subscriptions/switch', session)).toBeUndefined();
  });
});

describe('what is below /admin, and the board of the queues', () => {
  const admin = { ...session, isAdmin: true };
  it.each([
    '/admin',
    '/admin/',
    '/admin/accounts',
    '/admin/nothing',
    '/console/queues',
    '/console/queues/api/queues',
  ])('%s is there for global admins only', (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      expect(judgeSurface(method, path, admin)).toBeUndefined();
      expect(judgeSurface(method, path, session)).toMatchObject({ status: 404, error: 'path not found' });
      expect(judgeSurface(method, path, { isManaged: false, isAdmin: true })).toMatchObject({
        status: 403,
        error: KEYS,
      });
      expect(judgeSurface(method, path, own)).toMatchObject({ status: 403, error: KEYS });
    }
  });

  it('is not what only begins like it', () => {
    expect(judgeSurface('GET', '/administration', session)).toBeUndefined();
  });
});

describe('for accounts managed by a reseller', () => {
  it.each([
    ['GET', '/wallet'],
    ['GET', '/wallet/history'],
    ['GET', '/invoices'],
    ['GET', '/invoices/7'],
    ['GET', '/invoices/7/print'],
    ['GET', '/domains/a.test/invoices'],
    ['GET', '/domains/a.test/invoices/7/pdf'],
    ['GET', '/tickets'],
    ['POST', '/tickets/7/replies'],
    ['POST', '/domains/'],
    ['GET', '/domains/a.test/invites'],
    ['DELETE', '/domains/a.test/invites/7'],
    ['GET', '/invites/abc'],
    ['POST', '/invites/abc/accept'],
    ['PATCH', '/domains/a.test/members/7'],
    ['DELETE', '/domains/a.test/members/7'],
  ])('%s %s is the reseller’s', (method, path) => {
    expect(judgeSurface(method, path, managed)).toMatchObject({ status: 403, code: 'managed_by_reseller' });
    expect(judgeSurface(method, path, own)).toBeUndefined();
  });

  it.each([
    ['POST', '/wallet/topup'],
    ['POST', '/domains/a.test/subscriptions/purchase'],
    ['POST', '/domains/a.test/subscriptions/switch'],
    ['POST', '/domains/a.test/subscriptions/auto-renew'],
  ])('%s %s is the reseller’s before it is closed to keys', (method, path) => {
    for (const isSession of [true, false]) {
      expect(judgeSurface(method, path, { isManaged: true, isSession })).toMatchObject({
        status: 403,
        code: 'managed_by_reseller',
      });
    }
  });

  it('what no key may do and no reseller does is closed to their keys', () => {
    for (const [method, path] of [
      ['GET', '/billing/plans'],
      ['POST', '/subscriptions/purchase'],
    ] as const) {
      expect(judgeSurface(method, path, managed)).toMatchObject({
        status: 403,
        error: KEYS,
        code: undefined,
      });
    }
  });

  it.each([
    ['GET', '/domains/'],
    ['PUT', '/domains/a.test'],
    ['POST', '/domains/a.test/records/'],
    ['GET', '/domains/a.test/members'],
    ['GET', '/domains/a.test/members/7'],
    ['GET', '/domains/a.test/subscriptions'],
  ])('%s %s stays open', (method, path) => {
    expect(judgeSurface(method, path, managed)).toBeUndefined();
  });
});
