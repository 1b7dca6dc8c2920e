import { appRoutes } from '@bull-board/api/dist/routes.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serveBoard } from '../../../../src/api/console/board/serve-board.ts';
import { serveConsole } from '../../../../src/api/console/serve-console.ts';
import { QUEUES } from '../../../../src/features/every-feature.ts';
import { CHECK_DELEGATION } from '../../../../src/jobs/jobs.ts';
import { OpenQueues } from '../../../../src/jobs/open-queues.ts';
import { ownApi, startTestApi } from '../../../support/api/api.ts';
import { type Browser, signIn } from '../../../support/api/people.ts';
import { createDatabase, openRole } from '../../../support/database/database.ts';

const BASE = '/console/queues';
const POLICY =
  "default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

let queues: OpenQueues;
const api = ownApi(async () => {
  const database = await createDatabase();
  // Uses the API's own role, which must be able to read everything that the board shows.
  const databaseUrl = await openRole(database.url, 'zonefleet_api');
  queues = new OpenQueues({ databaseUrl, redisUrl: undefined }, QUEUES);
  return await startTestApi({
    database,
    trustedProxies: ['127.0.0.1'],
    mount(app) {
      serveBoard(app, () => queues.all());
      serveConsole(app, '/nowhere');
    },
  });
});
let operator: Browser;
beforeAll(async () => {
  operator = await signIn(api, 'operator');
});
afterAll(() => queues?.close());
afterEach(() => queue().drain());

const queue = () => queues.open(CHECK_DELEGATION.queue).queue;
const addJob = (data: object) => queue().add(CHECK_DELEGATION.queue as never, data as never);

describe('access to the board', () => {
  const PATHS = ['', '/', '/queue/check-delegation', '/api/queues', '/static/favicon-32x32.png', '/none'];
  const OTHERS = ['/%61pi/queues', '/api/queues?x=1'];

  it.each([...PATHS, ...OTHERS])('is limited to signed-in global admins: %s', async (path) => {
    const owner = await signIn(api, 'owner');
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const url = BASE + path;
      expect([method, (await api.ask(method, url, { as: null })).status]).toEqual([method, 401]);
      expect([method, (await api.ask(method, url, { as: 'operator' })).status]).toEqual([method, 403]);
      const answer = await owner.ask(method, url);
      expect([method, answer.status]).toEqual([method, 404]);
      if (method === 'GET') expect(answer.body).toEqual({ error: 'path not found' });
    }
  });

  it('redirects a browser without a session to the sign-in page, which no request can choose', async () => {
    const open = (path: string, headers: Record<string, string> = {}) =>
      api.ask('GET', BASE + path, {
        as: null,
        headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers },
      });
    for (const path of ['', '/', '/queue/check-delegation?status=failed', '//elsewhere.example/', '/none']) {
      const { status, headers } = await open(path, {
        host: 'elsewhere.example',
        referer: 'https://elsewhere.example/',
      });
      expect([path, status, headers.location]).toEqual([path, 302, '/console/?open=queues']);
      expect(headers['cache-control']).toBe('no-store');
    }
    expect((await open('/', { cookie: 'session=spent' })).status).toBe(302);
    expect((await open('/', { accept: '*/*' })).status).toBe(401);
    expect((await open('/', { 'x-api-key': 'zf_unknown' })).status).toBe(401);
    expect((await api.ask('GET', '/users/me', { as: null, headers: { accept: 'text/html' } })).status).toBe(
      401,
    );
  });

  it('is refused for other spellings of the path too', async () => {
    const owner = await signIn(api, 'owner');
    for (const path of ['%71ueues/api/queues', 'queues%2fapi/queues', '/queues/api']) {
      const url = `/console/${path}`;
      for (const { text } of [await owner.ask('GET', url), await api.ask('GET', url, { as: null })])
        expect(text).not.toContain('check-delegation');
    }
  });
});

describe('a global admin', () => {
  it('gets the page, which cannot be framed and allows nothing inline and nothing from other hosts', async () => {
    for (const path of ['/', '/queue/check-delegation', '/queue/check-delegation/1', '/job-schedulers']) {
      const { status, headers, text } = await operator.ask('GET', BASE + path);
      expect([path, status, headers['content-security-policy']]).toEqual([path, 200, POLICY]);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'x-frame-options': 'DENY',
        'cache-control': 'no-cache',
      });
      expect(text).toContain('<base href="/console/queues/">');
    }
    expect((await operator.ask('GET', BASE)).headers.location).toBe(`${BASE}/`);
  });

  it('gets each file that the page names, which only the browser may cache', async () => {
    const { text } = await operator.ask('GET', `${BASE}/`);
    const files = [...text.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(([, path]) => path);
    expect(files.length).toBeGreaterThan(4);
    for (const path of files) {
      const { status, headers } = await operator.ask('GET', `${BASE}/${path}`);
      expect([path, status, headers['content-security-policy']]).toEqual([path, 200, POLICY]);
      if (/\.(js|css)$/.test(String(path)))
        expect(headers['cache-control']).toBe('private, max-age=31536000, immutable');
    }
    const others = ['static/../index.ejs', 'static/%2e%2e/index.ejs', 'static/js', 'js/none.js', 'static/'];
    for (const path of others)
      expect([path, (await operator.ask('GET', `${BASE}/${path}`)).status]).toEqual([path, 404]);
  });

  it('sees every queue and its waiting jobs, with the privileges of the API', async () => {
    const job = await addJob({ domainId: 4711, kind: 'background' });
    const { status, body } = await operator.ask('GET', `${BASE}/api/queues?activeQueue=check-delegation`);
    expect(status).toBe(200);
    expect(body.queues.map(({ name }: { name: string }) => name)).toEqual(QUEUES);
    const [shown] = body.queues;
    expect(shown).toMatchObject({ readOnlyMode: true, allowRetries: false, counts: { waiting: 1 } });
    expect(shown.jobs).toMatchObject([{ id: job.id, data: { domainId: 4711, kind: 'background' } }]);
    const one = await operator.ask('GET', `${BASE}/api/queues/check-delegation/${job.id}`);
    expect(one.body).toMatchObject({ status: 'waiting', job: { data: { domainId: 4711 } } });
  });

  it('gets no failing call from the board, whatever is requested', async () => {
    const job = await addJob({ domainId: 1, kind: 'background' });
    const reads = appRoutes.api.filter(({ method }) => method === 'get').flatMap(({ route }) => route);
    expect(reads.length).toBeGreaterThan(8);
    for (const id of [job.id, '999999', 'none', '%00x']) {
      for (const route of reads) {
        const path = route.replace(':queueName', 'check-delegation').replace(':jobId', String(id));
        expect([path, (await operator.ask('GET', BASE + path)).status < 500]).toEqual([path, true]);
      }
    }
  });

  it('sees no secrets: unknown members of jobs are omitted, and tokens and passwords are hidden in every text', async () => {
    const token = `ses_${'x'.repeat(43)}`;
    const job = await addJob({ domainId: 7, kind: 'background', password: 'hunter2', link: token });
    await queue().getBackend().waitUntilReady();
    await job.log(`asked with ${token} at postgres://user:hunter2@host/db`);
    for (const path of [
      'api/queues?activeQueue=check-delegation',
      `api/queues/check-delegation/${job.id}`,
      `api/queues/check-delegation/${job.id}/logs`,
    ]) {
      const { status, text } = await operator.ask('GET', `${BASE}/${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toMatch(/hunter2|xxxxx/);
    }
    const logs = await operator.ask('GET', `${BASE}/api/queues/check-delegation/${job.id}/logs`);
    expect(logs.text).toContain('asked with ses_*** at postgres://user:***@host/db');
  });

  it('gets an error for invalid requests', async () => {
    const many = await operator.ask('GET', `${BASE}/api/queues?jobsPerPage=301`);
    expect([many.status, many.text]).toEqual([
      400,
      expect.stringContaining('jobsPerPage: must be at most 300'),
    ]);
    for (const query of ['jobsPerPage=0', 'page=x', 'page=1&page=2', 'activeQueue=%25zz', 'status=none']) {
      const { status } = await operator.ask('GET', `${BASE}/api/queues?${query}`);
      expect([query, status]).toEqual([query, 400]);
    }
    for (const path of ['api/none', 'none', 'queue', 'api/queues/none/1'])
      expect([path, (await operator.ask('GET', `${BASE}/${path}`)).status]).toEqual([path, 404]);
  });
});

describe('the board is read-only', () => {
  const calls = appRoutes.api
    .filter(({ method }) => method !== 'get')
    .flatMap(({ method, route }) =>
      [route].flat().map((path) => [String(method).toUpperCase(), path] as const),
    );
  if (calls.length < 20) throw new Error('the board declares fewer calls than it should');

  it.each(calls)('%s %s is refused for every method that is not a read', async (own, route) => {
    const job = await addJob({ domainId: 2, kind: 'background' });
    const path = route
      .replace(':queueName', 'check-delegation')
      .replace(':jobId', String(job.id))
      .replace(':queueStatus', 'wait')
      .replace(':schedulerId', 'none');
    for (const method of new Set([own, 'PUT', 'POST', 'PATCH', 'DELETE'])) {
      const { status, headers } = await operator.ask(method, BASE + path, {});
      expect([method, path, status, headers.allow]).toEqual([method, path, 405, 'GET, HEAD, OPTIONS']);
      const foreign = await operator.ask(method, BASE + path, {}, { origin: 'https://evil.example' });
      expect(foreign.status).toBe(403);
    }
    expect(await queue().getJobCountByTypes('waiting')).toBe(1);
    expect(await queue().isPaused()).toBe(false);
  });
});

it('responds 503 for a queue that cannot be reached, and still serves the page', async () => {
  const away = new OpenQueues({ databaseUrl: 'postgresql://x@127.0.0.1:1/x', redisUrl: undefined }, QUEUES);
  const other = await startTestApi({
    trustedProxies: ['127.0.0.1'],
    mount: (app) => serveBoard(app, () => away.all()),
  });
  try {
    const browser = await signIn(other, 'operator');
    expect((await browser.ask('GET', `${BASE}/`)).status).toBe(200);
    const { status, headers, body } = await browser.ask('GET', `${BASE}/api/queues`);
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    expect(body.error).toBe('the queue cannot be read now; try again');
  } finally {
    await away.close();
    await other.stop();
  }
});
