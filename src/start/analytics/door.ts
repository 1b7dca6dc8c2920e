// The only access to the embedded engine: the subset of ClickHouse's HTTP interface that `@clickhouse/client` uses. Every
// request needs the password. Bodies, statements and waiting times are limited.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { bindValues } from './bind-values.ts';
import { judgeSettings } from './judge-settings.ts';
import { judgeStatement, type Statement } from './judge-statement.ts';
import { Refusal } from './refusal.ts';
import type { EngineSession, Sessions } from './sessions.ts';

const USER = 'zonefleet';
export const DATABASE = 'zonefleet';
const MAX_STATEMENT_BYTES = 256 * 1024;
const MAX_ROWS_BYTES = 64 * 1024 * 1024;
const FORMAT = { format: 'JSONEachRow' };

interface Engine {
  readonly reads: Sessions;
  readonly writes: Sessions;
  readonly pings: Sessions;
  /** Names of table functions in lower case. */
  readonly sources: ReadonlySet<string>;
}

export function createDoor(engine: Engine, password: string): Server {
  const wanted = digest(`${USER}:${password}`);
  const server = createServer({ requestTimeout: 60_000, headersTimeout: 10_000 }, (request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort(new Error('the caller has disconnected')));
    answer(engine, wanted, request, gone.signal).then(
      (text) => send(response, 200, text),
      (error: Error) => sendFault(request, response, error),
    );
  });
  server.keepAliveTimeout = 60_000;
  return server;
}

async function answer(
  engine: Engine,
  wanted: Buffer,
  request: IncomingMessage,
  gone: AbortSignal,
): Promise<string> {
  if (!timingSafeEqual(digest(shown(request)), wanted))
    throw new Refusal('AUTHENTICATION_FAILED', 'Authentication failed: wrong user or password');
  const url = new URL(request.url ?? '/', 'http://engine');
  if (url.pathname === '/ping')
    return await engine.pings.use(gone, async (session) => {
      await session.queryAsync('SELECT 1', FORMAT);
      return 'Ok.\n';
    });
  if (request.method !== 'POST' || url.pathname !== '/')
    throw new Refusal('NOT_IMPLEMENTED', 'only POST / and /ping are supported');
  if (request.headers['content-encoding'] !== undefined)
    throw new Refusal('NOT_IMPLEMENTED', 'compressed bodies are not supported');
  if ((url.searchParams.get('database') ?? DATABASE) !== DATABASE)
    throw new Refusal('UNKNOWN_DATABASE', `the only database is ${DATABASE}`);
  return await run(engine, request, url.searchParams, gone);
}

async function run(
  engine: Engine,
  request: IncomingMessage,
  given: URLSearchParams,
  gone: AbortSignal,
): Promise<string> {
  const inUrl = given.get('query');
  const text = inUrl ?? (await readBody(request, MAX_STATEMENT_BYTES)).toString();
  const values = new Map(
    [...given].filter(([name]) => name.startsWith('param_')).map(([name, value]) => [name.slice(6), value]),
  );
  const statement = judgeStatement(bindValues(text, values), engine.sources);
  const settings = judgeSettings(given, statement.kind === 'select');
  const sessions = statement.kind === 'select' ? engine.reads : engine.writes;
  return await sessions.use(gone, async (session) => {
    // Read when its turn comes, so that there are never more bodies in memory than sessions.
    const rows = statement.kind === 'rows' ? await readBody(request, MAX_ROWS_BYTES) : '';
    return await runIn(session, statement, settings, rows);
  });
}

/** A statement that creates tables has its own settings and accepts no others. */
async function runIn(
  session: EngineSession,
  { kind, before, after }: Statement,
  settings: string,
  rows: Buffer | string,
): Promise<string> {
  const isSchema = kind === 'write' && after === '';
  const result = await session.queryAsync(
    `${before}\n${isSchema ? '' : settings}\n${after}${rows.toString()}`,
    FORMAT,
  );
  return result.text();
}

async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) throw new Refusal('QUERY_IS_TOO_LARGE', `the body has more than ${limit} bytes`);
    chunks.push(chunk);
  }
  if (!request.complete) throw new Error('the body ended early');
  return Buffer.concat(chunks);
}

function shown({ headers }: IncomingMessage): string {
  const { authorization = '', 'x-clickhouse-user': user, 'x-clickhouse-key': key } = headers;
  if (user !== undefined) return `${user}:${key}`;
  return Buffer.from(/^Basic (\S+)$/i.exec(authorization)?.[1] ?? '', 'base64').toString();
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function send(response: ServerResponse, status: number, text: string): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/x-ndjson; charset=UTF-8' }).end(text);
}

function sendFault(request: IncomingMessage, response: ServerResponse, { message }: Error): void {
  const [, code] = /Code: (\d+)/.exec(message) ?? [];
  if (!request.complete) response.setHeader('connection', 'close');
  if (code !== undefined) response.setHeader('x-clickhouse-exception-code', code);
  send(response, code === '516' || code === '497' ? 403 : 500, message);
}
