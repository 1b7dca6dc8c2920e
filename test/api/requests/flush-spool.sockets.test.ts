import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AnalyticsFault } from '../../../src/analytics/open-analytics.ts';
import { SpoolFlusher } from '../../../src/api/requests/flush-spool.ts';
import { Spool } from '../../../src/api/requests/spool.ts';
import { FakeStore } from '../../support/edge/report-requests.ts';
import { until } from '../../support/tests/until.ts';

let directory: string;
let spool: Spool;
let store: FakeStore;
let flusher: SpoolFlusher | undefined;
let lost: [number, string][];
let told: object[];
let flushed: number;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));
  lost = [];
  told = [];
  flushed = 0;
  store = new FakeStore();
  spool = await Spool.open({ directory, mostBytes: 1024 ** 3, onLost: (...of) => lost.push(of) });
});
afterEach(async () => {
  await flusher?.close();
  await spool.close();
  rmSync(directory, { recursive: true });
});

function start(): void {
  const log = { warn: (line: object) => told.push(line) } as never;
  flusher = new SpoolFlusher({ spool, analytics: store, log, onFlushed: (lines) => (flushed += lines) });
}

async function put(token: string): Promise<void> {
  const writer = await spool.begin(token);
  await writer.write(Buffer.from(`{"token":"${token}"}\n{"token":"${token}"}\n`));
  await (await writer.hold(2)).release();
}

it('brings every batch into the store, one insert each, and removes it', async () => {
  await put('1:a');
  start();
  await put('1:b');
  await store.until(4);
  await until(() => spool.batches === 0);
  expect([store.tokens, store.tries, spool.bytes, flushed]).toEqual([['1:a', '1:b'], 2, 0, 4]);
});

it('keeps batches while the store is away, and tells it once', async () => {
  store.fault = () => new AnalyticsFault('away', 'away');
  await put('1:a');
  await put('1:b');
  start();
  await until(() => store.tries >= 3);
  expect([spool.batches, store.rows.length, told.length]).toEqual([2, 0, 1]);
  store.fault = undefined;
  await store.until(4);
  expect(store.tokens).toEqual(['1:a', '1:b']);
});

it('repeats a batch whose answer was lost under its token', async () => {
  store.lostAnswer = new AnalyticsFault('slow', 'slow');
  await put('1:a');
  start();
  await until(() => spool.batches === 0);
  expect([store.tries, store.rows.length]).toEqual([2, 2]);
});

it('goes on with the others when the store refuses one', async () => {
  store.fault = (token) => (token === '1:a' ? new AnalyticsFault('refused', 'no') : undefined);
  for (const token of ['1:a', '1:b', '1:c']) await put(token);
  start();
  await store.until(4);
  await until(() => spool.batches === 1);
  expect([store.tokens, store.tries]).toEqual([['1:b', '1:c'], 3]);
});

it('counts a file that is damaged as lost, and goes on', async () => {
  await put('1:a');
  await put('1:b');
  const batch = spool.next(() => true);
  writeFileSync(batch?.path as string, 'not gzip');
  spool.leave(batch as never);
  start();
  await store.until(2);
  expect([store.tokens, lost]).toEqual([['1:b'], [[2, 'damaged']]]);
});
