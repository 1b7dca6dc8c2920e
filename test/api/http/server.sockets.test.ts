import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { StreamedArray } from '../../../src/api/answers/streams.ts';
import { account, route } from '../../../src/api/calls/route.ts';
import { type HttpListeners, listenHttp } from '../../../src/api/http/listen.ts';
import { ROUTES } from '../../../src/features/every-route.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';

const Thing = z.strictObject({
  name: z.string().min(1),
  count: z.int().min(0).max(9).optional(),
  kind: z.enum(['a', 'b']).optional(),
  parts: z.array(z.strictObject({ size: z.int() })).optional(),
});

const at = (method: 'GET' | 'POST' | 'PUT', path: string) => {
  return { method, path, tag: 'Things', summary: 'A thing.', operationId: `${method} ${path}` };
};
const things = z.array(z.object({ n: z.int() }));
const THINGS = [
  route(account(), {
    ...at('PUT', '/things'),
    body: Thing,
    response: z.object({ got: z.unknown() }),
    run: ({ body }) => ({ got: body }),
  }),
  route(account(), {
    ...at('POST', '/things/touch'),
    response: z.object({ touched: z.boolean() }),
    run: () => ({ touched: true }),
  }),
  route(account(), {
    ...at('GET', '/things/'),
    query: z.object({ search: z.string().optional(), limit: z.string().regex(/^\d+$/).optional() }),
    response: z.array(z.unknown()),
    run: ({ query }) => [query.search ?? ''],
  }),
  route(account(), {
    ...at('GET', '/things/bug'),
    response: z.unknown(),
    run() {
      throw new Error('secret detail of /var/lib');
    },
  }),
  route(account(), {
    ...at('GET', '/things/lie'),
    response: z.object({ count: z.int() }),
    run: () => ({ count: 'many' as unknown as number }),
  }),
  route(account(), {
    ...at('GET', '/things/many'),
    response: things,
    run: () => new StreamedArray(numbers(50_000)),
  }),
  route(account(), {
    ...at('GET', '/things/broken'),
    response: things,
    run: () => new StreamedArray(numbers(50_000, 40_000)),
  }),
];

async function* numbers(count: number, failAt = Number.POSITIVE_INFINITY) {
  for (let n = 0; n < count; n++) {
    if (n === failAt) throw new Error('lost');
    yield [{ n }];
  }
}

const api = ownApi(() => startTestApi({ routes: [...ROUTES, ...THINGS] }));
let listeners: HttpListeners;
let url: string;
beforeAll(async () => {
  listeners = await listenHttp(api.app, [{ address: '127.0.0.1', port: 0 }]);
  url = `http://127.0.0.1:${listeners.addresses[0]?.port}`;
});
afterAll(() => listeners?.close(0));

const fieldsOf = (body: { fields: { field: string }[] }) => body.fields.map(({ field }) => field).sort();

describe('a path', () => {
  it('is matched exactly: another case or an unknown path is 404 in JSON, never a redirect', async () => {
    for (const [method, path] of [
      ['GET', '/Domains/ns-sets'],
      ['GET', '//domains/ns-sets'],
      ['GET', `/${'x'.repeat(5000)}`],
      ['GET', '/../etc/passwd'],
      ['GET', '/domains/%00/x'],
      ['GET', '/domains/'.repeat(300)],
    ] as const) {
      const { status, body, headers } = await api.ask(method, path);
      expect([method, path, status, body]).toEqual([method, path, 404, { error: 'path not found' }]);
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('is a 400 for authenticated callers if it cannot be decoded', async () => {
    const error = 'the path cannot be decoded: use UTF-8, and two hexadecimal digits after each "%"';
    for (const path of ['/%zz', '/%ff', '/domains/%zz', '/domains/a.test/records/%', '/%zz?a=b']) {
      for (const method of ['GET', 'PATCH', 'OPTIONS']) {
        const { status, body } = await api.ask(method, path);
        expect([method, path, status, body]).toEqual([method, path, 400, { error }]);
      }
      expect((await api.ask('GET', path, { as: null })).status).toBe(401);
    }
  });

  it('without the requested method is 405, and lists its methods', async () => {
    for (const [method, path, allow] of [
      ['POST', '/domains/ns-sets', 'GET, HEAD, OPTIONS'],
      ['PATCH', '/things?a=b', 'OPTIONS, PUT'],
      ['PUT', '/domains/a.test/records/', 'GET, HEAD, OPTIONS, POST'],
      ['PATCH', '/domains/nobody.example', 'DELETE, GET, HEAD, OPTIONS, PUT'],
      ['HEAD', '/things/touch', 'OPTIONS, POST'],
    ] as const) {
      const { status, body, headers } = await api.ask(method, path);
      const error = `this path does not support ${method}, only ${allow}`;
      expect([method, path, status, headers.allow, body]).toEqual([method, path, 405, allow, { error }]);
    }
    expect((await api.ask('PATCH', '/domains/a.test', { as: null })).status).toBe(401);
  });

  it('responds 404 with the right path in the error if the trailing slash is wrong', async () => {
    for (const [method, path, meant] of [
      ['POST', '/domains', '/domains/'],
      ['HEAD', '/domains?limit=1', '/domains/'],
      ['OPTIONS', '/domains', '/domains/'],
      ['GET', '/things?search=a', '/things/'],
      ['GET', '/domains/ns-sets/', '/domains/ns-sets'],
      ['GET', '/domains/%00/', '/domains/%00'],
      ['GET', '/healthz/', '/healthz'],
      ['GET', '/domains/shop.example/records', '/domains/shop.example/records/'],
    ] as const) {
      const { status, body } = await api.ask(method, path);
      const error = `path not found; did you mean ${meant}?`;
      expect([method, path, status, body]).toEqual([method, path, 404, { error }]);
    }
  });

  it('may be escaped, and responds to OPTIONS with its methods and to HEAD without a body', async () => {
    const options = await api.ask('OPTIONS', '/domains/ns-sets');
    expect(options).toMatchObject({ status: 200, body: { methods: ['GET', 'HEAD', 'OPTIONS'] } });
    expect(options.headers.allow).toBe('GET, HEAD, OPTIONS');
    expect((await api.ask('GET', '/%64omains/ns-sets')).status).toBe(200);
    expect(await api.ask('HEAD', '/domains/ns-sets')).toMatchObject({ status: 200, text: '' });
    expect((await api.ask('OPTIONS', '/nowhere')).status).toBe(404);
  });

  it('responds 401 without a key if it is unknown', async () => {
    const { status, body, headers } = await api.ask('GET', '/nowhere', { as: null });
    expect([status, body]).toEqual([401, { error: 'a valid API key is required' }]);
    expect(headers['www-authenticate']).toBe('Bearer');
  });
});

describe('a body', () => {
  it('is accepted if it is valid', async () => {
    const got = { name: 'x', count: 3, kind: 'a', parts: [{ size: 1 }] };
    expect(await api.ask('PUT', '/things', { body: got })).toMatchObject({ status: 200, body: { got } });
  });

  it.each([
    [{ name: 1 }, ['name']],
    [{ name: null }, ['name']],
    [{ name: '' }, ['name']],
    [{}, ['name']],
    [{ name: 'x', count: 1.5 }, ['count']],
    [{ name: 'x', count: 10 }, ['count']],
    [{ name: 'x', count: '1' }, ['count']],
    [{ name: 'x', kind: 'c' }, ['kind']],
    [{ name: 'x', parts: [{ size: 1 }, { size: 'big', deep: 1 }] }, ['parts[1].deep', 'parts[1].size']],
    [{ name: 'x', unknown: 1, another: 2 }, ['another', 'unknown']],
    [[], ['body']],
    ['text', ['body']],
    [null, ['body']],
    [{ name: 'a\u0000b' }, ['name']],
    [{ name: 'half \ud800' }, ['name']],
  ])('is 400 and names each wrong field: %j', async (body, fields) => {
    const answer = await api.ask('PUT', '/things', { body: JSON.stringify(body) });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(Object.keys(answer.body).sort()).toEqual(['code', 'error', 'fields']);
    expect(fieldsOf(answer.body)).toEqual(fields);
    for (const { error } of answer.body.fields) expect(error).not.toBe('');
    const [{ field, error }, ...others] = answer.body.fields;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    expect(answer.body.error).toBe(`${field}: ${error}${more}`);
  });

  it('is 400 with an unknown member of any name', async () => {
    for (const member of ['__proto__', 'constructor', 'toString', 'a.b', '']) {
      const answer = await api.ask('PUT', '/things', {
        body: `{"name":"x",${JSON.stringify(member)}:{"a":1}}`,
      });
      expect([member, answer.status]).toEqual([member, 400]);
      expect(fieldsOf(answer.body)).toEqual([member]);
    }
  });

  it.each([
    ['{"name":', 'the body is not valid JSON'],
    ['{"name":"x"}}', 'the body is not valid JSON'],
    [Buffer.from('7b226e616d65223a22ff227d', 'hex'), 'the body is not UTF-8'],
    [`{"parts":${'['.repeat(100)}${']'.repeat(100)}}`, 'the body is nested deeper than 64 levels'],
    ['['.repeat(500_000), 'the body is nested deeper than 64 levels'],
  ])('is 400 if it is not JSON: %s', async (body, error) => {
    const answer = await api.ask('PUT', '/things', { body });
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });

  it('is a 400 if it has another type, and is read as JSON if it has none', async () => {
    const body = '{"name":"x"}';
    const put = (type: string) => api.ask('PUT', '/things', { body, headers: { 'content-type': type } });
    const form = 'application/x-www-form-urlencoded';
    for (const type of ['text/plain', form, 'application/json; charset=latin1', '/']) {
      const answer = await put(type);
      expect([type, answer.status, Object.keys(answer.body)]).toEqual([type, 400, ['error']]);
    }
    for (const type of ['application/json;charset=UTF-8', 'application/merge-patch+json'])
      expect((await put(type)).status).toBe(200);
    const headers = { authorization: `Bearer ${api.keys.owner}` };
    const bare = await fetch(`${url}/things`, { method: 'PUT', headers, body: new Blob([body]) });
    expect(bare.status).toBe(200);
  });

  it('must be empty if the route has none, with any type', async () => {
    const types = ['application/json', 'text/plain', 'nonsense', 'application/x-www-form-urlencoded'];
    for (const type of [undefined, ...types]) {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const answer = await api.ask('POST', '/things/touch', { headers });
      expect([type, answer.status]).toEqual([type, 200]);
    }
    expect((await api.ask('POST', '/things/touch', { body: '{}' })).status).toBe(200);
    const answer = await api.ask('POST', '/things/touch', { body: '{"force":true}' });
    expect([answer.status, fieldsOf(answer.body)]).toEqual([400, ['force']]);
  });

  it('beyond 1 MiB is 400, with and without a length', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
    const authorization = `Bearer ${api.keys.owner}`;
    for (const sent of [body, new Blob([body]).stream()]) {
      const init = { method: 'PUT', headers: { authorization }, body: sent, duplex: 'half' };
      const answer = await fetch(`${url}/things`, init as RequestInit);
      expect([answer.status, await answer.json()]).toEqual([400, { error: 'the body is too large' }]);
    }
  });

  it('is not read before the guards have admitted the request', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write('PUT /things HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{');
    const [first] = await new Promise<Buffer[]>((done) => socket.once('data', (octets) => done([octets])));
    expect(String(first)).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
  });
});

it('a query with an invalid or unknown parameter is a 400 that names it', async () => {
  for (const [query, ...fields] of [
    ['limit=x', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['search=a%00b', 'search'],
    ['__proto__=1&constructor=2', '__proto__', 'constructor'],
  ]) {
    const { status, body } = await api.ask('GET', `/things/?${query}`);
    expect([query, status, fieldsOf(body)]).toEqual([query, 400, fields]);
  }
  expect((await api.ask('GET', '/things/?search=%C3%A4%zz')).status).toBe(200);
  for (const [method, path] of [
    ['GET', '/things/?nothing=1'],
    ['HEAD', '/things/?nothing'],
    ['GET', '/domains/ns-sets?nothing=1'],
    ['POST', '/things/touch?nothing=1'],
    ['GET', '/changes?nothing=1&limit=1'],
  ] as const) {
    const { status, body } = await api.ask(method, path);
    const fields = [{ field: 'nothing', error: 'unknown parameter' }];
    const told = { error: 'nothing: unknown parameter', code: 'validation_failed', fields };
    expect([path, status, body]).toEqual([path, 400, method === 'HEAD' ? undefined : told]);
  }
  expect((await api.ask('OPTIONS', '/things/?nothing=1')).status).toBe(200);
});

describe('a bug', () => {
  it.each([
    '/things/bug',
    '/things/lie',
  ])('is 500 with a request id and without details: %s', async (path) => {
    const { status, body, headers } = await api.ask('GET', path);
    expect([status, body]).toEqual([500, { error: 'internal error' }]);
    const id = headers['x-request-id'];
    const told = api.logged.filter((line) => line.reqId === id);
    expect(told.some(({ msg }) => msg === 'unhandled error in request')).toBe(true);
  });
});

describe('a long list', () => {
  it('is sent completely and in order', async () => {
    const { body } = await api.ask('GET', '/things/many');
    expect(body).toHaveLength(50_000);
    expect(body[49_999]).toEqual({ n: 49_999 });
  });

  it('is aborted, not ended regularly, if it fails in the middle', async () => {
    const headers = { authorization: `Bearer ${api.keys.owner}` };
    const response = await fetch(`${url}/things/broken`, { headers });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });
});

describe('bytes on a connection', () => {
  /** Sends the text, and returns the response once the API closes the connection. */
  async function exchange(sent: string): Promise<string> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(sent);
    let text = '';
    for await (const octets of socket) text += octets;
    return text;
  }

  it.each([
    ['nonsense\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ])('that are not HTTP are rejected in JSON: %s', async (sent, status) => {
    const [head = '', body = ''] = (await exchange(sent)).split('\r\n\r\n');
    expect(head).toContain(`HTTP/1.1 ${status} `);
    expect(head).toContain('X-Request-Id: ');
    expect(Object.keys(JSON.parse(body))).toEqual(['error']);
  });

  it.each([
    ['Authorization: Bearer KEY', 'authorization: Bearer OTHER', 'Authorization'],
    ['X-Api-Key: KEY', 'x-api-key: KEY', 'X-Api-Key'],
  ])('are rejected with two keys: %s and %s', async (first, second, name) => {
    const lines = ['GET /things/ HTTP/1.1', 'Host: x', first, second, 'Connection: close', '', ''];
    const { owner, viewer } = api.keys;
    const text = await exchange(lines.join('\r\n').replaceAll('KEY', owner).replaceAll('OTHER', viewer));
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).toContain(`{"error":"the ${name} header is present more than once"}`);
  });
});

describe('every response', () => {
  const SAFE = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

  it.each([
    ['GET', '/things/', 'owner', 200],
    ['GET', '/things/', null, 401],
    ['GET', '/nowhere', 'owner', 404],
    ['GET', '/%zz', 'owner', 400],
    ['PATCH', '/things', 'owner', 405],
    ['GET', '/things/bug', 'owner', 500],
    ['PUT', '/things', 'owner', 400],
    ['GET', '/healthz', null, 200],
    ['GET', '/openapi.yaml', null, 200],
  ])('is not cached and has the right content type: %s %s', async (method, path, as, status) => {
    const body = method === 'PUT' ? '{' : undefined;
    const answer = await api.ask(method, path, { as, ...(body === undefined ? {} : { body }) });
    expect([answer.status, answer.headers]).toEqual([status, expect.objectContaining(SAFE)]);
  });
});
