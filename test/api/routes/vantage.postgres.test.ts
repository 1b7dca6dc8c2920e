import type { KeyObject } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
import { type Answer, sharedTestApi } from '../../support/api/api.ts';
import { holdTimers } from '../../support/tests/hold-timers.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf } from '../../support/world/made-checks.ts';

const JOBS = '/vantage/v1/jobs';
const ANSWERS = '/vantage/v1/answers';
const JOB = { nameText: 'shop.example.', fresh: true, thorough: false, deadlineSeconds: 30 };

const api = sharedTestApi();
let ams: KeyObject;
let fra: KeyObject;

beforeAll(async () => {
  const add = async (name: string) => {
    const { privateKey, publicKey } = makeVantageKey();
    await addVantage(api.db, { name, network: name, publicKey, address: null });
    return readPrivateKey(privateKey) as KeyObject;
  };
  ams = await add('ams');
  fra = await add('fra');
});
beforeEach(async () => {
  await sql`truncate vantage_jobs, vantage_nonces`.execute(api.db);
  await sql`update vantages set answers = 0, dropped = 0`.execute(api.db);
  for (const name of ['ams', 'fra']) await noteVantageSeen(api.db, name, null);
});

interface Sent {
  readonly by?: KeyObject;
  readonly name?: string;
  readonly headers?: Record<string, string>;
}

function headersOf(path: string, text: string, { by = ams, name = 'ams' }: Sent): Record<string, string> {
  return signVantageRequest(by, name, { method: 'POST', path, body: Buffer.from(text) });
}

async function send(path: string, body: unknown, sent: Sent = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = sent.headers ?? headersOf(path, text, sent);
  return await api.ask('POST', path, { as: null, body: text, headers });
}

const take = (sent: Sent = {}, wanted = { max: 16, waitSeconds: 0 }) => send(JOBS, wanted, sent);
const seen = (name = 'shop.example.'): JsonEvidence =>
  JSON.parse(
    JSON.stringify(encodeEvidence(evidenceOf(parseName(name), ['ns1.a.example.', 'ns2.b.example.']))),
  );
const answer = (id: string, evidence: unknown = seen(), name = 'shop.example') => ({ id, name, evidence });

/** Makes jobs for both, and hands out that of `ams`. */
async function ask(): Promise<{ readonly ask: string; readonly id: string }> {
  const made = await makeVantageJobs(api.db, JOB);
  const { body } = await take();
  return { ask: made.ask, id: body.jobs[0].id };
}
const kept = async (of: string) => (await loadVantageAnswers(api.db, [of], [])).map(({ vantage }) => vantage);
const counts = async (name: string) => {
  const found = (await listVantages(api.db)).find((vantage) => vantage.name === name);
  return [found?.answers, found?.dropped];
};

describe('a request of an observer', () => {
  it('needs a signature and no API key', async () => {
    expect((await take()).status).toBe(200);
    const unsigned = await api.ask('POST', JOBS, { as: 'operator', body: { max: 1, waitSeconds: 0 } });
    expect(unsigned.status).toBe(401);
    expect(unsigned.body.error).toContain('x-vantage-name');
    expect(unsigned.headers['www-authenticate']).toBe('Zonefleet-Vantage');
  });

  it('is refused with another key, or the name of another observer, in the same words', async () => {
    const answers = [await take({ by: makeKey() }), await take({ name: 'fra' }), await take({ name: 'lon' })];
    for (const { status, body } of answers) expect([status, body]).toEqual([401, answers[0]?.body]);
    expect((await sql`select 1 from vantage_nonces`.execute(api.db)).rows).toEqual([]);
  });

  it('is accepted once', async () => {
    const text = JSON.stringify({ max: 1, waitSeconds: 0 });
    const headers = headersOf(JOBS, text, {});
    expect((await send(JOBS, text, { headers })).status).toBe(200);
    const again = await send(JOBS, text, { headers });
    expect([again.status, again.body.error]).toEqual([401, 'x-vantage-nonce: used before']);
  });

  it('is refused soon after its observer was removed', async () => {
    const { privateKey, publicKey } = makeVantageKey();
    const by = readPrivateKey(privateKey) as KeyObject;
    await addVantage(api.db, { name: 'lon', network: 'lon', publicKey, address: null });
    await expect.poll(async () => (await take({ by, name: 'lon' })).status).toBe(200);
    await removeVantage(api.db, 'lon');
    await expect.poll(async () => (await take({ by, name: 'lon' })).status).toBe(401);
  });
});

describe('jobs', () => {
  it('are handed out once, to their observer, with name, deadline and options', async () => {
    await makeVantageJobs(api.db, { ...JOB, thorough: true });
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

  it('are waited for, for the time in the call', async () => {
    const end = holdTimers(20_000);
    const waiting = take({}, { max: 16, waitSeconds: 20 });
    await makeVantageJobs(api.db, { ...JOB, fresh: false });
    expect((await waiting).body.jobs).toHaveLength(1);
    let isOver = false;
    const none = take({}, { max: 1, waitSeconds: 20 }).finally(() => {
      isOver = true;
    });
    await until(() => {
      end.fire();
      return isOver;
    }, 'the call ends with its time');
    expect((await none).body).toEqual({ jobs: [] });
    end.release();
  });

  it('are waited for by at most four calls of one observer', async () => {
    let answered = 0;
    const calls = Array.from({ length: 6 }, () =>
      take({}, { max: 1, waitSeconds: 20 }).finally(() => {
        answered++;
      }),
    );
    await until(() => answered === 2, 'two calls are refused');
    for (let i = 0; i < 4; i++) await makeVantageJobs(api.db, JOB);
    const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
  });

  it('are refused if the body is wrong', async () => {
    const { status, body } = await send(JOBS, { max: 17, waitSeconds: 0 });
    expect([status, body.fields[0].field]).toEqual([400, 'max']);
  });
});

describe('an answer', () => {
  it('is stored once, and is then what the worker reads', async () => {
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

  it('is dropped for an unknown job, for the job of another observer, and with another name', async () => {
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

  it('is dropped after the deadline', async () => {
    const { ask: of, id } = await ask();
    await sql`update vantage_jobs set deadline = clock_timestamp()`.execute(api.db);
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: false, reason: 'late' });
    expect(await kept(of)).toEqual([]);
  });

  it('is dropped for a job that was not handed out', async () => {
    const { ask: of } = await ask();
    const { rows } = await sql<{ id: string }>`select id from vantage_jobs where vantage = 'fra'`.execute(
      api.db,
    );
    const { id } = rows[0] as { id: string };
    expect((await send(ANSWERS, answer(id), { by: fra, name: 'fra' })).body.reason).toBe('unknown');
    expect(await kept(of)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['evidence.domain', { ...seen(), domain: 'other.example.' }],
    ['evidence.servers[0].outcome', { ...seen(), servers: [{ ...seen().servers[0], outcome: 'yes' }] }],
    ['evidence', 'none'],
  ])('with a wrong %s is refused, and nothing of it is stored', async (field, evidence) => {
    const { ask: of, id } = await ask();
    const { status, body } = await send(ANSWERS, answer(id, evidence));
    expect([status, body.fields[0].field]).toEqual([400, field]);
    expect(await kept(of)).toEqual([]);
    expect(await counts('ams')).toEqual([0, 0]);
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: true });
  });

  it('of more than 256 KiB is refused before it is parsed', async () => {
    const { ask: of, id } = await ask();
    const large = await send(ANSWERS, answer(id, { ...seen(), padding: 'x'.repeat(1024 * 1024) }));
    expect([large.status, large.body.error]).toEqual([400, 'the body is too large']);
    const half = await send(ANSWERS, JSON.stringify(answer(id)).slice(0, -20));
    expect([half.status, half.body.error]).toEqual([400, 'the body is not valid JSON']);
    expect(await kept(of)).toEqual([]);
  });
});

function makeKey(): KeyObject {
  return readPrivateKey(makeVantageKey().privateKey) as KeyObject;
}
