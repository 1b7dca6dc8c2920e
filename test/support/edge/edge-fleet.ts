// An API process, the test proxy behind it as a registered edge, origins, and an owner with a domain: what flow tests of the
// edge are played on.

import type { Overrides } from '../../../src/billing/entitlements.ts';
import type { EdgeConfig } from '../../../src/edge/edge-config.ts';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { setSuspended } from '../../../src/store/change/update-domain.ts';
import { createEdge } from '../../../src/store/edges/edges.ts';
import { createDatabase, type TestDatabase } from '../database/database.ts';
import { BY, newAccount, newDomain } from '../database/domains.ts';
import { type ApiProcess, type HttpAnswer, startApi } from '../processes/api-process.ts';
import { freePort } from '../processes/free-port.ts';
import { startTogether } from '../tests/start-together.ts';
import { until } from '../tests/until.ts';
import { askEdge, type EdgeAnswer, type Visiting } from './ask-edge.ts';
import { makeAuthority, type TestAuthority } from './origin/made-certificate.ts';
import { startOrigin, type TestOrigin } from './origin/test-origin.ts';
import { EdgeAgent } from './proxy/edge-agent.ts';
import { type EdgeProxy, startEdgeProxy } from './proxy/edge-proxy.ts';

/** Where the tests' origins are; loopback is refused everywhere else. */
export const ORIGINS = '127.0.7.0/24';
export const DOMAIN = 'shop.example';
/** The host that `own` answers for. */
export const HOST = `www.${DOMAIN}`;

export interface EdgeFleetOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly region?: string;
  /** What names of origins lead to. */
  resolve?(name: string): Promise<readonly string[]>;
}

export interface MadeRecord {
  readonly id: number;
}

export class EdgeFleet {
  readonly database: TestDatabase;
  readonly authority: TestAuthority;
  readonly own: TestOrigin;
  readonly other: TestOrigin;
  readonly tls: TestOrigin;
  readonly token: string;
  readonly domainId: number;
  /** The proxied record of `HOST`, to `own`. */
  record: MadeRecord = { id: 0 };
  api: ApiProcess;
  readonly edge: EdgeAgent;
  readonly proxy: EdgeProxy;
  readonly #owner: string;
  readonly #options: EdgeFleetOptions;

  /** With `HOST` proxied to `own`, and known to the proxy. */
  static async start(options: EdgeFleetOptions = {}): Promise<EdgeFleet> {
    const database = await createDatabase();
    try {
      return await EdgeFleet.#startOn(database, options);
    } catch (error) {
      await database.drop();
      throw error;
    }
  }

  static async #startOn(database: TestDatabase, options: EdgeFleetOptions): Promise<EdgeFleet> {
    const { db } = database;
    const owner = generateKey();
    const accountId = await newAccount(db, 'owner@zonefleet.test');
    await createApiKey(db, owner, { name: 'owner', accountId });
    const domain = await newDomain(db, accountId, `${DOMAIN}.`);
    const edge = { name: 'edge1', region: options.region ?? 'eu', v4: ['198.51.100.10'], v6: [] };
    const created = await createEdge(db, edge);
    if (created.kind !== 'created') throw new Error(created.kind);
    const authority = makeAuthority();
    const port = await freePort();
    const [api, own, other, tls] = await startTogether<[ApiProcess, TestOrigin, TestOrigin, TestOrigin]>([
      startApi(database.url, { env: envOf(options) }),
      startOrigin('own', '127.0.7.1', undefined, port),
      startOrigin('other', '127.0.7.2', undefined, port),
      startOrigin('tls', '127.0.7.3', authority.issue(['origin.example'])),
    ]);
    const fleet: EdgeFleet = new EdgeFleet({
      database,
      authority,
      api,
      own,
      other,
      tls,
      edge: new EdgeAgent(() => fleet.api.url, created.token),
      token: created.token,
      domainId: domain.id,
      owner,
      options,
      proxy: await startEdgeProxy({
        allow: [ORIGINS],
        ...(options.resolve && { resolve: options.resolve }),
        loadCertificate: (id) => fleet.edge.loadCertificate(id),
      }),
    });
    fleet.edge.follow(fleet.proxy.configs);
    fleet.edge.followPurges((domain, target) => fleet.proxy.purge(domain, target));
    fleet.proxy.cacheReporter.start(
      async (body) => (await fleet.edge.ask('POST', '/edge/v1/cache', body)).status,
    );
    fleet.proxy.requestReporter.start((batch, octets) => fleet.edge.reportRequests(batch, octets));
    fleet.edge.keepReporting(fleet.proxy.configs, () => []);
    try {
      fleet.record = await fleet.addRecord('www', own);
    } catch (error) {
      await fleet.#stopProcesses();
      throw error;
    }
    return fleet;
  }

  private constructor(started: {
    database: TestDatabase;
    authority: TestAuthority;
    api: ApiProcess;
    own: TestOrigin;
    other: TestOrigin;
    tls: TestOrigin;
    edge: EdgeAgent;
    token: string;
    domainId: number;
    owner: string;
    options: EdgeFleetOptions;
    proxy: EdgeProxy;
  }) {
    this.database = started.database;
    this.authority = started.authority;
    this.api = started.api;
    this.own = started.own;
    this.other = started.other;
    this.tls = started.tls;
    this.edge = started.edge;
    this.token = started.token;
    this.domainId = started.domainId;
    this.proxy = started.proxy;
    this.#owner = started.owner;
    this.#options = started.options;
  }

  /** As the domain's owner. */
  async ask(method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    const response = await fetch(`${this.api.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#owner}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const headers = Object.fromEntries(response.headers);
    return { status: response.status, headers, body: await response.json().catch(() => undefined) };
  }

  /** As the owner below the domain's path; it has to succeed, and the proxy knows of it when this returns. */
  async change(method: string, path: string, body?: unknown): Promise<HttpAnswer['body']> {
    return await this.#changed(this.ask(method, `/domains/${DOMAIN}${path}`, body));
  }

  /** As an operator, whose surface is not open to keys. */
  async suspend(suspended: boolean): Promise<void> {
    await setSuspended(this.database.db, { domainId: this.domainId, suspended });
    await this.caughtUp();
  }

  async move(event: 'disable' | 'enable'): Promise<void> {
    await changeStatus(this.database.db, { ...BY, domainId: this.domainId, event, exempt: true });
    await this.caughtUp();
  }

  async override(overrides: Overrides): Promise<void> {
    await setPlan(this.database.db, { domainId: this.domainId, planSlug: 'pro', overrides });
    await this.caughtUp();
  }

  async #changed(asking: Promise<HttpAnswer>): Promise<HttpAnswer['body']> {
    const { status, body } = await asking;
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
    await this.caughtUp();
    return body;
  }

  /** A proxied A record of an origin. */
  async addRecord(name: string, origin: TestOrigin, more: object = {}): Promise<MadeRecord> {
    const { address: destination, port } = origin;
    const scheme = origin === this.tls ? 'Https' : 'Http';
    return await this.change('POST', '/records/', {
      name,
      type: 'A',
      destination,
      port,
      scheme,
      proxied: true,
      ...more,
    });
  }

  /** Until the proxy has the newest version of the domain. */
  async caughtUp(domain = DOMAIN): Promise<void> {
    const { version } = await this.database.db
      .selectFrom('edge_changes')
      .select('version')
      .where('name', '=', `${domain}.`)
      .executeTakeFirstOrThrow();
    const told = () => this.proxy.configs.versionOf(domain) ?? 0;
    await until(
      () => told() >= Number(version),
      () => `version ${version} of ${domain} at the proxy, which has ${told()}; ${this.api.log()}`,
    );
  }

  config(domain = DOMAIN): EdgeConfig {
    const config = this.proxy.configs.of(domain);
    if (config === undefined) throw new Error(`the proxy has no config of ${domain}`);
    return config;
  }

  async visit(visiting: Visiting = {}, url = `http://${HOST}/page?a=1`): Promise<EdgeAnswer> {
    return await askEdge(this.proxy, url, visiting);
  }

  /** Another API process in the place of the one that was stopped, on another port. */
  async restartApi(): Promise<void> {
    this.api = await startApi(this.database.url, { env: envOf(this.#options) });
  }

  async stop(): Promise<void> {
    await this.#stopProcesses();
    await this.database.drop();
  }

  async #stopProcesses(): Promise<void> {
    await this.proxy.cacheReporter.stop();
    await this.proxy.requestReporter.stop();
    await this.edge.stop();
    await Promise.all([this.proxy, this.own, this.other, this.tls, this.api].map((each) => each.stop()));
  }
}

function envOf({ env }: EdgeFleetOptions): Record<string, string> {
  return { ALLOW_RESERVED_NAMES: 'on', ORIGIN_ALLOW: ORIGINS, ...env };
}
