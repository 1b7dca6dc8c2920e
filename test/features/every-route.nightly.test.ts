// Sends every operation of fixtures/api-access/reseller.txt as every caller, with a valid request. The other operations of the reseller
// API are those of customers (test/api/routes.test.ts).

import { beforeAll, describe, expect, it } from 'vitest';
import { isWrite } from '../../src/api/calls/route.ts';
import { RESELLER_ROUTES } from '../../src/features/every-route.ts';
import { type Answer, ownApi } from '../support/api/api.ts';
import { anotherAddress } from '../support/api/people.ts';
import { differenceFrom, readAccess } from '../support/walk/access.ts';
import { RESELLER_CALLERS, RESELLER_GROUPS, type ResellerCaller } from '../support/walk/caller-names.ts';
import { newClient } from '../support/walk/callers.ts';
import { REQUESTS } from '../support/walk/requests.ts';
import { prepareResellers } from '../support/walk/resellers.ts';
import { makeWorld, startWalkApi } from '../support/walk/walk.ts';
import type { World } from '../support/walk/world.ts';

const api = ownApi(() => startWalkApi());
let clientId: number;
let proofOf: (caller: ResellerCaller) => Promise<Record<string, string>>;
beforeAll(async () => {
  clientId = await newClient(api, 'client@walk.test');
  proofOf = await prepareResellers(api);
});

/** Splits an operation, and returns the request of the walk and the path without the prefix. */
function partsOf(operation: string) {
  const [method = '', path = ''] = operation.split(' ');
  const below = path.replace('/reseller/v1', '');
  return { method, path, below, sent: REQUESTS[operation] ?? REQUESTS[`${method} ${below}`] ?? {} };
}

async function askAs(caller: ResellerCaller, operation: string, world: World): Promise<Answer> {
  const { method, path, below, sent } = partsOf(operation);
  let url = path;
  for (const [hole, name = ''] of below.matchAll(/\{(\w+)\}/g))
    url = url.replace(hole, String(await world.parameter(below, name)));
  if (sent.query !== undefined)
    url += `?${(await sent.query(world)).replace(world.domainName, String(await world.domainId()))}`;
  const text = sent.body === undefined ? undefined : JSON.stringify(await sent.body(world));
  const route = RESELLER_ROUTES.find((each) => each.method === method && each.path === path);
  return await api.ask(method, url, {
    as: null,
    ...(text !== undefined && { body: text }),
    headers: {
      'x-forwarded-for': anotherAddress(),
      ...(route?.idempotent === 'required' && { 'idempotency-key': `${world.unique} ${caller}` }),
      ...(await proofOf(caller)),
    },
  });
}

async function prepared(operation: string): Promise<World> {
  const { below, sent } = partsOf(operation);
  const resellerId = api.accountIds.stranger;
  return await makeWorld({ api, clientId }, below, sent, { of: 'client', resellerId });
}

describe('every caller receives the listed outcome from', () => {
  it.each([
    ...readAccess('reseller.txt', RESELLER_CALLERS, RESELLER_GROUPS),
  ])('%s', async (operation, outcomes) => {
    const differences: string[] = [];
    let world = await prepared(operation);
    for (const [caller, outcome] of outcomes) {
      const answer = await askAs(caller, operation, world);
      const difference = differenceFrom(outcome, answer);
      if (difference !== undefined) differences.push(`${caller}: ${difference}`);
      if (answer.status < 400 && isWrite(partsOf(operation).method)) world = await prepared(operation);
    }
    expect(differences).toEqual([]);
  });
});

it('the API logs no error during the walk', () => {
  expect(api.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
