import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { plainRecordPrinter } from '../../../src/api/print/plain-record.ts';
import { RecordPrinter } from '../../../src/api/print/print-record.ts';
import { printRecordLines } from '../../../src/api/print/record-lines.ts';
import { RecordTexts } from '../../../src/api/print/record-text.ts';
import { Record as RecordSchema } from '../../../src/api/schemas/records/record.ts';
import { foldCase, type Name } from '../../../src/dns/name.ts';
import { encodeNameColumn } from '../../../src/store/postgres/name-column.ts';
import { decodeListed, listRecordRows } from '../../../src/store/records/load-records.ts';
import { decodeRecord, type RecordJson } from '../../../src/store/records/record-row.ts';
import { printRecords } from '../../../src/zone/import/print-records.ts';
import { API_TYPES, type ApiType, wireTypeCode } from '../../../src/zone/records/customer-types.ts';
import { printDestination } from '../../../src/zone/records/destination.ts';
import { groupBy } from '../../../src/zone/records/group-by.ts';
import { newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { RANDOM_RDATA, randomName } from '../../support/random/random-rdata.ts';
import { scale } from '../../support/tests/scale.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

const database = keptDatabase();

const OWNER = { id: 7, accountId: 3, name: APEX };
/** Prints a row with the printer and the schema. */
async function printed(row: RecordJson): Promise<string> {
  return JSON.stringify(
    RecordSchema.parse(await new RecordPrinter(database.db, OWNER).print(decodeListed(row))),
  );
}

const strange = ['v=spf1 -all', '"', '\\', 'a\u007f', 'grün', '\u2028', '', 'x'.repeat(255), 'x'.repeat(256)];
const words = fc.oneof(fc.constantFrom(...strange), fc.string({ maxLength: 12 }));
/** A TXT record of one string, the most common form. */
const textRdata = words.map((text) => {
  const octets = Buffer.from(text).subarray(0, 255);
  return Buffer.concat([Buffer.of(octets.length), octets]);
});
const owners = fc.oneof(
  fc.constantFrom(
    '',
    '\x01a',
    '\x01*',
    '\x01*\x01a',
    '\x03a.b',
    '\x07example\x03com',
    '\x03a*b',
    '\x01\\',
    '\x01"',
  ),
  randomName.map((octets) => Buffer.from(octets).toString('latin1').slice(0, -1)),
);
const settings = fc.option(
  fc.tuple(
    fc.constant(false),
    fc.boolean(),
    fc.constantFrom('Http', 'Https', 'Auto', 'Default' as const),
    fc.integer({ min: 1, max: 65_535 }),
    fc.option(words),
    fc.boolean(),
    fc.option(fc.constantFrom('DE', 'US')),
    fc.integer({ min: 1, max: 3600 }),
    fc.option(words),
  ),
);
const moments = fc
  .constantFrom('', '.1', '.012345', '.999999')
  .map((fraction) => `2026-01-02T03:04:05${fraction}`);

const rows = fc.constantFrom<ApiType>(...API_TYPES, 'A', 'CNAME', 'TXT').chain((type) => {
  const ofType = RANDOM_RDATA.get(
    wireTypeCode(type === 'ANAME' ? 'CNAME' : type) as number,
  ) as fc.Arbitrary<Uint8Array>;
  return fc
    .record({
      rdata: type === 'TXT' ? fc.oneof(textRdata, ofType) : ofType,
      owner: owners,
      settings,
      created: moments,
      updated: fc.option(moments),
      managed: fc.boolean(),
    })
    .filter(({ owner }) => owner.length + APEX.length <= 255)
    .map(({ rdata, owner, settings, created, updated, managed }): RecordJson => {
      const name = encodeNameColumn(foldCase((owner + APEX) as Name));
      const { destination } = printDestination(type, rdata);
      const hex = Buffer.from(rdata).toString('hex');
      return [12, name, type, hex, 300, settings as RecordJson[5], created, updated, managed, destination];
    });
});

describe('a record in a list', () => {
  it('has the same text from its row as from the printer and the schema', async () => {
    const plain = new Map<ApiType, number>();
    const printPlain = plainRecordPrinter(OWNER, encodeNameColumn(APEX));
    await fc.assert(
      fc.asyncProperty(rows, async (row) => {
        const text = printPlain(row);
        if (text === undefined) return;
        plain.set(row[2], (plain.get(row[2]) ?? 0) + 1);
        expect(text).toBe(await printed(row));
      }),
      { numRuns: scale(100_000, 5000) },
    );
    for (const type of ['A', 'AAAA', 'CNAME', 'NS', 'PTR', 'TXT'] as const)
      expect(plain.get(type)).toBeGreaterThan(0);
  });

  it('has the same line in an export as from its record', () => {
    fc.assert(
      fc.property(fc.array(rows, { maxLength: 8 }), (list) => {
        const sorted = list
          .map((row, id) => row.with(0, id) as unknown as RecordJson)
          .sort((a, b) => Buffer.compare(Buffer.from(a[1]), Buffer.from(b[1])) || a[0] - b[0]);
        const byName = groupBy(sorted.map(decodeRecord), ({ name }) => name);
        expect([...printRecordLines(APEX, sorted)]).toEqual([...printRecords(APEX, byName)]);
      }),
      { numRuns: scale(10_000, 300) },
    );
  });

  it('is read from the database as the printer and the schema show it, for any type, name and settings', async () => {
    const { db } = database;
    const domain = await newDomain(db, await newAccount(db, 'me@example.org'), 'list.test.');
    const lines = [
      '@ MX 10 mx.example.net',
      '@ TXT v=spf1 -all',
      'q TXT "a \\"quoted\\" one"',
      'u TXT grün',
      'www A 198.51.100.1',
      'www AAAA 2001:db8::1',
      '* A 198.51.100.2 ; proxied',
      'a\\.b A 198.51.100.3',
      'c CNAME Web.Example.net',
      'd CNAME www.',
      'e ANAME t.example.net',
      '_s._tcp SRV 0 5 5060 sip.example.net',
      'x.list.test A 198.51.100.4',
    ];
    await saved(db, domain.id, edit({ create: lines }, domain.name));
    const order = { sort: 'name', descending: false } as const;
    const { items } = await listRecordRows(db, domain.id, {}, order, { limit: 100 });
    expect(items.length).toBeGreaterThan(lines.length);
    const texts = await new RecordTexts(db, domain).printAll(items);
    const wanted = await new RecordPrinter(db, domain).printAll(items.map(decodeListed));
    expect(texts).toEqual(wanted.map((record) => JSON.stringify(RecordSchema.parse(record))));
  });
});

it('the record printer reads the addresses of the edge, and all ANAME targets, in one statement', async () => {
  const { db } = database;
  const domain = await newDomain(db, await newAccount(db, 'you@example.org'), 'aname.test.');
  const printed = async (rdata: (i: number) => string) => {
    const lines = Array.from({ length: 50 }, (_, i) => `w${i}.${rdata(i).slice(0, 2).trim()} ${rdata(i)}`);
    const { ops } = await saved(db, domain.id, edit({ create: lines }, domain.name));
    await sql`update aname_targets set v4_addresses = array['198.51.100.' || right(split_part(target, '.', 1), 1)],
      ttl = 60 where target <> 't4.example.net'`.execute(db);
    let statements = 0;
    const counting = db.withPlugin({
      transformQuery({ node }) {
        statements++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const records = await new RecordPrinter(counting, domain).printAll(
      ops.flatMap(({ after }) => after ?? []),
    );
    expect(statements).toBe(1);
    return records.map((record) => record.dns_content);
  };
  const proxied = await printed(() => 'A 198.51.100.1 ; proxied');
  expect(new Set(proxied)).toEqual(new Set(['192.0.2.1, 2001:db8::1']));
  const aliases = await printed((i) => `ANAME t${i % 5}.example.net`);
  expect(aliases.slice(0, 5)).toEqual([...[0, 1, 2, 3].map((i) => `198.51.100.${i}`), '']);
});
