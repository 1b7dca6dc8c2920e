// Sends every operation of the reseller API as every caller, with a valid request, and compares with fixtures/api-access.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWrite, type Route } from '../../../../src/api/calls/route.ts';
import { ROUTES } from '../../../../src/api/routes/every-route.ts';
import { RESELLER_ROUTES } from '../../../../src/api/routes/reseller/every-reseller-route.ts';
import type { Answer, TestApi } from '../../../support/api/api.ts';
import { anotherAddress } from '../../../support/api/people.ts';
import { differenceFrom, type Outcome, readAccess } from '../../../support/walk/access.ts';
import {
  CALLER_GROUPS,
  CALLERS,
  RESELLER_CALLERS,
  RESELLER_GROUPS,
  type ResellerCaller,
} from '../../../support/walk/caller-names.ts';
import { newClient } from '../../../support/walk/callers.ts';
import { REQUESTS, type Sent } from '../../../support/walk/requests.ts';
import { prepareResellers } from '../../../support/walk/resellers.ts';
import { makeWorld, startWalkApi } from '../../../support/walk/walk.ts';
import type { World } from '../../../support/walk/world.ts';

const PREFIX = '/reseller/v1';
const operationOf = ({ method, path }: Route) => `${method} ${path}`;

let api: TestApi;
let clientId: number;
let proofOf: (caller: ResellerCaller) => Promise<Record<string, string>>;
beforeAll(async () => {
  api = await startWalkApi();
  clientId = await newClient(api, 'client@walk.test');
  proofOf = await prepareResellers(api);
});
afterAll(() => api?.stop());

/** The call of customers that an operation is for a client's domain. */
function customerOperation(operation: string): string {
  return operation.replace(PREFIX, '').replace('{domainId}', '{domain}');
}

const CUSTOMERS = readAccess('operations.txt', CALLERS, CALLER_GROUPS);
const RESELLERS = readAccess('reseller.txt', RESELLER_CALLERS, RESELLER_GROUPS);
/** Stands for every operation of customers: callers without a reseller's credential never reach it. */
const REFUSED = RESELLERS.get('GET /reseller/v1/clients/{clientId}') as Map<ResellerCaller, Outcome>;

/** A reseller receives for a client's domain what the owner's session receives. */
function outcomesOf(operation: string): Map<ResellerCaller, Outcome> {
  const own = RESELLERS.get(operation);
  if (own !== undefined) return own;
  const outcome = CUSTOMERS.get(customerOperation(operation))?.get('session') as Outcome;
  return new Map([
    ...REFUSED,
    ...(['session', 'token', 'session with an old password'] as const).map(
      (caller) => [caller, outcome] as const,
    ),
  ]);
}

async function askAs(caller: ResellerCaller, operation: string, world: World, sent: Sent): Promise<Answer> {
  const [method = '', path = ''] = operation.split(' ');
  const id = String(await world.domainId());
  let url = path.replace('{domainId}', id);
  const customers = customerOperation(operation).split(' ')[1] as string;
  for (const [hole, name = ''] of customers.matchAll(/\{(\w+)\}/g))
    if (name !== 'domain') url = url.replace(hole, String(await world.parameter(customers, name)));
  if (sent.query !== undefined) url += `?${(await sent.query(world)).replace(world.domainName, id)}`;
  const text = sent.body === undefined ? undefined : JSON.stringify(await sent.body(world));
  const once = RESELLER_ROUTES.find((route) => operationOf(route) === operation)?.idempotent === 'required';
  return await api.ask(method, url, {
    as: null,
    ...(text !== undefined && { body: text }),
    headers: {
      'x-forwarded-for': anotherAddress(),
      ...(once && { 'idempotency-key': `${world.unique} ${caller}` }),
      ...(await proofOf(caller)),
    },
  });
}

async function prepared(sent: Sent, operation: string): Promise<World> {
  const path = customerOperation(operation).split(' ')[1] as string;
  return await makeWorld({ api, clientId }, path, sent, {
    of: 'client',
    resellerId: api.accountIds.stranger,
  });
}

it('has every call of customers about one domain, but those that charge the wallet of its owner', () => {
  const left = [
    'POST /domains/{domain}/subscriptions/purchase',
    'POST /domains/{domain}/subscriptions/switch',
  ];
  const customers = ROUTES.filter(({ access }) => access.kind === 'domain').map(operationOf);
  const wanted = customers.filter((operation) => !left.includes(operation));
  const mounted = RESELLER_ROUTES.map(operationOf)
    .filter((operation) => !RESELLERS.has(operation))
    .map(customerOperation);
  expect(mounted.sort()).toEqual(wanted.sort());
});

describe('every caller receives the listed outcome from', () => {
  it.each(RESELLER_ROUTES.map(operationOf))('%s', async (operation) => {
    const sent = REQUESTS[operation] ?? REQUESTS[customerOperation(operation)] ?? {};
    const differences: string[] = [];
    let world = await prepared(sent, operation);
    for (const [caller, outcome] of outcomesOf(operation)) {
      const answer = await askAs(caller, operation, world, sent);
      const difference = differenceFrom(outcome, answer);
      if (difference !== undefined) differences.push(`${caller}: ${difference}`);
      if (answer.status < 400 && isWrite(operation.split(' ')[0] as string))
        world = await prepared(sent, operation);
    }
    expect(differences).toEqual([]);
  });
});

it('a path that is not there is told to a reseller only', async () => {
  const ask = async (caller: ResellerCaller) =>
    (await api.ask('GET', `${PREFIX}/nowhere`, { as: null, headers: await proofOf(caller) })).status;
  expect([
    await ask('no credential'),
    await ask('API key'),
    await ask('session of another account'),
    await ask('token'),
  ]).toEqual([401, 403, 403, 404]);
});

it('OPTIONS tells the methods of a path, to whoever may use it', async () => {
  const world = await prepared({}, 'GET /reseller/v1/domains/{domainId}');
  const url = `${PREFIX}/domains/${await world.domainId()}`;
  const answer = await api.ask('OPTIONS', url, { as: null, headers: await proofOf('token') });
  expect([answer.status, answer.body.methods]).toEqual([200, ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT']]);
  const refused = await api.ask('OPTIONS', url, { as: null, headers: await proofOf('another reseller') });
  expect(refused.status).toBe(403);
});

it('none of all these calls met a bug', () => {
  expect(api.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
