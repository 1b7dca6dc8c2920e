// The fleet's own data of a domain's parent: its zone, its delegation, or what exists without one.

import { beforeAll, expect, test } from 'vitest';
import type { HeldZone } from '../../../src/checks/delegation/held-zone.ts';
import { parseName, printName } from '../../../src/dns/name.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { loadHeldZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { BY, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const OPERATOR = `@ 300 SOA ns.lab. host.lab. 1 3600 600 86400 120
@ NS ns.lab.
ns A 192.0.2.53
del 600 NS ns1.del
del 600 NS NS2
del 600 NS ns.else.example.
del DS 12345 13 2 ${'07'.repeat(32)}
ns1.del A 192.0.2.1
ns1.del AAAA 2001:db8::1
ns2 A 192.0.2.2
sub.del NS ns9.example.
cname CNAME x.example.
x.dname TXT x
dname DNAME y.example.
deep.ent TXT x
*.wild A 192.0.2.9
a\\.b NS ns.example.
0p9mhaveqvm6t7vbl5lop2u3t2rp3tom NSEC3 1 0 0 - 0P9MHAVEQVM6T7VBL5LOP2U3T2RP3TOM A RRSIG
0p9mhaveqvm6t7vbl5lop2u3t2rp3tom RRSIG NSEC3 13 2 300 20300101000000 20200101000000 1 lab. AAAA
`;

/** Formats the result as one line: `zone cut ns… +ds glue… ttl | exists alias`. */
function show(held: HeldZone | undefined): string {
  if (held === undefined) return 'none';
  const { zone, cut, ns, ds, glue, ttl, exists, alias } = held;
  return [
    printName(zone),
    cut === undefined ? '-' : printName(cut),
    ...ns.map(printName),
    ...(ds.length > 0 ? ['+ds'] : []),
    ...glue.map(({ name, address }) => `${printName(name)}=${address}`),
    ttl,
    ...(exists ? ['exists'] : []),
    ...(alias ? ['alias'] : []),
  ].join(' ');
}

const { db, query } = keptDatabase();
let parentId: number;

beforeAll(async () => {
  const records = recordsOf(OPERATOR.replace('x.dname TXT x\n', ''), 'lab.');
  await saveZones(db, [{ apex: parseName('lab.'), records }], { source: 'test', actor: 'me' });
  const accountId = await newAccount(db, 'me@example.org');
  parentId = (await newDomain(db, accountId)).id;
  await newDomain(db, accountId, 'pending.lab.');
  await saved(db, parentId, ['shop NS ns1.example.net', 'www A 192.0.2.1', 'p A 192.0.2.1 ; proxied']);
});

const held = async (name: string) => show(await loadHeldZone(db, parseName(name)));

test('an operator zone: the topmost cut with DS and glue, otherwise what is at the name', async () => {
  const cut =
    'lab. del.lab. ns.else.example. ns2.lab. ns1.del.lab. +ds ns1.del.lab.=192.0.2.1 ns1.del.lab.=2001:db8::1 ns2.lab.=192.0.2.2 600 exists';
  const cases: [string, string][] = [
    ['del.lab.', cut],
    ['DEL.lab.', cut],
    ['x.del.lab.', cut],
    ['x.sub.del.lab.', cut],
    ['cname.lab.', 'lab. - 120 exists alias'],
    ['x.cname.lab.', 'lab. - 120'],
    ['dname.lab.', 'lab. - 120 exists alias'],
    ['x.dname.lab.', 'lab. - 120 alias'],
    ['ent.lab.', 'lab. - 120 exists'],
    ['deep.ent.lab.', 'lab. - 120 exists'],
    ['nt.lab.', 'lab. - 120'],
    ['wild.lab.', 'lab. - 120 exists'],
    ['x.wild.lab.', 'lab. - 120'],
    ['absent.lab.', 'lab. - 120'],
    ['a\\.b.lab.', 'lab. a\\.b.lab. ns.example. 300 exists'],
    ['b.lab.', 'lab. - 120'],
    ['0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.lab.', 'lab. - 120'], // RFC 5155 §7.2.8
    ['lab.', 'none'],
    ['xlab.', 'none'],
    ['shop.example.', 'none'],
  ];
  for (const [name, expected] of cases) expect([name, await held(name)]).toEqual([name, expected]);
});

test("a customer's domain counts only while it is active", async () => {
  expect(await held('shop.example.com.')).toBe('none');
  expect(await held('x.pending.lab.')).toBe('lab. - 120'); // it does not exist in the zone that counts
  await checkOnce(db, parentId, 'referral ns1.example.net ns2.example.net');
  expect(await held('shop.example.com.')).toBe('example.com. shop.example.com. ns1.example.net. 300 exists');
  expect(await held('www.example.com.')).toBe('example.com. - 1800 exists');
  expect(await held('nobody.example.com.')).toBe('example.com. - 1800');
  expect(await held('example.com.')).toBe('none');
  await query`update domains set status = 'moved', moved_since = now() where id = ${parentId}`;
  expect(await held('shop.example.com.')).toBe('none');
  await query`update domains set status = 'active' where id = ${parentId}`;
  await changeStatus(db, { ...BY, domainId: parentId, event: 'use_external' });
  expect(await held('shop.example.com.')).toBe('none');
});

test('an operator may have the root', async () => {
  const apex = parseName('.');
  const by = { source: 'test', actor: 'me' } as const;
  await saveZones(
    db,
    [{ apex, records: recordsOf('@ 60 SOA a. b. 1 1 1 1 60\n@ NS a.\ntld NS ns.tld\n') }],
    by,
  );
  expect(await held('shop.tld.')).toBe('. tld. ns.tld. 300 exists');
  expect(await held('tld.')).toBe('. tld. ns.tld. 300 exists');
  expect(await held('del.lab.')).toContain('lab. del.lab.');
  expect(await held('.')).toBe('none');
});
