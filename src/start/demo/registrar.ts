// The demo's registrar over HTTP on loopback: a page for people, JSON for programs.
//   GET /   POST /names (the page's forms)   GET /names   PUT /names/{name} {"nameservers": ["ns1.zonefleet.example"]}
// Every page in the browser can send requests here. Requests that write must come from this page or from no page at all. A
// host name that another site resolves to this address (DNS rebinding) is rejected.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createBoundedServer } from '../../process/http/bounded-server.ts';
import { type Rejected, registrarPage, STYLE } from './registrar-page.ts';
import type { Registration, Registry } from './registry.ts';

/** 13 names of 253 characters, percent-encoded, with some margin. */
const MAX_BODY_BYTES = 16 * 1024;
const MAX_TEXTS = 100;
const LIMITS = {
  connections: 64,
  perNetwork: undefined,
  unreadBytes: 4 * 1024 ** 2,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 5000,
};
const CSP =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

interface Answer {
  readonly status: number;
  readonly type?: 'text/html' | 'text/css' | 'application/json';
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `authority()` returns its listening address, like `127.0.0.1:8063`. */
export function createRegistrar(registry: Registry, authority: () => string): Server {
  const isOurs = (request: IncomingMessage) => {
    const { host, origin } = request.headers;
    return host === authority() && (origin === undefined || origin === `http://${authority()}`);
  };
  return createBoundedServer(LIMITS, (request, response) => {
    answerTo(request, registry, isOurs(request)).then(
      (answer) => send(response, answer, request.method === 'HEAD'),
      (error: Error) => send(response, json(500, { error: error.message })),
    );
  });
}

async function answerTo(request: IncomingMessage, registry: Registry, isOurs: boolean): Promise<Answer> {
  const { method = 'GET' } = request;
  const url = new URL(request.url ?? '/', 'http://registrar');
  if (!isOurs) return json(403, { error: 'this request comes from another site' });
  const isReading = method === 'GET' || method === 'HEAD';
  if (url.pathname === '/' && isReading)
    return page(200, registrarPage(registry.list(), { saved: url.searchParams.get('saved') ?? undefined }));
  if (url.pathname === '/style.css' && isReading) return { status: 200, type: 'text/css', body: STYLE };
  if (url.pathname === '/names' && isReading)
    return json(200, Object.fromEntries(registry.list().map(([name, each]) => [name, printed(each)])));
  if (url.pathname === '/names' && method === 'POST') return await takeForm(request, registry);
  const name = /^\/names\/([^/]+)$/.exec(url.pathname)?.[1];
  if (name !== undefined && method === 'PUT') return await takeJson(request, registry, name);
  return ['/', '/style.css', '/names'].includes(url.pathname) || name !== undefined
    ? json(405, { error: `${method} is not allowed here` })
    : json(404, { error: 'no such page' });
}

async function takeForm(request: IncomingMessage, registry: Registry): Promise<Answer> {
  // A form without this header comes from a page that hides its origin, so it is not ours.
  if (request.headers.origin === undefined) return json(403, { error: 'this form comes from another site' });
  if (mediaType(request) !== 'application/x-www-form-urlencoded')
    return json(415, { error: 'expected application/x-www-form-urlencoded' });
  const text = await readBody(request);
  if (text === undefined) return TOO_LARGE;
  const form = new URLSearchParams(text);
  const name = (form.get('name') ?? '').trim().toLowerCase().replace(/\.$/, '');
  const nameservers = form.get('nameservers') ?? '';
  const changed = registry.change(name, nameservers.split(/[\s,]+/), Date.now());
  if (changed.kind === 'changed') {
    const location = `/?saved=${encodeURIComponent(name)}#${encodeURIComponent(name)}`;
    return { status: 303, headers: { Location: location } };
  }
  const { field, message } = changed;
  const rejected: Rejected = { name, nameservers, field, message };
  return page(422, registrarPage(registry.list(), { rejected }));
}

async function takeJson(request: IncomingMessage, registry: Registry, name: string): Promise<Answer> {
  if (mediaType(request) !== 'application/json') return json(415, { error: 'expected application/json' });
  const text = await readBody(request);
  if (text === undefined) return TOO_LARGE;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return json(400, { error: 'the body is not JSON' });
  }
  const nameservers = (body as { nameservers?: unknown } | null)?.nameservers;
  if (!isTexts(nameservers)) return json(400, { error: 'expected a list of names', field: 'nameservers' });
  const decoded = decode(name);
  const changed = registry.change(decoded, nameservers, Date.now());
  if (changed.kind === 'problem') return json(422, { error: changed.message, field: changed.field });
  const key = decoded.toLowerCase().replace(/\.$/, '');
  return json(200, printed(new Map(registry.list()).get(key) as Registration));
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= MAX_TEXTS && value.every((item) => typeof item === 'string');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not a valid name, which is reported
  }
}

/** Returns undefined if the body is too large. The rest is read and discarded, so that the client can read the response. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((done, fail) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) return void chunks.push(chunk);
      chunks = [];
      done(undefined);
    });
    request.on('end', () => done(Buffer.concat(chunks).toString('utf8')));
    request.on('error', fail);
  });
}

const TOO_LARGE = json(413, { error: `expected at most ${MAX_BODY_BYTES} bytes` });

function mediaType(request: IncomingMessage): string | undefined {
  return request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
}

function printed({ nameservers, changedAt }: Registration): object {
  return { nameservers, changed_at: changedAt === 0 ? null : new Date(changedAt).toISOString() };
}

function page(status: number, body: string): Answer {
  return { status, type: 'text/html', body };
}

function json(status: number, value: object): Answer {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}

function send(
  response: ServerResponse,
  { status, type, body = '', headers = {} }: Answer,
  isHead = false,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    ...(type !== undefined && { 'Content-Type': `${type}; charset=utf-8` }),
    'Content-Length': Buffer.byteLength(body),
    'Content-Security-Policy': CSP,
    // With `no-referrer`, browsers would hide the origin of our own forms.
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    ...headers,
    ...(status === 413 && { Connection: 'close' }),
  });
  response.end(isHead ? undefined : body);
}
