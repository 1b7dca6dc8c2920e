import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PaceBounds } from '../../../src/api/requests/body-pace.ts';
import { type EdgeApi, startEdgeApi } from '../../support/edge/edge-api.ts';
import { FakeStore, linesOf, packed, requestLine, sendBatch } from '../../support/edge/report-requests.ts';
import { until } from '../../support/tests/until.ts';

const PATIENT: PaceBounds = { graceMs: 3_600_000, bytesASecond: 1, mostMs: 3_600_000 };
const HASTY: PaceBounds = { graceMs: 200, bytesASecond: 1024 ** 3, mostMs: 200 };

let api: EdgeApi;
let store: FakeStore;
let directory: string;
const begun: ReadableStreamDefaultController[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));
});
afterEach(async () => {
  for (const controller of begun.splice(0)) controller.error(new Error('the test is over'));
  await api.stop();
  rmSync(directory, { recursive: true });
});

async function start(pace: PaceBounds, edges: number): Promise<string[]> {
  store = new FakeStore();
  api = await startEdgeApi({ reports: { sink: store, directory, pace } });
  await api.makeDomain('shop.example');
  const tokens: string[] = [];
  for (let i = 0; i < edges; i++) tokens.push(await api.makeEdge(`edge${i}`));
  return tokens;
}

const send = (
  token: string,
  body: string | Uint8Array | ReadableStream,
  headers = {},
  batch = randomUUID(),
) => sendBatch({ url: api.url, token, batch, body, headers });

/** A body that begins, and sends no more; its answer. */
function begin(token: string, first: string | Uint8Array = `${linesOf([requestLine()])}\n`, headers = {}) {
  const body = new ReadableStream({
    start(controller) {
      begun.push(controller);
      controller.enqueue(Buffer.from(first));
    },
  });
  const answer = send(token, body, headers);
  answer.catch(() => {}); // it is broken off at the end
  return answer;
}

/** How many batches have a place. */
const beingWritten = () =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.part'))
    .length;

it('three edges whose bodies never end leave a place, which the batches of others take in turn', async () => {
  const [first, second, third, fourth, fifth] = (await start(PATIENT, 5)) as [
    string,
    string,
    string,
    string,
    string,
  ];
  let places = 0;
  for (const token of [first, first, second, second, third]) {
    begin(token);
    places++;
    await until(() => beingWritten() === places);
  }
  const refused = await begin(third);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
  for (const token of [fourth, fifth, fourth])
    expect(await send(token, linesOf([requestLine()]))).toMatchObject({ status: 200, body: { accepted: 1 } });
  expect(beingWritten()).toBe(5);
  await store.until(3);
});

it.each([
  ['plain', (text: string) => ({ body: text, headers: {} })],
  ['packed', (text: string) => ({ ...packed(text), body: packed(text).body.subarray(0, 20) })],
])('a body that comes too slowly is ended, %s, and its place is free', async (_how, coded) => {
  const pace = { ...HASTY };
  const [slow] = (await start(pace, 1)) as [string];
  const { body, headers } = coded(`${linesOf([requestLine(), requestLine({ uri: '/2' })])}\n`);
  const answers = await Promise.all([begin(slow, body, headers), begin(slow, body, headers)]);
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
    expect(answer.body.error).toMatch(/comes too slowly/);
  }
  expect(beingWritten()).toBe(0);
  expect(store.tries).toBe(0);
  Object.assign(pace, PATIENT); // a busy machine may need longer
  const batch = randomUUID();
  for (let i = 0; i < 2; i++)
    expect((await send(slow, linesOf([requestLine()]), {}, batch)).body.accepted).toBe(1);
});

it('a body that is broken off gives its place back', async () => {
  const [edge] = (await start(PATIENT, 1)) as [string];
  for (let i = 0; i < 3; i++) {
    begin(edge);
    begin(edge);
    await until(() => beingWritten() === 2);
    for (const controller of begun.splice(0)) controller.error(new Error('broken off'));
    await until(() => beingWritten() === 0);
  }
  expect((await send(edge, linesOf([requestLine()]))).status).toBe(200);
});
