// A customer's domain on real processes (API, workers, nameserver) and a small internet: its delegation is checked, its edits are
// answered, and Postgres fails meanwhile.

import { Resolver } from 'node:dns/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey, generateKey } from '../../src/store/accounts/api-keys.ts';
import { asRole, createDatabase, type TestDatabase } from '../support/database/database.ts';
import { newAccount } from '../support/database/domains.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { startProxy, type TcpProxy } from '../support/processes/tcp-proxy.ts';
import { startWorkers, type WorkersProcess } from '../support/processes/workers-process.ts';
import { startTogether } from '../support/tests/start-together.ts';
import { until } from '../support/tests/until.ts';
import { type StartedWorld, startWorld } from '../support/world/fake-internet.ts';

const ELSEWHERE = ['ns1.other.zz', 'ns2.other.zz'];
const OURS = ['ns1.example.net', 'ns2.example.net'];
const needs = process.platform === 'linux' ? '' : ' (skipped: needs Linux)'; // elsewhere loopback has one address

/** `shop.zz` is delegated to these nameservers. */
const worldWith = (nameservers: readonly string[]) => ({
  zones: { 'zz.': nameservers.map((name) => `shop NS ${name}.`).join('\n') },
});

describe.skipIf(needs !== '')(`a customer's domain${needs}`, () => {
  let world: StartedWorld;
  let database: TestDatabase;
  let proxies: [TcpProxy, TcpProxy];
  let api: ApiProcess;
  let workers: WorkersProcess;
  let node: NodeProcess;
  let key: string;

  beforeAll(async () => {
    world = await startWorld(worldWith(ELSEWHERE));
    database = await createDatabase();
    key = generateKey();
    const accountId = await newAccount(database.db, 'ann@example.org');
    await createApiKey(database.db, key, { name: 'ann', accountId });
    proxies = [
      await startProxy(asRole(database.url, 'zonefleet_api')),
      await startProxy(asRole(database.url, 'zonefleet_node')),
    ];
    const settings = { ...world.settings, PUBLIC_RESOLVERS: '' };
    [api, workers, node] = await startTogether<[ApiProcess, WorkersProcess, NodeProcess]>([
      startApi(database.url, { env: { ...settings, DATABASE_URL: proxies[0].url } }),
      startWorkers(database.url, settings),
      startNode('domain', { DATABASE_URL: proxies[1].url }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([api?.stop(), workers?.stop(), node?.stop()]);
    await Promise.all((proxies ?? []).map((proxy) => proxy.stop()));
    await database?.drop();
    await world?.close();
  });

  async function ask(method: string, path: string, body?: unknown) {
    const response = await fetch(`${api.url}/domains/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests may read all of it
    return { status: response.status, body: (await response.json()) as any };
  }
  const add = (name: string, destination: string) =>
    ask('POST', 'shop.zz/records/', { name, type: 'A', destination });
  /** The addresses that the nameserver returns, or the error. */
  async function answered(name: string): Promise<string> {
    const resolver = new Resolver({ tries: 1, timeout: 5000 });
    resolver.setServers([`${node.address.address}:${node.address.port}`]);
    return (await resolver.resolve4(name).catch((error) => [String(error.code)])).join();
  }
  /** Runs checks until one leaves the domain as wanted. */
  const checked = (isWanted: (domain: { status: string; findings: { code: string }[] }) => boolean) =>
    until(async () => {
      await sql`update domain_checks set due_at = now(), next_at = now()`.execute(database.db);
      await new Promise((done) => setTimeout(done, 300));
      return isWanted((await ask('GET', 'shop.zz')).body);
    }, 'a check leaves the domain as wanted');

  it('is pending while its parent names other nameservers, and active once it names the fleet', async () => {
    const created = await ask('POST', '', { name: 'shop.zz', scan: false });
    expect(created).toMatchObject({ status: 200, body: { status: 'pending', svc_ns: OURS } });
    await checked(({ findings }) => findings.some(({ code }) => code === 'NS_FOREIGN'));
    expect((await ask('GET', 'shop.zz')).body.status).toBe('pending');
    world.become(worldWith(OURS));
    await checked(({ status }) => status === 'active');
  });

  it('is answered with each edit that the API accepts', async () => {
    const made = await add('www', '192.0.2.1');
    expect(made.status).toBe(200);
    await until(async () => (await answered('www.shop.zz')) === '192.0.2.1', 'the record is answered');
    const changed = await ask('PUT', `shop.zz/records/${made.body.id}`, { destination: '192.0.2.2' });
    expect(changed.status).toBe(200);
    await until(async () => (await answered('www.shop.zz')) === '192.0.2.2', 'the change is answered');
    expect(await answered('nothing.shop.zz')).toBe('ENOTFOUND');
  });

  it('is answered while Postgres is unavailable, and edited again afterwards', async () => {
    for (const proxy of proxies) proxy.cut();
    expect((await add('lost', '192.0.2.3')).status).toBe(503);
    expect(await answered('www.shop.zz')).toBe('192.0.2.2');
    for (const proxy of proxies) proxy.resume();
    await until(async () => (await add('back', '192.0.2.4')).status === 200, 'an edit is accepted');
    await until(async () => (await answered('back.shop.zz')) === '192.0.2.4', 'the edit is answered');
    expect(await answered('www.shop.zz')).toBe('192.0.2.2');
    expect(await answered('lost.shop.zz')).toBe('ENOTFOUND');
  });
});
