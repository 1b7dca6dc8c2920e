// Sends every operation as every caller, and compares the responses with fixtures/api-access.

import { isWrite } from '../../../src/api/calls/route.ts';
import { PublicChecks } from '../../../src/api/public/public-checks.ts';
import type { ScanJob } from '../../../src/jobs/jobs.ts';
import { NO_REQUESTS } from '../analytics/no-requests.ts';
import { type Answer, startTestApi, type TestApi } from '../api/api.ts';
import { FakeQueue } from '../api/fake-queue.ts';
import { anotherAddress } from '../api/people.ts';
import { evidenceOf, makeCheck } from '../world/made-checks.ts';
import { runScan, scanOf } from '../world/made-scans.ts';
import { makeVerification } from '../world/made-verifications.ts';
import { differenceFrom, type Outcome } from './access.ts';
import type { WalkCaller } from './caller-names.ts';
import { emailOf, personOf, proofOf, type Walkers } from './callers.ts';
import { REQUESTS, type Sent } from './requests.ts';
import { World, type WorldOptions } from './world.ts';

type CheckJob = Parameters<typeof makeCheck>[1];

const queue = <J>(work: (job: J) => Promise<unknown>) => Object.assign(new FakeQueue<J>(), { work });

/** Starts an API whose workers answer every job immediately. */
export async function startWalkApi(): Promise<TestApi> {
  const api: TestApi = await startTestApi({
    analytics: NO_REQUESTS,
    trustedProxies: ['127.0.0.1/32'],
    checks: queue((job: CheckJob) =>
      makeCheck(api.db, job, (name) => evidenceOf(name, ['ns1.elsewhere.test.'])),
    ),
    publicChecks: new PublicChecks(async (domain) => evidenceOf(domain, 'timeout'), {
      asksPerMinute: 1_000_000,
      startEveryMs: 0,
    }),
    scans: queue((job: ScanJob) =>
      runScan(api.db, job, async (domain) => scanOf(['mail A 198.51.100.7'], { domain })),
    ),
    verifications: queue((job: CheckJob) =>
      makeVerification(api.db, job, () => ({ servers: [['nothing of ours'], 'nodata'] })),
    ),
  });
  return api;
}

/** Sends an operation as each caller. Returns how the answers differ from the expected outcomes. */
export async function walk(
  walkers: Walkers,
  operation: string,
  expected: ReadonlyMap<WalkCaller, Outcome>,
): Promise<string[]> {
  const sent = REQUESTS[operation] ?? {};
  const [method = '', path = ''] = operation.split(' ');
  const namesDomain = isOfDomain(path);
  const shared = new Map<string, World>();
  const differences: string[] = [];
  for (const [caller, outcome] of expected) {
    if (!namesDomain && caller.startsWith('owner of a')) continue;
    const of = personOf(caller) ?? 'owner';
    const state = /disabled|banned/.exec(caller)?.[0] as 'disabled' | 'banned' | undefined;
    const sharedAs = `${of} ${state}`;
    const world = shared.get(sharedAs) ?? (await makeWorld(walkers, path, sent, { of, state }));
    shared.set(sharedAs, world);
    world.callerEmail = emailOf(caller);
    for (const each of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      const answer = await askAs(walkers, caller, each, path, world, sent);
      const difference = differenceFrom(outcome, answer);
      if (difference !== undefined) differences.push(`${caller}, ${each}: ${difference}`);
      // A rejected request changes nothing, so the next caller can use the same world.
      if (answer.status < 400 && isWrite(method)) shared.delete(sharedAs);
    }
  }
  return differences;
}

/** True if the request names a domain. Requests below /analytics do so in the query. */
function isOfDomain(path: string): boolean {
  return path.includes('{domain}') || path.startsWith('/analytics/');
}

/** Creates the objects that the path, the query and the body refer to. */
export async function makeWorld(
  { api, clientId }: Pick<Walkers, 'api' | 'clientId'>,
  path: string,
  { dnsMode, status, prepare, query, body }: Sent,
  { state, ...more }: Partial<WorldOptions> & { state?: 'disabled' | 'banned' | undefined },
): Promise<World> {
  const world = new World(api, { clientId, ...(dnsMode !== undefined && { dnsMode }), ...more });
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) await world.parameter(path, name);
  // The objects of the query and the body are created while the domain can still be changed.
  await query?.(world);
  await body?.(world);
  await prepare?.(world);
  const wanted = state ?? status;
  if (wanted !== undefined) await world.setStatus(wanted);
  return world;
}

async function askAs(
  walkers: Walkers,
  caller: WalkCaller,
  method: string,
  path: string,
  world: World,
  { query, body }: Sent,
): Promise<Answer> {
  const { api, clientId } = walkers;
  const ofPeople = /^\/(auth|users)\//.test(path);
  const of = personOf(caller);
  const accountId = ofPeople
    ? await world.personId()
    : of === 'client'
      ? clientId
      : api.accountIds[of ?? 'owner'];
  let url = path;
  for (const [hole, name = ''] of path.matchAll(/\{(\w+)\}/g))
    url = url.replace(hole, String(await world.parameter(path, name)));
  if (query !== undefined) url += `?${await query(world)}`;
  const text = body === undefined ? undefined : JSON.stringify(await body(world));
  const proof = await proofOf(walkers, caller, {
    accountId,
    domain: isOfDomain(path) ? world.domainName : undefined,
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
