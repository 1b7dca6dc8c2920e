import { afterAll, beforeAll, expect, it } from 'vitest';
import { THREAD_BODY_BYTES } from '../../../src/api/body/body-bounds.ts';
import type { Admitted } from '../../../src/api/calls/guard.ts';
import { LargeWork } from '../../../src/api/large/large-work.ts';
import { type Answer, ownApi, startTestApi } from '../../support/api/api.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { until } from '../../support/tests/until.ts';

let database: TestDatabase;
let work: LargeWork;
const api = ownApi(async () => {
  database = await createDatabase();
  work = threads(database);
  return await startTestApi({ database, largeWork: work });
});
beforeAll(async () => {
  await api.makeDomain('large.example');
  await api.makeDomain('other.example');
});
afterAll(() => work?.close());

function threads({ url }: TestDatabase, options: ConstructorParameters<typeof LargeWork>[1] = {}): LargeWork {
  return new LargeWork(
    { databaseUrl: url, keySecrets: [], allowReservedNames: true, originAllow: [], countryDb: undefined },
    options,
  );
}

const BATCH = '/domains/large.example/records/batch';
/** Large because of its comments. */
const items = (count: number, destination = '192.0.2.1') =>
  Array.from({ length: count }, (_, i) => ({
    name: `n${i}`,
    type: 'A',
    destination,
    comment: 'c'.repeat(1000),
  }));
/** A call of a route that does not exist, so that a thread that handles it fails. */
const CALL = {
  operationId: 'none',
  method: 'PUT',
  url: BATCH,
  admitted: { caller: { account: { id: 1 } } } as unknown as Admitted,
  query: {},
  segments: [],
  contentType: undefined,
};
const LARGE = items(Math.ceil(THREAD_BODY_BYTES / 1000));

it('a thread handles a large batch, and another call is answered before it', async () => {
  const order: string[] = [];
  const large = api.ask('PUT', BATCH, { body: { create: LARGE } }).then((answer) => {
    order.push('large');
    return answer;
  });
  await until(() => work.state.working === 1, 'the large one is worked on');
  expect((await api.ask('GET', '/domains/other.example')).status).toBe(200);
  order.push('other');
  const { status, body, headers } = await large;
  expect([status, body.created, work.state.threads]).toEqual([200, LARGE.length, 1]);
  expect(headers['x-change-id']).toBe(String(body.change_id));
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(order).toEqual(['other', 'large']);
  const { body: record } = await api.ask('GET', '/domains/large.example/records/?name=n0');
  expect(record).toMatchObject([{ destination: '192.0.2.1' }]);
});

it('a large batch returns the same problems as a small one', async () => {
  const wrong = await api.ask('PUT', BATCH, { body: { create: items(LARGE.length, 'nonsense') } });
  expect([wrong.status, wrong.body.code, wrong.body.items.length]).toEqual([400, 'validation_failed', 20]);
  const kind = await api.ask('PUT', BATCH, { body: { create: LARGE.map(() => ['x'.repeat(1000)]) } });
  expect([kind.status, kind.body.fields.length]).toEqual([400, 20]);
  const broken = await api.ask('PUT', BATCH, { body: `{"create":["${'x'.repeat(THREAD_BODY_BYTES)}"` });
  expect([broken.status, broken.body]).toEqual([400, { error: 'the body is not valid JSON' }]);
});

it('an Idempotency-Key works in a thread too', async () => {
  const ask = (destination: string) =>
    api.ask('PUT', '/domains/other.example/records/batch', {
      body: { create: items(LARGE.length, destination) },
      headers: { 'idempotency-key': 'large' },
    });
  const [first, again, other] = [await ask('192.0.2.2'), await ask('192.0.2.2'), await ask('192.0.2.3')];
  expect([first.status, first.body.created]).toEqual([200, LARGE.length]);
  expect([again.status, again.body, again.headers['idempotent-replay']]).toEqual([200, first.body, 'true']);
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_mismatch']);
});

it('a thread parses a short text that produces many records', async () => {
  const parsing = api.ask('POST', '/domains/large.example/records/import/parse', {
    body: '$GENERATE 1-300 h$ A 192.0.2.1\n',
    headers: { 'content-type': 'text/plain' },
  });
  await until(() => work.state.working === 1, 'it is worked on');
  expect((await parsing).body.records).toHaveLength(300);
});

it('a thread answers clients of other systems in their form', async () => {
  const endpoints = Array.from({ length: 1500 }, (_, i) => ({
    ...{ dnsName: `e${i}.other.example`, recordType: 'A', targets: ['192.0.2.1'], recordTTL: 1 },
    labels: { resource: 'r'.repeat(100) },
  }));
  const paths = ['adjustendpoints', 'records'].map((path) => `/external-dns/${path}`) as [string, string];
  const adjusted = await api.ask('POST', paths[0], { body: endpoints });
  expect([adjusted.status, adjusted.headers['content-type'], adjusted.body[0].recordTTL]).toEqual([
    200,
    'application/external.dns.webhook+json;version=1',
    60,
  ]);
  const applied = await api.ask('POST', paths[1], { body: { create: adjusted.body } });
  expect([applied.status, applied.text]).toEqual([204, '']);
  const wrong = [...endpoints, { ...endpoints[0], dnsName: 'e.absent.example' }];
  const refused = await api.ask('POST', paths[1], { body: { create: wrong } });
  expect([refused.status, refused.text]).toEqual([
    404,
    'no domain of this API key contains e.absent.example\n',
  ]);
});

it('the calls of an account wait for each other, and too many are refused with 503', async () => {
  let release: () => void = () => {};
  const held = new Promise<never>((_, reject) => {
    release = () => reject(new Error('released'));
  });
  const caller = { account: { id: api.accountIds.owner } };
  const call = { ...CALL, admitted: { caller } as unknown as Admitted };
  const order = { call, gone: new AbortController().signal, log: api.app.log };
  const holding = expect(work.answer(order, () => held)).rejects.toThrow('released');
  const answers: Answer[] = [];
  const asking = [1, 2, 3].map(async () => {
    answers.push(
      await api.ask('PUT', `${BATCH}?dry_run=true`, { body: { create: items(LARGE.length, '192.0.2.7') } }),
    );
  });
  await until(() => answers.length === 1, 'one is refused');
  expect(work.state).toMatchObject({ working: 1, waiting: 2 });
  expect([answers[0]?.status, answers[0]?.headers['retry-after']]).toEqual([503, '5']);
  release();
  await Promise.all([holding, ...asking]);
  expect(answers.map(({ status }) => status)).toEqual([503, 200, 200]);
  await until(() => work.room.bytes === 0, 'the room is free again');
});

it('a thread that runs out of memory fails only its own call', async () => {
  const narrow = threads(database, { limits: { maxOldGenerationSizeMb: 8 } });
  const answer = narrow.answer(
    {
      call: { ...CALL, segments: [new Uint8Array(10)] },
      gone: new AbortController().signal,
      log: api.app.log,
    },
    (run) => run(),
  );
  expect(await answer).toMatchObject({ status: 400, error: expect.stringContaining('too much memory') });
  await until(() => narrow.state.threads === 0, 'the thread has ended');
  expect(
    (await api.ask('PUT', `${BATCH}?dry_run=true`, { body: { create: items(200, '192.0.2.9') } })).status,
  ).toBe(200);
});

it('a call that takes too long is aborted with its thread, and its slot is released', async () => {
  const hasty = threads(database, { workMs: 1 });
  const order = { call: CALL, gone: new AbortController().signal, log: api.app.log };
  expect(await hasty.answer(order, (run) => run())).toMatchObject({ status: 503 });
  await until(() => hasty.state.threads === 0, 'the thread has ended');
  expect(hasty.state).toEqual({ threads: 0, working: 0, waiting: 0 });
});

it('one thread stays ready, and another one ends when it has no work', async () => {
  const work = threads(database, { idleMs: 50 });
  work.prepare();
  expect(work.state.threads).toBe(1);
  const answers = [1, 2].map((id) => {
    const admitted = { caller: { account: { id } } } as unknown as Admitted;
    const order = { call: { ...CALL, admitted }, gone: new AbortController().signal, log: api.app.log };
    return work.answer(order, (run) => run()).catch((error: Error) => error.message);
  });
  await until(() => work.state.threads === 2, 'another thread helps');
  expect(await Promise.all(answers)).toEqual(['unknown route none', 'unknown route none']);
  await until(() => work.state.threads === 1, 'it has ended');
  await work.close();
});
