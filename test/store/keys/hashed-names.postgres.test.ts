// What lies below a name of a zone with NSEC3 is found from an index, which every change of the zone keeps true.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import {
  noteNames,
  noteStandingNames,
  ownersBelow,
  recordsBelow,
} from '../../../src/store/keys/hashed-names.ts';
import { disableSigning } from '../../../src/store/signing/disable-signing.ts';
import { BY, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

const database = sharedDatabase();
let domainId: number;
let zoneId: number;

beforeEach(async () => {
  useSecrets(database.db);
  domainId = (await newDomain(database.db, await newAccount(database.db, 'a@example.org'))).id;
  const { rows } = await sql<{ id: number }>`select zone_id as id from domains`.execute(database.db);
  zoneId = rows[0]?.id as number;
});

const at = (text: string): Name => parseName(text, APEX);

async function noted(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select reverse(reversed) as name from hashed_names where zone_id = ${zoneId} order by 1`.execute(
    database.db,
  );
  return rows.map(({ name }) => name);
}

async function standing(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct owner as name from zone_records
    where zone_id = ${zoneId} and not removed and type not in (46, 47, 50) order by 1`.execute(database.db);
  return rows.map(({ name }) => name);
}

test('the names are those that stand, whatever changes, and none when the zone is unsigned', async () => {
  const { db } = database;
  const { ops } = await saved(db, domainId, edit({ create: ['a.b.c A 192.0.2.1', 'd.c TXT x'] }));
  await enabled(db, { domainId }, { denial: 'nsec3' });
  expect(await noted()).toEqual(await standing());
  expect(await noted()).toContain(`a.b.c.${printName(APEX)}`);
  const steps = [
    edit({
      create: [
        'e.b.c A 192.0.2.1',
        'p.q ANAME web.example.net',
        'sub NS ns.sub.example.com',
        'ns.sub A 192.0.2.9',
      ],
    }),
    edit({ delete: ops.map(({ after }) => after?.id as number) }),
    edit({ create: ['a.b.c A 192.0.2.7'] }),
  ];
  for (const step of steps) {
    await saved(db, domainId, step);
    expect(await noted()).toEqual(await standing());
    expect(await signatureFaults(db, APEX)).toEqual([]);
  }
  await changeStatus(db, { ...BY, domainId, event: 'disable' });
  await changeStatus(db, { ...BY, domainId, event: 'enable' });
  expect(await noted()).toEqual(await standing());
  await disableSigning(db, { domainId }, BY);
  expect(await noted()).toEqual([]);
});

test('a zone with NSEC has none', async () => {
  await enabled(database.db, { domainId });
  await saved(database.db, domainId, edit({ create: ['a.b A 192.0.2.1'] }));
  expect(await noted()).toEqual([]);
});

test('an escaped dot ends no label, and neither ends nor other names count as below', async () => {
  const { db } = database;
  const names = ['x\\.ent', 'x\\\\.deep', 'y.deep', 'deep', 'aent', 'ent'];
  await saved(db, domainId, edit({ create: names.map((name) => `${name} A 192.0.2.1`) }));
  await noteStandingNames(db, zoneId);
  const below = async (name: string) => {
    const { rows } = await sql<{ owner: string }>`${ownersBelow(zoneId, [at(name)])}`.execute(db);
    return rows.map(({ owner }) => owner.slice(0, -printName(APEX).length)).sort();
  };
  expect(await below('ent')).toEqual([]);
  expect(await below('deep')).toEqual(['x\\\\.deep.', 'y.deep.']);
  const found = async (asked: string[], others: string[]) => {
    const { rows } = await sql<{ owner: string }>`
      ${recordsBelow(zoneId, asked.map(at), others.map(at))}`.execute(db);
    return rows.map(({ owner }) => owner.slice(0, -printName(APEX).length));
  };
  expect(await found(['deep', 'ent'], ['y.deep'])).toEqual(['x\\\\.deep.']);
  expect(await found(['deep', 'ent'], ['y.deep', 'x\\\\.deep'])).toEqual([]);
  await noteNames(
    db,
    zoneId,
    new Map([[at('z.ent'), [{ owner: at('z.ent'), type: 1, ttl: 1, rdata: Buffer.alloc(4) }]]]),
    false,
  );
  expect(await found(['ent'], [])).toEqual([]); // a name that is noted too early has no record
});
