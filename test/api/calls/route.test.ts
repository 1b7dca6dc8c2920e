import { expect, it } from 'vitest';
import { z } from 'zod';
import * as access from '../../../src/api/calls/route.ts';

const { account, domain, everyone, gateway, route, session, takesIdempotencyKey } = access;
const common = { path: '/x', operationId: 'x', tag: 'X', summary: 'X.', response: z.object({ n: z.int() }) };
const post = { ...common, method: 'POST' } as const;
const run = () => ({ n: 1 });

it.each([
  [session(), true],
  [account(), true],
  [domain('domain.view'), true],
  [everyone, false],
  [gateway, false],
  [access.vantage, false],
  [access.edge(1), false],
])('a POST with access %j accepts an Idempotency-Key: %j', (who, accepts) =>
  expect(takesIdempotencyKey(route(who, { ...post, run }))).toBe(accepts));

it('the types of a route reject values that do not match its access and schemas', () => {
  // @ts-expect-error the response has another type
  route(account(), { ...post, run: () => ({ n: '1' }) });
  // @ts-expect-error only routes with a body schema have a body
  route(account(), { ...post, run: ({ body }) => ({ n: body.n }) });
  // @ts-expect-error the parameter is not in the schema
  route(account(), { ...post, params: z.object({ id: z.int() }), run: ({ params }) => ({ n: params.x }) });
  // @ts-expect-error only `domain` loads a domain
  route(account(), { ...post, run: ({ domain }) => ({ n: domain.id }) });
  // @ts-expect-error the caller may have no session
  route(everyone, { ...post, run: ({ caller }) => ({ n: caller.account.id }) });
  // @ts-expect-error the guard of gateways runs no `find`
  route(gateway, { ...post, find: async () => 1, run });
});
