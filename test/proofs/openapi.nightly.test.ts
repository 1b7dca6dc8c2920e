// Thousands of requests made from the description that the API itself serves: fitting ones and spoilt ones, with keys of every
// kind, sessions and machine tokens, on domains in every state. None meets a bug, every answer is one that is described, and no body that breaks its schema
// is accepted.

import fc from 'fast-check';
import { sql } from 'kysely';
import type { OpenAPIV3_1 } from 'openapi-types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROBLEM_CODES, type ProblemCode } from '../../src/api/answers/problem.ts';
import { changeStatus } from '../../src/store/change/change-status.ts';
import { API_TYPES } from '../../src/zone/records/customer-types.ts';
import { startAnalytics, type TestAnalytics } from '../support/analytics/start-analytics.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api/api.ts';
import {
  CLIENT_DOMAINS,
  DRAWN_CALLERS,
  type DrawnCaller,
  DrawnCallers,
} from '../support/api/drawn-callers.ts';
import { faultsOf, resolve, type Schema } from '../support/api/json-schema.ts';
import { emailOf, PASSWORD } from '../support/api/people.ts';
import { fittingValue, type Sense, spoilt } from '../support/api/schema-values.ts';
import { makeCertificate } from '../support/certificates/make-certificate.ts';
import { saveMembership } from '../support/database/memberships.ts';
import { scale } from '../support/tests/scale.ts';
import { evidenceOf, type Said, workingChecks } from '../support/world/made-checks.ts';
import { workingPublicChecks } from '../support/world/made-public-checks.ts';
import { scanOf, workingScans } from '../support/world/made-scans.ts';
import { workingVerifications } from '../support/world/made-verifications.ts';

type Document = OpenAPIV3_1.Document;
type Parameter = OpenAPIV3_1.ParameterObject;

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  readonly responses: Readonly<Record<string, { readonly schema: Schema; readonly type: string }>>;
}

interface Request {
  readonly operation: Operation;
  readonly url: string;
  readonly key: string;
  readonly headers: Record<string, string>;
  /** Undefined: none. */
  readonly body: unknown;
  /** As it is sent, where that is no JSON. */
  readonly raw: string | undefined;
  /** The path names a domain or an account that is no client's of the reseller. */
  readonly isForeign: boolean;
}

const REQUESTS = scale(20_000, 600);
/** They succeed only where workers have signed the domain: test/api/routes/dnssec shows that. */
const NEEDS_SIGNED_ZONE = /\/dnssec\/(rollover|abort|foreign-keys|import-keys|check)$|^put .*\/dnssec$/i;
const MORE_DRAWS = 40;
const DOMAINS = [
  'one.example',
  'two.example',
  'off.example',
  'banned.example',
  'broke.example',
  'other.example',
  'active.example',
];

let api: TestApi;
let engine: TestAnalytics;
let document: Document;
let operations: Operation[];
let callers: DrawnCallers;
const keys: Record<string, string | null> = { none: null, garbage: 'svc_x', expired: '' };
/** By domain, ids that exist: what generated ids stand for. */
let live: Record<string, Record<Pool, number[]>> = {};
const idOf = (name: string): number => domainIds[name] ?? 999_999_999;
let domainIds: Record<string, number> = {};
type Pool = (typeof POOLS)[number];
const POOLS = [
  'changes',
  'checks',
  'subscriptions',
  'members',
  'invites',
  'rules',
  'webhooks',
  'purges',
  'records',
] as const;
/** Of invites of `one.example`: of every account. */
let tokens: string[] = [];
/** What the parents of all domains say, check by check. */
const SAID: readonly Said[] = [
  ['ns1.example.net.', 'ns2.example.net.'],
  'nxdomain',
  'timeout',
  ['ns1.other.test.'],
];
let checked = 0;
const checks = workingChecks(
  () => api.database.db,
  (domain) => evidenceOf(domain, SAID[checked++ % SAID.length] as Said),
);

const scans = workingScans(
  () => api.database.db,
  async (domain) =>
    scanOf(['www A 198.51.100.77', 'found TXT hello', '@ MX 10 mail.example.net'], { domain }),
);

const verifications = workingVerifications(
  () => api.database.db,
  () => ({ servers: [['svc-verify=of-another'], 'nodata'] }),
);

beforeAll(async () => {
  engine = await startAnalytics();
  api = await startTestApi({
    checks,
    scans,
    verifications,
    publicChecks: workingPublicChecks(),
    analytics: engine.url,
  });
  document = parse((await api.ask('GET', '/openapi.yaml', { as: null })).text);
  operations = readOperations(document);
  Object.assign(keys, api.keys, {
    readOnly: await api.makeKey({ readOnly: true }),
    expired: await api.makeKey({ expiresAt: new Date(Date.now() - 1000) }),
    narrowed: await api.makeKey({ names: ['www.one.example', 'one.example'], types: ['A', 'TXT'] }),
    oneDomain: await api.makeKey({ domains: ['one.example'] }),
  });
  callers = await DrawnCallers.make(api);
  await prepareDomains();
  await callers.prepare();
});
afterAll(async () => {
  await api?.stop();
  await engine?.stop();
});

function readOperations({ paths }: Document): Operation[] {
  return Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, OpenAPIV3_1.OperationObject>).map(([method, described]) => ({
      method: method.toUpperCase(),
      path,
      parameters: (described.parameters ?? []) as Parameter[],
      body: schemaOf(described.requestBody as OpenAPIV3_1.RequestBodyObject | undefined),
      responses: Object.fromEntries(
        Object.entries(described.responses ?? {}).map(([status, response]) => [
          status,
          {
            schema: schemaOf(response as OpenAPIV3_1.ResponseObject) as Schema,
            type: typeOf(response as OpenAPIV3_1.ResponseObject),
          },
        ]),
      ),
    })),
  );
}

const TEXTS = ['text/dns', 'text/event-stream', 'text/html'] as const;

/** Of its JSON, or of a text that is answered instead. */
function schemaOf(described: OpenAPIV3_1.RequestBodyObject | OpenAPIV3_1.ResponseObject | undefined) {
  const { content } = described ?? {};
  return content?.[typeOf(described)]?.schema as Schema | undefined;
}

function typeOf(described: OpenAPIV3_1.RequestBodyObject | OpenAPIV3_1.ResponseObject | undefined): string {
  const { content = {} } = described ?? {};
  return 'application/json' in content ? 'application/json' : (TEXTS.find((text) => text in content) ?? '');
}

/** Again and again, since the requests take domains away and move them, and end their plans. */
async function prepareDomains(): Promise<void> {
  for (const name of ['one.example', 'two.example', 'client.example'])
    await api.ask('DELETE', `/domains/${name}`, { as: 'operator' });
  await callers.prepare();
  for (const name of DOMAINS) {
    const { status } = await api.ask('GET', `/domains/${name}`);
    const dnsMode = name === 'other.example' ? 'external' : 'managed';
    if (status === 404)
      await api.makeDomain(name, { dnsMode, ...(name === 'broke.example' && { planSlug: null }) });
    else if (name === 'other.example') {
      await api.ask('PUT', `/domains/${name}`, { body: { dns_mode: dnsMode } });
    }
  }
  await sql`
    update domains set status = 'active'
    where name in ('active.example.', 'clientactive.example.') and deleted_at is null`.execute(api.db);
  // So that there is an invoice, and something to switch from.
  await api.ask('POST', '/domains/active.example/subscriptions/purchase', {
    as: await callers.credentials.session(),
    body: { plan_term_id: callers.termIds[0] },
  });
  for (const [name, event] of [
    ['off.example', 'disable'],
    ['banned.example', 'ban'],
    ['clientoff.example', 'disable'],
  ] as const) {
    const { body } = await api.ask('GET', `/domains/${name}`, { as: 'operator' });
    await changeStatus(api.db, { domainId: body.id, event, by: { kind: 'cli' }, source: 'test' });
  }
  const { rows } = await sql<{ id: number; name: string }>`
    select id, rtrim(name, '.') as name from domains where deleted_at is null`.execute(api.db);
  domainIds = Object.fromEntries(rows.map(({ id, name }) => [name, id]));
  await api.ask('PUT', `/reseller/v1/domains/${idOf('clientexternal.example')}`, {
    as: callers.reseller.token,
    body: { dns_mode: 'external' },
  });
  const editable = [
    ['one.example', '/domains/one.example', 'owner'],
    ['two.example', '/domains/two.example', 'owner'],
    ['client.example', `/reseller/v1/domains/${idOf('client.example')}`, callers.reseller.token],
  ] as const;
  for (const [, base, as] of editable) {
    const records = ['192.0.2.1', '192.0.2.2'].map((destination) => ({ destination }));
    const replace = [
      { name: 'www', type: 'A', records },
      { name: 'txt', type: 'TXT', records },
    ];
    await api.ask('PUT', `${base}/records/batch`, { as, body: { replace } });
  }
  await sql`delete from webhooks`.execute(api.db);
  await sql`delete from cache_purges`.execute(api.db); // so many are taken a minute
  for (const [name, base, as] of editable) {
    await api.ask('POST', `${base}/ns-check`, { as });
    await api.ask('POST', `${base}/ssl`, { as, body: await certificateOf(name) });
    await api.ask('DELETE', `${base}/cache/`, { as });
    for (const path of ['a', 'b'])
      await api.ask('POST', `${base}/webhooks`, { as, body: { url: `${HOOK}${path}` } });
    for (const threshold of [1, 2]) await api.ask('POST', `${base}/rules/waf/`, { as, body: { threshold } });
  }
  await sql`delete from invite_windows`.execute(api.db);
  const { body: shared } = await api.ask('GET', '/domains/one.example');
  for (const role of ['editor', 'viewer'] as const)
    await saveMembership(api.db, shared.id, api.accountIds[role], role);
  await saveMembership(api.db, idOf('client.example'), api.accountIds.viewer, 'viewer');
  await api.ask('POST', `/reseller/v1/domains/${idOf('client.example')}/invites`, {
    as: callers.reseller.token,
    body: { email: emailOf('stranger'), role: 'editor' },
  });
  tokens = [];
  for (const account of ['stranger', 'viewer', 'owner'] as const) {
    const { body } = await api.ask('POST', '/domains/one.example/invites', {
      body: { email: emailOf(account), role: 'editor' },
    });
    tokens.push(body.url.split('=')[1]);
  }
  live = Object.fromEntries(
    await Promise.all(
      [...DOMAINS, ...CLIENT_DOMAINS].map(async (name) => [name, await loadLive(`${name}.`)] as const),
    ),
  );
}

async function loadLive(name: string): Promise<Record<Pool, number[]>> {
  const ids = async (table: string, where = sql`true`) => {
    const { rows } = await sql<{ id: number }>`
      select t.id from ${sql.table(table)} t join domains d on d.id = t.domain_id
      where d.name = ${name} and d.deleted_at is null and ${where} order by t.id desc limit 60`.execute(
      api.db,
    );
    return rows.map(({ id }) => id);
  };
  return {
    records: await ids('records'),
    changes: await ids('domain_changes'),
    checks: await ids('check_runs'),
    subscriptions: await ids('subscriptions'),
    members: Object.values(api.accountIds),
    invites: await ids('invites', sql`t.ended_at is null`),
    rules: await ids('rules'),
    webhooks: await ids('webhooks'),
    purges: await ids('cache_purges'),
  };
}

const HOOK = 'https://hooks.example.com/';

const DESTINATIONS: readonly [string, string][] = [
  ['A', '192.0.2.1'],
  ['A', '198.51.100.7'],
  ['AAAA', '2001:db8::1'],
  ['CNAME', 'www.example.net'],
  ['ANAME', 'example.net.'],
  ['NS', 'ns1.example.net'],
  ['TXT', 'v=spf1 -all'],
  ['TXT', '"a" "b"'],
  ['MX', 'mail.example.net'],
  ['SRV', '10 5 5060 sip.example.net'],
  ['CAA', '0 issue "ca.example.net"'],
  ['TLSA', '3 1 1 0000000000000000000000000000000000000000000000000000000000000000'],
  ['HTTPS', '1 . alpn=h2'],
  ['DS', '1 8 2 0000000000000000000000000000000000000000000000000000000000000000'],
];
/** Generated ids from here on stand for ids that exist. */
const STANDS_FOR = 2_000_000_000;
const anId = fc.integer({ min: STANDS_FOR, max: STANDS_FOR + 59 });

const sense: Sense = (name) => {
  switch (name) {
    case 'name':
      return fc.oneof(
        fc.constantFrom(
          '@',
          'www',
          'api',
          '*.shop',
          '_dmarc',
          'WWW.one.example.',
          'bücher',
          'a.b.c',
          'www.two.example',
        ),
        fc.nat(40).map((n) => `new-${n}.example`),
      );
    case 'domain':
      return fc.constantFrom('one.example', 'two.example', 'off.example', 'absent.example');
    case 'domains':
      return fc.constantFrom('one.example,two.example', 'two.example', 'one.example,absent.example', ',');
    case 'destination':
      return fc.constantFrom(...DESTINATIONS.map(([, destination]) => destination));
    case 'type':
      return fc.constantFrom(...API_TYPES);
    case 'id':
      return anId;
    case 'ids':
      return fc.oneof(
        fc.array(anId, { minLength: 1, maxLength: 3 }),
        fc.array(anId, { minLength: 1, maxLength: 3 }).map((ids) => ids.join(',')),
      );
    case 'delete':
      return fc.array(anId, { maxLength: 2 });
    case 'create':
      return fc.array(fc.oneof(aRecord, aRecord, fc.object()), { maxLength: 3 });
    case 'email':
      return fc.constantFrom('ann@shop.example', 'bob@shop.example', emailOf('viewer'), 'nobody');
    case 'password':
      return fc.constant(PASSWORD);
    case 'plan_term_id':
      return fc.constantFrom(...callers.termIds);
    case 'client_id':
      return fc.constantFrom(...callers.clientIds, api.accountIds.owner);
    case 'amount_rials':
      return fc.integer({ min: 1, max: 20_000 });
    case 'wait':
      return fc.constant(0); // there is no node to wait for
    case 'svc_ns':
      return fc.constantFrom(
        ['ns1.example.net', 'ns2.example.net'],
        ['NS2.example.net.', 'ns1.example.net'],
        [],
      );
    case 'status':
      return fc.constantFrom('pending', 'active,pending', 'disabled , banned', 'gone');
    case 'cursor':
      return fc.constantFrom('WyJuYW1lIixmYWxzZSwib25lLmV4YW1wbGUuIiwxXQ', 'x', 'bnVsbA');
    case 'Idempotency-Key':
      return fc.oneof(fc.constantFrom('a', 'b', ' c ', ''), fc.uuid());
    default:
      return undefined;
  }
};

const aRecord = fc
  .tuple(
    fc.constantFrom('@', 'www', 'api', 'x.y', '_sip._tcp'),
    fc.constantFrom(...DESTINATIONS),
    fc.record({ ttl: fc.constantFrom(60, 300, 86_400), proxied: fc.boolean() }, { requiredKeys: [] }),
    fc.nat(65_535),
  )
  .map(([name, [type, destination], more, priority]) => ({
    name,
    type,
    destination,
    ...more,
    ...(type === 'MX' && { mx_priority: priority }),
  }));

const aDomain = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('one.example', 'two.example', ...DOMAINS) },
  { weight: 2, arbitrary: fc.constantFrom('ONE.Example.', 'absent.example', 'xn--a', 'münchen.example') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).filter(isPathPart) },
);

const FOREIGN = ['0', '-1', '1e3', 'x', '99999999999999999999', '007'];
/** By name, which becomes its number in the request. */
const aClientsDomain = fc.oneof(
  { weight: 8, arbitrary: fc.constant('client.example') },
  { weight: 2, arbitrary: fc.constantFrom(...CLIENT_DOMAINS) },
  { weight: 2, arbitrary: fc.constantFrom('one.example', 'absent.example', ...FOREIGN) },
);
const isOfResellers = (path: string) => path.startsWith('/reseller/v1/');

/** Half a surrogate pair has no form in a URL. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** `.` and `..` are taken out of paths by clients. */
function isPathPart(text: string): boolean {
  return !/^\.{1,2}$/.test(text) && isWellFormed(text);
}

function aParameter(parameter: Parameter, path: string): fc.Arbitrary<unknown> {
  const schema = parameter.schema as Schema;
  if (parameter.in === 'path') {
    if (parameter.name === 'domain') {
      return path.endsWith('/enable') ? fc.oneof(fc.constant('off.example'), aDomain) : aDomain;
    }
    if (parameter.name === 'domainId' || parameter.name === 'serviceId')
      return path.endsWith('/enable') ? fc.constantFrom(...CLIENT_DOMAINS) : aClientsDomain;
    if (parameter.name === 'clientId')
      return fc.constantFrom(...callers.clientIds, ...callers.clientIds, ...FOREIGN, api.accountIds.owner);
    if (parameter.name === 'reference')
      return fc.oneof(fc.constantFrom(...callers.topupReferences), fc.constant('ABCDEFGHJKMNPQRS'));
    if (parameter.name === 'type' && path.includes('/rules/'))
      return fc.oneof(
        { weight: 6, arbitrary: fc.constant('waf') },
        fc.constantFrom('rate-limit', 'drop', 'x'),
      );
    if (parameter.name === 'code')
      return fc.oneof({ weight: 6, arbitrary: fc.constant('missing_caa') }, fc.constantFrom('unsigned', 'x'));
    if (parameter.name === 'token') return fc.oneof(fc.constantFrom(...tokens), fc.constant('inv_x'));
    return fc.oneof({ weight: 6, arbitrary: anId }, { weight: 1, arbitrary: fc.constantFrom(...FOREIGN) });
  }
  if (parameter.name === 'domain' && parameter.required === true)
    return isOfResellers(path) ? aClientsDomain : aDomain;
  const fitting = fittingValue(document, schema, sense, parameter.name);
  const odd = fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => isWellFormed(text));
  const value = fc.oneof({ weight: 20, arbitrary: fitting }, { weight: 1, arbitrary: odd });
  return parameter.required === true ? value : fc.option(value, { freq: 2, nil: undefined });
}

const aChange = fc.record(
  {
    ttl: fc.constantFrom(60, 300),
    comment: fc.string({ maxLength: 9 }),
    timeout: fc.integer({ min: 1, max: 60 }),
  },
  { requiredKeys: [] },
);
const aSet = fc.record({
  name: fc.constantFrom('www', 'set', '@'),
  type: fc.constant('A'),
  records: fc.array(fc.record({ destination: fc.constantFrom('192.0.2.1', '192.0.2.2') }), { maxLength: 1 }),
});

const aRule = fc.record({ enabled: fc.boolean(), priority: fc.nat(9) }, { requiredKeys: [] });

/** Made once for each name, since keys take time. */
const certificates = new Map<string, Promise<{ certificate: string; private_key: string }>>();

function certificateOf(name: string) {
  const made =
    certificates.get(name) ??
    makeCertificate({ names: [name] }).then(({ pem, key }) => ({ certificate: pem, private_key: key }));
  certificates.set(name, made);
  return made;
}

/** Where a body that only fits its schema would seldom be accepted. */
const SENSIBLE_BODIES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  'POST /domains/{domain}/records/': aRecord,
  'PUT /domains/{domain}/records/{id}': aChange,
  'PUT /domains/{domain}/records/batch': fc.record(
    {
      create: fc.array(aRecord, { maxLength: 1 }),
      update: fc.array(
        fc.tuple(anId, aChange).map(([id, change]) => ({ id, ...change })),
        { maxLength: 1 },
      ),
      delete: fc.array(anId, { maxLength: 1 }),
      replace: fc.array(aSet, { maxLength: 1 }),
    },
    { requiredKeys: [] },
  ),
  'POST /domains/{domain}/records/import': fc.record({
    records: fc.array(aRecord, { minLength: 1, maxLength: 3 }),
  }),
  'POST /domains/{domain}/records/import/parse': fc.record({
    zone_file: fc.constantFrom('www A 192.0.2.1 ; zonefleet port=80', 'a B c\n@ MX 10 mail', ''),
  }),
  'POST /domains/{domain}/ssl': fc.constantFrom(
    await certificateOf('one.example'),
    await certificateOf('two.example'),
    await certificateOf('client.example'),
  ),
  'POST /domains/{domain}/rules/{type}/': aRule,
  'PUT /domains/{domain}/rules/{type}/{id}': aRule,
  'PATCH /domains/{domain}/rules/{type}/reorder': fc.array(fc.record({ id: anId, priority: fc.nat(9) }), {
    maxLength: 1,
  }),
  'POST /domains/{domain}/webhooks': fc.constantFrom({ url: `${HOOK}c` }, { url: 'http://10.0.0.1/' }),
  'POST /domains/{domain}/cache/refresh': fc.constantFrom(
    { url: 'https://www.one.example/a' },
    { url: 'https://www.two.example/a?b' },
    { url: 'https://www.client.example/a' },
  ),
  'POST /auth/login': fc.constant({ email: emailOf('owner'), password: PASSWORD, bearer: true }),
  'POST /wallet/topup': fc.constant({ amount_rials: 10_000 }),
  'POST /users/me/keys': fc.constant({ name: 'spare' }),
  'POST /reseller/v1/tokens': fc.constant({ name: 'drawn' }),
  'POST /reseller/v1/clients': fc.uuid().map((name) => ({ email: `${name}@drawn.test` })),
  'DELETE /domains/{domain}/records/batch': fc.constantFrom<unknown>(null, { ids: [STANDS_FOR] }),
};

const aService = fc.tuple(fc.uuid(), fc.nat(2)).map(([name, term]) => ({
  client_id: callers.clientIds[0],
  domain: `${name}.example`,
  plan_term_id: callers.termIds[term],
}));

function aBody({ body, path, method }: Operation): fc.Arbitrary<{ value: unknown; raw?: string }> {
  if (body === undefined)
    return fc.constantFrom<{ value: unknown }>({ value: undefined }, { value: {} }, { value: { a: 1 } });
  const generic = fittingValue(document, body, sense);
  const sensible =
    `${method} ${path}` === 'POST /reseller/v1/services'
      ? aService
      : SENSIBLE_BODIES[`${method} ${path.replace('/reseller/v1/domains/{domainId}', '/domains/{domain}')}`];
  const fitting = sensible === undefined ? generic : fc.oneof({ weight: 2, arbitrary: sensible }, generic);
  return fc.oneof(
    { weight: 12, arbitrary: fitting.map((value) => ({ value })) },
    { weight: 6, arbitrary: fitting.chain(spoilt).map((value) => ({ value })) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('', '{', 'null', '[]', '"x"', '\ufeff{}', '{"a":1,"a":2}', '{"name":"\\ud800"}')
        .map((raw) => ({ value: undefined, raw })),
    },
  );
}

const aRequest = (from: typeof operations = operations) =>
  fc.constantFrom(...from).chain((operation) =>
    fc
      .tuple(
        fc.tuple(...operation.parameters.map((parameter) => aParameter(parameter, operation.path))),
        aBody(operation),
        fc.oneof(
          { weight: 5, arbitrary: fc.constantFrom(...usualCallers(operation.path)) },
          {
            weight: 4,
            arbitrary: fc.constantFrom(...Object.keys(keys), ...DRAWN_CALLERS),
          },
        ),
      )
      .map(([values, { value, raw }, key]): Request => {
        const kind =
          (
            [
              'changes',
              'checks',
              'subscriptions',
              'members',
              'invites',
              'rules',
              'webhooks',
              'purges',
            ] as const
          ).find((pool) => operation.path.includes(`/${pool}`)) ?? 'records';
        const at = operation.parameters.findIndex(({ name }) => /^(domain|domainId|serviceId)$/.test(name));
        const domain = String(values[at]);
        const [, ownIds = live[domain]?.[kind] ?? []] =
          Object.entries(callers.ownIds).find(([path]) => operation.path.startsWith(`${path}/`)) ?? [];
        const ids = ownIds;
        const isById = isOfResellers(operation.path);
        const given = operation.parameters.map((parameter, i) => ({
          parameter,
          value: standIn(isById && i === at ? numberOf(domain) : values[i], ids),
        }));
        const client = values[operation.parameters.findIndex(({ name }) => name === 'clientId')];
        let url = operation.path;
        const query = new URLSearchParams();
        const headers: Record<string, string> = {};
        for (const { parameter, value } of given) {
          if (value === undefined) continue;
          if (parameter.in === 'path')
            url = url.replace(`{${parameter.name}}`, encodeURIComponent(String(value)));
          else if (parameter.in === 'query') query.append(parameter.name, String(value));
          else headers[parameter.name] = String(value).replaceAll(/[^\x20-\x7e]/g, '?');
        }
        if (url.endsWith('/events')) query.set('once', 'true'); // a stream would not end
        const search = query.toString();
        return {
          operation,
          url: search === '' ? url : `${url}?${search}`,
          key,
          headers,
          body: standIn(value, ids),
          raw,
          isForeign:
            isById &&
            // what is no id further below is a path that there is not, whosever domain it names
            !values.some((each, i) => i !== at && each !== client && FOREIGN.includes(String(each))) &&
            ((at >= 0 && !CLIENT_DOMAINS.some((name) => name === domain)) ||
              (client !== undefined && !callers.clientIds.some((id) => id === client))),
        };
      }),
  );

/** What is no name of a domain stays as it is. */
function numberOf(domain: string): string {
  return domain.includes('.') ? String(idOf(domain)) : domain;
}

/** True if an earlier request has bought the domain for a client, or moved it to one. */
async function isClients(url: string): Promise<boolean> {
  const id = /^\/reseller\/v1\/(?:domains|services)\/([1-9]\d{0,14})(?:[/?]|$)/.exec(url)?.[1];
  if (id === undefined) return false;
  const { rows } = await sql`
    select from domains where id = ${id} and account_id = any(${callers.clientIds})`.execute(api.db);
  return rows.length > 0;
}

/** Who may do it, where it is no matter of roles. */
function usualCallers(path: string): readonly string[] {
  if (isOfResellers(path)) return ['machine', 'reseller'];
  return OF_SESSIONS.test(path) ? ['session'] : ['owner'];
}

/** Ids that stand for others become these, wherever they are. */
function standIn(value: unknown, ids: readonly number[]): unknown {
  const real = (id: number) => ids[(id - STANDS_FOR) % Math.max(1, ids.length)] ?? 1;
  if (typeof value === 'number') return value >= STANDS_FOR && value < STANDS_FOR + 60 ? real(value) : value;
  if (typeof value === 'string')
    return value.replaceAll(/\b20000000\d\d\b/g, (digits) => String(real(Number(digits))));
  if (Array.isArray(value)) return value.map((item) => standIn(item, ids));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, standIn(part, ids)]));
}

const isDrawnCaller = (key: string): key is DrawnCaller => DRAWN_CALLERS.some((name) => name === key);

async function send({ operation, url, key, headers, body, raw }: Request): Promise<Answer> {
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return await api.ask(operation.method, url, {
    as: isDrawnCaller(key) ? await callers.credentials[key]() : (keys[key] ?? null),
    headers,
    ...(sent !== undefined && { body: sent }),
  });
}

/** What the answer breaks. */
function judge(
  { operation, body, raw, key, isForeign }: Request,
  { status, body: answer, headers }: Answer,
): string[] {
  const declared = operation.responses[status];
  if (status >= 500) return [`a ${status}: ${JSON.stringify(answer)}`];
  if (declared === undefined) return [`the status ${status} is not described`];
  const { schema, type } = declared;
  const found = type === 'application/json' ? faultsOf(document, schema, answer, `the answer ${status}`) : [];
  if (!String(headers['content-type']).startsWith(type)) found.push('the answer is not of its type');
  if (isForeign && (key === 'machine' || key === 'reseller') && status !== 403)
    found.push(`a ${status} for what is no client's`);
  if (key === 'client' && /"price/.test(JSON.stringify(answer))) found.push('a client sees a price');
  if (typeof headers['x-request-id'] !== 'string') found.push('no X-Request-Id');
  const { code } = (answer ?? {}) as { code?: ProblemCode };
  if (status >= 400 && code !== undefined && PROBLEM_CODES[code] !== status)
    found.push(`${code} as a ${status}`);
  // A replay is told by what was asked first, so a repeat has the same body.
  if (status === 200 && raw === undefined && operation.body !== undefined) {
    const sent = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
    const isLeftOut = sent === undefined && resolve(document, operation.body).anyOf !== undefined;
    if (!isLeftOut)
      found.push(
        ...faultsOf(document, operation.body, sent, ACCEPTED).filter(
          (fault) => !isOfFailedItem(fault, answer),
        ),
      );
  }
  return found;
}

const ACCEPTED = 'the accepted body';

/** An import takes each item for itself: a wrong one is told in `failed`, and the others go in. */
function isOfFailedItem(fault: string, answer: unknown): boolean {
  const { failed = [] } = answer as { failed?: readonly { readonly index: number }[] };
  return failed.some(({ index }) => fault.startsWith(`${ACCEPTED}.records[${index}].`));
}

/** The calls that only sessions make; some answer whoever shows nothing at all. */
const OF_SESSIONS =
  /^\/(users|auth|billing)\/|^\/wallet\/topup$|^\/wallet\/topups\/|^\/domains\/.*\/subscriptions\/(purchase|switch|auto-renew)$|^\/subscriptions\//;
/** Whoever calls signs it: test/api/routes/vantage.postgres.test.ts and test/api/routes/money. */
const IS_SIGNED = /^\/(vantage|payments)\//;
/** What wants a link that was mailed or a code of an app: test/api/routes/people. */
const NEEDS_LINK_OR_CODE =
  /^\/auth\/(register|password\/reset|otp\/(confirm|disable))$|^\/users\/me\/email\/confirm$/;

const isClosedToKeys = (path: string) =>
  OF_SESSIONS.test(path) || IS_SIGNED.test(path) || isOfResellers(path);

describe('requests made from the description', () => {
  it('never meet a bug, and get answers that are described', { timeout: scale(60, 8) * 60_000 }, async () => {
    const seen = new Map<string, number>();
    const openedByKeys = new Set<string>();
    let sent = 0;
    const checked = (from?: typeof operations) =>
      fc.asyncProperty(aRequest(from), async (request) => {
        if (++sent % 100 === 0) await prepareDomains();
        const answer = await send(request);
        const which = `${request.operation.method} ${request.operation.path} ${answer.status}`;
        seen.set(which, (seen.get(which) ?? 0) + 1);
        const { path } = request.operation;
        const isKey = request.key in keys && request.key !== 'none';
        const isMachinesOwn = request.key === 'machine' && path.startsWith('/reseller/v1/tokens');
        if (answer.status === 200 && ((isKey && isClosedToKeys(path)) || isMachinesOwn))
          openedByKeys.add(which);
        const isForeign = request.isForeign && !(await isClients(request.url));
        const found = judge({ ...request, isForeign }, answer);
        expect(
          found,
          `${request.operation.method} ${request.url} as ${request.key} ${request.raw ?? JSON.stringify(request.body)}`,
        ).toEqual([]);
      });
    await fc.assert(checked(), { numRuns: REQUESTS, endOnFailure: true });
    // A proof of refusals alone would prove little: every operation has also done what it is for. What the draw of a few
    // requests left out is drawn for itself.
    // closed and removed paths have no success
    const open = operations.filter(
      ({ method, path, responses }) =>
        '200' in responses &&
        !IS_SIGNED.test(path) &&
        !NEEDS_LINK_OR_CODE.test(path) &&
        !NEEDS_SIGNED_ZONE.test(`${method} ${path}`),
    );
    const undone = () => open.filter(({ method, path }) => !seen.has(`${method} ${path} 200`));
    for (let more = 0; more < MORE_DRAWS && undone().length > 0; more++) {
      await prepareDomains();
      await fc.assert(checked(undone()), { numRuns: 50, endOnFailure: true });
    }
    expect(undone().map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    expect([...openedByKeys]).toEqual([]);
    const bugs = api.logged.filter(({ level }) => Number(level) >= 50);
    expect(bugs).toEqual([]);
  });
});
