import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import type { PaceBounds } from '../../../src/api/requests/body-pace.ts';
import { ownApi } from '../../support/api/api.ts';
import { startEdgeApi } from '../../support/edge/edge-api.ts';
import { FakeStore, linesOf, packed, requestLine, sendBatch } from '../../support/edge/report-requests.ts';
import { until } from '../../support/tests/until.ts';

const PATIENT: PaceBounds = { graceMs: 3_600_000, bytesASecond: 1, mostMs: 3_600_000 };
const HASTY: PaceBounds = { graceMs: 200, bytesASecond: 1024 ** 3, mostMs: 200 };

const directory = mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));
const pace = { ...PATIENT };
let store: FakeStore;
const sink = { insert: (...call: Parameters<FakeStore['insert']>) => store.insert(...call) };
const api = ownApi(async () => {
  const started = await startEdgeApi({ reports: { sink, directory, pace } });
  await started.makeDomain('shop.example');
  return started;
});
const begun: ReadableStreamDefaultController[] = [];
let made = 0;
afterEach(async () => {
  for (const controller of begun.splice(0)) controller.error(new Error('the test is over'));
  await until(() => beingWritten() === 0, 'all places are free');
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Creates edges. Returns a function that sends a batch of the edge with this index. */
async function start(bounds: PaceBounds, edges: number) {
  store = new FakeStore();
  Object.assign(pace, bounds);
  const tokens: string[] = [];
  for (let i = 0; i < edges; i++) tokens.push(await api.makeEdge(`edge${made++}`));
  return (edge: number, body: Body = linesOf([requestLine()]), headers = {}, batch: string = randomUUID()) =>
    sendBatch({ url: api.url, token: tokens[edge] as string, batch, body, headers });
}
type Body = string | Uint8Array | ReadableStream;

/** A body that begins but does not end. */
function unended(first: string | Uint8Array = `${linesOf([requestLine()])}\n`): ReadableStream {
  return new ReadableStream({
    start(controller) {
      begun.push(controller);
      controller.enqueue(Buffer.from(first));
    },
  });
}

/** Number of batches that have a slot. */
const beingWritten = () =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.part'))
    .length;

it('three edges whose bodies never end leave a slot, which the batches of others use in turn', async () => {
  const send = await start(PATIENT, 5);
  for (const [places, edge] of [0, 0, 1, 1, 2].entries()) {
    send(edge, unended()).catch(() => {});
    await until(() => beingWritten() === places + 1);
  }
  const refused = await send(2, unended());
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
  for (const edge of [3, 4, 3])
    expect(await send(edge)).toMatchObject({ status: 200, body: { accepted: 1 } });
  expect(beingWritten()).toBe(5);
  await store.until(3);
});

it.each([
  ['plain', (text: string) => ({ body: text, headers: {} })],
  ['packed', (text: string) => ({ ...packed(text), body: packed(text).body.subarray(0, 20) })],
])('a %s body that is too slow is aborted, and its slot is released', async (_how, coded) => {
  const send = await start(HASTY, 1);
  const { body, headers } = coded(`${linesOf([requestLine(), requestLine({ uri: '/2' })])}\n`);
  const answers = await Promise.all([send(0, unended(body), headers), send(0, unended(body), headers)]);
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
    expect(answer.body.error).toMatch(/arrives too slowly/);
  }
  expect([beingWritten(), store.tries]).toEqual([0, 0]);
  Object.assign(pace, PATIENT); // a busy machine may need longer
  const batch = randomUUID();
  for (let i = 0; i < 2; i++) expect((await send(0, undefined, {}, batch)).body.accepted).toBe(1);
  await store.until(1);
});

it('a body whose connection breaks releases its slot', async () => {
  const send = await start(PATIENT, 1);
  for (let i = 0; i < 3; i++) {
    for (const _ of [1, 2]) send(0, unended()).catch(() => {});
    await until(() => beingWritten() === 2);
    for (const controller of begun.splice(0)) controller.error(new Error('broken off'));
    await until(() => beingWritten() === 0);
  }
  expect((await send(0)).status).toBe(200);
});
