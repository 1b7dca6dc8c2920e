// The API as an operator runs it, in a separate process.

import { generateKey } from '../../../src/store/accounts/api-keys.ts';
import { openRole } from '../database/database.ts';
import { freePort } from './free-port.ts';
import { type Program, startProgram, untilReady } from './program.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
}

export interface ApiProcess extends Program {
  readonly url: string;
  /** Key of a global admin. */
  readonly key: string;
  /** Rejects if the connection breaks. */
  ask(method: string, path: string, body?: unknown): Promise<HttpAnswer>;
}

export async function startApi(
  databaseUrl: string,
  options: { key?: string; env?: Record<string, string> } = {},
): Promise<ApiProcess> {
  const { key = generateKey(), env = {} } = options;
  const port = await freePort();
  const program = startProgram('../../../src/api/main.ts', {
    DATABASE_URL: await openRole(databaseUrl, 'zonefleet_api'),
    API_LISTEN: `127.0.0.1:${port}`,
    METRICS_LISTEN: `127.0.0.1:${await freePort()}`,
    BOOTSTRAP_API_KEY: key,
    API_RATE: 'off',
    LOG_LEVEL: 'warn',
    ...env,
  });
  const url = `http://127.0.0.1:${port}`;
  const ask: ApiProcess['ask'] = (method, path, body) => askApi(url, key, method, path, body);
  await untilReady(program, 'the API', async () => {
    const ready = await ask('GET', '/readyz').catch(() => undefined);
    return (ready?.status === 200 ? await ask('GET', '/domains/ns-sets') : undefined)?.status === 200;
  });
  return { ...program, url, key, ask };
}

export async function askApi(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<HttpAnswer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: isJson ? JSON.parse(text) : undefined,
  };
}
