// The embedded analytics engine: three writers that continue while it is killed and unavailable, and queries over many
// lines generated inside it.

import { setTimeout as pause } from 'node:timers/promises';
import { type Analytics, openAnalytics } from '../../src/analytics/open-analytics.ts';
import { startAnalytics, type TestAnalytics } from '../../test/support/analytics/start-analytics.ts';
import { say } from '../say.ts';

const WRITERS = 3;
const LINES_A_SECOND = 20_000;
/** Duration before the engine is killed, and after its return. */
const BESIDE_SECONDS = 10;
const DAYS = 30;
const QUERY = { seconds: 60 };
/** The domain of the generated lines. */
const DOMAIN = 7;

export interface MeasuredIngest {
  readonly sent: number;
  readonly stored: number;
  readonly rolledUp: number;
  readonly awaySeconds: number;
  /** From the return of the engine until no batch waits. */
  readonly catchUpSeconds: number;
  readonly repeats: number;
}

export interface MeasuredQuery {
  readonly name: string;
  readonly isRaw: boolean;
  /** The slowest of three. */
  readonly seconds: number;
}

export interface MeasuredAnalytics {
  readonly ingest: MeasuredIngest;
  readonly lines: number;
  readonly makeSeconds: number;
  readonly bytes: number;
  readonly queries: readonly MeasuredQuery[];
}

export async function measureAnalytics(lines: number, awayMs: number): Promise<MeasuredAnalytics> {
  const store = await startAnalytics();
  const analytics = openAnalytics(store.url);
  try {
    const ingest = await measureIngest(store, analytics, awayMs);
    say(`${lines} lines inside the engine`);
    const beganMs = performance.now();
    await makeLines(store.url, lines);
    const makeSeconds = (performance.now() - beganMs) / 1000;
    const size = `SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase()`;
    const [row] = await analytics.query<{ bytes: number }>(size, {}, QUERY);
    const queries: MeasuredQuery[] = [];
    for (const query of QUERIES) queries.push(await timeQuery(analytics, query));
    return { ingest, lines, makeSeconds, bytes: Number(row?.bytes), queries };
  } finally {
    await analytics.close();
    await store.stop();
  }
}

interface Writing {
  sent: number;
  repeats: number;
  /** Writes the lines that are due before then. */
  endMs: number;
}

/** Each writer keeps what is not stored yet, as an edge's spool does, and repeats a batch with its token. */
async function measureIngest(
  store: TestAnalytics,
  analytics: Analytics,
  awayMs: number,
): Promise<MeasuredIngest> {
  await analytics.query('SELECT 1', {}, QUERY);
  const state: Writing = { sent: 0, repeats: 0, endMs: Number.POSITIVE_INFINITY };
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(analytics, writer, state));
  await pause(BESIDE_SECONDS * 1000);
  say('the engine is killed and kept offline');
  const killedMs = performance.now();
  while (performance.now() - killedMs < awayMs) {
    store.kill();
    await pause(50);
  }
  await untilAnswers(analytics);
  const backMs = performance.now();
  const awaySeconds = (backMs - killedMs) / 1000;
  say(`it is back after ${awaySeconds.toFixed(0)} s`);
  state.endMs = backMs + BESIDE_SECONDS * 1000;
  await Promise.all(writers);
  const catchUpSeconds = (performance.now() - backMs) / 1000;
  const of = async (table: string, sum: string) => {
    const sql = `SELECT ${sum} AS n FROM ${table} WHERE domain_id = 1`;
    return Number((await analytics.query<{ n: number }>(sql, {}, QUERY))[0]?.n);
  };
  return {
    sent: state.sent,
    stored: await of('requests', 'count()'),
    rolledUp: await of('requests_hourly', 'sum(count)'),
    awaySeconds,
    catchUpSeconds,
    repeats: state.repeats,
  };
}

async function write(analytics: Analytics, writer: number, state: Writing): Promise<void> {
  const size = Math.ceil(LINES_A_SECOND / WRITERS);
  const beganMs = performance.now();
  for (let batch = 0; ; batch++) {
    const dueMs = beganMs + batch * 1000;
    if (dueMs > performance.now()) await pause(dueMs - performance.now());
    if (dueMs > state.endMs) return;
    const lines = Array.from({ length: size }, (_, index) => lineOf(writer, batch * size + index));
    state.sent += size;
    for (;;) {
      try {
        await analytics.insert('requests', lines, `writer-${writer}-${batch}`);
        break;
      } catch {
        state.repeats++;
        await pause(250);
      }
    }
  }
}

function lineOf(writer: number, n: number): object {
  return {
    at: new Date().toISOString(),
    domain_id: 1,
    edge_id: writer,
    host: `host${n % 5}.example.net`,
    method: 'GET',
    uri: `/articles/${n % 1000}?page=${n % 7}`,
    status: n % 97 === 0 ? 502 : 200,
    octets: 1000 + (n % 50_000),
    ms: 1 + (n % 900),
    client: `192.0.${n % 256}.0/24`,
    visitor: String(n % 40_000),
    cache: n % 3 === 0 ? 'miss' : 'hit',
    rule: 0,
    reason: n % 97 === 0 ? 'origin_timeout' : '',
    websocket: false,
  };
}

async function untilAnswers(analytics: Analytics): Promise<void> {
  for (;;) {
    try {
      await analytics.query('SELECT 1', {}, { seconds: 2 });
      return;
    } catch {
      await pause(50);
    }
  }
}

/** A day at a time, since an insert may touch 100 days. */
async function makeLines(url: string, lines: number): Promise<void> {
  const { origin, username, password } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const each = Math.ceil(lines / DAYS);
  for (let day = 0; day < DAYS; day++) {
    const body = `INSERT INTO requests SELECT
      toDateTime64(toStartOfDay(now('UTC')), 3, 'UTC') - toIntervalDay(${day}) + toIntervalMillisecond(number % 86400000) AS at,
      ${DOMAIN} AS domain_id, number % 3 AS edge_id, concat('host', toString(number % 5), '.example.net') AS host, '' AS asked_host,
      if(number % 10 = 0, 'POST', 'GET') AS method,
      concat('/articles/', toString(intHash32(number) % 20000), '?page=', toString(number % 7)) AS uri,
      if(number % 97 = 0, 502, 200) AS status, 1000 + intHash32(number) % 50000 AS octets, 1 + intHash32(number) % 900 AS ms,
      concat('192.0.', toString(number % 256), '.0/24') AS client, intHash64(number % 400000) AS visitor,
      if(number % 3 = 0, 'miss', 'hit') AS cache, 0 AS rule, if(number % 97 = 0, 'origin_timeout', '') AS reason,
      false AS websocket
      FROM numbers(${each})`;
    const answer = await fetch(`${origin}/?max_execution_time=3600`, {
      method: 'POST',
      body,
      headers: { authorization },
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.text();
  }
}

const OF_DOMAIN = `domain_id = ${DOMAIN}`;
const QUERIES = [
  {
    name: 'sums, visitors and quantiles by day',
    isRaw: false,
    sql: `SELECT toDate(hour) AS day, sum(count), sum(octets), sum(failures), uniqCombined64Merge(15)(visitors),
      quantilesDDMerge(0.01, 0.5, 0.9, 0.95, 0.99)(times) FROM requests_hourly WHERE ${OF_DOMAIN} GROUP BY day ORDER BY day`,
  },
  {
    name: 'the hundred most frequent URIs',
    isRaw: false,
    sql: `SELECT uri, sum(count) AS n FROM uris_daily WHERE ${OF_DOMAIN} GROUP BY uri ORDER BY n DESC LIMIT 100`,
  },
  {
    name: 'statuses',
    isRaw: false,
    sql: `SELECT status, sum(count) FROM values_daily WHERE ${OF_DOMAIN} GROUP BY status`,
  },
  {
    name: 'by hour, for one host',
    isRaw: true,
    sql: `SELECT toStartOfHour(at) AS hour, count(), sum(octets), uniqCombined64(15)(visitor) FROM requests
      WHERE ${OF_DOMAIN} AND (asked_host = '' AND host = 'host3.example.net' OR asked_host = 'host3.example.net') GROUP BY hour ORDER BY hour`,
  },
  {
    name: 'by hour, for paths with a common prefix',
    isRaw: true,
    sql: `SELECT toStartOfHour(at) AS hour, count(), sum(octets), uniqCombined64(15)(visitor) FROM requests
      WHERE ${OF_DOMAIN} AND startsWith(uri, '/articles/12') GROUP BY hour ORDER BY hour`,
  },
] as const;

async function timeQuery(
  analytics: Analytics,
  { name, isRaw, sql }: (typeof QUERIES)[number],
): Promise<MeasuredQuery> {
  let seconds = 0;
  for (let turn = 0; turn < 3; turn++) {
    const beganMs = performance.now();
    await analytics.query(sql, {}, QUERY);
    seconds = Math.max(seconds, (performance.now() - beganMs) / 1000);
  }
  return { name, isRaw, seconds };
}
