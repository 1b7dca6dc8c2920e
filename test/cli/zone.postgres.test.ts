// The commands that load, unload and export zones.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Audited } from '../../src/cli/terminal/cli.ts';
import { INTERRUPTED } from '../../src/cli/terminal/output.ts';
import { parseZoneName } from '../../src/cli/terminal/parse-zone-name.ts';
import { exportZone } from '../../src/cli/zone/export-zone.ts';
import { loadZoneFiles } from '../../src/cli/zone/load-zone-files.ts';
import { chooseZones, raiseSerials } from '../../src/cli/zone/raise-serials.ts';
import { unloadZones } from '../../src/cli/zone/unload-zones.ts';
import { parseName, printName } from '../../src/dns/name.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { audited } from '../../src/store/audit/write-audit.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { loadZone } from '../../src/store/zones/load-zones.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { markOf } from '../../src/zone/zone.ts';
import { newAccount, newDomain } from '../support/database/domains.ts';
import { listZones } from '../support/database/list-zones.ts';
import { captureOutput } from '../support/tests/captured-output.ts';
import { keptDatabase, sharedDatabase } from '../support/tests/shared-database.ts';
import { makeZoneFolder, smallZone, type ZoneFolder } from '../support/zone/zone-folder.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

describe('zone export', () => {
  const { db } = keptDatabase();
  const APEX = parseZoneName('a.example');
  let folder: ZoneFolder;

  beforeAll(async () => {
    folder = makeZoneFolder();
    const many = Array.from({ length: 3000 }, (_, i) => `host${i} TXT "${'x'.repeat(50)}"\n`).join('');
    const zones = [{ apex: APEX, records: recordsOf(smallZone('a.example.', many), 'a.example.') }];
    await saveZones(db, zones, { source: 'test' });
  });
  afterAll(async () => {
    folder.remove();
  });

  async function run(order: { apex?: typeof APEX; file?: string } = {}, json = false) {
    const captured = captureOutput(json);
    const signal = new AbortController().signal;
    const whole = { apex: order.apex ?? APEX, file: order.file, signal };
    const code = await exportZone(db, whole, captured.output);
    return { code, out: captured.out, err: captured.err };
  }

  it('writes a zone file that loads as the same zone, to stdout, to a file, or as JSON', async () => {
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(parseZoneFile(out)).toMatchObject({ problems: [], origin: APEX, records: { length: 3003 } });
    const file = join(folder.path, 'a.zone');
    const exported = await run({ file });
    expect([exported.code, exported.out]).toEqual([
      0,
      expect.stringMatching(/^exported a\.example\. version \d+ records 3003\n$/),
    ]);
    expect(readFileSync(file, 'utf8')).toBe(out);
    const document = JSON.parse((await run({}, true)).out);
    expect(document).toMatchObject({
      zone: 'a.example.',
      version: expect.any(Number),
      records: { length: 3003 },
    });
    const record = { name: 'ns.a.example.', type: 'A', ttl: 300, content: '192.0.2.1' };
    expect(document.records).toContainEqual(record);
  });

  it('does not export marker rows', async () => {
    const apex = parseZoneName('marked.example');
    const records = [
      ...recordsOf(smallZone('marked.example.'), 'marked.example.'),
      markOf(parseName('m', apex)),
    ];
    await saveZones(db, [{ apex, records }], { source: 'test' });
    const { out } = await run({ apex });
    expect(parseZoneFile(out)).toMatchObject({ problems: [], records: { length: 3 } });
    expect(JSON.parse((await run({ apex }, true)).out).records).toHaveLength(3);
    const file = join(folder.path, 'marked.zone');
    expect((await run({ apex, file })).out).toMatch(/ records 3\n$/);
  });

  it('exits with 1 if the zone does not exist', async () => {
    const apex = parseZoneName('nowhere.example');
    expect(await run({ apex })).toEqual({ code: 1, out: '', err: 'nowhere.example.: no such zone\n' });
    const { code, out } = await run({ apex }, true);
    expect({ code, ...JSON.parse(out) }).toEqual({ code: 1, zone: 'nowhere.example.', outcome: 'absent' });
  });
});

describe('zone load', () => {
  const { db, query, value } = sharedDatabase();
  let folder: ZoneFolder;

  beforeEach(async () => {
    folder = makeZoneFolder();
  });
  afterEach(() => folder.remove());

  async function load(options: { json?: boolean; paths?: string[]; signal?: AbortSignal } = {}) {
    const captured = captureOutput(options.json ?? false);
    const order = {
      paths: options.paths ?? [folder.path],
      origin: undefined,
      serialRule: 'newer' as const,
      at: 1_800_000_000,
      actor: 'tester',
      audited: <T>(db: Database, work: Audited<T>) =>
        audited(db, { action: 'zone.load', by: { kind: 'cli', name: 'tester' } }, work),
      signal: options.signal ?? new AbortController().signal,
    };
    const code = await loadZoneFiles(db, order, captured.output).catch((error: Error) => error);
    return { code, out: captured.out, err: captured.err };
  }

  const stored = async () => (await listZones(db)).map(({ apex }) => printName(apex));

  it('prints whether each zone was created, replaced or unchanged, and records the operator in the change feed', async () => {
    folder.write('a.zone', smallZone('a.example.'));
    const first = await load();
    expect(first.code).toBe(0);
    expect(first.out).toMatch(
      /^loaded a\.example\. version \d+ records 3 \(created\)\nfiles 1 zones 1 records 3 created 1 /,
    );
    expect((await load()).out).toMatch(/^loaded a\.example\. version \d+ records 3 \(unchanged\)\n/);
    folder.write('a.zone', smallZone('a.example.', 'www A 192.0.2.2\n'));
    expect((await load()).out).toMatch(/^loaded a\.example\. version \d+ records 4 \(replaced\)\n/);
    const zone = await loadZone(db, parseName('a.example.'));
    expect(zone?.records.map(({ owner }) => printName(owner))).toContain('www.a.example.');
    folder.write('a.zone', smallZone('actor.example.'));
    await load();
    const rows = await query`
      select source, actor from changes where zone = 'actor.example.'`;
    expect(rows).toEqual([{ source: 'cli', actor: 'tester' }]);
  });

  it('loads the valid files, lists the errors of the others, and exits with 1', async () => {
    const bad = folder.write('bad.zone', smallZone('bad.example.', 'x A 1.2.3\ny MX z\n'));
    folder.write('good.zone', smallZone('good.example.'));
    const { code, out, err } = await load();
    expect(code).toBe(1);
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringContaining(`${bad}:6:5: address: `),
      expect.stringContaining(`${bad}:7:`),
    ]);
    expect(out).toMatch(/^loaded good\.example\..*\nfiles 2 zones 1 .* refused 1\n$/);
    expect(await stored()).toEqual(['good.example.']);
  });

  it('rejects a customer’s domain, and loads the other zones of its batch', async () => {
    await newDomain(db, await newAccount(db, 'ann@shop.example'), 'customer.example.');
    const before = await loadZone(db, parseName('customer.example.'));
    folder.write('a.zone', smallZone('a.example.'));
    const file = folder.write('b.zone', smallZone('customer.example.'));
    folder.write('c.zone', smallZone('c.example.'));
    const { code, out, err } = await load();
    expect(code).toBe(1);
    expect(err).toBe(`${file}: customer.example. is a customer's domain, not an operator zone\n`);
    expect(out).toMatch(/^loaded a\.example\..*\nloaded c\.example\..*\nfiles 3 zones 2 .* refused 1\n$/);
    expect(await loadZone(db, parseName('customer.example.'))).toEqual(before);
  });

  it('prints one JSON document', async () => {
    const bad = folder.write('bad.zone', smallZone('bad.example.', 'x A 1.2.3\n'));
    const good = folder.write('good.zone', smallZone('good.example.'));
    const { out, err } = await load({ json: true });
    expect(err).toBe('');
    expect(JSON.parse(out)).toEqual({
      files: [
        {
          file: bad,
          outcome: 'refused',
          zone: 'bad.example.',
          problems: [{ file: bad, line: 6, column: 5, field: 'address', message: expect.any(String) }],
        },
        { file: good, outcome: 'created', zone: 'good.example.', version: expect.any(Number), records: 3 },
      ],
      summary: {
        files: 2,
        created: 1,
        replaced: 0,
        unchanged: 0,
        refused: 1,
        records: 3,
        complete: true,
      },
    });
  });

  it('uses several transactions for many files, and loads every zone', async () => {
    for (let i = 0; i < 520; i++) folder.write(`${i}.zone`, smallZone(`z${i}.example.`));
    const { code, out } = await load();
    expect(code).toBe(0);
    expect(out).toMatch(/files 520 zones 520 records 1560 created 520 /);
    expect(await stored()).toHaveLength(520);
    const n = await value<number>`
      select count(distinct xid) as n from changes where zone like 'z%'`;
    expect(Number(n)).toBe(2);
  });

  it('has loaded exactly the printed zones after an interrupt', async () => {
    for (let i = 0; i < 20; i++) folder.write(`${i}.zone`, smallZone(`z${i}.example.`));
    const { code, out } = await load({ json: true, signal: AbortSignal.abort() });
    expect(code).toBe(INTERRUPTED);
    expect(JSON.parse(out).summary).toMatchObject({ created: 0, complete: false });
    expect(await stored()).toEqual([]);
  });

  it('completes its JSON document if the database fails', async () => {
    folder.write('a.zone', smallZone('a.example.'));
    await query`alter table zone_records rename to gone`;
    const { code, out } = await load({ json: true });
    await query`alter table gone rename to zone_records`;
    expect(code).toBeInstanceOf(Error);
    expect(JSON.parse(out)).toMatchObject({ files: [], summary: { created: 0, complete: false } });
  });

  it('loads the other zones if the database rejects one', async () => {
    await query`alter table zones add constraint no_such check (name <> 'z1.example.')`;
    for (let i = 0; i < 3; i++) folder.write(`${i}.zone`, smallZone(`z${i}.example.`));
    const { code, out, err } = await load();
    await query`alter table zones drop constraint no_such`;
    expect(code).toBe(1);
    expect(err).toMatch(/1\.zone: Postgres: .*no_such/);
    expect(out).toMatch(/files 3 zones 2 .* refused 1\n/);
    expect(await stored()).toEqual(['z0.example.', 'z2.example.']);
  });
});

describe('zone unload', () => {
  const { db } = keptDatabase();

  beforeAll(async () => {
    const zones = ['a.example.', 'b.example.', 'c.example.'].map((apex) => ({
      apex: parseZoneName(apex),
      records: recordsOf(smallZone(apex), apex),
    }));
    await saveZones(db, zones, { source: 'test' });
  });

  async function unload(names: string[], json = false) {
    const captured = captureOutput(json);
    const order = {
      apexes: names.map(parseZoneName),
      actor: 'tester',
      audited: <T>(db: Database, work: Audited<T>) =>
        audited(db, { action: 'zone.unload', by: { kind: 'cli', name: 'tester' } }, work),
    };
    const code = await unloadZones(db, order, captured.output);
    return { code, out: captured.out, err: captured.err };
  }

  it('removes each zone once, and exits with 1 if one does not exist, as text and JSON', async () => {
    const { code, out, err } = await unload(['A.example', 'a.example.', 'nowhere.example', 'b.example']);
    expect(code).toBe(1);
    expect(out).toMatch(/^unloaded a\.example\. version \d+\nunloaded b\.example\. version \d+\n$/);
    expect(err).toBe('nowhere.example.: no such zone\n');
    expect((await listZones(db)).map(({ apex }) => apex)).toEqual([parseZoneName('c.example')]);
    const second = await unload(['c.example', 'a.example'], true);
    expect(second.code).toBe(1);
    expect(JSON.parse(second.out)).toEqual({
      zones: [
        { zone: 'c.example.', outcome: 'unloaded', version: expect.any(Number) },
        { zone: 'a.example.', outcome: 'absent' },
      ],
      summary: { unloaded: 1, absent: 1, refused: 0 },
    });
  });

  it('keeps a customer’s domain, and removes the others', async () => {
    const name = parseZoneName('customer.example');
    await newDomain(db, await newAccount(db, 'ann@shop.example'), 'customer.example.');
    const records = recordsOf(smallZone('d.example.'), 'd.example.');
    await saveZones(db, [{ apex: parseZoneName('d.example'), records }], { source: 'test' });
    const { code, out, err } = await unload(['d.example', 'customer.example']);
    expect(code).toBe(1);
    expect(out).toMatch(/^unloaded d\.example\. version \d+\n$/);
    expect(err).toBe("customer.example.: this is a customer's domain; use zonefleet domain\n");
    expect((await listZones(db)).map(({ apex }) => apex)).toEqual([name]);
  });
});

describe('zone raise', () => {
  const { db } = sharedDatabase();

  async function raise(apexes: 'all' | readonly string[], to?: number) {
    const captured = captureOutput(false);
    const order = {
      apexes: apexes === 'all' ? apexes : apexes.map(parseZoneName),
      to,
      signal: new AbortController().signal,
      audited: <T>(db: Database, work: Audited<T>) =>
        audited(db, { action: 'zone.raise', by: { kind: 'cli', name: 'tester' } }, work),
    };
    const code = await raiseSerials(db, order, captured.output);
    return { code, out: captured.out, err: captured.err };
  }

  it('raises the serials of operator zones and domains, and exits with 1 if one does not exist or would not increase', async () => {
    const { serial } = await newDomain(db, await newAccount(db, 'ann@shop.example'), 'customer.example.');
    const records = recordsOf(smallZone('a.example.'), 'a.example.');
    await saveZones(db, [{ apex: parseZoneName('a.example'), records }], { source: 'test' });
    const { code, out, err } = await raise(['a.example', 'customer.example', 'nowhere.example'], serial + 10);
    expect([code, err]).toEqual([1, 'nowhere.example.: no such zone\n']);
    expect(out).toMatch(new RegExp(`^raised a.example. from \\d+ to ${serial + 10}\n`));
    expect(out).toContain(`raised customer.example. from ${serial} to ${serial + 10}\n`);
    expect(await raise(['a.example'], 5)).toMatchObject({
      code: 1,
      err: `a.example.: 5 is not newer than its serial ${serial + 10} (RFC 1982)\n`,
    });
    expect((await raise('all')).out).toBe(''); // no peer transfers a zone
    expect(() => chooseZones([], false)).toThrow('expected zone names, or --all');
    expect(() => chooseZones(['a.example'], true)).toThrow('expected zone names, or --all');
  });
});
