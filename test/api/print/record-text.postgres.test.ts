import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { RecordPrinter } from '../../../src/api/print/print-record.ts';
import { RecordLines } from '../../../src/api/print/record-lines.ts';
import { printColumns } from '../../../src/api/print/record-octets.ts';
import { RecordTexts } from '../../../src/api/print/record-text.ts';
import { Record as RecordSchema } from '../../../src/api/schemas/records/record.ts';
import { foldCase, type Name } from '../../../src/dns/name.ts';
import { encodeNameColumn } from '../../../src/store/postgres/name-column.ts';
import { decodeListed, listRecordRows, listRecords } from '../../../src/store/records/load-records.ts';
import { type RecordColumns, rowsOf } from '../../../src/store/records/record-columns.ts';
import { DEFAULTS, decodeRecord, type RecordJson } from '../../../src/store/records/record-row.ts';
import { printRecords } from '../../../src/zone/import/print-records.ts';
import { SETTING_NAMES } from '../../../src/zone/records/customer-record.ts';
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
const DEST_COUNTRY = SETTING_NAMES.indexOf('destCountry');

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
const settings = fc.oneof(
  fc.constant(null),
  fc.constantFrom(...['DE', 'US'].map((country) => DEFAULTS.with(DEST_COUNTRY, country))),
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

const EPOCH_MS = Date.UTC(2000, 0, 1);

/** Returns the columns as Postgres selects them. */
function columnsOf(rows: readonly RecordJson[]): RecordColumns {
  const join = (read: (row: RecordJson) => unknown) => rows.map(read).join(' ');
  const created = Buffer.alloc(8 * rows.length);
  for (const [i, [, , , , , , moment]] of rows.entries()) {
    const microseconds = Number(moment.slice(20).padEnd(6, '0'));
    const seconds = Date.parse(`${moment.slice(0, 19)}Z`) - EPOCH_MS;
    created.writeBigInt64BE(BigInt(seconds) * 1000n + BigInt(microseconds), 8 * i);
  }
  const isCountryOnly = (settings: RecordJson[5]) =>
    settings?.every((value, i) => i === DEST_COUNTRY || value === DEFAULTS[i]) === true;
  return {
    count: rows.length,
    ids: join(([id]) => id),
    names: join(([, name]) => name),
    types: join(([, , type]) => type),
    rdata: join(([, , , rdata]) => rdata),
    ttls: join(([, , , , ttl]) => ttl),
    countries: join(([, , , , , settings]) => settings?.[DEST_COUNTRY] ?? ''),
    created,
    destinations: `[${rows.map((row) => JSON.stringify(row[9])).join(', ')}]`,
    rare: rows.flatMap(([id, , , , , settings, , updatedAt, managed]) =>
      updatedAt !== null || managed || (settings !== null && !isCountryOnly(settings))
        ? [[id, settings, updatedAt, managed] as const]
        : [],
    ),
  };
}

const sortedRows = fc
  .array(rows, { maxLength: 8 })
  .map((list) =>
    list
      .map((row, id) => row.with(0, id + 1) as unknown as RecordJson)
      .sort((a, b) => Buffer.compare(Buffer.from(a[1]), Buffer.from(b[1])) || a[0] - b[0]),
  );

describe('a record in a list', () => {
  it('has the same text from the columns as from the printer and the schema', async () => {
    const plain = new Map<ApiType, number>();
    await fc.assert(
      fc.asyncProperty(sortedRows, async (list) => {
        const { octets, missing } = printColumns(columnsOf(list), OWNER, encodeNameColumn(APEX));
        const others = new Set(missing.map(({ index }) => index));
        const wanted = list.filter((_, i) => !others.has(i));
        for (const [, , type] of wanted) plain.set(type, (plain.get(type) ?? 0) + 1);
        const texts = await Promise.all(wanted.map(async (row) => `,${await printed(row)}`));
        expect(octets.toString()).toBe(texts.join(''));
      }),
      { numRuns: scale(20_000, 1000) },
    );
    for (const type of ['A', 'AAAA', 'CNAME', 'NS', 'PTR', 'TXT'] as const)
      expect(plain.get(type)).toBeGreaterThan(0);
  });

  it('has the same columns as its row', () => {
    fc.assert(
      fc.property(sortedRows, (list) => {
        expect(rowsOf(columnsOf(list))).toEqual(list.map((row) => row.with(6, expect.any(String))));
      }),
      { numRuns: 100 },
    );
  });

  it('has the same line in an export as from its record, in one page or several', () => {
    fc.assert(
      fc.property(sortedRows, fc.nat(8), (list, first) => {
        const byName = groupBy(list.map(decodeRecord), ({ name }) => name);
        const lines = new RecordLines(APEX);
        for (const page of [list.slice(0, first), list.slice(first)]) lines.add(columnsOf(page));
        const text = Buffer.concat([...lines.inOrder()]).toString();
        expect(text).toBe([...printRecords(APEX, byName), ''].join('\n'));
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
    const wanted = await new RecordPrinter(db, domain).printAll(items.map(decodeListed));
    for (const limit of [100, 5, 1]) {
      const texts: string[] = [];
      for (
        let cursor: string | undefined = undefined, isFirst = true;
        isFirst || cursor !== undefined;
        isFirst = false
      ) {
        const page = await listRecords(db, domain.id, {}, order, {
          limit,
          ...(cursor !== undefined && { cursor }),
        });
        texts.push(...(await new RecordTexts(db, domain).printAll(page.items)).map(String));
        cursor = page.cursor;
      }
      expect(texts.join(',')).toBe(
        wanted.map((record) => JSON.stringify(RecordSchema.parse(record))).join(','),
      );
    }
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
