import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RecordPrinter } from '../../../src/api/print/print-record.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { edit } from '../../support/zone/customer-records.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

describe('the printer of records', () => {
  it('reads the addresses of the edge once for a page of proxied records', async () => {
    const { db } = database;
    const domain = await newDomain(db, await newAccount(db, 'me@example.org'));
    const lines = Array.from({ length: 50 }, (_, i) => `w${i} A 198.51.100.1 ; proxied`);
    const { ops } = await saved(db, domain.id, edit({ create: lines }));
    let asked = 0;
    const counting = db.withPlugin({
      transformQuery({ node }) {
        asked++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const printer = new RecordPrinter(counting, domain);
    const printed = await printer.printAll(ops.flatMap(({ after }) => after ?? []));
    expect(new Set(printed.map((record) => record.dns_content))).toEqual(new Set(['192.0.2.1, 2001:db8::1']));
    expect(asked).toBe(1);
  });

  it('reads the targets of all ANAME records of a page at once', async () => {
    const { db } = database;
    const domain = await newDomain(db, await newAccount(db, 'you@example.org'), 'aname.test.');
    const lines = Array.from({ length: 50 }, (_, i) => `w${i} ANAME t${i % 5}.example.net`);
    const { ops } = await saved(db, domain.id, edit({ create: lines }, domain.name));
    await sql`update aname_targets set v4_addresses = array['198.51.100.' || right(split_part(target, '.', 1), 1)],
      ttl = 60 where target <> 't4.example.net'`.execute(db);
    let asked = 0;
    const counting = db.withPlugin({
      transformQuery({ node }) {
        asked++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const printer = new RecordPrinter(counting, domain);
    const printed = await printer.printAll(ops.flatMap(({ after }) => after ?? []));
    expect(printed.slice(0, 5).map((record) => record.dns_content)).toEqual([
      ...[0, 1, 2, 3].map((i) => `198.51.100.${i}`),
      '',
    ]);
    expect(asked).toBe(1);
  });
});
