// An owner's analytics count each request to an edge exactly once, even if the agent and the analytics engine are
// killed meanwhile.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Analytics, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { askEdge, type EdgePorts, openWebsocket } from '../../support/edge/ask-edge.ts';
import { DOMAIN, type EdgeFleet, HOST, ORIGINS, startEdgeFleet } from '../../support/edge/edge-fleet.ts';
import { type AgentProcess, startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx } from '../../support/edge/nginx/served-nginx.ts';
import { until } from '../../support/tests/until.ts';

// Detects if only one generation of nginx workers is running. After a reload, the old workers accept connections until they
// are notified, so the response of one worker says nothing about the next.

const LEAVES = 'nginx: worker process is shutting down';
/** Processes of nginx that do not serve requests. */
const OTHERS = 'nginx: cache ';

/**
 * The master starts all workers of a generation before it notifies the old ones, so there are more than `worker_processes
 * auto` workers while both accept connections. A forked process counts under any title.
 */
function isOneGeneration(master: number): boolean {
  const children = read(`/proc/${master}/task/${master}/children`).trim().split(' ').filter(Boolean);
  const taking = children.filter((pid) => {
    const title = read(`/proc/${pid}/cmdline`);
    return title !== '' && !title.startsWith(LEAVES) && !title.startsWith(OTHERS);
  });
  return taking.length === processors();
}

/** Counted like in nginx. */
function processors(): number {
  return Number(execFileSync('getconf', ['_NPROCESSORS_ONLN'], { encoding: 'utf8' }));
}

/** Returns an empty text if the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

let engine: TestAnalytics;
let store: Analytics;
let fleet: EdgeFleet;
const directory = mkdtempSync(join(tmpdir(), 'zonefleet-visits-'));
beforeAll(async () => {
  engine = await startAnalytics();
  store = openAnalytics(engine.url);
  fleet = await startEdgeFleet({
    env: { ANALYTICS_URL: engine.url, ANALYTICS_SPOOL: join(directory, 'spool') },
  });
  fleet.own.says(({ url }) => ({ status: url.startsWith('/fault') ? 500 : 200, body: 'x' }));
});
afterAll(async () => {
  await fleet?.stop();
  await store?.close();
  await engine?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Returns the count and the data of each URI with this prefix in the store. */
async function storedOf(start: string) {
  const rows = await store
    .query<{ uri: string; told: string; times: number }>(
      "SELECT uri, concat(toString(status), ' ', cache, ' ', reason, ' ', toString(rule > 0), ' ', toString(websocket)) AS told, toUInt32(count()) AS times FROM requests WHERE startsWith(uri, {start:String}) GROUP BY uri, told ORDER BY uri, told",
      { start },
      { seconds: 20 },
    )
    .catch(() => []);
  return rows;
}

const sumOf = (rows: readonly { times: number }[]) => rows.reduce((sum, { times }) => sum + times, 0);

/** Expects every URI exactly once, despite `trouble` after each part of the visits. */
async function countVisits(
  edge: EdgePorts,
  start: string,
  trouble: readonly (() => Promise<unknown> | unknown)[],
  log: () => string,
) {
  let count = 0;
  for (const act of [...trouble, () => undefined]) {
    const visits = Array.from({ length: 40 }, () => `${start}${count++}`);
    await Promise.all(visits.map((path) => askEdge(edge, `http://${HOST}${path}`)));
    await act();
  }
  await until(
    async () => sumOf(await storedOf(start)) >= count,
    () => `${count} lines; ${log()}`,
  );
  const rows = await storedOf(start);
  expect(rows.map(({ uri }) => uri).sort()).toEqual(
    Array.from({ length: count }, (_, i) => `${start}${i}`).sort(),
  );
  expect(rows.every(({ times }) => times === 1)).toBe(true);
}

/** Opens a connection, sends a request that is never answered, and disconnects. */
async function breakOff({ httpPort }: EdgePorts, path: string, isAsked: () => boolean): Promise<void> {
  fleet.own.says('never');
  const socket = connect(httpPort, '127.0.0.1');
  socket.on('error', () => undefined).write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
  await until(isAsked, 'the origin is asked');
  socket.destroy();
}

/**
 * Expected data of each kind of visit. A rule of the domain drops paths that end with its `drop`. `isSettled` is true
 * if every worker of nginx responds by the rule.
 */
async function showKinds(
  edge: EdgePorts,
  start: string,
  log: () => string,
  isSettled: () => boolean = () => true,
) {
  const ask = (path: string) => askEdge(edge, `http://${HOST}${start}${path}`);
  fleet.own.says(({ url }) => ({ status: url.includes('fault') ? 500 : 200, body: 'x' }));
  expect((await ask('fine')).status).toBe(200);
  expect((await ask('fault')).status).toBe(500);
  // Requests another path until the edge has the rule, so that only one visit is counted.
  const isThere = async () => (await askEdge(edge, `http://${HOST}/heard${start}drop`)).status === 403;
  await until(isThere, 'the rule acts');
  await until(isSettled, 'the rule acts everywhere');
  expect((await ask('drop')).status).toBe(403);
  const socket = await openWebsocket(edge, `http://${HOST}${start}socket`);
  if (typeof socket === 'number') throw new Error(`no websocket: ${socket}`);
  socket.destroy();
  const asked = fleet.own.received.length;
  await breakOff(edge, `${start}left`, () => fleet.own.received.length > asked);
  fleet.own.says(undefined);
  const wanted = [
    'drop 403  rule_blocked 1 false',
    'fault 500   0 false',
    'fine 200   0 false',
    'left 499  client_closed 0 false',
    'socket 101   0 true',
  ];
  await until(
    async () => (await storedOf(start)).length >= wanted.length,
    () => log(),
  );
  const rows = await storedOf(start);
  expect(rows.map(({ uri, told }) => `${uri.slice(start.length)} ${told}`)).toEqual(wanted);
}

const dropRule = (path: string) =>
  fleet.change('POST', '/rules/drop/', { path_match_type: 'wildcard', path_includes: [path] });

describe.skipIf(!hasNginx)('agent', () => {
  let agent: AgentProcess;
  beforeAll(async () => {
    agent = await startAgent({ api: fleet.api.url, token: fleet.token, allowOrigins: [ORIGINS] });
    fleet.own.says(() => ({ body: 'x' }));
    await until(async () => (await askEdge(agent, `http://${HOST}/begin`)).status === 200, agent.log);
  });
  afterAll(() => agent?.stop());

  it('reports every visit once, even if the agent and the engine are killed', async () => {
    const kill = () => agent.kill('SIGKILL');
    await countVisits(
      agent,
      '/n',
      [kill, () => agent.restart(), () => engine.kill(), kill, () => agent.restart()],
      agent.log,
    );
    const total = async () =>
      (await fleet.ask('GET', `/analytics/summary?domain=${DOMAIN}&period=3h`)).body.total_requests;
    const isCounted = async () => (await total()) === sumOf(await storedOf('/'));
    await until(isCounted, 'the owner counts every line that is stored', 60_000);
  });

  it('reports the result of each visit', async () => {
    await dropRule('*/m/drop');
    await showKinds(agent, '/m/', agent.log, () => isOneGeneration(agent.master() as number));
  });
});
