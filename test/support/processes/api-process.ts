// The API as an operator runs it, in a process of its own, and a client that keeps its connections.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { generateKey } from '../../../src/store/accounts/api-keys.ts';
import { openRole } from '../database/database.ts';
import { until } from '../tests/until.ts';
import { freePort } from './free-port.ts';

const MAIN = fileURLToPath(new URL('../../../src/api/main.ts', import.meta.url));

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
}

export interface ApiProcess {
  readonly url: string;
  /** Of a global admin. */
  readonly key: string;
  readonly child: ChildProcess;
  log(): string;
  /** Rejects when the connection breaks. */
  ask(method: string, path: string, body?: unknown): Promise<HttpAnswer>;
  /** The sum of the lines of its metrics that begin so. */
  metric(start: string): Promise<number>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Resolves when it is ready. */
export async function startApi(
  databaseUrl: string,
  options: { key?: string; env?: Record<string, string> } = {},
): Promise<ApiProcess> {
  const { key = generateKey(), env = {} } = options;
  const [port, metricsPort] = [await freePort(), await freePort()];
  const roleUrl = await openRole(databaseUrl, 'zonefleet_api');
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN], {
    env: {
      PATH: process.env.PATH,
      RUN_AS: 'off', // root owns the files of tests
      DATABASE_URL: roleUrl,
      API_LISTEN: `127.0.0.1:${port}`,
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      BOOTSTRAP_API_KEY: key,
      API_RATE: 'off',
      LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const ask: ApiProcess['ask'] = (method, path, body) => send(agent, port, key, method, path, body);
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    agent.destroy();
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`the API ended: ${log}`);
      const ready = await ask('GET', '/readyz').catch(() => undefined);
      const knows = ready?.status === 200 ? await ask('GET', '/domains/ns-sets') : undefined;
      return knows?.status === 200;
    }, 'the API is ready');
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
  return {
    url: `http://127.0.0.1:${port}`,
    key,
    child,
    log: () => log,
    ask,
    async metric(start) {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const values = text
        .split('\n')
        .flatMap((line) => (line.startsWith(start) ? Number(line.split(' ').at(-1)) : []));
      return values.reduce((sum, value) => sum + value, 0);
    },
    stop,
  };
}

function send(
  agent: Agent,
  port: number,
  key: string,
  method: string,
  path: string,
  body: unknown,
): Promise<HttpAnswer> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const asking = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: {
          authorization: `Bearer ${key}`,
          ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = /json/.test(String(response.headers['content-type'])) && text !== '';
          resolve({
            status: response.statusCode as number,
            headers: response.headers,
            body: isJson ? JSON.parse(text) : undefined,
          });
        });
      },
    );
    asking.on('error', reject);
    asking.end(bytes);
  });
}
