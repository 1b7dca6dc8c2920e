import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import { findConflicts } from '../../../src/zone/edit/find-conflicts.ts';
import { findFileConflicts } from '../../../src/zone/import/file-conflicts.ts';
import { ImportMerge } from '../../../src/zone/import/merge-import.ts';
import { type ParsedRecords, parseRecords } from '../../../src/zone/import/parse-records.ts';
import { readImport } from '../../../src/zone/import/read-import.ts';
import type { ApiType } from '../../../src/zone/records/customer-types.ts';
import { showWarnings } from '../../../src/zone/warnings/zone-warning.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import { APEX, editState } from '../../support/zone/customer-records.ts';
import { planEdit } from '../../support/zone/plan-edit.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

function parse(lines: readonly string[]): ParsedRecords {
  return inOneGo(parseRecords(lines.join('\n'), APEX));
}

/** Returns the line and the message of each warning about a conflict. */
function conflictsIn({ warnings }: ParsedRecords): string[] {
  return warnings.flatMap(({ line, code, message }) =>
    code === 'RECORD_CONFLICT' ? [`${line} ${message}`] : [],
  );
}

/** Returns the name and type of each record that an import of the file into an empty domain reports in `failed`. */
function failedIn({ records }: ParsedRecords): string[] {
  const state = editState([]);
  const merge = new ImportMerge(inOneGo(readImport(records, APEX)), []);
  for (let planned = planEdit(state, merge.edit); planned.kind === 'problems'; ) {
    const smaller = merge.without(planned.problems);
    if (smaller === undefined) throw new Error(JSON.stringify(planned.problems));
    planned = planEdit(state, smaller);
  }
  return [...merge.failed.keys()].map((index) => {
    const { name, type } = records[index] as (typeof records)[number];
    return `${name} ${type}`;
  });
}

/** Returns the object, and counts each read of it. */
function countingReads<T extends object>(object: T, reads: { count: number }): T {
  return new Proxy(object, {
    get(target, member) {
      reads.count++;
      return target[member as keyof T];
    },
  });
}

const DIGEST = '1 13 2 0000000000000000000000000000000000000000000000000000000000000000';

describe('a parsed file', () => {
  it.each(
    rowsOf(`
a CNAME at the apex | @ CNAME x.example.net. | 1 the apex cannot be a CNAME; use an ANAME, or proxy the record
a CNAME after another record | a TXT x / a CNAME x.example.net. | 2 a.example.com. has other records: a CNAME must be the only record of its name
a record after a CNAME | a CNAME x.example.net. / a MX 0 . | 2 a.example.com. has a CNAME: no other record can exist there
a DS without NS | a DS ${DIGEST} | 1 a.example.com. has a DS but no NS: a DS belongs to a delegation
an address next to an ANAME | @ ANAME x.example.net. / @ A 192.0.2.1 | 2 example.com. has an ANAME, which provides its addresses
a wildcard DNAME | * DNAME x.example.net. | 1 a wildcard cannot have a DNAME
a wildcard delegation | * NS ns.example.net. | 1 a wildcard cannot be delegated
two DNAMEs | a DNAME x.example.net. / a DNAME y.example.net. | 2 a.example.com. can have only one DNAME
a record below a DNAME | a DNAME x.example.net. / b.a TXT x | 2 b.a.example.com. is below the DNAME at a.example.com.: a name below a DNAME cannot have records
a CNAME to itself | a CNAME a | 1 the CNAME points to itself
addresses of which one is proxied | a A 192.0.2.1 ; zonefleet proxied=true / a A 192.0.2.2 | 2 the A, AAAA, CNAME and ANAME records at a.example.com. must all be proxied or none
a record that was only valid because of one that is left out | a CNAME x.example.net. / a NS ns.example.net. / a DS ${DIGEST} | 2 a.example.com. has a CNAME: no other record can exist there / 3 a.example.com. has a CNAME: no other record can exist there`),
  )('with %s has a warning for the record that an import leaves out', (_, lines, expected) => {
    const parsed = parse(lines.split(' / '));
    expect(conflictsIn(parsed)).toEqual(
      expected.split(' / ').map((each) => each.replace(' ', ' an import leaves this record out, because ')),
    );
    expect(parsed.errors).toEqual([]);
  });

  it('has one warning per name and type, and still has the records', () => {
    const parsed = parse(['a CNAME x.example.net.', 'a TXT x', 'a TXT y', 'b A 192.0.2.1']);
    expect([conflictsIn(parsed).length, parsed.records.length]).toEqual([1, 4]);
  });

  it('has no second warning for a record below a delegation', () => {
    const parsed = parse(['a NS ns.example.net.', 'b.a A 192.0.2.1', 'a TXT x']);
    expect(parsed.warnings.map(({ line, code }) => `${line} ${code}`)).toEqual([
      '2 BELOW_ZONE_CUT',
      '3 BELOW_ZONE_CUT',
    ]);
  });

  it('may have a DS without NS, which the domain may have', () => {
    const [warning] = parse([`a DS ${DIGEST}`]).warnings;
    expect(warning?.host).toBe(warning?.owner);
  });

  it('has warnings exactly for the records that an import into an empty domain reports as failed', () => {
    const owner = fc.constantFrom('@', 'a', 'b.a', 'c.b.a', '*.a', 'x', 'ns.x');
    const content = fc.constantFrom(
      ...['A 192.0.2.1', 'A 192.0.2.2 ; zonefleet proxied=true', 'AAAA 2001:db8::1', 'TXT x', 'MX 0 .'],
      ...['CNAME a', 'CNAME x.example.net. ; zonefleet proxied=true', 'ANAME x', 'DNAME x', 'DNAME y'],
      ...['NS ns.x', 'NS ns.example.net.', `DS ${DIGEST}`, 'HTTPS 1 . alpn=h2'],
    );
    const line = fc.tuple(owner, content).map((words) => words.join(' '));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const parsed = parse(lines);
        const failed = failedIn(parsed);
        const shown = showWarnings(parsed.warnings, APEX);
        const warned = (...codes: string[]) =>
          shown.flatMap(({ code, name, type }) => (codes.includes(code) ? [`${name} ${type}`] : []));
        expect(failed).toEqual(expect.arrayContaining(warned('RECORD_CONFLICT')));
        expect(warned('RECORD_CONFLICT', 'BELOW_ZONE_CUT')).toEqual(expect.arrayContaining(failed));
      }),
      { numRuns: scale(500, 25) },
    );
  });

  const N = 800;
  const many = (make: (i: number) => string) => Array.from({ length: N }, (_, i) => make(i));
  it.each<[string, readonly string[]]>([
    ['types next to a CNAME', [...many((i) => `a TYPE${1000 + i} \\# 0`), 'a CNAME x.']],
    ['names below a DNAME with many records', many((i) => (i % 2 ? `d DNAME x${i}.` : `h${i}.d TXT x`))],
    ['names below a delegation with many records', many((i) => (i % 2 ? `d NS x${i}.` : `h${i}.d TXT x`))],
    [
      'names below a name with many records',
      ['c NS x.', ...many((i) => `${i % 2 ? `h${i}.` : ''}d TXT ${i}`)],
    ],
  ])('of %s is checked with few reads of each record', (_, lines) => {
    const reads = { count: 0 };
    const records = recordsOf(lines.join('\n'), 'example.com.').map((record) => {
      const type = typeMnemonic(record.type) as ApiType;
      const { owner: name, rdata } = record;
      const counted = { name, type, rdata, proxied: false, isNew: true, line: 1, column: 1 };
      return countingReads(counted, reads);
    });
    inOneGo(findFileConflicts(records, APEX));
    expect(reads.count / N).toBeLessThan(100);
  });

  it('with many CNAMEs at one name is checked with few reads of each row', () => {
    const reads = { count: 0 };
    const [first] = recordsOf('a CNAME x.', 'example.com.');
    if (first === undefined) throw new Error('no record');
    const after = { name: first.owner, type: 'CNAME', rdata: first.rdata, proxied: false } as const;
    const rows = Array.from({ length: N }, (_, index) => {
      const item = { list: 'create', index, path: '' } as const;
      return countingReads({ before: undefined, after, item, allowEqualTxt: false }, reads);
    });
    expect(inOneGo(findConflicts(rows, APEX))).toHaveLength(N);
    expect(reads.count / N).toBeLessThan(100);
  });
});
