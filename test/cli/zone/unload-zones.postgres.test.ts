import { beforeAll, expect, it } from 'vitest';
import type { Audited } from '../../../src/cli/terminal/cli.ts';
import { parseZoneName } from '../../../src/cli/terminal/parse-zone-name.ts';
import { unloadZones } from '../../../src/cli/zone/unload-zones.ts';
import { audited } from '../../../src/store/audit/write-audit.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { listZones } from '../../support/database/list-zones.ts';
import { captureOutput } from '../../support/tests/captured-output.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { smallZone } from '../../support/zone/zone-folder.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const database = keptDatabase();

beforeAll(async () => {
  const zones = ['a.example.', 'b.example.', 'c.example.'].map((apex) => ({
    apex: parseZoneName(apex),
    records: recordsOf(smallZone(apex), apex),
  }));
  await saveZones(database.db, zones, { source: 'test' });
});

async function unload(names: string[], json = false) {
  const captured = captureOutput(json);
  const order = {
    apexes: names.map(parseZoneName),
    actor: 'tester',
    audited: <T>(db: Database, work: Audited<T>) =>
      audited(db, { action: 'zone.unload', by: { kind: 'cli', name: 'tester' } }, work),
  };
  const code = await unloadZones(database.db, order, captured.output);
  return { code, out: captured.out, err: captured.err };
}

it('zones go, each once, and a zone that is not there makes the answer no', async () => {
  const { code, out, err } = await unload(['A.example', 'a.example.', 'nowhere.example', 'b.example']);
  expect(code).toBe(1);
  expect(out).toMatch(/^unloaded a\.example\. version \d+\nunloaded b\.example\. version \d+\n$/);
  expect(err).toBe('nowhere.example.: no such zone\n');
  expect((await listZones(database.db)).map(({ apex }) => apex)).toEqual([parseZoneName('c.example')]);
});

it('as JSON: what became of each name', async () => {
  const { code, out } = await unload(['c.example', 'a.example'], true);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({
    zones: [
      { zone: 'c.example.', outcome: 'unloaded', version: expect.any(Number) },
      { zone: 'a.example.', outcome: 'absent' },
    ],
    summary: { unloaded: 1, absent: 1, refused: 0 },
  });
});

it('a customer’s domain stays, and the others go', async () => {
  const name = parseZoneName('customer.example');
  await newDomain(database.db, await newAccount(database.db, 'ann@shop.example'), 'customer.example.');
  const records = recordsOf(smallZone('d.example.'), 'd.example.');
  await saveZones(database.db, [{ apex: parseZoneName('d.example'), records }], { source: 'test' });
  const { code, out, err } = await unload(['d.example', 'customer.example']);
  expect(code).toBe(1);
  expect(out).toMatch(/^unloaded d\.example\. version \d+\n$/);
  expect(err).toBe("customer.example.: a customer's domain, see zonefleet domain\n");
  expect((await listZones(database.db)).map(({ apex }) => apex)).toEqual([name]);
});
