// ANAME records that lead back to where they began, from domain to domain of this fleet.

import { beforeAll, expect, test } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import { findTargetLoop } from '../../../src/store/aname/find-target-loop.ts';
import { newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { edit } from '../../support/zone/customer-records.ts';

const { db, query } = keptDatabase();

beforeAll(async () => {
  const accountId = await newAccount(db, 'me@example.org');
  const domains: Record<string, string[]> = {
    'a.test.': [
      '@ ANAME b.test',
      'x ANAME alias.example.net',
      '*.w ANAME deep.w.a.test',
      'own.w TXT x',
      'p ANAME q.b.test ; proxied',
    ],
    'b.test.': ['@ ANAME c.test', 'q ANAME p.a.test', 'out ANAME www.example.net'],
    'c.test.': ['@ ANAME a.test', 'claim ANAME claim.d.test'],
    'd.test.': ['claim ANAME claim.c.test'],
  };
  for (const [name, create] of Object.entries(domains)) {
    const { id } = await newDomain(db, accountId, name, { exempt: true });
    await saved(db, id, edit({ create }, parseName(name)));
  }
  await query`update domains set status = 'active' where name <> 'd.test.'`;
  await query`update aname_targets set leads_to = 'x.a.test.' where target = 'alias.example.net'`;
});

test.each([
  ['three records in a ring', 'a.test.', 'a.test.', 'a.test. b.test. c.test. a.test.'],
  ['a record that leads into a ring', 'www.test.', 'b.test.', 'www.test. c.test. a.test. b.test. c.test.'],
  [
    'an alias elsewhere that leads back',
    'alias.example.net.',
    'x.a.test.',
    'alias.example.net. alias.example.net.',
  ],
  [
    'a wildcard that points below itself',
    'deep.w.a.test.',
    'deep.w.a.test.',
    'deep.w.a.test. deep.w.a.test.',
  ],
  ['the way out of the fleet', 'out.b.test.', 'out.b.test.', undefined],
  ['a name beside a wildcard', 'own.w.a.test.', 'own.w.a.test.', undefined],
  ['a proxied record, which is the edge’s', 'p.a.test.', 'p.a.test.', undefined],
  ['a claim that is not active', 'claim.c.test.', 'claim.c.test.', undefined],
  ['a name of nobody here', 'www.example.net.', 'cdn.example.net.', undefined],
])('%s', async (_, target, leadsTo, way) => {
  const found = await findTargetLoop(db, parseName(target), parseName(leadsTo));
  expect(found?.map(printName).join(' ')).toBe(way);
});
