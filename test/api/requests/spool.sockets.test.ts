import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AnalyticsFault } from '../../../src/analytics/open-analytics.ts';
import { SpoolFlusher } from '../../../src/api/requests/flush-spool.ts';
import { Spool, SpoolFull } from '../../../src/api/requests/spool.ts';
import { fillDisk, lacksSmallDisk, mountMemory } from '../../support/database/small-disk.ts';
import { FakeStore } from '../../support/edge/report-requests.ts';
import { until } from '../../support/tests/until.ts';

const MIB = 1024 ** 2;
let directory: string;
const open: Spool[] = [];
let lost: [number, string][] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));
  lost = [];
});
afterEach(async () => {
  for (const spool of open.splice(0)) await spool.close();
  rmSync(directory, { recursive: true, force: true });
});

async function openSpool(mostBytes = 64 * MIB, where = directory): Promise<Spool> {
  const spool = await Spool.open({ directory: where, mostBytes, onLost: (...of) => lost.push(of) });
  open.push(spool);
  return spool;
}

async function put(
  spool: Spool,
  token: string,
  text: string | Buffer = `{"token":"${token}"}\n`,
): Promise<void> {
  const writer = await spool.begin(token);
  try {
    await writer.write(Buffer.from(text));
    await (await writer.hold(1)).release();
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

const all = () => true;
const files = () =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(gz|part)$/.test(name));

describe('the spool', () => {
  it('returns batches in the order in which they arrived, each to one caller', async () => {
    const spool = await openSpool();
    for (const token of ['1:a', '1:b', '2:a']) await put(spool, token);
    const [first, second] = [spool.next(all), spool.next(all)];
    expect([first?.id, second?.id]).toEqual(['1:a', '1:b']);
    expect(gunzipSync(readFileSync(first?.path as string)).toString()).toBe('{"token":"1:a"}\n');
    spool.leave(second as never);
    expect(spool.next(all)?.id).toBe('1:b');
    await spool.done(first as never);
    expect([spool.batches, files().length]).toEqual([2, 2]);
  });

  it('returns no batch that is held, and keeps nothing of one that is discarded', async () => {
    const spool = await openSpool();
    const writer = await spool.begin('1:a');
    await writer.write(randomBytes(5 * MIB));
    expect(spool.next(all)).toBeUndefined();
    const held = await writer.hold(9);
    expect(spool.next(all)).toBeUndefined();
    expect(spool.bytes).toBeGreaterThan(5 * MIB);
    await held.discard();
    const other = await spool.begin('1:b');
    await other.write(randomBytes(5 * MIB));
    await other.discard();
    expect([spool.next(all), spool.bytes, files()]).toEqual([undefined, 0, []]);
  });

  it('keeps one of two batches with the same token', async () => {
    const spool = await openSpool();
    await put(spool, '1:a');
    await put(spool, '1:a');
    expect([spool.batches, files().length]).toEqual([1, 1]);
  });

  it('drops the oldest batches when it is full, counts their lines, and never drops one that is being flushed', async () => {
    const spool = await openSpool(5 * MIB);
    for (const token of ['1:a', '1:b', '1:c']) await put(spool, token, randomBytes(1.5 * MIB));
    const taken = spool.next(all);
    await put(spool, '1:d', randomBytes(1.5 * MIB));
    expect(lost).toEqual([[1, 'full']]);
    expect([taken?.id, spool.next(all)?.id, spool.next(all)?.id]).toEqual(['1:a', '1:c', '1:d']);
    expect(spool.bytes).toBeLessThanOrEqual(5 * MIB);
    await expect(put(spool, '1:e', randomBytes(1.5 * MIB))).rejects.toBeInstanceOf(SpoolFull);
    expect(files()).toHaveLength(3);
  });

  it('finds the batches of an earlier process, and removes those that it did not finish', async () => {
    const first = await openSpool();
    await put(first, '1:a');
    await put(first, '1:b');
    const begun = await first.begin('1:c');
    await begun.write(Buffer.from('half'));
    await first.close(); // as in a process that ends: its socket is removed
    writeFileSync(join(directory, readdirSync(directory)[0] as string, '1.part'), 'half');
    const second = await openSpool();
    expect([second.next(all)?.id, second.next(all)?.id, second.next(all)]).toEqual(['1:a', '1:b', undefined]);
    expect(files()).toHaveLength(2);
    expect(readdirSync(directory)).toHaveLength(1);
    await begun.discard();
  });

  it('takes over no batch from a running process', async () => {
    const first = await openSpool();
    await put(first, '1:a');
    const second = await openSpool();
    await second.adopt();
    expect([first.batches, second.batches]).toEqual([1, 0]);
    await first.close();
    await second.adopt();
    expect(second.next(all)?.id).toBe('1:a');
  });

  it('is divided among concurrent processes', async () => {
    const first = await openSpool();
    for (let i = 0; i < 50; i++) await put(first, `1:${i}`);
    await first.close();
    const others = await Promise.all([1, 2, 3].map(() => openSpool()));
    expect(others.reduce((sum, { batches }) => sum + batches, 0)).toBe(50);
    expect(files()).toHaveLength(50);
  });

  it('does not touch other files', async () => {
    mkdirSync(join(directory, 'other'));
    writeFileSync(join(directory, 'other', 'file'), 'x');
    await openSpool();
    expect(readFileSync(join(directory, 'other', 'file'), 'utf8')).toBe('x');
  });
});

describe.skipIf(lacksSmallDisk() !== undefined)('on a disk that is full', () => {
  it('refuses a batch and leaves nothing of it, and accepts the next one when there is space', async () => {
    mountMemory(directory, 4);
    try {
      const spool = await openSpool();
      await put(spool, '1:a');
      const ballast = join(directory, 'ballast');
      fillDisk(ballast);
      await expect(put(spool, '1:b', randomBytes(MIB))).rejects.toBeInstanceOf(SpoolFull);
      expect(files()).toHaveLength(1);
      rmSync(ballast);
      await put(spool, '1:b', randomBytes(MIB));
      expect(spool.batches).toBe(2);
      await spool.close();
    } finally {
      execFileSync('umount', [directory]); // fails if a file is still open
    }
  });
});

describe('the flusher of a spool', () => {
  let spool: Spool;
  let store: FakeStore;
  let flusher: SpoolFlusher | undefined;
  let logged: object[];
  let flushed: number;
  beforeEach(async () => {
    logged = [];
    flushed = 0;
    store = new FakeStore();
    spool = await openSpool();
  });
  afterEach(() => flusher?.close());

  function start(): void {
    const log = { warn: (line: object) => logged.push(line) } as never;
    flusher = new SpoolFlusher({ spool, analytics: store, log, onFlushed: (lines) => (flushed += lines) });
  }

  it('sends every batch to the store, in one insert each, and removes it', async () => {
    await put(spool, '1:a');
    start();
    await put(spool, '1:b');
    await store.until(2);
    await until(() => spool.batches === 0);
    expect([store.tokens, store.tries, spool.bytes, flushed]).toEqual([['1:a', '1:b'], 2, 0, 2]);
  });

  it('keeps batches while the store is unavailable, and logs that once', async () => {
    store.fault = () => new AnalyticsFault('away', 'away');
    await put(spool, '1:a');
    await put(spool, '1:b');
    start();
    await until(() => store.tries >= 3);
    expect([spool.batches, store.rows.length, logged.length]).toEqual([2, 0, 1]);
    store.fault = undefined;
    await store.until(2);
    expect(store.tokens).toEqual(['1:a', '1:b']);
  });

  it('repeats a batch under its token if the response was lost', async () => {
    store.lostAnswer = new AnalyticsFault('slow', 'slow');
    await put(spool, '1:a');
    start();
    await until(() => spool.batches === 0);
    expect([store.tries, store.rows.length]).toEqual([2, 1]);
  });

  it('continues with the others if the store refuses one', async () => {
    store.fault = (token) => (token === '1:a' ? new AnalyticsFault('refused', 'no') : undefined);
    for (const token of ['1:a', '1:b', '1:c']) await put(spool, token);
    start();
    await store.until(2);
    await until(() => spool.batches === 1);
    expect([store.tokens, store.tries]).toEqual([['1:b', '1:c'], 3]);
  });

  it('counts a damaged file as lost, and continues', async () => {
    await put(spool, '1:a');
    await put(spool, '1:b');
    const batch = spool.next(() => true);
    writeFileSync(batch?.path as string, 'not gzip');
    spool.leave(batch as never);
    start();
    await store.until(1);
    expect([store.tokens, lost]).toEqual([['1:b'], [[1, 'damaged']]]);
  });
});
