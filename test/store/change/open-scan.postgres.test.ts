// One scan of a domain runs at a time: starting, joining, withdrawing and owning it.

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { openScan, type ScanOrder, withdrawScan } from '../../../src/store/change/open-scan.ts';
import type { ScanKind } from '../../../src/store/postgres/tables/schema.ts';
import { beginScan, claimDueScans, giveBackScan, keepScan } from '../../../src/store/scans/begin-scan.ts';
import { findRecentScan, saveScan, waitForScan } from '../../../src/store/scans/saved-scans.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { loadScan } from '../../support/database/saved-scans.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { scanOf, unreachable } from '../../support/world/made-scans.ts';
import { APEX } from '../../support/zone/customer-records.ts';

const { db, query } = sharedDatabase();
let domainId: number;
let account: number;
beforeEach(async () => {
  account = await newAccount(db, 'a@example.org');
  ({ id: domainId } = await newDomain(db, account));
});

const open = (kind: ScanKind, more: Partial<ScanOrder> = {}) =>
  openScan(db, { domainId, kind, by: BY.by, narrowing: null, ...more });
const begin = async (id: number) => {
  const begun = await beginScan(db, id);
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  return begun.run;
};
const end = async (id: number, run: string, scan = scanOf(['www A 192.0.2.1'])) =>
  await saveScan(db, { scanId: id, run, scan, records: scan.records });
const lapse = (id: number) => query`update scans set due_at = clock_timestamp() where id = ${id}`;

test('one of several concurrent calls starts a scan, and the others join it', async () => {
  const opened = await Promise.all([open('manual'), open('preview'), open('manual')]);
  expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  expect(opened.map(({ how }) => how).filter((how) => how === 'begun')).toHaveLength(1);
  const [{ id } = { id: 0 }] = opened;
  await end(id, await begin(id));
  expect(await open('preview')).toMatchObject({ how: 'begun' });
});

test('a preview also imports if a caller who wants to import joins', async () => {
  const { id } = await open('preview');
  const run = await begin(id);
  expect(await open('manual')).toMatchObject({ id, how: 'raised', isWaiting: false });
  expect(await end(id, run)).toMatchObject({ kind: 'saved', imported: { created: 1 } });
  expect(await loadScan(db, id)).toMatchObject({ kind: 'manual', complete: true, result: { created: 1 } });
});

test('an import joined with a key of wider rights uses those rights', async () => {
  const { id } = await open('manual', { narrowing: { names: ['api.example.com'], types: null } });
  expect(await open('manual')).toMatchObject({ id, how: 'joined' });
  await open('manual', { narrowing: { names: null, types: ['TXT'] } });
  expect(await end(id, await begin(id))).toMatchObject({ imported: { created: 1 } });
});

test('a restricted key does not join an import with other restrictions', async () => {
  const narrowing = { names: ['api.example.com'], types: null };
  const other = { names: null, types: ['A'] };
  const { id } = await open('manual', { narrowing });
  expect(await open('manual', { narrowing: other })).toMatchObject({ id, how: 'barred' });
  expect(await open('manual', { narrowing })).toMatchObject({ id, how: 'joined' });
  expect(await open('preview', { narrowing: other })).toMatchObject({ id, how: 'joined' });
  expect(await end(id, await begin(id))).toMatchObject({ imported: { kind: 'refused' } });
  expect(await open('manual', { narrowing: other })).toMatchObject({ how: 'begun' });
});

test('a scan that could not be enqueued is withdrawn unless it is already running', async () => {
  const first = await open('manual');
  await withdrawScan(db, first);
  expect(await loadScan(db, first.id)).toBeUndefined();
  const preview = await open('preview');
  await withdrawScan(db, await open('manual'));
  expect(await loadScan(db, preview.id)).toMatchObject({ kind: 'preview', imports: false });
  await begin(preview.id);
  await withdrawScan(db, preview);
  expect(await loadScan(db, preview.id)).toBeDefined();
});

test('a scan that another caller has joined is not withdrawn', async () => {
  const request = randomUUID();
  const first = await open('manual', { request });
  const repeated = await open('manual', { request });
  expect(repeated).toMatchObject({ id: first.id, how: 'repeated', isWaiting: true });
  await withdrawScan(db, first);
  await open('preview');
  await withdrawScan(db, { ...repeated, how: 'begun' });
  expect(await loadScan(db, first.id)).toMatchObject({ imports: true });
  await end(first.id, await begin(first.id));
  const { id } = await open('preview');
  const raised = await open('manual');
  expect(raised).toMatchObject({ id, how: 'raised' });
  await open('manual');
  await withdrawScan(db, raised);
  expect(await loadScan(db, id)).toMatchObject({ kind: 'manual', imports: true });
});

test('a repeated call scans again after a refusal, and if its scan does not import', async () => {
  const request = randomUUID();
  const narrowing = { names: ['api.example.com'], types: null };
  const refused = await open('manual', { request, narrowing });
  expect(await end(refused.id, await begin(refused.id))).toMatchObject({ imported: { kind: 'refused' } });
  const preview = await open('preview', { request });
  expect(preview.how).toBe('begun');
  await end(preview.id, await begin(preview.id));
  expect(await open('preview', { request })).toMatchObject({ id: preview.id, how: 'repeated' });
  const again = await open('manual', { request });
  expect(again.how).toBe('begun');
  await withdrawScan(db, again);
  await open('preview');
  await withdrawScan(db, await open('manual', { request }));
  expect(await open('manual', { request })).toMatchObject({ how: 'raised' });
});

test('belongs to one worker at a time, and to another one after its lease ends', async () => {
  const { id } = await open('manual');
  const first = await begin(id);
  expect(await beginScan(db, id)).toEqual({ kind: 'held' });
  const progress = { names: 3, of: 9, queries: 4, records: 1 };
  expect(await keepScan(db, id, first, progress)).toBe(true);
  expect(await keepScan(db, id, first, undefined)).toBe(true);
  expect((await loadScan(db, id))?.progress).toEqual(progress);
  await lapse(id);
  expect(await open('manual')).toMatchObject({ id, how: 'joined', isWaiting: true });
  const second = await begin(id);
  expect(await keepScan(db, id, first, undefined)).toBe(false);
  expect(await end(id, first)).toEqual({ kind: 'lost' });
  const saved = await end(id, second);
  expect(saved).toMatchObject({ kind: 'saved', imported: { created: 1 } });
  expect(await end(id, second)).toEqual(saved);
  expect(await beginScan(db, id)).toEqual({ kind: 'absent' });
});

test('ends after its third worker', async () => {
  const { id } = await open('manual');
  for (const _ of [1, 2, 3]) await giveBackScan(db, id, await begin(id), { isInnocent: false });
  expect(await beginScan(db, id)).toEqual({ kind: 'spent' });
  expect(await loadScan(db, id)).toMatchObject({
    complete: false,
    found: null,
    finishedAt: expect.any(Date),
    shortfalls: ['it was started 3 times and never finished'],
  });
  const again = await open('manual');
  for (const _ of [1, 2, 3, 4]) await giveBackScan(db, again.id, await begin(again.id), { isInnocent: true });
});

test('no more scans are claimed than requested, with any query plan', async () => {
  for (const name of ['a.org.', 'b.org.', 'c.org.']) await newDomain(db, account, name, { isScanned: true });
  await db.transaction().execute(async (trx) => {
    for (const way of ['hashagg', 'hashjoin', 'mergejoin', 'material', 'sort'])
      await sql.raw(`set local enable_${way} = off`).execute(trx);
    expect(await claimDueScans(trx, 1)).toHaveLength(1);
  });
});

test('a recent scan with results is found again', async () => {
  const silent = await open('preview');
  await end(silent.id, await begin(silent.id), unreachable(APEX));
  expect(await findRecentScan(db, domainId, 600)).toBeUndefined();
  expect((await loadScan(db, silent.id))?.shortfalls).toEqual(['no server answers']);
  const told = await open('preview');
  await end(told.id, await begin(told.id));
  expect(await findRecentScan(db, domainId, 600)).toMatchObject({
    id: told.id,
    found: { records: scanOf(['www A 192.0.2.1']).records, wildcards: [] },
  });
  await query`update scans set finished_at = finished_at - interval '11 minutes'`;
  expect(await findRecentScan(db, domainId, 600)).toBeUndefined();
});

test('only the newest scans of a domain are kept', async () => {
  for (let i = 0; i < 22; i++) {
    const { id } = await open('preview');
    await end(id, await begin(id), unreachable(APEX));
  }
  expect(await query`select from scans where domain_id = ${domainId}`).toHaveLength(20);
});

test('waiting returns the finished scan, the unfinished scan after the timeout, and nothing for a deleted scan', async () => {
  const { id } = await open('manual');
  const wait = (timeoutMs: number) =>
    waitForScan(db, id, { timeoutMs, signal: new AbortController().signal });
  expect(await wait(1)).toMatchObject({ id, finishedAt: null });
  const waited = wait(10_000);
  await end(id, await begin(id));
  expect(await waited).toMatchObject({ id, finishedAt: expect.any(Date) });
  await query`delete from scans`;
  expect(await wait(10_000)).toBeUndefined();
});
