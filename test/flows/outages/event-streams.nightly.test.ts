// Event streams and the config streams of edges while Postgres is unavailable, and across a restart of the API process.

import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { createEdge, revokeEdge } from '../../../src/store/edges/edges.ts';
import { EventReader } from '../../support/api/follow-events.ts';
import { createDatabase, openRole, type TestDatabase } from '../../support/database/database.ts';
import { saved } from '../../support/database/domains.ts';
import { ConfigFollower } from '../../support/edge/follow-config.ts';
import { type ApiProcess, startApi } from '../../support/processes/api-process.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';
import { edit } from '../../support/zone/customer-records.ts';

const AWAY_MS = 10_000;

/** All streams come from one address in this test. */
const ROOM = { API_CONNECTIONS: '4096', API_CONNECTIONS_PER_ADDRESS: '4096' };

let database: TestDatabase;
let proxy: TcpProxy;
let api: ApiProcess;
const readers: EventReader[] = [];

beforeAll(async () => {
  database = await createDatabase();
  proxy = await startProxy(await openRole(database.url, 'zonefleet_api'));
  api = await startApi(database.url, { env: { DATABASE_URL: proxy.url, ...ROOM } });
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.stop();
});
afterAll(async () => {
  await api?.stop();
  await proxy?.stop();
  await database?.drop();
});

function follow(domain: string, key = api.key, headers: Record<string, string> = {}): EventReader {
  const reader = new EventReader(`${api.url}/domains/${domain}/events`, {
    authorization: `Bearer ${key}`,
    ...headers,
  });
  readers.push(reader);
  return reader;
}

const create = async (name: string) => {
  const { status, body } = await api.ask('POST', '/domains/', { name, scan: false });
  if (status !== 200) throw new Error(JSON.stringify(body));
};
const add = async (domain: string, name: string) => {
  const record = { name, type: 'A', destination: '192.0.2.1' };
  const { status, body } = await api.ask('POST', `/domains/${domain}/records/`, record);
  if (status !== 200) throw new Error(JSON.stringify(body));
};
const changes = (reader: EventReader): number[] =>
  reader.events.filter(({ event }) => event === 'change').map(({ data }) => data.serial);

describe('streams of events', () => {
  it('stay open with heartbeats while Postgres is unavailable, and send each change made meanwhile once', async () => {
    await create('away-streams.net');
    const reader = follow('away-streams.net');
    await reader.find('open');
    await add('away-streams.net', 'before');
    await reader.find('change');
    proxy.cut();
    const { rows } = await sql<{
      id: number;
    }>`select id from domains where name = 'away-streams.net.'`.execute(database.db);
    // as another API process would meanwhile
    const { serial: last } = await saved(
      database.db,
      rows[0]?.id as number,
      edit({ create: ['meanwhile A 192.0.2.1'] }, parseName('away-streams.net.')),
    );
    const seen = reader.comments;
    await new Promise((done) => setTimeout(done, AWAY_MS));
    await until(() => reader.comments > seen, 'a heartbeat comes without the database', 20_000);
    expect([reader.isOver, changes(reader).length]).toEqual([false, 1]);
    proxy.resume();
    await reader.find('change', ({ serial }) => serial === last);
    await until(async () => (await api.ask('GET', '/readyz')).status === 200);
    await add('away-streams.net', 'after');
    await reader.find('change', ({ serial }) => serial > last);
    expect(changes(reader)[1]).toBe(last);
    expect(new Set(changes(reader)).size).toBe(changes(reader).length);
  });

  it('end with the process, and resume at the next process from their last event', async () => {
    await create('stopped-streams.net');
    const reader = follow('stopped-streams.net');
    await reader.find('open');
    await add('stopped-streams.net', 'a');
    const { data: last } = await reader.find('change');
    const known = reader.lastId as string;
    await api.stop();
    expect(api.child.exitCode).toBe(0);
    await until(() => reader.isOver);
    api = await startApi(database.url, { env: { DATABASE_URL: proxy.url, ...ROOM }, key: api.key });
    await add('stopped-streams.net', 'b');
    const next = follow('stopped-streams.net', api.key, { 'last-event-id': known });
    await next.find('change');
    await add('stopped-streams.net', 'c');
    await until(() => changes(next).length === 2);
    expect(Math.min(...changes(next))).toBeGreaterThan(last.serial);
  });
});

describe('the config streams of edges', () => {
  const followers: ConfigFollower[] = [];
  afterEach(async () => {
    proxy.resume();
    await Promise.all(followers.splice(0).map((follower) => follower.stop()));
  });

  async function makeEdge(name: string, address: string): Promise<string> {
    const created = await createEdge(database.db, { name, region: 'eu', v4: [address], v6: [] });
    if (created.kind !== 'created') throw new Error(created.kind);
    return created.token;
  }
  function followAs(token: string): ConfigFollower {
    const follower = new ConfigFollower({ url: api.url, token });
    followers.push(follower);
    follower.start();
    return follower;
  }
  /** Changes the only proxied record, bypassing the API. */
  const setPort = (port: number) =>
    database.db.updateTable('records').set({ port }).where('proxied', '=', true).execute();
  const converge = (port: number, edge: ConfigFollower) =>
    until(
      () => edge.configFor('edge-streams.net')?.hosts[0]?.origins[0]?.port === port,
      () => `the port is ${port}, answers ${edge.statuses}; ${api.log()}`,
    );

  it('stay open while Postgres is unavailable and send what changed meanwhile, unless the token was revoked', async () => {
    await create('edge-streams.net');
    const record = { name: 'www', type: 'A', destination: '198.51.100.9', proxied: true, port: 1 };
    expect((await api.ask('POST', '/domains/edge-streams.net/records/', record)).status).toBe(200);
    const [kept, stolen] = [
      followAs(await makeEdge('kept', '198.51.100.101')),
      followAs(await makeEdge('stolen', '198.51.100.102')),
    ];
    const late = await makeEdge('late', '198.51.100.103');
    for (const edge of [kept, stolen]) await converge(1, edge);
    for (const [i, away] of (['cut', 'pause', 'forget'] as const).entries()) {
      proxy[away]();
      await setPort(10 + i);
      proxy.resume();
      for (const edge of [kept, stolen]) await converge(10 + i, edge);
    }
    proxy.cut();
    await revokeEdge(database.db, 'stolen');
    const refused = followAs(late);
    await until(() => refused.statuses.length > 1, 'the new stream is refused');
    expect(new Set(refused.statuses)).toEqual(new Set([503]));
    expect([kept.statuses, stolen.statuses]).toEqual([[200], [200]]);
    proxy.resume();
    await converge(12, refused);
    await until(() => stolen.statuses.at(-1) === 401, 'the revoked token is refused');
    expect([kept.statuses, kept.snapshots]).toEqual([[200], 1]);
  });
});
