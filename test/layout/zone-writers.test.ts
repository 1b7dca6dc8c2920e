// Which code writes the data of nodes. Rows of a signed zone must be written with their signatures, so no other code may
// write them.

import { expect, it } from 'vitest';
import { sources, withoutComments } from '../support/tests/sources.ts';

/** Each of these either has the rows signed, or removes all rows of a zone or rows that are already deleted. */
const WRITERS = [
  'src/store/zones/write-zone.ts',
  'src/store/zones/save-zones.ts',
  'src/store/change/write-domain-change.ts',
  'src/store/housekeeping/purges.ts',
];
const WRITE =
  /(?:insert into|update|delete from|insertInto\(|updateTable\(|deleteFrom\()\s*['"(]*zone_records/;

it('published records are written in few places, and no SQL writes only an SOA', () => {
  const writers = sources.filter(({ text }) => WRITE.test(withoutComments(text)));
  expect(writers.map(({ path }) => path).sort()).toEqual([...WRITERS].sort());
});

/** `writeDifference` and `differenceWritten` write rows unchanged. */
const SIGNING_CALLERS = [
  'src/features/catalogs/sql-listings.ts', // catalogs, which are never signed
  'src/features/secondaries/sql-save.ts', // zones that only their primary signs
  'src/store/change/write-domain-change.ts', // called by publish-zone.ts, which signs
  'src/store/migrate/republish-domains.ts',
  'src/store/signing/write-signing.ts',
  'src/store/zones/save-signed-zone.ts',
  'src/store/zones/save-zones.ts', // unsigned zones
];

it('differences are written by code that knows if the zone is signed', () => {
  const writes = /\b(?:writeDifference|differenceWritten)\(/;
  const found = sources.filter(({ text }) => writes.test(withoutComments(text)));
  const files = new Set(found.map(({ path }) => path));
  files.delete('src/store/zones/write-zone.ts');
  expect([...files].sort()).toEqual([...SIGNING_CALLERS].sort());
});
