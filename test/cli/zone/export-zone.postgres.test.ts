import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseZoneName } from '../../../src/cli/terminal/parse-zone-name.ts';
import { exportZone } from '../../../src/cli/zone/export-zone.ts';
import { parseName } from '../../../src/dns/name.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { markOf } from '../../../src/zone/zone.ts';
import { captureOutput } from '../../support/tests/captured-output.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { makeZoneFolder, smallZone, type ZoneFolder } from '../../support/zone/zone-folder.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseZoneName('a.example');
const database = keptDatabase();
let folder: ZoneFolder;

beforeAll(async () => {
  folder = makeZoneFolder();
  const many = Array.from({ length: 3000 }, (_, i) => `host${i} TXT "${'x'.repeat(50)}"\n`).join('');
  const zones = [{ apex: APEX, records: recordsOf(smallZone('a.example.', many), 'a.example.') }];
  await saveZones(database.db, zones, { source: 'test' });
});
afterAll(async () => {
  folder.remove();
});

async function run(order: { apex?: typeof APEX; file?: string } = {}, json = false) {
  const captured = captureOutput(json);
  const signal = new AbortController().signal;
  const whole = { apex: order.apex ?? APEX, file: order.file, signal };
  const code = await exportZone(database.db, whole, captured.output);
  return { code, out: captured.out, err: captured.err };
}

it('a zone is written as the zone file that loads as the same zone', async () => {
  const { code, out } = await run();
  expect(code).toBe(0);
  const read = parseZoneFile(out);
  expect(read.problems).toEqual([]);
  expect(read.origin).toBe(APEX);
  expect(read.records).toHaveLength(3003);
});

it('into a file, whole, saying so', async () => {
  const file = join(folder.path, 'a.zone');
  const { code, out } = await run({ file });
  expect(code).toBe(0);
  expect(out).toMatch(/^exported a\.example\. version \d+ records 3003\n$/);
  expect(readFileSync(file, 'utf8')).toBe((await run()).out);
});

it('as JSON: its records in presentation form', async () => {
  const { out } = await run({}, true);
  const document = JSON.parse(out);
  expect(document).toMatchObject({ zone: 'a.example.', version: expect.any(Number) });
  expect(document.records).toHaveLength(3003);
  expect(document.records).toContainEqual({
    name: 'ns.a.example.',
    type: 'A',
    ttl: 300,
    content: '192.0.2.1',
  });
});

it('marks are no records', async () => {
  const apex = parseZoneName('marked.example');
  const records = [
    ...recordsOf(smallZone('marked.example.'), 'marked.example.'),
    markOf(parseName('m', apex)),
  ];
  await saveZones(database.db, [{ apex, records }], { source: 'test' });
  const { out } = await run({ apex });
  expect(parseZoneFile(out)).toMatchObject({ problems: [], records: { length: 3 } });
  expect(JSON.parse((await run({ apex }, true)).out).records).toHaveLength(3);
  const file = join(folder.path, 'marked.zone');
  expect((await run({ apex, file })).out).toMatch(/ records 3\n$/);
});

it('a zone that is not there makes the answer no', async () => {
  const apex = parseZoneName('nowhere.example');
  expect(await run({ apex })).toEqual({ code: 1, out: '', err: 'nowhere.example.: no such zone\n' });
  const { code, out } = await run({ apex }, true);
  expect({ code, ...JSON.parse(out) }).toEqual({ code: 1, zone: 'nowhere.example.', outcome: 'absent' });
});
