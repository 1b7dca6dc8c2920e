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
  // as the API itself: its role must be able to read what the board shows
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

describe('who may look', () => {
  const PATHS = ['', '/', '/queue/check-delegation', '/api/queues', '/static/favicon-32x32.png', '/none'];
  const OTHERS = ['/%61pi/queues', '/api/queues?x=1'];

  it.each([...PATHS, ...OTHERS])('nobody but global admins who have signed in: %s', async (path) => {
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

  it('a browser that opens a page without a session is led to the sign-in, which no request names', async () => {
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

  it('another spelling of the path is no other way in', async () => {
    const owner = await signIn(api, 'owner');
    for (const path of ['%71ueues/api/queues', 'queues%2fapi/queues', '/queues/api']) {
      const url = `/console/${path}`;
      for (const { text } of [await owner.ask('GET', url), await api.ask('GET', url, { as: null })])
        expect(text).not.toContain('check-delegation');
    }
  });
});

describe('what a global admin sees', () => {
  it('the page, in no frame, with a policy of its own that allows nothing inline and nothing from elsewhere', async () => {
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

  it('each file that the page names, kept by the browser alone', async () => {
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

  it('every queue, and the jobs that wait, with the rights of the API', async () => {
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

  it('no call of the board fails, whatever it is asked for', async () => {
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

  it('no secret: members of a job that are not known are left out, tokens and passwords are hidden in every text', async () => {
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

  it('is told what it asks wrongly', async () => {
    const many = await operator.ask('GET', `${BASE}/api/queues?jobsPerPage=301`);
    expect([many.status, many.text]).toEqual([400, expect.stringContaining('jobsPerPage: is at most 300')]);
    for (const query of ['jobsPerPage=0', 'page=x', 'page=1&page=2', 'activeQueue=%25zz', 'status=none']) {
      const { status } = await operator.ask('GET', `${BASE}/api/queues?${query}`);
      expect([query, status]).toEqual([query, 400]);
    }
    for (const path of ['api/none', 'none', 'queue', 'api/queues/none/1'])
      expect([path, (await operator.ask('GET', `${BASE}/${path}`)).status]).toEqual([path, 404]);
  });
});

describe('nothing is changed', () => {
  const calls = appRoutes.api
    .filter(({ method }) => method !== 'get')
    .flatMap(({ method, route }) =>
      [route].flat().map((path) => [String(method).toUpperCase(), path] as const),
    );
  if (calls.length < 20) throw new Error('the board declares fewer calls than it should');

  it.each(calls)('%s %s is refused by every method that is not a read', async (own, route) => {
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

it('a queue that cannot be reached is a 503, and the page is there all the same', async () => {
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
