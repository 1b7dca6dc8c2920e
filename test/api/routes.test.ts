// Compares the access that each route declares with fixtures/api-access. The walk (test/api/calls.nightly.test.ts)
// sends the requests.

import { expect, it } from 'vitest';
import { mayDo } from '../../src/api/callers/caller.ts';
import { isWrite, type Route } from '../../src/api/calls/route.ts';
import { isCallOfSessions } from '../../src/api/calls/surfaces.ts';
import { RESELLER_ROUTES, ROUTES } from '../../src/features/every-route.ts';
import { readAccess } from '../support/walk/access.ts';
import { CALLER_GROUPS, CALLERS, RESELLER_CALLERS, RESELLER_GROUPS } from '../support/walk/caller-names.ts';

const CUSTOMERS = readAccess('operations.txt', CALLERS, CALLER_GROUPS);
const RESELLERS = readAccess('reseller.txt', RESELLER_CALLERS, RESELLER_GROUPS);

/** Lists the callers that the declaration refuses, by the reason of the refusal. */
function refusals({ access, method, path }: Route): Record<string, readonly string[]> {
  const writes = isWrite(method);
  const when = (is: boolean, ...callers: string[]) => (is ? callers : []);
  switch (access.kind) {
    case 'domain': {
      const { permission, wholeKeys, whileDisabled, writesRecords } = access;
      const isByStatus = writes || (wholeKeys && !whileDisabled);
      if (isCallOfSessions(method, path)) return { 'role too low': [] };
      // Every member may remove itself, so the handler checks the role.
      const checksRole = method === 'DELETE' && path.endsWith('/members/{userId}');
      return {
        'role too low': checksRole
          ? ['viewer', 'editor']
          : (['viewer', 'editor', 'admin', 'owner'] as const).filter((role) => !mayDo(role, permission)),
        'limited key': when(wholeKeys || (writes && !writesRecords), 'key for some records'),
        domain_banned: when(isByStatus, 'owner of a banned domain'),
        domain_disabled: when(isByStatus && !whileDisabled, 'owner of a disabled domain'),
      };
    }
    case 'account': {
      const isLimited = (writes || access.wholeKeys) && !isCallOfSessions(method, path);
      return { 'limited key': when(isLimited, 'key for another domain', 'key for some records') };
    }
    case 'session': {
      const old = ['session with an old password', "operator's session with an old password"];
      return { reauthenticate: when(access.fresh, ...old) };
    }
    case 'admin':
      return { reauthenticate: when(writes, "operator's session with an old password") };
    case 'reseller':
      return {
        'session required': when(access.sessions, 'token'),
        reauthenticate: when(access.fresh, 'session with an old password'),
      };
    default:
      return {};
  }
}

const listed = [...ROUTES, ...RESELLER_ROUTES].flatMap((route) => {
  const operation = `${route.method} ${route.path}`;
  const outcomes = CUSTOMERS.get(operation) ?? RESELLERS.get(operation);
  return outcomes === undefined ? [] : [[operation, route, outcomes] as const];
});

it('every operation of the fixtures has a route', () => expect(listed.length).toBeGreaterThan(180));

it.each(listed)('%s declares the listed access', (_, route, outcomes) => {
  const listedFor = (reason: string) =>
    [...outcomes].flatMap(([caller, each]) => (each.reason === reason ? [caller as string] : []));
  const callers: ReadonlySet<string> = new Set(outcomes.keys());
  for (const [reason, refused] of Object.entries(refusals(route)))
    expect([reason, listedFor(reason)]).toEqual([reason, refused.filter((caller) => callers.has(caller))]);
  const anonymous = [...outcomes].find(([caller]) => caller === 'no credential')?.[1];
  expect(anonymous?.status !== 401).toBe(route.access.kind === 'public');
});

it('resellers have every operation of customers for one domain, except those that charge the owner’s wallet', () => {
  const operationOf = ({ method, path }: Route) => `${method} ${path}`;
  const charging = ['purchase', 'switch'].map((end) => `POST /domains/{domain}/subscriptions/${end}`);
  const customers = ROUTES.filter(({ access }) => access.kind === 'domain').map(operationOf);
  const mounted = RESELLER_ROUTES.map(operationOf).filter((operation) => !RESELLERS.has(operation));
  expect(
    mounted
      .map((operation) => operation.replace('/reseller/v1', '').replace('{domainId}', '{domain}'))
      .sort(),
  ).toEqual(customers.filter((operation) => !charging.includes(operation)).sort());
});
