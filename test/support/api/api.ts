// A test API with its own database, accounts in every relation to a domain, and their API keys.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll } from 'vitest';
import { type Analytics, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { createRateLimit } from '../../../src/api/callers/rate-limits.ts';
import type { Api } from '../../../src/api/calls/call.ts';
import type { Route } from '../../../src/api/calls/route.ts';
import { SlowCalls } from '../../../src/api/calls/slow-calls.ts';
import { describeRoutes } from '../../../src/api/description/describe-routes.ts';
import { addDocsPage } from '../../../src/api/description/docs-page.ts';
import { EdgeFeed } from '../../../src/api/edge/edge-feed.ts';
import { EventFeed } from '../../../src/api/events/event-feed.ts';
import type { EventLimits } from '../../../src/api/events/followers.ts';
import { addHealth } from '../../../src/api/health.ts';
import { OutageLog } from '../../../src/api/http/outage-log.ts';
import { createServer } from '../../../src/api/http/server.ts';
import type { LargeWork } from '../../../src/api/large/large-work.ts';
import { openPeople } from '../../../src/api/people/people.ts';
import { openRequests } from '../../../src/api/requests/open-requests.ts';
import { openGateways } from '../../../src/billing/gateway.ts';
import { TAGS } from '../../../src/features/every-feature.ts';
import { COMPAT_ROUTES, EDGE_ROUTES, RESELLER_ROUTES, ROUTES } from '../../../src/features/every-route.ts';
import type { OidcSettings } from '../../../src/features/feature.ts';
import { openServices } from '../../../src/features/open-services.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { createApiKey, generateKey, type NewApiKey } from '../../../src/store/accounts/api-keys.ts';
import { createDomain } from '../../../src/store/change/save-domain.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { databaseReadiness } from '../../../src/store/postgres/database-readiness.ts';
import { KeyBoxes, useKeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { parseDomainName } from '../../../src/zone/domain/domain-name.ts';
import type { DnsMode } from '../../../src/zone/domain/domain-status.ts';
import { asRole, createDatabase, emptyDatabase, type TestDatabase } from '../database/database.ts';
import { saveMembership } from '../database/memberships.ts';

/** Roles in every domain of `makeDomain`. `stranger` has none, and `operator` is a global admin. */
const TEST_ACCOUNTS = ['owner', 'admin', 'editor', 'viewer', 'stranger', 'operator'] as const;
export type TestAccount = (typeof TEST_ACCOUNTS)[number];

export interface Asked {
  /** Account whose key is sent. Default: `owner`. null sends no key. Any other text is sent as the key. */
  as?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests access any member
  readonly body: any;
  readonly headers: LightMyRequestResponse['headers'];
  readonly text: string;
}

export interface TestApi {
  readonly app: FastifyInstance;
  readonly db: Database;
  readonly events: EventFeed;
  readonly database: TestDatabase;
  readonly logged: Record<string, unknown>[];
  readonly accountIds: Readonly<Record<TestAccount, number>>;
  readonly keys: Readonly<Record<TestAccount, string>>;
  ask(method: string, url: string, asked?: Asked): Promise<Answer>;
  query<T>(text: TemplateStringsArray, ...values: unknown[]): Promise<T[]>;
  /** Creates another key. Default account: `owner`. */
  makeKey(key?: Omit<Partial<NewApiKey>, 'accountId'>, account?: TestAccount): Promise<string>;
  /**
   * Creates a domain of `owner`, with members in the other three roles. The operator creates it, so that it is
   * answered completely.
   */
  makeDomain(name: string, options?: { dnsMode?: DnsMode; planSlug?: string | null }): Promise<Domain>;
  stop(): Promise<void>;
}

/** Members of `Api` that a test may set. The others have their values from `API_DEFAULTS`. */
type Given = Partial<
  Pick<
    Api,
    | 'allowReservedNames'
    | 'checks'
    | 'countryOf'
    | 'issuesCertificates'
    | 'maxNegativeRials'
    | 'originAllow'
    | 'publicChecks'
    | 'scans'
    | 'signsNewDomains'
    | 'trial'
    | 'verifications'
  >
>;

export interface TestApiOptions extends Given {
  routes?: readonly Route[];
  /** Default: all, or none if `routes` is set. */
  resellerRoutes?: readonly Route[];
  requestsPerMinute?: number;
  sessionRequestsPerMinute?: number;
  resellerRequestsPerMinute?: number;
  trustedProxies?: readonly string[];
  /** Differences from a service that is open for registration. */
  people?: {
    publicUrl?: string;
    sendsMail?: boolean;
    registration?: boolean;
    operatorsNeedProvider?: boolean;
    operatorsConfirmWithProvider?: boolean;
  };
  /** Differences from `NO_PROVIDER`. */
  oidc?: Partial<OidcSettings>;
  paymentInstructions?: string;
  invoiceSeller?: string;
  /** Default: one secret. Without any, nothing can be encrypted. */
  keySecrets?: typeof TEST_KEY_SECRETS;
  /** Default: the cache registry is in the same database. */
  cacheRegistryUrl?: string;
  /** Non-public networks that webhooks may call. */
  webhookAllow?: readonly string[];
  tsigSecrets?: typeof TEST_KEY_SECRETS;
  /** A store, or the URL of one from `startAnalytics`. Default: no store. */
  analytics?: string | Analytics;
  /** Limits of event streams that differ from an API process. */
  eventLimits?: Partial<EventLimits>;
  /** The database to use. It is dropped at the end too. */
  database?: TestDatabase;
  /** Another connection to the same database. */
  db?: Database;
  /** The same for the connections that listen. */
  databaseUrl?: string;
  /** Intake of edge reports: `sink` replaces the store, the others differ from an API process. */
  reports?: Partial<Omit<Parameters<typeof openRequests>[0], 'db' | 'log' | 'analytics'>> & {
    readonly sink?: Pick<Analytics, 'insert'>;
  };
  /** Default: large bodies are handled in this thread, like small ones. */
  largeWork?: LargeWork;
  mount?: (app: FastifyInstance) => void;
}

export const PUBLIC_URL = 'https://dns.zonefleet.test';
export const TEST_KEY_SECRETS = [{ name: 'test', secret: Buffer.alloc(32, 7) }];

/** People sign in with passwords only. */
const NO_PROVIDER: OidcSettings = {
  oidcIssuer: undefined,
  oidcClientId: undefined,
  oidcClientSecret: undefined,
  oidcScopes: 'openid email profile',
  oidcName: 'Test ID',
  oidcLink: [],
  oidcCreate: [],
  oidcOperators: undefined,
  oidcConfirm: true,
};

export const ONLINE_GATEWAY = {
  url: 'https://pay.zonefleet.test/begin?shop=7',
  secret: 'the-gateway-and-we-know-this-secret-alone',
};

const NO_QUEUE = {
  enqueueNow: () => Promise.reject(new Error('this test has no queue')),
};

const API_DEFAULTS = {
  allowReservedNames: true,
  checks: NO_QUEUE,
  verifications: NO_QUEUE,
  scans: NO_QUEUE,
  issuesCertificates: true,
};

type TestServer = Pick<TestApi, 'app' | 'db' | 'events' | 'database' | 'logged' | 'stop'>;

let shared: Promise<TestServer> | undefined;

/**
 * For test files whose API needs no options: the file gets the API of its worker process, which starts once, with an
 * empty database and new accounts. Domain names may be reused from other files. The API is never stopped.
 */
export function sharedTestApi(): TestApi {
  let api: TestApi | undefined;
  beforeAll(async () => {
    // people.ts sends the address of a browser in X-Forwarded-For.
    shared ??= startServer({
      trustedProxies: ['127.0.0.1/32'],
      countryOf: (address) => (address === '198.51.100.99' ? 'SE' : undefined),
    });
    const server = await shared;
    await emptyDatabase(server.database);
    server.logged.length = 0;
    api = await withAccounts(server);
  });
  return new Proxy({} as TestApi, { get: (_, member) => api?.[member as keyof TestApi] });
}

/** Starts an API before the tests of a file or a `describe`, and stops it after them. */
export function ownApi<T extends TestApi>(start: () => Promise<T>): T {
  let api: T | undefined;
  beforeAll(async () => {
    api = await start();
  });
  afterAll(() => api?.stop());
  return new Proxy({} as T, { get: (_, member) => api?.[member as keyof T] });
}

export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  return await withAccounts(await startServer(options));
}

async function startServer(options: TestApiOptions = {}): Promise<TestServer> {
  const { routes = ROUTES, resellerRoutes = options.routes ? [] : RESELLER_ROUTES } = options;
  const database = options.database ?? (await createDatabase());
  const db = options.db ?? database.db;
  // Connects with the API's own role, so that missing privileges fail here. The test itself connects as the owner.
  const own = options.db ?? openDatabase(asRole(database.url, 'zonefleet_api'));
  const boxes = new KeyBoxes(options.keySecrets ?? TEST_KEY_SECRETS);
  for (const each of [own, db]) useKeyBoxes(each, boxes);
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line)) });
  const outages = new OutageLog(log);
  const edgeFeed = new EdgeFeed({ db: own, databaseUrl: asRole(database.url, 'zonefleet_api'), log });
  const eventFeed = new EventFeed({
    db: own,
    databaseUrl: options.databaseUrl ?? asRole(database.url, 'zonefleet_api'),
    log,
    ...(options.eventLimits && { limits: options.eventLimits }),
  });
  const closing: (() => Promise<void>)[] = [];
  const services = await openServices({
    db: own,
    databaseUrl: asRole(database.url, 'zonefleet_api'),
    settings: {
      cacheRegistryUrl: options.cacheRegistryUrl,
      webhookAllow: options.webhookAllow ?? [],
      resolverAllow: [],
      tsigSecrets: options.tsigSecrets ?? TEST_KEY_SECRETS,
      ...NO_PROVIDER,
      ...options.oidc,
      console: true,
      publicUrl: options.people?.publicUrl ?? PUBLIC_URL,
    },
    registry: new Registry(),
    edgeFeed,
    log,
    onStop: (close) => closing.push(close),
  });
  const analytics =
    typeof options.analytics === 'string' ? openAnalytics(options.analytics) : options.analytics;
  const sink = options.reports?.sink ?? analytics;
  const spool = sink && mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));
  const requests =
    sink === undefined || spool === undefined
      ? undefined
      : await openRequests({
          db: own,
          analytics: sink,
          log,
          mostBytes: 256 * 1024 ** 2,
          wholeClients: false,
          directory: spool,
          ...options.reports,
        });
  const slowCalls = new SlowCalls();
  const limitOf = (perMinute: number | undefined) =>
    perMinute === undefined ? undefined : createRateLimit(own, perMinute);
  const rateLimit = limitOf(options.requestsPerMinute);
  const app = await createServer({
    api: {
      ...API_DEFAULTS,
      ...options,
      db: own,
      domainRate: rateLimit,
      edgeFeed,
      eventFeed,
      services,
      analytics,
      slowCalls,
      requests: requests?.intake,
      payments: {
        gateways: openGateways(ONLINE_GATEWAY),
        instructions: options.paymentInstructions,
        seller: options.invoiceSeller,
      },
      people: openPeople(own, boxes, {
        publicUrl: PUBLIC_URL,
        sendsMail: true,
        registration: true,
        operatorsNeedProvider: false,
        operatorsConfirmWithProvider: false,
        ...options.people,
      }),
    },
    routes,
    resellerRoutes,
    edgeRoutes: EDGE_ROUTES,
    compatRoutes: options.routes ? [] : COMPAT_ROUTES,
    rateLimit,
    log,
    outages,
    largeWork: options.largeWork,
    sessionRateLimit: limitOf(options.sessionRequestsPerMinute),
    resellerRateLimit: limitOf(options.resellerRequestsPerMinute),
    trustedProxies: options.trustedProxies ?? [],
    async prepare(server) {
      addHealth(
        server,
        databaseReadiness(own, () => outages.lacking()),
      );
      await describeRoutes(server, {
        routes: [...routes, ...resellerRoutes],
        edgeRoutes: EDGE_ROUTES,
        ...TAGS,
      });
      addDocsPage(server);
      options.mount?.(server);
    },
  });
  return {
    app,
    db,
    events: eventFeed,
    database,
    logged,
    async stop() {
      await edgeFeed.close();
      await eventFeed.close();
      await app.close();
      for (const close of closing) await close();
      await requests?.close();
      if (spool !== undefined) rmSync(spool, { recursive: true });
      await analytics?.close();
      if (own !== options.db) await own.destroy();
      await database.drop();
    },
  };
}

async function withAccounts(server: TestServer): Promise<TestApi> {
  const { app, database } = server;
  const accountIds = {} as Record<TestAccount, number>;
  const keys = {} as Record<TestAccount, string>;
  const makeKey: TestApi['makeKey'] = async (key = {}, account = 'owner') => {
    const text = generateKey();
    await createApiKey(database.db, text, { name: account, ...key, accountId: accountIds[account] });
    return text;
  };
  for (const name of TEST_ACCOUNTS) {
    accountIds[name] = await makeAccount(database.db, name);
    keys[name] = await makeKey({}, name);
  }
  return {
    ...server,
    accountIds,
    keys,
    makeKey,
    query: async (...statement) => (await sql<never>(...statement).execute(server.db)).rows,
    async ask(method, url, { as = 'owner', body, headers = {} } = {}) {
      const key = as === null ? undefined : as in keys ? keys[as as TestAccount] : as;
      const response = await app.inject({
        method: method as 'GET',
        url,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: body as string }),
      });
      const isJson = /json/.test(String(response.headers['content-type'])) && response.body !== '';
      const { statusCode: status, headers: answered, body: text } = response;
      return { status, headers: answered, text, body: isJson ? JSON.parse(text) : undefined };
    },
    async makeDomain(name, { dnsMode = 'managed', planSlug } = {}) {
      const parsed = parseDomainName(name);
      if (parsed.kind === 'problem') throw new Error(parsed.message);
      const created = await createDomain(database.db, {
        accountId: accountIds.owner,
        name: parsed.name,
        unicode: parsed.unicode,
        dnsMode,
        exempt: true,
        ...(planSlug === undefined ? {} : { planSlug }),
        by: { kind: 'cli', name: 'test' },
        source: 'test',
      });
      if (created.kind !== 'created') throw new Error(created.message);
      for (const role of ['admin', 'editor', 'viewer'] as const)
        await saveMembership(database.db, created.domain.id, accountIds[role], role);
      return created.domain;
    },
  };
}

/** Reads a list page by page, starting at `url`. */
export async function readPages(api: Pick<TestApi, 'ask'>, url: string): Promise<Answer[]> {
  const pages = [await api.ask('GET', url)];
  for (;;) {
    const next = /<([^>]+)>; rel="next"/.exec(String(pages.at(-1)?.headers.link))?.[1];
    if (next === undefined) return pages;
    pages.push(await api.ask('GET', next));
  }
}

async function makeAccount(db: Database, name: TestAccount): Promise<number> {
  const created = await createAccount(db, {
    email: `${name}@zonefleet.test`,
    planSlug: 'pro',
    isAdmin: name === 'operator',
  });
  if (created.kind !== 'created') throw new Error(created.message);
  return created.account.id;
}
