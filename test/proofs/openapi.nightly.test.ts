// Requests generated from the served API description: the valid requests of the walk, and bodies that match their
// schema, both unchanged and corrupted, from every caller. None triggers a bug, every response is described, and no
// body that violates its schema is accepted. The walks (test/api/calls, test/api/routes/reseller) prove what each
// caller may do.

import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { OpenAPIV3_1 } from 'openapi-types';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROBLEM_CODES, type ProblemCode } from '../../src/api/answers/problem.ts';
import type { Answer, TestApi } from '../support/api/api.ts';
import { faultsOf, resolve, type Schema } from '../support/api/json-schema.ts';
import { anotherAddress } from '../support/api/people.ts';
import { fittingValue, spoiling } from '../support/api/schema-values.ts';
import { scale } from '../support/tests/scale.ts';
import { type Outcome, readAccess } from '../support/walk/access.ts';
import {
  CALLER_GROUPS,
  CALLERS,
  RESELLER_CALLERS,
  RESELLER_GROUPS,
  type ResellerCaller,
  type WalkCaller,
} from '../support/walk/caller-names.ts';
import { emailOf, personOf, prepareWalkers, proofOf, type Walkers } from '../support/walk/callers.ts';
import { REQUESTS } from '../support/walk/requests.ts';
import { prepareResellers } from '../support/walk/resellers.ts';
import { makeWorld, startWalkApi } from '../support/walk/walk.ts';
import type { World } from '../support/walk/world.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly OpenAPIV3_1.ParameterObject[];
  readonly body: Schema | undefined;
  readonly responses: Readonly<Record<string, { readonly schema: Schema; readonly type: string }>>;
}

type Access<C> = ReadonlyMap<string, ReadonlyMap<C, Outcome>>;

interface Drawn {
  readonly operation: Operation;
  readonly caller: WalkCaller | ResellerCaller;
  /** Replaces valid values by name. Undefined if the value is unchanged. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Changes the valid body. */
  readonly body: (valid: unknown) => unknown;
  /** Text that is sent instead of JSON. */
  readonly raw: string | undefined;
}

const REQUESTS_SENT = scale(20_000, 600);
const RESELLER = '/reseller/v1';
const TYPES = ['application/json', 'text/dns', 'text/event-stream', 'text/html'];
const ACCEPTED = 'the accepted body';
const ACCESS = readAccess('operations.txt', CALLERS, CALLER_GROUPS);
const RESELLER_ACCESS = readAccess('reseller.txt', RESELLER_CALLERS, RESELLER_GROUPS);

let api: TestApi;
let walkers: Walkers;
let resellerProof: (caller: ResellerCaller) => Promise<Record<string, string>>;
let document: OpenAPIV3_1.Document;
let operations: Operation[];

beforeAll(async () => {
  api = await startWalkApi();
  walkers = await prepareWalkers(api);
  resellerProof = await prepareResellers(api);
  document = parse((await api.ask('GET', '/openapi.yaml', { as: null })).text);
  operations = readOperations(document);
});
afterAll(() => api?.stop());

function readOperations({ paths }: OpenAPIV3_1.Document): Operation[] {
  return Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, OpenAPIV3_1.OperationObject>).map(([method, described]) => ({
      method: method.toUpperCase(),
      path,
      parameters: (described.parameters ?? []) as OpenAPIV3_1.ParameterObject[],
      body: contentOf(described.requestBody as OpenAPIV3_1.RequestBodyObject | undefined).schema,
      responses: Object.fromEntries(
        Object.entries(described.responses ?? {}).map(([status, response]) => [
          status,
          contentOf(response as OpenAPIV3_1.ResponseObject) as { schema: Schema; type: string },
        ]),
      ),
    })),
  );
}

function contentOf(described: OpenAPIV3_1.RequestBodyObject | OpenAPIV3_1.ResponseObject | undefined) {
  const { content = {} } = described ?? {};
  const type = TYPES.find((each) => each in content) ?? '';
  return { type, schema: content[type]?.schema as Schema | undefined };
}

const isOfResellers = ({ path }: Operation) => path.startsWith(RESELLER);
/** The path of the customers' operation that an operation of resellers corresponds to. */
const customerPath = ({ path }: Operation) => path.replace(RESELLER, '').replace('{domainId}', '{domain}');
const sentOf = (operation: Operation) =>
  REQUESTS[`${operation.method} ${operation.path}`] ??
  REQUESTS[`${operation.method} ${customerPath(operation)}`] ??
  {};

/** A lone surrogate has no form in a URL, and clients remove `.` and `..` from paths. */
const oddText = fc.oneof(
  fc.constantFrom('0', '-1', '1e3', 'x', '99999999999999999999', '007', 'absent.example', 'ONE.Example.'),
  fc
    .string({ unit: 'binary', minLength: 1, maxLength: 30 })
    .filter((text) => !/\p{Surrogate}/u.test(text) && !/^\.{1,2}$/.test(text)),
);

function aParameter({ in: place, name, schema }: OpenAPIV3_1.ParameterObject): fc.Arbitrary<unknown> {
  const keep = { weight: 6, arbitrary: fc.constant(undefined) };
  if (name === 'Idempotency-Key')
    return fc.oneof({ weight: 4, arbitrary: fc.uuid() }, fc.constantFrom(undefined, 'a', ' c ', ''));
  // There is no node to wait for.
  if (name === 'wait') return fc.constantFrom(undefined, 0);
  if (place === 'path') return fc.oneof(keep, oddText);
  return fc.oneof(keep, { weight: 3, arbitrary: fittingValue(document, schema as Schema) }, oddText);
}

function aBody({ body }: Operation): fc.Arbitrary<Pick<Drawn, 'body' | 'raw'>> {
  if (body === undefined)
    return fc.constantFrom(undefined, {}, { a: 1 }).map((value) => ({ body: () => value, raw: undefined }));
  const same = (valid: unknown) => valid;
  const made = fittingValue(document, body).map((value) => () => value);
  const whole = fc.oneof(fc.constant(same), made);
  const wrong = fc.tuple(whole, spoiling).map(
    ([make, spoil]) =>
      (valid: unknown) =>
        spoil(make(valid) ?? {}),
  );
  return fc.oneof(
    { weight: 12, arbitrary: whole.map((make) => ({ body: make, raw: undefined })) },
    { weight: 6, arbitrary: wrong.map((make) => ({ body: make, raw: undefined })) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('', '{', 'null', '[]', '"x"', '\ufeff{}', '{"a":1,"a":2}', '{"name":"\\ud800"}')
        .map((raw) => ({ body: same, raw })),
    },
  );
}

function allowedCallers<C>({ method, path }: Operation, access: Access<C>): C[] {
  const outcomes = [...(access.get(`${method} ${path}`) ?? [])];
  return outcomes.filter(([, { status }]) => status < 400).map(([caller]) => caller);
}

/** Returns a caller whose valid request succeeds. Undefined if the walk has none. */
function successfulCaller(operation: Operation): Drawn['caller'] | undefined {
  if (!isOfResellers(operation)) return allowedCallers(operation, ACCESS)[0];
  const { method, path } = operation;
  if (RESELLER_ACCESS.has(`${method} ${path}`)) return allowedCallers(operation, RESELLER_ACCESS)[0];
  const customers = { ...operation, path: customerPath(operation) };
  return allowedCallers(customers, ACCESS).length === 0 ? undefined : 'token';
}

function aCaller(operation: Operation): fc.Arbitrary<Drawn['caller']> {
  if (isOfResellers(operation))
    return fc.oneof(fc.constantFrom('token', 'session'), fc.constantFrom(...RESELLER_CALLERS));
  const allowed = allowedCallers(operation, ACCESS);
  const any = fc.constantFrom(...CALLERS);
  return allowed.length === 0 ? any : fc.oneof(fc.constantFrom(...allowed), any);
}

const aRequest = () =>
  fc
    .constantFrom(...operations)
    .chain((operation) =>
      fc
        .tuple(
          fc.record(Object.fromEntries(operation.parameters.map((each) => [each.name, aParameter(each)]))),
          aBody(operation),
          aCaller(operation),
        )
        .map(([parameters, body, caller]): Drawn => ({ operation, parameters, caller, ...body })),
    );

async function send({ operation, caller, parameters, body, raw }: Drawn) {
  const { method, path } = operation;
  const isReseller = isOfResellers(operation);
  const customers = customerPath(operation);
  const sent = sentOf(operation);
  const of = isReseller ? 'client' : (personOf(caller as WalkCaller) ?? 'owner');
  const state = /disabled|banned/.exec(caller)?.[0] as 'disabled' | 'banned' | undefined;
  const more = isReseller ? { of, resellerId: api.accountIds.stranger } : { of, state };
  // Earlier requests may have deactivated the client.
  await api.query`update accounts set active = true where id = ${walkers.clientId}`;
  const world = await makeWorld(walkers, customers, sent, more as Parameters<typeof makeWorld>[3]);
  if (!isReseller) world.callerEmail = emailOf(caller as WalkCaller);
  let url = path;
  const query = new URLSearchParams((await sent.query?.(world)) ?? '');
  if (isReseller && query.has('domain')) query.set('domain', String(await world.domainId()));
  const headers: Record<string, string> = {};
  for (const { name, in: place } of operation.parameters) {
    const value = parameters[name];
    if (place === 'path') url = url.replace(`{${name}}`, await inPath(world, customers, name, value));
    else if (value === undefined) continue;
    else if (place === 'query') query.set(name, String(value));
    else headers[name] = String(value).replaceAll(/[^\x20-\x7e]/g, '?');
  }
  if (path.endsWith('/events')) query.set('once', 'true'); // a stream would not end
  if (query.size > 0) url += `?${query}`;
  const value = body(await sent.body?.(world));
  const text = raw ?? (value === undefined ? undefined : JSON.stringify(value));
  const proof = isReseller
    ? await resellerProof(caller as ResellerCaller)
    : await proofOf(walkers, caller as WalkCaller, {
        accountId: /^\/(auth|users)\//.test(path) ? await world.personId() : ownerOf(of),
        domain: world.domainName,
        method,
        path: url,
        body: text,
      });
  const answer = await api.ask(method, url, {
    as: null,
    ...(text !== undefined && { body: text }),
    headers: { 'x-forwarded-for': anotherAddress(), ...headers, ...proof },
  });
  return { url, text, answer };
}

async function inPath(world: World, path: string, name: string, value: unknown): Promise<string> {
  const valid = name === 'domainId' ? world.domainId() : world.parameter(path, name);
  return encodeURIComponent(String(value ?? (await valid)));
}

function ownerOf(of: 'owner' | 'client' | 'operator'): number {
  return of === 'client' ? walkers.clientId : api.accountIds[of];
}

/** Returns faults of the response. */
function judge(
  { operation, caller, raw }: Drawn,
  text: string | undefined,
  { status, body: answer, headers }: Answer,
): string[] {
  const declared = operation.responses[status];
  const { code } = (answer ?? {}) as { code?: ProblemCode };
  // The API of this test has no identity provider.
  if (status >= 500 && code !== 'oidc_unavailable') return [`a ${status}: ${JSON.stringify(answer)}`];
  if (declared === undefined) return [`the status ${status} is not described`];
  const { schema, type } = declared;
  const found = type === 'application/json' ? faultsOf(document, schema, answer, `the answer ${status}`) : [];
  if (!String(headers['content-type']).startsWith(type)) found.push('the answer is not of its type');
  if (caller === "client's session" && /"price/.test(JSON.stringify(answer)))
    found.push('a client sees a price');
  if (typeof headers['x-request-id'] !== 'string') found.push('no X-Request-Id');
  if (status >= 400 && code !== undefined && PROBLEM_CODES[code] !== status)
    found.push(`${code} as a ${status}`);
  if (status !== 200 || raw !== undefined || operation.body === undefined) return found;
  const isLeftOut = text === undefined && resolve(document, operation.body).anyOf !== undefined;
  if (isLeftOut) return found;
  const faults = faultsOf(document, operation.body, text && JSON.parse(text), ACCEPTED);
  return [...found, ...faults.filter((fault) => !isOfFailedItem(fault, answer))];
}

/** Returns true if an import reports the faulty item in `failed`, because it processes each item separately. */
function isOfFailedItem(fault: string, answer: unknown): boolean {
  const { failed = [] } = answer as { failed?: readonly { readonly index: number }[] };
  return failed.some(({ index }) => fault.startsWith(`${ACCEPTED}.records[${index}].`));
}

it('requests generated from the description trigger no bug, and get described responses', {
  timeout: scale(60, 8) * 60_000,
}, async () => {
  const succeeded = new Set<Operation>();
  const check = async (drawn: Drawn) => {
    const { url, text, answer } = await send(drawn);
    if (answer.status < 400) succeeded.add(drawn.operation);
    const { method } = drawn.operation;
    expect(judge(drawn, text, answer), `${method} ${url} as ${drawn.caller} ${text}`).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(aRequest(), check), { numRuns: REQUESTS_SENT, endOnFailure: true });
  // Rejected requests alone would prove little: every operation for which the walk has a successful request must
  // succeed.
  const possible = operations.filter((operation) => successfulCaller(operation) !== undefined);
  const withoutProvider = operations.filter(({ path }) => !/^\/auth\/oidc\/|\/identities\//.test(path));
  expect(possible.length).toBeGreaterThan(withoutProvider.length * 0.95);
  for (const operation of possible.filter((each) => !succeeded.has(each))) {
    const caller = successfulCaller(operation) as Drawn['caller'];
    const parameters = { 'Idempotency-Key': randomUUID() };
    await check({ operation, caller, parameters, body: (valid) => valid, raw: undefined });
  }
  const failed = possible.filter((each) => !succeeded.has(each));
  expect(failed.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  expect(api.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
