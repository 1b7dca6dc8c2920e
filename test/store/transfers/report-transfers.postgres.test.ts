import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { NotifyOrders } from '../../../src/nameserver/transfer/notify-orders.ts';
import { deleteOld, RETENTION } from '../../../src/store/housekeeping/retention.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { orderNotify } from '../../../src/store/transfers/policies.ts';
import {
  noteNotify,
  reportKeyUse,
  reportTransfers,
  type TransferReport,
} from '../../../src/store/transfers/report-transfers.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { asRole } from '../../support/database/database.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, column, value } = sharedDatabase();
const AT = new Date('2026-11-01T00:00:00Z');
let node: Connection;
let zoneId: number;
let peerId: number;

beforeEach(async () => {
  node = await connect(asRole(url, 'zonefleet_node'), { applicationName: 'test' });
  const records = recordsOf('@ SOA ns hostmaster 1 3600 600 86400 300\n@ NS ns\nns A 192.0.2.1', 'a.test.');
  await saveZones(db, [{ apex: parseName('a.test.'), records }], { source: 'test' });
  zoneId = (await value<number>`select id from zones`) ?? 0;
  peerId =
    (await value<number>`insert into peers (name, networks) values ('second', '{192.0.2.0/24}') returning id`) ??
    0;
});
afterEach(() => node.close());

const report = (given: Partial<TransferReport>): TransferReport => ({
  ...{ zoneId, peerId, notifiedSerial: null, ackedAt: null },
  ...{ servedSerial: null, servedAt: null, form: null, error: null, ...given },
});
const rows = () => query`select node, notified_serial as notified, acked_at as acked, served_serial as served,
  served_at as at, form, error from transfer_reports order by node`;

test('each report replaces the values that it has, and the error', async () => {
  const served = { servedSerial: 5, servedAt: AT, form: 'axfr' } as const;
  await reportTransfers(node, 'ams1', [report({ notifiedSerial: 5, error: 'no answer' })]);
  await reportTransfers(node, 'ams1', [report({ notifiedSerial: 5, ackedAt: AT })]);
  await reportTransfers(node, 'ams1', [report(served)]);
  await reportTransfers(node, 'fra1', [report({ ...served, error: 'stopped' })]);
  const taken = { served: 5, at: AT, form: 'axfr' };
  expect(await rows()).toEqual([
    { node: 'ams1', notified: 5, acked: AT, ...taken, error: null },
    { node: 'fra1', notified: null, acked: null, ...taken, error: 'stopped' },
  ]);
  await reportTransfers(node, 'ams1', [report({ notifiedSerial: 6 })]);
  expect((await rows())[0]).toEqual({ node: 'ams1', notified: 6, acked: null, ...taken, error: null });
});

test('a report of a deleted zone or peer is skipped', async () => {
  await reportTransfers(node, 'ams1', [
    report({ zoneId: zoneId + 99, error: 'one' }),
    report({ peerId: peerId + 99, error: 'two' }),
    report({ error: 'three' }),
  ]);
  expect(await column`select error from transfer_reports`).toEqual(['three']);
});

test('workers delete reports that were not renewed for 30 days', async () => {
  await reportTransfers(node, 'ams1', [report({ error: 'old' })]);
  await query`update transfer_reports set reported_at = now() - interval '31 days'`;
  await reportTransfers(node, 'fra1', [report({ error: 'new' })]);
  const worker = openDatabase(asRole(url, 'zonefleet_worker'));
  const { transfer_reports = '' } = RETENTION;
  await deleteOld(worker, { transfer_reports }).finally(() => worker.destroy());
  expect(await column`select error from transfer_reports`).toEqual(['new']);
});

test('the use of a key is recorded at most once per minute', async () => {
  const add = (name: string) =>
    value<number>`insert into tsig_keys (name, algorithm, use, wrap, sealed)
      values (${name}, 'hmac-sha256', 'serve', '1', '') returning id`;
  const ids = [await add('one.'), await add('two.')] as number[];
  await reportKeyUse(node, [ids[0] as number]);
  const used = () => column<Date | null>`select last_used_at from tsig_keys order by id`;
  const [first, second] = await used();
  expect([first, second]).toEqual([expect.any(Date), null]);
  await query`update tsig_keys set last_used_at = now() - interval '2 minutes' where id = ${ids[1]}`;
  await reportKeyUse(node, ids);
  const [again, late] = await used();
  expect(again).toEqual(first);
  expect(late?.getTime()).toBeGreaterThanOrEqual((first as Date).getTime());
});

test('a received NOTIFY is recorded once per zone, in one of eight slots', async () => {
  const names = Array.from({ length: 100 }, (_, n) => parseName(`z${n}.test.`));
  for (const name of [...names, ...names]) await noteNotify(node, name, 7);
  expect(await column`select zone from received_notifies order by zone`).toEqual(names.map(printName).sort());
  expect(await value`select distinct serial from received_notifies`).toBe(7);
  await noteNotify(node, names[0] as Name, 8);
  expect(await column`select zone from received_notifies where serial is null`).toEqual(['z0.test.']);
  await query`insert into received_notifies (slot, zone)
    select slot, 'other.' from generate_series(0, 4095) slot on conflict do nothing`;
  await noteNotify(node, parseName('late.test.'), null);
  expect(await value`select count(*) from received_notifies`).toBe(4096);
});

test('a node carries out each order to send NOTIFY of the last minute once', async () => {
  const orders = new NotifyOrders();
  const order = () => orderNotify(db, ['a.test.', 'absent.test.']);
  const zone = { id: zoneId, apex: parseName('a.test.') };
  await order();
  await query`update notify_orders set at = now() - interval '2 minutes'`;
  expect(await order()).toEqual(['a.test.']);
  expect(await orders.take(node)).toEqual([zone]);
  expect(await orders.take(node)).toEqual([]);
  await order();
  expect(await orders.take(node)).toEqual([zone]);
});
