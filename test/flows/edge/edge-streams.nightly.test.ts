// Edges that follow a real API process over its own TLS: Postgres goes away and comes back under their streams, the process is
// restarted, and each edge ends with what a fresh one is told. Keys are read where nobody else can read them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { createEdge, revokeEdge } from '../../../src/store/edges/edges.ts';
import { createDatabase, openRole, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { ConfigFollower } from '../../support/edge/follow-config.ts';
import { makeAuthority } from '../../support/edge/origin/made-certificate.ts';
import { type ApiProcess, startApi } from '../../support/processes/api-process.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';

const NAMES = ['one.example', 'two.example', 'three.example'];
const authority = makeAuthority();
const owner = generateKey();

let directory: string;
let database: TestDatabase;
let postgres: TcpProxy;
let url: string;
let env: Record<string, string>;
let api: ApiProcess;
let edges = 0;
let followers: ConfigFollower[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-edge-'));
  const { certificate, privateKey } = authority.issue(['localhost']);
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  writeFileSync(certFile, certificate);
  writeFileSync(keyFile, privateKey, { mode: 0o600 });
  database = await createDatabase();
  const accountId = await newAccount(database.db, 'owner@zonefleet.test');
  await createApiKey(database.db, owner, { name: 'owner', accountId });
  for (const name of NAMES) await newDomain(database.db, accountId, `${name}.`);
  postgres = await startProxy(await openRole(database.url, 'zonefleet_api'));
  const port = await freePort();
  url = `https://localhost:${port}`;
  env = {
    DATABASE_URL: postgres.url,
    EDGE_LISTEN: `127.0.0.1:${port}`,
    EDGE_TLS_CERT: certFile,
    EDGE_TLS_KEY: keyFile,
    KEY_SECRETS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    ALLOW_RESERVED_NAMES: 'on',
  };
  api = await startApi(database.url, { env });
  for (const name of NAMES) {
    const record = { name: 'www', type: 'A', destination: '198.51.100.9', proxied: true, port: 1 };
    await change('POST', `/domains/${name}/records/`, record);
  }
});
afterEach(async () => {
  postgres.resume();
  await Promise.all(followers.map((follower) => follower.stop()));
  followers = [];
});
afterAll(async () => {
  await api?.stop();
  await postgres?.stop();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function change(method: string, path: string, body: object): Promise<{ id: number }> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return answer as { id: number };
}

async function makeEdge(): Promise<{ name: string; token: string }> {
  edges++;
  const name = `edge${edges}`;
  const created = await createEdge(database.db, {
    name,
    region: 'eu',
    v4: [`198.51.100.${edges + 100}`],
    v6: [],
  });
  if (created.kind !== 'created') throw new Error(created.kind);
  return { name, token: created.token };
}

function follow(token: string): ConfigFollower {
  const follower = new ConfigFollower({ url, token, ca: authority.certificate });
  followers.push(follower);
  follower.start();
  return follower;
}

/** Straight in the database, behind the back of the API. */
async function setPort(port: number): Promise<void> {
  await database.db.updateTable('records').set({ port }).where('proxied', '=', true).execute();
}

const portsOf = (edge: ConfigFollower) =>
  NAMES.map((name) => edge.configFor(name)?.hosts[0]?.origins[0]?.port);

async function converge(port: number, among: readonly ConfigFollower[]): Promise<void> {
  for (const [i, edge] of among.entries())
    await until(
      () => portsOf(edge).every((each) => each === port),
      () => `edge ${i} has ${portsOf(edge)} of ${port}, answers ${edge.statuses}; ${api.log()}`,
    );
}

it.each([
  'cut',
  'pause',
  'forget',
] as const)('with Postgres away (%s) streams stay open, and tell what has changed when it is back', async (how) => {
  const [first, second] = [follow((await makeEdge()).token), follow((await makeEdge()).token)];
  await setPort(10);
  await converge(10, [first, second]);
  postgres[how]();
  await setPort(11);
  await setPort(12);
  postgres.resume();
  await converge(12, [first, second]);
  for (const edge of [first, second]) expect([edge.statuses, edge.snapshots]).toEqual([[200], 1]);
});

it('with Postgres away a new stream is refused with 503 and begins when it is back; a token that was revoked meanwhile ends its own', async () => {
  const gone = await makeEdge();
  const stolen = follow(gone.token);
  await setPort(20);
  await converge(20, [stolen]);
  const fresh = await makeEdge();
  postgres.cut();
  await revokeEdge(database.db, gone.name);
  const late = follow(fresh.token);
  await until(() => late.statuses.length > 1, 'the new stream is refused');
  expect(new Set(late.statuses)).toEqual(new Set([503]));
  expect(stolen.statuses).toEqual([200]);
  postgres.resume();
  await converge(20, [late]);
  await until(() => stolen.statuses.at(-1) === 401, 'the stolen token counts no more');
});

it.each([
  'SIGTERM',
  'SIGKILL',
] as const)('a process that ends by %s ends its streams; with the next one they go on from their cursors', async (signal) => {
  const [first, second] = [follow((await makeEdge()).token), follow((await makeEdge()).token)];
  await setPort(30);
  await converge(30, [first, second]);
  await api.stop(signal);
  expect(api.child.exitCode).toBe(signal === 'SIGTERM' ? 0 : null);
  await setPort(31);
  api = await startApi(database.url, { env });
  await converge(31, [first, second]);
  for (const edge of [first, second]) expect([edge.statuses, edge.snapshots]).toEqual([[200, 200], 1]);
  await setPort(32);
  await converge(32, [first, second]);
});
