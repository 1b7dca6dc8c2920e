import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { loadHistory } from '../../../src/store/transfers/load-differences.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { asRole } from '../../support/database/database.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, value } = keptDatabase();
const MARK = 7;
let node: Connection;
let zoneId: number;

beforeAll(async () => {
  node = await connect(asRole(url, 'zonefleet_node'), { applicationName: 'test' });
  const records = recordsOf('@ SOA ns host 1 3600 600 86400 300\n@ NS ns\nns A 192.0.2.1', 'a.test.');
  await saveZones(db, [{ apex: parseName('a.test.'), records }], { source: 'test' });
  zoneId = (await value<number>`select id from zones`) ?? 0;
});
afterAll(() => node.close());

/** A row of the history: version, the version before, the serials before and after, and the number of records. */
type Row = readonly [
  version: number,
  before: number | null,
  serialBefore: number | null,
  serialAfter: number | null,
  rows?: number,
];
const [A, B, C, D]: Row[] = [
  [1001, 1000, 1, 2],
  [1002, 1001, 2, 3],
  [1003, 1002, null, null],
  [1004, 1003, 3, 4],
];

test.each([
  ['the versions since a serial, oldest first', [A, B, C, D], 1, 1004, '1001! 1002! 1003 1004!'],
  ['no versions after the wanted one', [A, B, C, D], 1, 1002, '1001! 1002!'],
  ['a version with the same serial before the first new one', [A, B, C, D], 3, 1004, '1003 1004!'],
  ['the last versions without a new serial', [A, B, C], 2, 1003, '1002! 1003'],
  [
    'the newest version with the serial',
    [A, B, C, D, [1005, 1004, 4, 1], [1006, 1005, 1, 2]],
    1,
    1006,
    '1006!',
  ],
  ['nothing for an unknown serial', [A, B, C, D], 9, 1004, 'purged'],
  ['nothing if a version is missing', [A, B, D], 1, 1004, 'gap'],
  ['nothing if the last version is missing', [A, B, C], 1, 1004, 'gap'],
  ['nothing if a change was too large', [A, [1002, null, 2, 3], C, D], 1, 1004, 'larger'],
  ['nothing if the first change was too large', [[1001, null, 1, 2], B, C, D], 1, 1004, 'larger'],
  ['nothing if there are too many records', [A, [1002, 1001, 2, 3, 99], C, D], 1, 1004, 'larger'],
  ['nothing if the version has another mark', [A, B, C, D], 1, 1004, 'gap', MARK + 1],
] as [
  string,
  Row[],
  number,
  number,
  string,
  number?,
][])('the history has %s', async (_, rows, serial, version, expected, mark = MARK) => {
  await query`delete from zone_history`;
  await query`delete from zone_differences`;
  await query`delete from changes where id > 1000`;
  for (const [id, before, serialBefore, serialAfter, count = 1] of rows) {
    await query`insert into zone_history values (${zoneId}, ${id}, ${before}, ${serialBefore}, ${serialAfter}, ${count})`;
    await query`
      insert into zone_differences values (${zoneId}, ${id}, false, 'x.a.test.', 16, 60, ${Buffer.from(String(id))}),
        (${zoneId}, ${id}, true, 'a.test.', 6, 60, 'soa')`;
  }
  await query`
    insert into changes (id, zone_id, zone, operation, source, mark)
    values (${version}, ${zoneId}, 'a.test.', 'load', 'test', ${MARK})`;
  const loaded = await loadHistory(node, { zoneId, serial, version, mark, maxRows: 100 }, 5000);
  const text =
    loaded.kind === 'missing'
      ? loaded.why
      : loaded.versions
          .map(({ isNewSerial, removed, added }) => {
            expect(removed).toMatchObject([{ owner: parseName('a.test.'), type: 6, ttl: 60 }]);
            return Buffer.from(added[0]!.rdata).toString() + (isNewSerial ? '!' : '');
          })
          .join(' ');
  expect(text).toBe(expected);
});
