import { describe, expect, it } from 'vitest';
import { isCallOfSessions, judgeSurface } from '../../../src/api/calls/surfaces.ts';

const CALLERS = {
  key: { isManaged: false },
  'key of a client': { isManaged: true },
  session: { isManaged: false, isSession: true },
  'session of a client': { isManaged: true, isSession: true },
  "global admin's key": { isManaged: false, isAdmin: true },
  "global admin's session": { isManaged: false, isSession: true, isAdmin: true },
};
const REFUSALS = {
  keys: { status: 403, error: 'API keys may not use this path', code: undefined },
  absent: { status: 404, error: 'path not found' },
  reseller: { status: 403, code: 'managed_by_reseller' },
  removed: { status: 410, body: { error: 'route_removed', message: expect.stringMatching(/ .*\.$/) } },
};
type Outcome = keyof typeof REFUSALS | undefined;

/** The outcomes for the six callers, and the operations that have them. */
const SURFACES: readonly (readonly [what: string, outcomes: readonly Outcome[], operations: string])[] = [
  [
    'sessions only',
    ['keys', 'keys', undefined, undefined, 'keys', undefined],
    `GET /users
    GET /users/me
    DELETE /users/me/keys/1
    POST /auth/login
    GET /billing/plans`,
  ],
  [
    'sessions of accounts without a reseller only',
    ['keys', 'reseller', undefined, 'reseller', 'keys', undefined],
    `POST /wallet/topup
    GET /wallet/topups/ABC/page
    POST /domains/a.test/subscriptions/purchase
    POST /domains/a.test/subscriptions/switch
    POST /domains/a.test/subscriptions/auto-renew`,
  ],
  [
    'accounts without a reseller only',
    [undefined, 'reseller', undefined, 'reseller', undefined, undefined],
    `GET /wallet
    GET /wallet/history
    GET /invoices
    GET /invoices/7
    GET /invoices/7/print
    GET /domains/a.test/invoices
    GET /domains/a.test/invoices/7/pdf
    GET /tickets
    POST /tickets/7/replies
    POST /domains/
    GET /domains/a.test/invites
    DELETE /domains/a.test/invites/7
    GET /invites/abc
    POST /invites/abc/accept
    PATCH /domains/a.test/members/7
    DELETE /domains/a.test/members/7`,
  ],
  [
    'sessions of global admins only',
    ['keys', 'keys', 'absent', 'absent', 'keys', undefined],
    `GET /admin
    POST /admin/
    OPTIONS /admin/accounts
    GET /admin/nothing
    GET /console/queues
    POST /console/queues/api/queues`,
  ],
  [
    'no caller, and no longer to sessions',
    ['keys', 'keys', 'removed', 'removed', 'keys', 'removed'],
    `POST /subscriptions/purchase
    POST /subscriptions/switch
    POST /subscriptions/auto-renew`,
  ],
  ['no caller any longer', Array(6).fill('removed'), 'GET /subscriptions/current'],
  [
    'every caller',
    Array(6).fill(undefined),
    `GET /domains/
    PUT /domains/a.test
    POST /domains/a.test/records/
    GET /domains/a.test/members
    GET /domains/a.test/members/7
    GET /domains/a.test/subscriptions
    GET /domains/a.test/subscriptions/7
    GET /domains/users/records/
    GET /subscriptions/switch
    DELETE /subscriptions/current
    GET /usersx
    GET /administration`,
  ],
];

describe.each(SURFACES)('open to %s', (_, outcomes, operations) => {
  it.each(operations.split('\n').map((line) => line.trim()))('%s', (operation) => {
    const [method = '', path = ''] = operation.split(' ');
    for (const [i, [name, caller]] of Object.entries(CALLERS).entries()) {
      const refusal = outcomes[i];
      const wanted = refusal === undefined ? undefined : expect.objectContaining(REFUSALS[refusal]);
      expect([name, judgeSurface(method, path, caller)]).toEqual([name, wanted]);
    }
  });
});

it('identifies calls that only sessions may make by method and path', () => {
  expect(isCallOfSessions('POST', '/domains/a.test/subscriptions/switch')).toBe(true);
  expect(isCallOfSessions('GET', '/domains/a.test/subscriptions/switch')).toBe(false);
  expect(isCallOfSessions('POST', '/users/me')).toBe(false);
});
