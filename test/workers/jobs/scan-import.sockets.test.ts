import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { openScan } from '../../../src/store/change/open-scan.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import type { ScanKind } from '../../../src/store/postgres/tables/schema.ts';
import { BY, expectPublished, listed, newAccount, newDomain } from '../../support/database/domains.ts';
import { loadScan } from '../../support/database/saved-scans.ts';
import { startProxy } from '../../support/processes/tcp-proxy.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { type Found, runScan, scanOf } from '../../support/world/made-scans.ts';

const { db, url, query } = sharedDatabase();
let domainId: number;
beforeEach(async () => {
  const accountId = await newAccount(db, 'me@example.org');
  domainId = (await newDomain(db, accountId)).id;
});

const WWW = scanOf(['www A 198.51.100.1']);
const finds: Found = async () => WWW;
const open = async (kind: ScanKind = 'manual') =>
  (await openScan(db, { domainId, kind, by: BY.by, narrowing: null })).id;
const run = (scanId: number, found: Found = finds, signal?: AbortSignal) =>
  runScan(db, { scanId }, found, signal);
const here = () => listed(db, domainId);
const row = (id: number) => loadScan(db, id);

test('imports and reports the records that it finds', async () => {
  expect(await run(await open())).toMatchObject({
    kind: 'saved',
    name: 'example.com.',
    scanKind: 'manual',
    records: 1,
    imported: { kind: 'imported', created: 1 },
  });
  expect(await here()).toHaveLength(1);
  await expectPublished(db, domainId);
});

test('a preview imports nothing, and a repeat of the job does nothing', async () => {
  const id = await open('preview');
  expect(await run(id)).toMatchObject({ kind: 'saved', imported: undefined });
  expect(await run(id)).toEqual({ kind: 'absent', job: { scanId: id } });
  expect(await here()).toEqual([]);
});

test('shows its progress; a scan that exceeds its time imports what it found, and reports this', async () => {
  const id = await open();
  await run(id, async () => ({ ...WWW, complete: false, shortfalls: ['the time was over'] }));
  expect(await row(id)).toMatchObject({
    complete: false,
    shortfalls: ['the time was over'],
    result: { created: 1 },
  });
  const slow = await open();
  const steps = { names: 5, of: 10, queries: 7, records: 2 };
  await run(slow, async (_domain, { onProgress } = {}) => {
    onProgress?.(steps);
    await until(async () => (await row(slow))?.progress !== null, 'the progress is there');
    expect((await row(slow))?.progress).toEqual(steps);
    return WWW;
  });
});

test('a deleted or disabled domain is not scanned and receives no records', async () => {
  const fails: Found = () => Promise.reject(new Error('it is not to be scanned'));
  await changeStatus(db, { ...BY, domainId, event: 'disable' });
  const idle = await open();
  expect(await run(idle, fails)).toMatchObject({ kind: 'idle' });
  expect((await row(idle))?.shortfalls).toEqual(['the domain no longer accepts records']);
  await deleteDomain(db, { ...BY, domainId });
  expect(await run(await open('preview'), fails)).toMatchObject({ kind: 'idle' });
});

test('a stopping process releases its scan, and the next one claims it immediately', async () => {
  const id = await open();
  const stop = new AbortController();
  const running = run(
    id,
    (_domain, { signal } = {}) =>
      new Promise((_, fail) => {
        signal?.addEventListener('abort', () => fail(signal.reason));
        stop.abort(new Error('it stops'));
      }),
    stop.signal,
  );
  await expect(running).rejects.toThrow('it stops');
  expect(await run(id)).toMatchObject({ kind: 'saved' });
  expect(await query`select attempts from scans`).toEqual([{ attempts: 1 }]);
});

test('a scan that fails with an internal error is retried, three attempts in total', async () => {
  const id = await open();
  const breaks: Found = () => Promise.reject(new Error('a bug'));
  for (const _ of [1, 2, 3]) await expect(run(id, breaks)).rejects.toThrow('a bug');
  expect(await run(id)).toMatchObject({ kind: 'spent' });
});

test('a worker that lost its lease stops, and saves nothing', async () => {
  const id = await open();
  const outcome = await run(
    id,
    (_domain, { signal, onProgress } = {}) =>
      new Promise((_, fail) => {
        signal?.addEventListener('abort', () => fail(signal.reason));
        void sql`update scans set run = gen_random_uuid()`
          .execute(db)
          .then(() => onProgress?.({ names: 1, of: 2, queries: 1, records: 0 }));
      }),
  );
  expect(outcome).toMatchObject({ kind: 'lost' });
  expect((await row(id))?.finishedAt).toBeNull();
});

test('saves its results after an outage of Postgres', async () => {
  const id = await open();
  const proxy = await startProxy(url);
  const db = openDatabase(proxy.url, { connectTimeoutMs: 1000 });
  let scans = 0;
  try {
    const running = runScan(db, { scanId: id }, async () => {
      scans++;
      proxy.cut();
      return WWW;
    });
    await until(() => proxy.refused() > 1, 'it is tried again');
    proxy.resume();
    expect(await running).toMatchObject({ kind: 'saved', imported: { created: 1 } });
  } finally {
    await db.destroy();
    await proxy.stop();
  }
  expect(scans).toBe(1);
});
