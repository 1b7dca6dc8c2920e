import type { KeyObject } from 'node:crypto';
import { randomUUID } from 'node:crypto';
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
  ams = await addObserver('ams');
  fra = await addObserver('fra');
});
beforeEach(async () => {
  await api.query`truncate vantage_jobs, vantage_nonces`;
  await api.query`update vantages set answers = 0, dropped = 0`;
  for (const name of ['ams', 'fra']) await noteVantageSeen(api.db, name, null);
});

async function addObserver(name: string): Promise<KeyObject> {
  const { privateKey, publicKey } = makeVantageKey();
  await addVantage(api.db, { name, network: name, publicKey, address: null });
  return readPrivateKey(privateKey) as KeyObject;
}

interface Sender {
  readonly by?: KeyObject;
  readonly name?: string;
}

async function send(path: string, body: unknown, { by = ams, name = 'ams' }: Sender = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = signVantageRequest(by, name, { method: 'POST', path, body: Buffer.from(text) });
  return await api.ask('POST', path, { as: null, body: text, headers });
}

const take = (sender: Sender = {}, wanted = { max: 16, waitSeconds: 0 }) => send(JOBS, wanted, sender);
const seen = (name = 'shop.example.'): JsonEvidence =>
  JSON.parse(
    JSON.stringify(encodeEvidence(evidenceOf(parseName(name), ['ns1.a.example.', 'ns2.b.example.']))),
  );
const answer = (id: string, evidence: unknown = seen(), name = 'shop.example') => ({ id, name, evidence });

/** Creates jobs for both observers, and assigns those of `ams`. */
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
  it('requires a signature instead of an API key', async () => {
    expect((await take()).status).toBe(200);
    const unsigned = await api.ask('POST', JOBS, { as: 'operator', body: { max: 1, waitSeconds: 0 } });
    expect(unsigned.status).toBe(401);
    expect(unsigned.body.error).toContain('x-vantage-name');
    expect(unsigned.headers['www-authenticate']).toBe('Zonefleet-Vantage');
  });

  it('is refused soon after its observer was removed', async () => {
    const by = await addObserver('lon');
    await expect.poll(async () => (await take({ by, name: 'lon' })).status).toBe(200);
    await removeVantage(api.db, 'lon');
    await expect.poll(async () => (await take({ by, name: 'lon' })).status).toBe(401);
  });

  it('is refused and not stored if the body is wrong, truncated or too large', async () => {
    const { ask: of, id } = await ask();
    const other = { ...seen(), domain: 'other.example.' };
    const fields = [{ field: 'evidence.domain' }];
    expect(await send(ANSWERS, answer(id, other))).toMatchObject({ status: 400, body: { fields } });
    for (const [body, error] of [
      [answer(id, { ...seen(), padding: 'x'.repeat(1024 * 1024) }), 'the body is too large'],
      [JSON.stringify(answer(id)).slice(0, -20), 'the body is not valid JSON'],
    ])
      expect(await send(ANSWERS, body)).toMatchObject({ status: 400, body: { error } });
    expect([await kept(of), await counts('ams')]).toEqual([[], [0, 0]]);
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: true });
  });
});

describe('jobs', () => {
  it('are assigned once, to their observer, with name, deadline and options', async () => {
    await makeVantageJobs(api.db, { ...JOB, thorough: true });
    const { status, body } = await take();
    expect(status).toBe(200);
    const job = { name: 'shop.example', fresh: true, thorough: true };
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(body).toEqual({ jobs: [{ ...job, id, deadline: expect.stringMatching(/Z$/) }] });
    expect((await take()).body).toEqual({ jobs: [] });
    expect((await take({ by: fra, name: 'fra' })).body.jobs).toHaveLength(1);
  });

  it('are waited for, up to the time in the call', async () => {
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

  it('are waited for by at most four calls per observer', async () => {
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
});

describe('an answer', () => {
  it('is stored once, and then read by the worker', async () => {
    const { ask: of, id } = await ask();
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: true });
    const [read] = await loadVantageAnswers(api.db, [of], []);
    const { servers } = encodeEvidence((read as NonNullable<typeof read>).evidence);
    expect([read?.vantage, servers.map(({ ns }) => ns)]).toEqual(['ams', seen().servers.map(({ ns }) => ns)]);
    expect((await send(ANSWERS, answer(id))).body).toEqual({ taken: false, reason: 'twice' });
    expect(await counts('ams')).toEqual([1, 1]);
  });

  it('is dropped for another job, with another name, and after the deadline', async () => {
    const { ask: of, id } = await ask();
    const rows = await api.query<{ id: string }>`select id from vantage_jobs where vantage = 'fra'`;
    const dropped = async (reason: string, body: unknown, sender: Sender = {}) =>
      expect((await send(ANSWERS, body, sender)).body).toEqual({ taken: false, reason });
    const atFra = { by: fra, name: 'fra' };
    await dropped('unknown', answer(randomUUID()));
    await dropped('unknown', answer(rows[0]?.id as string), atFra); // It was not assigned.
    await dropped('other_vantage', answer(id), atFra);
    await dropped('other_name', answer(id, seen('other.example.'), 'other.example'));
    expect([await counts('ams'), await counts('fra')]).toEqual([
      [0, 2],
      [0, 2],
    ]);
    await api.query`update vantage_jobs set deadline = clock_timestamp()`;
    await dropped('late', answer(id));
    expect(await kept(of)).toEqual([]);
  });
});
