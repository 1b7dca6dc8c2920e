// What two nodes were asked is what the analytics tell, number for number: by domain, type, rcode and node. Also when Postgres was
// away, and when workers were killed between any two of their steps; what a node could not keep is told, to the number.

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Analytics, openAnalytics } from '../../src/analytics/open-analytics.ts';
import { rcodeMnemonic } from '../../src/dns/message/rcodes.ts';
import { typeMnemonic } from '../../src/dns/type-codes.ts';
import { type RunningPostgres, startPostgres } from '../../src/start/postgres/postgres.ts';
import { migrate } from '../../src/store/migrate/migrate.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { askCounted, Tally } from '../support/analytics/ask-counted.ts';
import { drawQuestion, RECORDS } from '../support/analytics/counted-questions.ts';
import { startAnalytics, type TestAnalytics } from '../support/analytics/start-analytics.ts';
import { type StoreGate, startStoreGate } from '../support/analytics/store-gate.ts';
import { asRole, openRole, TEST_SETTINGS } from '../support/database/database.ts';
import { newAccount, newDomain, saved } from '../support/database/domains.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { freePort } from '../support/processes/free-port.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { startWorkers, type WorkersProcess } from '../support/processes/workers-process.ts';
import { randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';
import { edit } from '../support/zone/customer-records.ts';

const QUESTIONS = scale(1_000_000, 12_000);
const DOMAINS = scale(1000, 50);
/** How long Postgres is away. */
const AWAY_MS = scale(120_000, 2000);
/** Counts are taken four times a second. */
const TAKEN_MS = 250;
const MINUTE_MS = 60_000;
/** More than nodes keep what they cannot report. */
const TOO_LONG_MS = 61 * MINUTE_MS;
const SECONDS = { seconds: 20 };

/** Of workers: where they are killed. */
const STEPS = [
  ['dns_minutely', 'before'],
  ['dns_minutely', 'behind'],
  ['dns_names_daily', 'before'],
  ['dns_names_daily', 'behind'],
] as const;

const PRELOAD = new URL('../support/processes/turned-clock.mjs', import.meta.url);
const random = randomFrom(28);
const next = () => drawQuestion(random, [...domains.keys()]);

let directory: string;
let postgres: RunningPostgres;
let db: Database;
let engine: TestAnalytics;
let store: Analytics;
let gate: StoreGate;
let nodes: readonly [NodeProcess, NodeProcess];
let workers: WorkersProcess;
let api: ApiProcess;
/** Ids by name. */
const domains = new Map<string, number>();
/** All that has to be counted. */
const asked = new Tally();
/** What each node has to have reported. */
const keptOf = new Map<NodeProcess, number>();

const cluster = () => startPostgres({ directory: join(directory, 'postgres'), parameters: { fsync: 'off' } });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'zf-counts-'));
  await chmod(directory, 0o711); // for the unprivileged user that root's Postgres runs as
  postgres = await cluster();
  db = openDatabase(postgres.url, { onError: () => {} });
  await migrate(db, TEST_SETTINGS);
  const accountId = await newAccount(db, 'owner@example.org');
  for (let i = 0; i < DOMAINS; i++) {
    const text = `d${i}.example.`;
    const { id, name } = await newDomain(db, accountId, text);
    await saved(db, id, edit({ create: RECORDS }, name));
    domains.set(text, id);
  }
  engine = await startAnalytics();
  store = openAnalytics(engine.url);
  gate = await startStoreGate(engine.url);
  await openRole(postgres.url, 'zonefleet_node');
  nodes = [await startCounting('ns-a'), await startCounting('ns-b')];
  workers = await startMoving();
  api = await startApi(postgres.url, { env: { ANALYTICS_URL: engine.url } });
});
afterAll(async () => {
  await Promise.all([
    api?.stop(),
    workers?.stop(),
    gate?.stop(),
    ...(nodes ?? []).map((node) => node.stop()),
  ]);
  await store?.close();
  await engine?.stop();
  await db?.destroy();
  await postgres?.stop();
  await rm(directory, { recursive: true, force: true });
});

const clockOf = (name: string) => join(directory, `${name}.clock`);
const turnClock = (node: NodeProcess, aheadMs: number) => writeFile(clockOf(node.name), String(aheadMs));
/** What it counts afterwards belongs to the minute that it is. */
async function rightClock(node: NodeProcess): Promise<void> {
  await turnClock(node, 0);
  await pause(6 * TAKEN_MS);
}

async function startCounting(name: string): Promise<NodeProcess> {
  await writeFile(clockOf(name), '0');
  const node = await startNode(name, {
    DATABASE_URL: asRole(postgres.url, 'zonefleet_node'),
    RRL: 'off',
    RRL_OCTETS: 'off',
    NODE_OPTIONS: `--import ${PRELOAD.href}`,
    CLOCK_FILE: clockOf(name),
  });
  keptOf.set(node, 0);
  return node;
}

/** Their resolver finds nobody. */
async function startMoving(): Promise<WorkersProcess> {
  const hints = join(directory, 'root.hints');
  await writeFile(hints, '. 3600 NS a.root.\na.root. 3600 A 127.0.0.1\n');
  return await startWorkers(postgres.url, {
    ANALYTICS_URL: gate.url,
    ROOT_HINTS: hints,
    RESOLVER_ALLOW: '127.0.0.0/8',
    DNS_PORT_OUT: String(await freePort()),
  });
}

async function answersTold(node: NodeProcess, result: 'reported' | 'other' | 'dropped'): Promise<number> {
  const text = await (await fetch(`${node.metricsUrl}/metrics`)).text();
  return Number(
    new RegExp(`^zonefleet_zone_counts_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)?.[1],
  );
}

/** Asks it so many questions; what it counts of them is due. */
async function ask(node: NodeProcess, count: number): Promise<Tally> {
  const tally = await askCounted(node, count, next);
  asked.addAll(tally);
  keptOf.set(node, (keptOf.get(node) as number) + tally.total);
  return tally;
}

const askBoth = (count: number) => Promise.all(nodes.map((node) => ask(node, count / 2)));

/** The minute of both nodes ends, and they report it. */
async function reportAll(): Promise<void> {
  for (const node of nodes) {
    const kept = keptOf.get(node) as number;
    await turnClock(node, MINUTE_MS);
    await until(
      async () => (await answersTold(node, 'reported')) === kept,
      `${node.name} reports ${kept} answers`,
    );
    await rightClock(node);
  }
}

async function allMoved(): Promise<void> {
  await until(async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from dns_counts where moved_at is null`.execute(db);
    return rows[0]?.n === 0;
  }, 'all counts are moved');
}

async function expectExact(): Promise<void> {
  const apexOf = new Map([...domains].map(([name, id]) => [id, name]));
  const rows = await store.query<{ domain_id: number; type: number; rcode: number; node: string; n: number }>(
    `SELECT domain_id, type, rcode, node, sum(count) AS n FROM dns_minutely GROUP BY ALL`,
    {},
    SECONDS,
  );
  const told = rows.map(
    ({ domain_id, type, rcode, node, n }) =>
      [`${apexOf.get(domain_id)} ${type} ${rcode} ${node}`, n] as const,
  );
  const sorted = (counts: Iterable<readonly [string, number]>) =>
    [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  expect(sorted(told)).toEqual(sorted(asked.counts));
  const wanted = wantedByDomain();
  for (const name of domains.keys()) expect(await toldOf(name), name).toEqual(wanted.get(name) ?? NOTHING());
}

interface Told {
  total: number;
  readonly types: Record<string, number>;
  readonly rcodes: Record<string, number>;
  readonly nodes: Record<string, number>;
}

const NOTHING = (): Told => ({ total: 0, types: {}, rcodes: {}, nodes: {} });

function wantedByDomain(): Map<string, Told> {
  const wanted = new Map<string, Told>();
  const add = (sums: Record<string, number>, key: string, n: number) => {
    sums[key] = (sums[key] ?? 0) + n;
  };
  for (const [key, n] of asked.counts) {
    const [name, type, rcode, node] = key.split(' ') as [string, string, string, string];
    const told = wanted.get(name) ?? NOTHING();
    wanted.set(name, told);
    told.total += n;
    add(told.types, type === '0' ? 'other' : typeMnemonic(Number(type)), n);
    add(told.rcodes, rcodeMnemonic(Number(rcode)), n);
    add(told.nodes, node, n);
  }
  return wanted;
}

/** By the API. */
async function toldOf(name: string): Promise<Told> {
  const { status, body } = await api.ask('GET', `/analytics/dns?domain=${name.slice(0, -1)}&period=1h`);
  expect(status).toBe(200);
  const { total, types, rcodes } = body;
  const nodesTold: { node: string; count: number }[] = body.nodes;
  return {
    total,
    types,
    rcodes,
    nodes: Object.fromEntries(nodesTold.map(({ node, count }) => [node, count])),
  };
}

it(`${QUESTIONS} questions for ${DOMAINS} domains are told exactly`, async () => {
  await askBoth(QUESTIONS);
  expect(asked.total).toBeGreaterThan(QUESTIONS * 0.95);
  await reportAll();
  await allMoved();
  await expectExact();
});

it('so they are when Postgres was away and workers were killed; what a node had to drop is told', async () => {
  await askBoth(QUESTIONS / 4);
  await reportAll();
  await postgres.stop();
  const backAtMs = performance.now() + AWAY_MS;
  const [kept, dropping] = nodes;
  const lost = await askCounted(dropping, QUESTIONS / 8, next);
  await turnClock(dropping, TOO_LONG_MS);
  await until(
    async () => (await answersTold(dropping, 'dropped')) === lost.total,
    `${lost.total} are dropped`,
  );
  await rightClock(dropping);
  await ask(dropping, QUESTIONS / 8);
  await ask(kept, QUESTIONS / 4);
  await pause(Math.max(0, backAtMs - performance.now()));
  postgres = await cluster();
  await askBoth(QUESTIONS / 4);
  for (const [table, when] of STEPS) {
    const killed = gate.atInsert(table, when, () => workers.child.kill('SIGKILL'));
    await reportAll();
    await killed;
    workers = await startMoving();
    // As if the two minutes were over after which another worker takes what one has left.
    await sql`update dns_counts set claimed_at = '-infinity' where moved_at is null and batch is not null`.execute(
      db,
    );
  }
  await allMoved();
  await expectExact();
  expect(await answersTold(dropping, 'dropped')).toBe(lost.total);
  for (const node of nodes) expect(await answersTold(node, 'other')).toBe(0);
});
