import type { KeyObject } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listenHttp } from '../../../src/api/http/listen.ts';
import { encodeEvidence, type JsonEvidence } from '../../../src/checks/delegation/evidence-json.ts';
import { parseName } from '../../../src/dns/name.ts';
import {
  makeVantageKey,
  readPrivateKey,
  signVantageRequest,
} from '../../../src/process/vantage-signature.ts';
import { loadVantageAnswers, makeVantageJobs } from '../../../src/store/vantage/vantage-jobs.ts';
import {
  addVantage,
  listVantages,
  noteVantageSeen,
  removeVantage,
} from '../../../src/store/vantage/vantages.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api/api.ts';
import { evidenceOf } from '../../support/world/made-checks.ts';

const JOBS = '/vantage/v1/jobs';
const ANSWERS = '/vantage/v1/answers';
const MINUTE_MS = 60_000;

let api: TestApi;
let ams: KeyObject;
let fra: KeyObject;

beforeAll(async () => {
  api = await startTestApi();
  const add = async (name: string) => {
    const { privateKey, publicKey } = makeVantageKey();
    await addVantage(api.db, { name, network: name, publicKey, address: null });
    return readPrivateKey(privateKey) as KeyObject;
  };
  ams = await add('ams');
  fra = await add('fra');
});
afterAll(() => api?.stop());
beforeEach(async () => {
  await sql`truncate vantage_jobs, vantage_nonces`.execute(api.db);
  await sql`update vantages set answers = 0, dropped = 0`.execute(api.db);
  for (const name of ['ams', 'fra']) await noteVantageSeen(api.db, name, null);
});

interface Sent {
  readonly by?: KeyObject;
  readonly name?: string;
  readonly path?: string;
  readonly signed?: string;
  readonly timeMs?: number;
  readonly headers?: Record<string, string>;
}

function headersOf(
  path: string,
  text: string,
  { by = ams, name = 'ams', timeMs }: Sent,
): Record<string, string> {
  const signed = { method: 'POST', path, body: Buffer.from(text) };
  return signVantageRequest(by, name, signed, timeMs === undefined ? {} : { timeMs });
}

async function send(path: string, body: unknown, sent: Sent = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = sent.headers ?? headersOf(sent.path ?? path, sent.signed ?? text, sent);
  return await api.ask('POST', path, { as: null, body: text, headers });
}

const take = (sent: Sent = {}, wanted = { max: 16, waitSeconds: 0 }) => send(JOBS, wanted, sent);
const seen = (name = 'shop.example.'): JsonEvidence =>
  JSON.parse(
    JSON.stringify(encodeEvidence(evidenceOf(parseName(name), ['ns1.a.example.', 'ns2.b.example.']))),
  );
const answer = (id: string, evidence: unknown = seen(), name = 'shop.example') => ({ id, name, evidence });

/** Makes jobs for both, and hands out that of `ams`. */
async function ask(deadlineSeconds = 30): Promise<{ readonly ask: string; readonly id: string }> {
  const made = await makeVantageJobs(api.db, {
    nameText: 'shop.example.',
    fresh: true,
    thorough: false,
    deadlineSeconds,
  });
  const { body } = await take();
  return { ask: made.ask, id: body.jobs[0].id };
}
const kept = async (of: string) => (await loadVantageAnswers(api.db, [of], [])).map(({ vantage }) => vantage);
const counts = async (name: string) => {
  const found = (await listVantages(api.db)).find((vantage) => vantage.name === name);
  return [found?.answers, found?.dropped];
};

describe('a request of an observer', () => {
  it('counts by its signature alone: an API key does not help, and is not needed', async () => {
    expect((await take()).status).toBe(200);
    const unsigned = await api.ask('POST', JOBS, { as: 'operator', body: { max: 1, waitSeconds: 0 } });
    expect(unsigned.status).toBe(401);
    expect(unsigned.body.error).toContain('x-vantage-name');
    expect(unsigned.headers['www-authenticate']).toBe('Zonefleet-Vantage');
  });

  it.each([
    ['by another key', { by: makeKey() }],
    ['by the key of another observer', { name: 'fra' }],
    ['by an observer that there is not', { name: 'lon' }],
    ['for another path', { path: ANSWERS }],
    ['two minutes ago', { timeMs: Date.now() - 2 * MINUTE_MS }],
    ['in two minutes', { timeMs: Date.now() + 2 * MINUTE_MS }],
  ])('is refused when it was signed %s', async (_, sent: Sent) => {
    const { status, body } = await take(sent);
    expect(status).toBe(401);
    expect(body.jobs).toBeUndefined();
    const { rows } = await sql`select 1 from vantage_nonces`.execute(api.db);
    expect(rows).toEqual([]);
  });

  it('is refused when another body comes than was signed', async () => {
    const { status, body } = await take({ signed: '{"max":1,"waitSeconds":1}' });
    expect([status, body.error]).toEqual([401, 'x-vantage-digest: not that of the body']);
  });

  it('is answered while others, without a key, hold hundreds of bodies open from two addresses', async () => {
    const listeners = await listenHttp(api.app, [{ address: '127.0.0.1', port: 0 }]);
    const { port } = listeners.addresses[0] as { port: number };
    const opened: ClientRequest[] = [];
    const open = (i: number) =>
      new Promise<number | undefined>((done) => {
        const forged = headersOf(JOBS, '{}', i % 2 === 0 ? { by: makeKey() } : { name: 'lon' });
        const request = httpRequest({
          ...{ host: '127.0.0.1', localAddress: `127.0.0.${2 + (i % 4 < 2 ? 0 : 1)}`, port },
          ...{ method: 'POST', path: JOBS, agent: false },
          headers: { 'content-type': 'application/json', ...(i % 3 === 0 ? {} : forged) },
        });
        request.on('response', (response) => done(response.resume().statusCode));
        request.on('error', () => done(undefined));
        request.write('{'); // and no more
        opened.push(request);
      });
    try {
      const statuses = await Promise.all(Array.from({ length: 300 }, (_, i) => open(i)));
      const text = JSON.stringify({ max: 1, waitSeconds: 0 });
      const response = await fetch(`http://127.0.0.1:${port}${JOBS}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headersOf(JOBS, text, {}) },
        body: text,
      });
      expect(response.status).toBe(200);
      expect(new Set(statuses)).toEqual(new Set([401]));
    } finally {
      for (const request of opened) request.destroy();
      await listeners.close(0);
    }
  });

  it('tells nobody whether the name or the signature is wrong', async () => {
    const name = await take({ name: 'lon' });
    const signature = await take({ by: makeKey() });
    expect(name.body).toEqual(signature.body);
  });

  it('counts once', async () => {
    const text = JSON.stringify({ max: 1, waitSeconds: 0 });
    const headers = headersOf(JOBS, text, {});
    expect((await send(JOBS, text, { headers })).status).toBe(200);
    const again = await send(JOBS, text, { headers });
    expect([again.status, again.body.error]).toEqual([401, 'x-vantage-nonce: used before']);
  });

  it('is refused a moment after its observer was removed', async () => {
    const { privateKey, publicKey } = makeVantageKey();
    const by = readPrivateKey(privateKey) as KeyObject;
    await addVantage(api.db, { name: 'lon', network: 'lon', publicKey, address: null });
    await expect.poll(async () => (await take({ by, name: 'lon' })).status).toBe(200);
    await removeVantage(api.db, 'lon');
    await expect.poll(async () => (await take({ by, name: 'lon' })).status).toBe(401);
  });
});

describe('jobs', () => {
  it('are handed out once, to the observer that they were made for, and tell the name, the deadline and how to ask', async () => {
    await makeVantageJobs(api.db, {
      nameText: 'shop.example.',
      fresh: true,
      thorough: true,
      deadlineSeconds: 30,
    });
    const { status, body } = await take();
    expect(status).toBe(200);
    expect(body).toEqual({
      jobs: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          name: 'shop.example',
          deadline: expect.stringMatching(/Z$/),
          fresh: true,
          thorough: true,
        },
      ],
    });
    expect((await take()).body).toEqual({ jobs: [] });
    expect((await take({ by: fra, name: 'fra' })).body.jobs).toHaveLength(1);
  });

  it('are waited for, as long as the call says', async () => {
    const waiting = take({}, { max: 16, waitSeconds: 20 });
    await makeVantageJobs(api.db, {
      nameText: 'shop.example.',
      fresh: false,
      thorough: false,
      deadlineSeconds: 30,
    });
    expect((await waiting).body.jobs).toHaveLength(1);
    expect((await take({}, { max: 1, waitSeconds: 1 })).body).toEqual({ jobs: [] });
  });

  it('are waited for by a few calls of one observer at a time', async () => {
    const calls = Array.from({ length: 6 }, () => take({}, { max: 1, waitSeconds: 2 }));
    const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
  });

  it.each([
    ['max', { max: 17, waitSeconds: 0 }],
    ['max', { max: 0, waitSeconds: 0 }],
    ['waitSeconds', { max: 1, waitSeconds: 21 }],
    ['waitSeconds', { max: 1 }],
    ['more', { max: 1, waitSeconds: 0, more: 1 }],
  ])('a wrong %s is named', async (field, body) => {
    const { status, body: told } = await send(JOBS, body);
    expect(status).toBe(400);
    expect(told.fields[0].field).toBe(field);
  });
});

describe('an answer', () => {
  it('is taken once, in time, and is then what the worker reads', async () => {
    const { ask: of, id } = await ask();
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: true });
    const [read] = await loadVantageAnswers(api.db, [of], []);
    expect(read?.vantage).toBe('ams');
    expect(encodeEvidence((read as NonNullable<typeof read>).evidence)).toEqual({
      ...seen(),
      startedAt: expect.any(Number),
      finishedAt: expect.any(Number),
      servers: seen().servers.map((server) => ({ ...server, askedAt: expect.any(Number) })),
    });
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: false, reason: 'twice' });
    expect(await counts('ams')).toEqual([1, 1]);
  });

  it('is dropped for a job that there is not, of another observer, or of another name', async () => {
    const { ask: of, id } = await ask();
    const reason = async (body: unknown, sent: Sent = {}) => (await send(ANSWERS, body, sent)).body;
    expect(await reason(answer(randomUUID()))).toEqual({ taken: false, reason: 'unknown' });
    expect(await reason(answer(id), { by: fra, name: 'fra' })).toEqual({
      taken: false,
      reason: 'other_vantage',
    });
    expect(await reason(answer(id, seen('other.example.'), 'other.example'))).toEqual({
      taken: false,
      reason: 'other_name',
    });
    expect(await kept(of)).toEqual([]);
    expect([await counts('ams'), await counts('fra')]).toEqual([
      [0, 2],
      [0, 1],
    ]);
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: true });
  });

  it('is dropped behind the deadline', async () => {
    const { ask: of, id } = await ask();
    await sql`update vantage_jobs set deadline = clock_timestamp()`.execute(api.db);
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: false, reason: 'late' });
    expect(await kept(of)).toEqual([]);
  });

  it('is dropped for a job that was not handed out, as if there were none', async () => {
    const { ask: of } = await ask();
    const { rows } = await sql<{ id: string }>`select id from vantage_jobs where vantage = 'fra'`.execute(
      api.db,
    );
    const { id } = rows[0] as { id: string };
    expect((await send(ANSWERS, answer(id), { by: fra, name: 'fra' })).body.reason).toBe('unknown');
    expect(await kept(of)).toEqual([]);
  });

  const server = seen().servers[0] as JsonEvidence['servers'][number];
  it.each<[string, unknown]>([
    ['evidence.domain', { ...seen(), domain: 'other.example.' }],
    ['evidence.domain', { ...seen(), domain: 'SHOP.example.' }],
    ['evidence.domain', { ...seen(), domain: `${'a'.repeat(64)}.example.` }],
    ['evidence.servers[0].transport', { ...seen(), servers: [{ ...server, transport: 'database' }] }],
    ['evidence.servers[0].outcome', { ...seen(), servers: [{ ...server, outcome: 'yes' }] }],
    ['evidence.servers[0].ns[0]', { ...seen(), servers: [{ ...server, ns: ['ns1.a..example.'] }] }],
    ['evidence.servers[0].ds[0]', { ...seen(), servers: [{ ...server, ds: ['***'] }] }],
    ['evidence.servers[0].error', { ...seen(), servers: [{ ...server, error: 'a\u001b[31m' }] }],
    ['evidence.servers[0].address', { ...seen(), servers: [{ ...server, address: '' }] }],
    ['evidence.servers', { ...seen(), servers: Array.from({ length: 129 }, () => server) }],
    ['evidence.walk', { ...seen(), walk: Array.from({ length: 65 }, () => seen().walk[0]) }],
    [
      'evidence.servers[0].ns',
      { ...seen(), servers: [{ ...server, ns: Array.from({ length: 65 }, () => 'a.') }] },
    ],
    ['evidence.finishedAt', { ...seen(), finishedAt: 'now' }],
    ['evidence.more', { ...seen(), more: 1 }],
    ['evidence', 'none'],
  ])('with a wrong %s is refused, and nothing of it is kept', async (field, evidence) => {
    const { ask: of, id } = await ask();
    const { status, body } = await send(ANSWERS, answer(id, evidence));
    expect(status).toBe(400);
    expect(body.fields[0].field).toBe(field);
    expect(await kept(of)).toEqual([]);
    expect(await counts('ams')).toEqual([0, 0]);
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: true });
  });

  it('of more than 256 KiB, or of a hundred thousand names, is refused before it is judged', async () => {
    const { ask: of, id } = await ask();
    const large = await send(ANSWERS, answer(id, { ...seen(), padding: 'x'.repeat(1024 * 1024) }));
    expect([large.status, large.body.error]).toEqual([400, 'the body is too large']);
    const names = Array.from({ length: 100_000 }, () => '.');
    const many = await send(ANSWERS, answer(id, { ...seen(), servers: [{ ...server, ns: names }] }));
    expect(many.status).toBe(400);
    const half = await send(ANSWERS, JSON.stringify(answer(id)).slice(0, -20));
    expect([half.status, half.body.error]).toEqual([400, 'the body is not valid JSON']);
    expect(await kept(of)).toEqual([]);
  });
});

function makeKey(): KeyObject {
  return readPrivateKey(makeVantageKey().privateKey) as KeyObject;
}
