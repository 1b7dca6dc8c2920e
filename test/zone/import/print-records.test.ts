import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Name } from '../../../src/dns/name.ts';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import { ImportMerge } from '../../../src/zone/import/merge-import.ts';
import { parseRecords } from '../../../src/zone/import/parse-records.ts';
import { printRecords } from '../../../src/zone/import/print-records.ts';
import { readImport } from '../../../src/zone/import/read-import.ts';
import {
  type CustomerRecord,
  ORIGIN_SCHEMES,
  type RecordSettings,
  SETTING_NAMES,
} from '../../../src/zone/records/customer-record.ts';
import { anything, domainOf, stateOf } from '../../support/random/random-edits.ts';
import { scale } from '../../support/tests/scale.ts';
import { APEX, applied, records, stored } from '../../support/zone/customer-records.ts';
import { planEdit } from '../../support/zone/plan-edit.ts';

function print(all: readonly CustomerRecord[]): string[] {
  const byName = new Map<Name, CustomerRecord[]>();
  for (const record of all) byName.set(record.name, [...(byName.get(record.name) ?? []), record]);
  return [...printRecords(APEX, byName)];
}

/** Into an empty domain, by the way of the API: as text, in JSON. */
function imported(text: string): CustomerRecord[] {
  const parsed = JSON.parse(JSON.stringify(inOneGo(parseRecords(text, APEX))));
  expect([parsed.errors, parsed.skipped]).toEqual([[], []]);
  const merge = new ImportMerge(inOneGo(readImport(parsed.records, APEX)), []);
  const planned = planEdit(stateOf([]), merge.edit);
  expect([merge.failed.size, planned.kind]).toEqual([0, 'change']);
  return planned.kind === 'change' ? applied([], planned.ops) : [];
}

/** Without ids and times. */
function valuesOf(all: readonly CustomerRecord[]): string[] {
  return all
    .map(({ name, type, ttl, rdata, ...record }) => {
      const settings = SETTING_NAMES.map((setting) => record[setting]);
      return JSON.stringify([name, type, Buffer.from(rdata).toString('hex'), ttl, ...settings]);
    })
    .sort();
}

it('records are lines of a zone file, with their settings in comments', () => {
  const all = records([
    'www 300 CNAME lb.example.net ; proxied comment=a;b',
    '@ 60 MX 10 mail.example.com',
    '@ 300 ANAME lb.example.net',
    'b.a 300 TXT "x" "y;z"',
    '*.a 86400 A 192.0.2.1',
    'a 300 TXT say "hi"',
  ]);
  expect(print(all)).toEqual([
    '$ORIGIN example.com.',
    '@                        60 IN MX 10 mail.example.com.',
    '@                        300 IN ANAME lb.example.net.',
    'a                        300 IN TXT "say \\"hi\\""',
    '*.a                      86400 IN A 192.0.2.1',
    'b.a                      300 IN TXT "x" "y;z"',
    'www                      300 IN CNAME lb.example.net. ; zonefleet proxied=true comment="a;b"',
  ]);
});

it.each([
  'a 300 TXT "\\000\\255\\""',
  'a 300 TXT "zonefleet" "; proxied=true"',
  'a\\046b.c 300 A 192.0.2.1',
  'www.example.com.example.com. 300 A 192.0.2.1',
  'bücher 300 A 192.0.2.1',
  'a 300 CAA 0 issue "ca.example.net; a=b"',
  'a 300 SRV 1 2 3 Host.example.com',
  'a 300 MX 0 .',
  'a 300 HTTPS 1 . alpn="h2,h3" port=8443',
  'a 300 NAPTR 1 2 "u" "E2U+sip" "!^.*$!sip:\\\\1@example.com!" .',
  'a 300 URI 1 2 "https://example.com/;x"',
  'a 300 SSHFP 1 1 0000000000000000000000000000000000000000',
  'a 300 TLSA 3 1 1 0000000000000000000000000000000000000000000000000000000000000000',
  '1/2 300 PTR *.example.com',
])('%s comes back from its line', (line) => {
  const all = records([line]);
  expect(valuesOf(imported(print(all).join('\n')))).toEqual(valuesOf(all));
});

const aSetting: fc.Arbitrary<Partial<RecordSettings>> = fc.record(
  {
    captcha: fc.boolean(),
    scheme: fc.constantFrom(...ORIGIN_SCHEMES),
    port: fc.integer({ min: 1, max: 65_535 }),
    hostHeader: fc.constantFrom(null, 'x.example.net', 'X'),
    monitor: fc.boolean(),
    destCountry: fc.constantFrom(null, 'DE'),
    timeout: fc.integer({ min: 1, max: 3600 }),
    comment: fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.constantFrom('a\nb', '"', '\\', ';', '; zonefleet proxied=true', '\r\n$ORIGIN x.', '\u2028', ' '),
    ),
  },
  { requiredKeys: [] },
);

it('an export that is imported into an empty domain gives the same records', () => {
  const domain = fc
    .array(anything.record, { minLength: 1, maxLength: 24 })
    .map(domainOf)
    .chain((all) =>
      fc
        .array(aSetting, { minLength: all.length, maxLength: all.length })
        .map((settings) => all.map((record, i) => stored({ ...record, ...settings[i] }, record.id))),
    );
  fc.assert(
    fc.property(domain, (all) => {
      expect(valuesOf(imported(`${print(all).join('\n')}\n`))).toEqual(valuesOf(all));
    }),
    { numRuns: scale(100, 25) },
  );
});
