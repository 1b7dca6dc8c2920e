// Edges that follow an API: the first snapshot of many domains, the time until every edge has a changed rule, and edges
// that were disconnected during many changes.

import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../src/features/migrate.ts';
import { generateKey } from '../../src/store/accounts/api-keys.ts';
import { createEdge } from '../../src/store/edges/edges.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { freePort } from '../../test/support/processes/free-port.ts';
import { call, untilAnswers } from '../api/api-under-test.ts';
import type { BenchOptions } from '../part.ts';
import { benchCluster, runOn } from '../postgres/cluster.ts';
import { BENCH_SETTINGS } from '../postgres/zonefleet-database.ts';
import { pssBytes } from '../process-tree.ts';
import { fleetCommand, type Program, runProgram } from '../program.ts';
import { WatchedStream } from './watched-stream.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EDGES = 3;
const RULE_CHANGES = 300;
const SAMPLE_MS = 100;
/** One in this many domains changes while edges are disconnected. */
const CHANGED_ONE_OF = 10;

export interface MeasuredEdges {
  readonly domains: number;
  readonly edges: number;
  readonly snapshotSeconds: number;
  readonly snapshotBytes: number;
  readonly bytesBefore: number;
  readonly bytesMost: number;
  /** From the call to the last edge that has it, in milliseconds. */
  readonly changes: readonly number[];
  readonly changedMeanwhile: number;
  readonly backSeconds: number;
  readonly backLines: number;
}

export async function measureEdges(domains: number, options: BenchOptions): Promise<MeasuredEdges> {
  const databaseUrl = await preparedDatabase();
  const key = generateKey();
  const { url, program } = await startApi(databaseUrl, key, options.serverCpu);
  try {
    const headers = { authorization: `Bearer ${key}` };
    const rule = await makeDomains(url, headers, databaseUrl, domains);
    const streams = (await makeEdges(databaseUrl)).map((token) => new WatchedStream(url, token));
    const bytesBefore = pssBytes(program.pid);
    const watch = watchMemory(program);
    const beganMs = performance.now();
    await Promise.all(streams.map((stream) => openUntil(stream, '"snapshot":"end"')));
    const snapshotSeconds = (performance.now() - beganMs) / 1000;
    const bytesMost = await watch.stop();
    const snapshotBytes = streams[0]?.bytes ?? 0;
    const changes: number[] = [];
    for (let i = 0; i < RULE_CHANGES; i++) {
      const target = `https://changed-${i}.example.net/`;
      const arrived = streams.map((stream) => stream.until(target));
      const askedMs = performance.now();
      await call(rule, { headers, method: 'PUT', body: { target } });
      await Promise.all(arrived);
      changes.push(performance.now() - askedMs);
    }
    for (const stream of streams) stream.close();
    await changeMany(databaseUrl);
    const linesBefore = streams[0]?.lines ?? 0;
    const backMs = performance.now();
    // The domain that changes last is sent last.
    await Promise.all(streams.map((stream) => openUntil(stream, '"domain":"n1.edges"')));
    return {
      domains,
      edges: EDGES,
      snapshotSeconds,
      snapshotBytes,
      bytesBefore,
      bytesMost,
      changes,
      changedMeanwhile: Math.ceil(domains / CHANGED_ONE_OF) + 1,
      backSeconds: (performance.now() - backMs) / 1000,
      backLines: (streams[0]?.lines ?? 0) - linesBefore,
    };
  } finally {
    await program.stop();
  }
}

async function openUntil(stream: WatchedStream, text: string): Promise<void> {
  const found = stream.until(text);
  await stream.open();
  await found;
}

function watchMemory({ pid }: Program): { stop(): Promise<number> } {
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, pssBytes(pid));
      await pause(SAMPLE_MS);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
      return most;
    },
  };
}

export async function startApi(
  databaseUrl: string,
  key: string,
  cpu: number | undefined,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly program: Program }> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const program = runProgram(fleetCommand('src/api/main.ts'), {
    cpu,
    cwd: ROOT,
    env: {
      DATABASE_URL: databaseUrl,
      API_LISTEN: `127.0.0.1:${port}`,
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      API_RATE: 'off',
      ALLOW_RESERVED_NAMES: 'on',
      BOOTSTRAP_API_KEY: key,
      RUN_AS: 'off',
      LOG_LEVEL: 'warn',
      ...env,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  let ended: number | string | undefined;
  void program.ended.then((code) => {
    ended = code;
  });
  await untilAnswers(`${url}/domains/ns-sets`, { authorization: `Bearer ${key}` }, () => {
    if (ended !== undefined) throw new Error(`the API ended with ${ended}:\n${program.output()}`);
  });
  return { url, program };
}

export async function preparedDatabase(name = 'edges'): Promise<string> {
  const cluster = await benchCluster();
  return cluster.database(`zonefleet_${name}_${process.pid}`, async (url) => {
    const db = openDatabase(url);
    try {
      await migrate(db, BENCH_SETTINGS);
    } finally {
      await db.destroy();
    }
  });
}

/** Creates the domains, each with a proxied name and a rule. Returns the URL of a rule. */
async function makeDomains(
  url: string,
  headers: Record<string, string>,
  databaseUrl: string,
  domains: number,
): Promise<string> {
  await runOn(
    databaseUrl,
    'update plans set rules_enabled = true, max_domains = null, max_rules_per_set = null',
  );
  const post = (path: string, body: object) => call(`${url}${path}`, { headers, method: 'POST', body });
  await post('/domains/', { name: 'rules.example.net', scan: false });
  await runOn(
    databaseUrl,
    `update domains set served = 'full', status = 'active', plan_id = (select id from plans where slug = 'pro')`,
  );
  const record = { name: 'www', type: 'A', destination: '198.51.100.9', proxied: true };
  await post('/domains/rules.example.net/records/', record);
  const rule = { target: 'https://example.net/', path_includes: ['/old/*'] };
  const { id } = JSON.parse(await post('/domains/rules.example.net/rules/redirect/', rule)) as { id: number };
  await runOn(
    databaseUrl,
    'begin',
    `set local session_replication_role = 'replica'`,
    `insert into domains (account_id, name, unicode, dns_mode, status, served, serial, answers_generation, plan_id, created_at, updated_at)
     select account_id, 'n' || i || '.edges.', 'n' || i || '.edges', 'external', 'active', 'none', 1, 1, plan_id, now(), now()
     from domains, generate_series(1, ${domains - 1}) i where name = 'rules.example.net.'`,
    `insert into records (domain_id, name, type, rdata, identity, destination, ttl, proxied, captcha, scheme, port, monitor, timeout, created_at, updated_at)
     select d.id, 'www.' || d.name, r.type, r.rdata, r.identity, r.destination, 300, true, false, 'Default', 443, false, 15, now(), now()
     from domains d, records r where d.name like '%.edges.' and r.proxied`,
    `insert into rules (domain_id, type, enabled, priority, record_ids, fields, octets, created_at, updated_at)
     select d.id, u.type, true, u.priority, u.record_ids, u.fields, u.octets, now(), now()
     from domains d, rules u where d.name like '%.edges.' and u.id = ${id}`,
    `insert into edge_changes (name) select name from domains where name like '%.edges.'`,
    'commit',
    'vacuum (analyze) domains',
    'vacuum (analyze) records',
    'vacuum (analyze) rules',
    'vacuum (analyze) edge_changes',
  );
  return `${url}/domains/rules.example.net/rules/redirect/${id}`;
}

export async function makeEdges(databaseUrl: string): Promise<string[]> {
  const db = openDatabase(databaseUrl);
  try {
    const tokens: string[] = [];
    for (let i = 1; i <= EDGES; i++) {
      const created = await createEdge(db, { name: `edge-${i}`, region: 'eu', v4: [`192.0.2.${i}`], v6: [] });
      if (created.kind !== 'created') throw new Error(`edge-${i}: ${created.kind}`);
      tokens.push(created.token);
    }
    return tokens;
  } finally {
    await db.destroy();
  }
}

async function changeMany(databaseUrl: string): Promise<void> {
  await runOn(
    databaseUrl,
    `update domains set sec_no_sniff = not sec_no_sniff where id % ${CHANGED_ONE_OF} = 0 and name <> 'n1.edges.'`,
    `update domains set sec_no_sniff = not sec_no_sniff where name = 'n1.edges.'`,
  );
}
