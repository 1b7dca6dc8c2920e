// Isolation of accounts. If a path, a query or a body refers to data of another account, the response is the same,
// with the same headers, as if the data did not exist. No list shows or counts it.

import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Route } from '../../src/api/calls/route.ts';
import { ROUTES } from '../../src/features/every-route.ts';
import { deleteDomain } from '../../src/store/change/save-domain.ts';
import { type Answer, ownApi } from '../support/api/api.ts';
import { anotherAddress } from '../support/api/people.ts';
import { BY } from '../support/database/domains.ts';
import type { WalkCaller } from '../support/walk/caller-names.ts';
import { prepareWalkers, proofOf, type Walkers } from '../support/walk/callers.ts';
import { REQUESTS } from '../support/walk/requests.ts';
import { startWalkApi } from '../support/walk/walk.ts';
import { World } from '../support/walk/world.ts';

/** The callers, each with objects of its own or shared ones, besides objects of other accounts. */
const CALLERS = [
  'owner',
  'viewer',
  'editor',
  'admin',
  'read-only key',
  'client',
  "client's session",
  'session',
] as const;

const api = ownApi(() => startWalkApi());
let walkers: Walkers;
/** The owner's domain, shared in every role; the client's domain; and one that is unrelated to all callers. */
let owners: World;
let clients: World;
let foreign: World;

beforeAll(async () => {
  walkers = await prepareWalkers(api);
  const { clientId } = walkers;
  owners = new World(api, { clientId });
  clients = new World(api, { clientId, of: 'client' });
  for (const world of [owners, clients]) await world.fill();
});

const isClient = (caller: WalkCaller) => caller.startsWith('client');
const ownOf = (caller: WalkCaller) => (isClient(caller) ? clients : owners);

async function ask(caller: WalkCaller, method: string, url: string, body?: unknown): Promise<Answer> {
  const own = ownOf(caller);
  const isOfPeople = /^\/(auth|users)\//.test(url);
  const account = isClient(caller) ? walkers.clientId : api.accountIds.owner;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const proof = await proofOf(walkers, caller, {
    accountId: isOfPeople ? await own.personId() : account,
    domain: own.domainName,
    method,
    path: url,
    body: text,
  });
  return await api.ask(method, url, {
    as: null,
    ...(text !== undefined && { body: text }),
    headers: { 'x-forwarded-for': anotherAddress(), ...proof },
  });
}

/** Everything that a caller sees of a response, with the requested names replaced. */
function seen({ status, headers, text }: Answer, ...named: (string | number)[]): unknown {
  const { 'x-request-id': _, date: __, 'content-length': ___, ...rest } = headers;
  const told = named.reduce<string>((words, name) => words.replaceAll(String(name), 'IT'), text);
  return { status, told, headers: rest };
}

const ABSENT_ID = 999_999_999;
const ABSENT_NAME = 'walk-0.test';
const holesOf = ({ path }: Route) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
const fill = (path: string, values: Readonly<Record<string, string | number>>) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));

/** The other path parameters, as in a test world. */
async function parametersOf(route: Route, world: World): Promise<Record<string, string | number>> {
  const found: Record<string, string | number> = {};
  for (const name of holesOf(route)) found[name] = await world.parameter(route.path, name);
  return found;
}

const bodyOf = async ({ method, path }: Route, world: World) =>
  await REQUESTS[`${method} ${path}`]?.body?.(world);
const queryOf = async ({ method, path }: Route, world: World) => {
  const query = await REQUESTS[`${method} ${path}`]?.query?.(world);
  return query === undefined ? '' : `?${query}`;
};

/** A token in a path itself authorizes the call, and paths below /admin are only for global admins. */
const withIds = ROUTES.filter(
  (route) =>
    holesOf(route).length > 0 && !holesOf(route).includes('token') && !route.path.startsWith('/admin/'),
);
const lists = ROUTES.filter(({ method, response }) => method === 'GET' && response instanceof z.ZodArray);

describe('objects of another account', () => {
  it('do not change any list, its count or its next page', async () => {
    const all = async () => {
      const told: Record<string, unknown> = {};
      for (const caller of CALLERS) {
        for (const route of lists) {
          const path = fill(route.path, await parametersOf(route, ownOf(caller)));
          const isPaged = Object.keys(route.query?.shape ?? {}).includes('limit');
          for (const query of isPaged ? ['', '?limit=1&count=true'] : ['']) {
            if (/sessions$/.test(path)) continue; // each call here uses another session
            told[`${caller} ${path}${query}`] = seen(await ask(caller, 'GET', path + query));
          }
        }
      }
      return told;
    };
    const before = await all();
    expect(Object.keys(before).length).toBeGreaterThan(60);
    foreign = new World(api, { clientId: walkers.clientId, accountId: api.accountIds.stranger });
    await foreign.fill();
    const gone = new World(api, { clientId: walkers.clientId, accountId: api.accountIds.stranger });
    await deleteDomain(api.db, { ...BY, domainId: await gone.domainId() });
    expect(await all()).toEqual(before);
  });
});

describe.each(CALLERS)('objects of another account do not exist for the %s', (caller) => {
  it.each(
    withIds.map((route) => [`${route.method} ${route.path}`, route] as const),
  )('%s', async (_, route) => {
    const own = ownOf(caller);
    const theirs = await parametersOf(route, foreign);
    const mine = await parametersOf(route, own);
    const query = await queryOf(route, own);
    const foreignId = await foreign.domainId();
    const asks = async (values: Readonly<Record<string, string | number>>) =>
      await ask(caller, route.method, fill(route.path, values) + query, await bodyOf(route, own));
    // Uses another account's domain by name and by number, with the objects in it, or otherwise another account's
    // object in the caller's own domain. Rule types and codes do not belong to accounts.
    const things = holesOf(route).filter((hole) => hole !== 'type' && hole !== 'code');
    const pairs = things.flatMap((hole) => {
      const isDomain = hole === 'domain';
      const others = isDomain ? theirs : mine;
      const [name, ...numbers] = isDomain ? [theirs.domain, foreignId] : [theirs[hole]];
      return [name, ...numbers].map((it) => ({
        it: it as string | number,
        foreign: { ...others, [hole]: it as string | number },
        absent: { ...others, [hole]: it === theirs.domain && isDomain ? ABSENT_NAME : ABSENT_ID },
      }));
    });
    expect(pairs.length).toBeGreaterThan(0);
    for (const { it, foreign, absent } of pairs) {
      const [of, not] = [await asks(foreign), await asks(absent)];
      expect(of.status).toBeGreaterThanOrEqual(400);
      expect(seen(of, it)).toEqual(seen(not, ABSENT_ID, ABSENT_NAME));
    }
  });
});
