// Counts leave Postgres in batches that may be moved repeatedly without being counted twice.

import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { claimBatch, endBatch, leaveBatch, loadBatch } from '../../../src/store/counts/batches.ts';
import { purgeDnsCounts } from '../../../src/store/counts/purge-counts.ts';
import { type DnsCountsReport, reportDnsCounts } from '../../../src/store/feed/report-counts.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { asRole } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const MINUTE = 60_000;

const { db, url, query, column } = sharedDatabase();
let node: Connection;
let worker: Database;
let instance: string;
let part: number;

beforeEach(async () => {
  node = await connect(asRole(url, 'zonefleet_node'), { applicationName: 'test' });
  worker = openDatabase(asRole(url, 'zonefleet_worker'));
  instance = randomUUID();
  part = 0;
});
afterEach(async () => {
  await node.close();
  await worker.destroy();
});

const now = Math.floor(Date.now() / MINUTE) * MINUTE;
const report = (zoneIds: readonly number[], given: Partial<DnsCountsReport> = {}) =>
  reportDnsCounts(node, {
    ...{ node: 'ams1', instance, part: part++, minuteMs: now, names: [], zoneIds },
    ...{ types: zoneIds.map(() => 1), rcodes: zoneIds.map(() => 0), counts: zoneIds.map(() => 10) },
    ...given,
  });

async function domainWithZone(name: string): Promise<{ domainId: number; zoneId: number }> {
  const accountId = await newAccount(db, `${randomUUID()}@example.org`);
  await newDomain(db, accountId, name);
  return (
    await query<{ domainId: number; zoneId: number }>`
      select id as "domainId", zone_id as "zoneId" from domains where name = ${name}`
  )[0]!;
}

test('zones are mapped to domains, and zones without one are left out, except for zone 0', async () => {
  const one = await domainWithZone('one.example.');
  await report([one.zoneId, 999_999, 0], {
    counts: [7, 8, 9],
    rcodes: [3, 0, 0],
    types: [28, 1, 0],
    names: [
      { zoneId: one.zoneId, name: parseName('www.one.example.'), count: 256 },
      { zoneId: 999_999, name: parseName('x.example.'), count: 256 },
    ],
  });
  const batch = (await claimBatch(worker))!;
  const day = new Date(now).toISOString().slice(0, 10);
  expect(await loadBatch(worker, batch)).toEqual({
    counts: [
      { minute: new Date(now), domainId: 0, type: 0, rcode: 0, node: 'ams1', count: 9 },
      { minute: new Date(now), domainId: one.domainId, type: 28, rcode: 3, node: 'ams1', count: 7 },
    ],
    names: [{ day, domainId: one.domainId, name: 'www.one.example.', count: 256 }],
  });
});

test('invalid values are left out: times out of range and invalid numbers', async () => {
  const { zoneId } = await domainWithZone('one.example.');
  await report([zoneId], { minuteMs: now + 10 * MINUTE });
  await report([zoneId], { minuteMs: now - 200 * MINUTE });
  await report([zoneId, zoneId, zoneId], { counts: [-5, 0, 2 ** 50] });
  await report([zoneId, zoneId], { types: [-1, 70_000] });
  const batch = (await claimBatch(worker))!;
  expect((await loadBatch(worker, batch)).counts).toEqual([]);
  await endBatch(worker, batch);
  expect(await claimBatch(worker)).toBeUndefined();
});

test('an abandoned batch is claimed again under its id with the same rows, without newer ones', async () => {
  const { zoneId } = await domainWithZone('one.example.');
  await report([zoneId]);
  const batch = (await claimBatch(worker))!;
  const before = await loadBatch(worker, batch);
  await report([zoneId], { counts: [5] });
  const other = (await claimBatch(worker))!;
  expect(other).not.toBe(batch);
  expect(await claimBatch(worker)).toBeUndefined(); // both are claimed
  await leaveBatch(worker, batch);
  expect(await claimBatch(worker)).toBe(batch);
  expect(await loadBatch(worker, batch)).toEqual(before);
  await query`update dns_counts set claimed_at = claimed_at - interval '3 minutes' where batch = ${other}`;
  expect(await claimBatch(worker)).toBe(other);
});

test('a report repeated after it was moved is not counted again', async () => {
  const { zoneId } = await domainWithZone('one.example.');
  await report([zoneId]);
  const batch = (await claimBatch(worker))!;
  await endBatch(worker, batch);
  part = 0;
  await report([zoneId]);
  expect(await claimBatch(worker)).toBeUndefined();
  expect((await loadBatch(worker, batch)).counts).toEqual([]);
});

test('several workers claim concurrently, and each row is in one batch', async () => {
  const { zoneId } = await domainWithZone('one.example.');
  for (let i = 0; i < 40; i++) await report([zoneId]);
  const batches = await Promise.all(Array.from({ length: 8 }, () => claimBatch(worker)));
  for (let batch = await claimBatch(worker); batch !== undefined; batch = await claimBatch(worker))
    batches.push(batch);
  let all = 0;
  for (const batch of new Set(batches)) {
    if (batch === undefined) continue;
    for (const { count } of (await loadBatch(worker, batch)).counts) all += count;
  }
  expect(all).toBe(400);
});

test('the table is limited: moved rows are deleted after a day, and the oldest waiting rows if there are too many', async () => {
  const { zoneId } = await domainWithZone('one.example.');
  await report([zoneId]);
  await endBatch(worker, (await claimBatch(worker))!);
  expect(await purgeDnsCounts(worker)).toBe(0);
  await query`update dns_counts set moved_at = moved_at - interval '25 hours'`;
  for (let i = 0; i < 5; i++) await report([zoneId]);
  expect(await purgeDnsCounts(worker, 3)).toBe(2);
  expect(await column<number>`select part from dns_counts order by part`).toEqual([3, 4, 5]);
});
