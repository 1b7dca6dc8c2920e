// Asks every operation as every caller, and tells where an answer is not the one of the table.

import { isWrite } from '../../../src/api/calls/route.ts';
import { NO_REQUESTS } from '../analytics/no-requests.ts';
import { type Answer, startTestApi, type TestApi } from '../api/api.ts';
import { anotherAddress } from '../api/people.ts';
import { evidenceOf, workingChecks } from '../world/made-checks.ts';
import { workingPublicChecks } from '../world/made-public-checks.ts';
import { scanOf, workingScans } from '../world/made-scans.ts';
import { workingVerifications } from '../world/made-verifications.ts';
import { CALLER_GROUPS, emailOf, personOf, proofOf, type WalkCaller, type Walkers } from './callers.ts';
import { LETTERS, type Row, type Sent } from './table.ts';
import { World } from './world.ts';

/** An API whose workers do what they are asked for. */
export async function startWalkApi(): Promise<TestApi> {
  const db = () => api.database.db;
  const api: TestApi = await startTestApi({
    analytics: NO_REQUESTS,
    trustedProxies: ['127.0.0.1/32'],
    checks: workingChecks(db, (name) => evidenceOf(name, ['ns1.elsewhere.test.'])),
    publicChecks: workingPublicChecks(),
    scans: workingScans(db, async (domain) => scanOf(['mail A 198.51.100.7'], { domain })),
    verifications: workingVerifications(db, () => ({ servers: [['nothing of ours'], 'nodata'] })),
  });
  return api;
}

/** The letter of each caller. */
export function readRow(letters: string): Map<WalkCaller, string> {
  const groups = letters.split(/ +/);
  if (groups.join(' ') !== letters || groups.length !== CALLER_GROUPS.length)
    throw new Error(`not ${CALLER_GROUPS.length} groups: ${letters}`);
  return new Map(
    CALLER_GROUPS.flatMap((callers, i) => {
      const group = groups[i] as string;
      if (group.length !== callers.length)
        throw new Error(`"${group}" is not for ${callers.join(', ')}: ${letters}`);
      return callers.map((caller, j) => [caller, group[j] as string] as const);
    }),
  );
}

/** Why this is not the answer of the letter; undefined: it is. */
export function judgeAnswer(letter: string, { status, body }: Answer, letters = LETTERS): string | undefined {
  const wanted = letters[letter];
  if (wanted === undefined) return `"${letter}" is no letter`;
  const isIt =
    status === wanted.status &&
    (status < 400 ||
      body === undefined ||
      (body.code === wanted.code && (wanted.error ?? /^/).test(body.error)));
  return isIt
    ? undefined
    : `wanted ${letter} (${wanted.status}), got ${status} ${JSON.stringify(body).slice(0, 150)}`;
}

/** What deviates in one line of the table, by caller. */
export async function walkRow(
  walkers: Walkers,
  operation: string,
  [letters, sent = {}]: Row,
): Promise<string[]> {
  const [method = '', path = ''] = operation.split(' ');
  const namesDomain = isOfDomain(path);
  const shared = new Map<string, World>();
  const deviations: string[] = [];
  for (const [caller, letter] of readRow(letters)) {
    const isAsked = namesDomain || !caller.startsWith('owner of a');
    if (isAsked !== (letter !== '-'))
      deviations.push(`${caller}: "${letter}" for a path ${isAsked ? 'with' : 'without'} a domain`);
    if (letter === '-') continue;
    const of = personOf(caller) ?? 'owner';
    const state = /disabled|banned/.exec(caller)?.[0] as 'disabled' | 'banned' | undefined;
    const sharedAs = `${of} ${state}`;
    const world = shared.get(sharedAs) ?? (await makeWorld(walkers, path, of, state, sent));
    shared.set(sharedAs, world);
    world.askedBy = emailOf(caller);
    for (const each of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      const answer = await askAs(walkers, caller, each, path, world, sent);
      const deviation = judgeAnswer(letter, answer);
      if (deviation !== undefined) deviations.push(`${caller}, ${each}: ${deviation}`);
      // A refusal changes nothing, so the next caller may ask for the same.
      if (answer.status < 400 && isWrite(method)) shared.delete(sharedAs);
    }
  }
  return deviations;
}

/** What is below /analytics names its domain in the query. */
function isOfDomain(path: string): boolean {
  return path.includes('{domain}') || path.startsWith('/analytics/');
}

async function makeWorld(
  { api, clientId }: Walkers,
  path: string,
  of: 'owner' | 'client' | 'operator',
  state: 'disabled' | 'banned' | undefined,
  { dnsMode, status, prepare, query, body }: Sent,
): Promise<World> {
  const world = new World(api, { of, clientId, ...(dnsMode !== undefined && { dnsMode }) });
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) await world.parameter(path, name);
  // What they speak of is made while the domain can still be written.
  await query?.(world);
  await body?.(world);
  await prepare?.(world);
  const wanted = state ?? status;
  if (wanted !== undefined) await world.putInto(wanted);
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
