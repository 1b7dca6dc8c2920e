// Who writes what nodes are given: rows of a signed zone are written with their signatures, so nobody writes them elsewhere.

import { expect, it } from 'vitest';
import { sources, withoutComments } from '../support/tests/sources.ts';

/** Each either has the rows signed, or takes all rows of a zone away, or rows that are removed already. */
const WRITERS = [
  'src/store/zones/write-zone.ts',
  'src/store/zones/save-zones.ts',
  'src/store/change/write-domain-change.ts',
  'src/store/housekeeping/purges.ts',
];
const WRITE =
  /(?:insert into|update|delete from|insertInto\(|updateTable\(|deleteFrom\()\s*['"(]*zone_records/;

it('published records are written in few places, and no SQL writes an SOA by itself', () => {
  const writers = sources.filter(({ text }) => WRITE.test(withoutComments(text)));
  expect(writers.map(({ path }) => path).sort()).toEqual([...WRITERS].sort());
});

/** `writeDifference` and `differenceWritten` write rows as they are given. */
const SIGNING_CALLERS = [
  'src/store/change/write-domain-change.ts', // of publish-zone.ts, which signs
  'src/store/migrate/republish-domains.ts',
  'src/store/signing/write-signing.ts',
  'src/store/zones/save-signed-zone.ts',
  'src/store/zones/save-zones.ts', // zones that are not signed
];

it('differences are written by those who know whether the zone is signed', () => {
  const writes = /\b(?:writeDifference|differenceWritten)\(/;
  const found = sources.filter(({ text }) => writes.test(withoutComments(text)));
  const files = new Set(found.map(({ path }) => path));
  files.delete('src/store/zones/write-zone.ts');
  expect([...files].sort()).toEqual([...SIGNING_CALLERS].sort());
});
