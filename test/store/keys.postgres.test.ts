import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { changeStatus } from '../../src/store/change/change-status.ts';
import { noteNames, notePresentNames, ownersBelow, recordsBelow } from '../../src/store/keys/hashed-names.ts';
import { checkKeys, destroyRetiredKeys } from '../../src/store/keys/key-store.ts';
import { DnssecUnavailable } from '../../src/store/keys/signed-zone.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { KeyBoxes, useKeyBoxes } from '../../src/store/secrets/key-boxes.ts';
import { disableSigning } from '../../src/store/signing/disable-signing.ts';
import { asRole, openRole } from '../support/database/database.ts';
import { atLater } from '../support/database/database-clock.ts';
import { BY, newAccount, newDomain, published, saved } from '../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../support/database/signed-zones.ts';
import { privateParts } from '../support/secrets/private-parts.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { APEX, edit } from '../support/zone/customer-records.ts';

const { db, url, query, column, value } = sharedDatabase();

describe('hashed-names', () => {
  // An index of the names of zones with NSEC3, which every change of the zone updates.
  let domainId: number;
  let zoneId: number;

  beforeEach(async () => {
    useSecrets(db);
    domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
    const id = await value<number>`select zone_id as id from domains`;
    zoneId = id as number;
  });

  const at = (text: string): Name => parseName(text, APEX);

  const noted = () => column<string>`
    select reverse(reversed) as name from hashed_names where zone_id = ${zoneId} order by 1`;
  const standing = () => column<string>`
    select distinct owner as name from zone_records
    where zone_id = ${zoneId} and not removed and type not in (46, 47, 50) order by 1`;

  test('has the zone’s present names after every change, and none once the zone is unsigned', async () => {
    const { ops } = await saved(db, domainId, ['a.b.c A 192.0.2.1', 'd.c TXT x']);
    await enabled(db, { domainId });
    expect(await noted()).toEqual([]); // with NSEC
    await disableSigning(db, { domainId }, BY);
    await enabled(db, { domainId }, { denial: 'nsec3' });
    expect(await noted()).toEqual(await standing());
    expect(await noted()).toContain(`a.b.c.${printName(APEX)}`);
    const steps = [
      edit({ create: ['e.b.c A 192.0.2.1', 'p.q ANAME web.example.net'] }),
      edit({ create: ['sub NS ns.sub.example.com', 'ns.sub A 192.0.2.9'] }),
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

  test('an escaped dot does not end a label, and only real subdomains count as below', async () => {
    const names = ['x\\.ent', 'x\\\\.deep', 'y.deep', 'deep', 'aent', 'ent'];
    const create = names.map((name) => `${name} A 192.0.2.1`);
    await saved(db, domainId, create);
    await notePresentNames(db, zoneId);
    const suffix = printName(APEX).length;
    const below = async (name: string) =>
      (await column<string>`${ownersBelow(zoneId, [at(name)])}`)
        .map((owner) => owner.slice(0, -suffix))
        .sort();
    expect(await below('ent')).toEqual([]);
    expect(await below('deep')).toEqual(['x\\\\.deep.', 'y.deep.']);
    const found = async (asked: string[], others: string[]) =>
      (await query<{ owner: string }>`${recordsBelow(zoneId, asked.map(at), others.map(at))}`).map(
        ({ owner }) => owner.slice(0, -suffix),
      );
    expect(await found(['deep', 'ent'], ['y.deep'])).toEqual(['x\\\\.deep.']);
    expect(await found(['deep', 'ent'], ['y.deep', 'x\\\\.deep'])).toEqual([]);
    const early = { owner: at('z.ent'), type: 1, ttl: 1, rdata: Buffer.alloc(4) };
    await noteNames(db, zoneId, new Map([[early.owner, [early]]]), false);
    expect(await found(['ent'], [])).toEqual([]); // a name that is recorded too early has no record
  });
});

describe('key-store', () => {
  // Private keys are sealed where they are stored, opened only with the right secret, and stored nowhere else.
  beforeAll(() => openRole(url, 'zonefleet_node'));
  let boxes: KeyBoxes;
  let domainId: number;

  beforeEach(async () => {
    boxes = useSecrets(db);
    const accountId = await newAccount(db, 'a@example.org');
    domainId = (await newDomain(db, accountId)).id;
  });

  test('only the sealed column contains private key material, in any form', async () => {
    await enabled(db, { domainId }, { split: true });
    const parts = await privateParts(db, boxes);
    expect(parts.map((part) => part.length)).toEqual([32, 32]);
    const tables = await query<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'`;
    expect(tables.length).toBeGreaterThan(40);
    for (const { name } of tables) {
      const text = (await column<string>`select t::text as text from ${sql.table(name)} t`).join('\n');
      for (const part of parts)
        for (const form of ['hex', 'base64', 'base64url'] as const)
          expect(text.includes(part.toString(form)), `${name} as ${form}`).toBe(false);
    }
  });

  test.each([
    'zonefleet_api',
    'zonefleet_worker',
  ] as const)('%s signs with its own privileges', async (role) => {
    const db = openDatabase(asRole(url, role));
    useSecrets(db);
    try {
      await enabled(db, { domainId });
      if (role === 'zonefleet_api') await saved(db, domainId, ['www A 192.0.2.1']);
      expect((await checkKeys(db)).unreadable).toEqual([]);
    } finally {
      await db.destroy();
    }
  });

  test('a key opens only in its own row and with its own secret, and otherwise nothing is written', async () => {
    await enabled(db, { domainId });
    const other = await newDomain(db, await newAccount(db, 'b@example.org'), 'other.test.');
    await enabled(db, { domainId: other.id });
    expect(await checkKeys(db)).toEqual({ keys: 2, unreadable: [] });
    await query`
    update signing_keys k set sealed = o.sealed from signing_keys o
    where k.id = (select min(id) from signing_keys) and o.id = (select max(id) from signing_keys)`;
    expect((await checkKeys(db)).unreadable).toMatchObject([{ zone: 'example.com.' }]);

    const [wrong, without] = [openDatabase(url), openDatabase(url)];
    useKeyBoxes(wrong, new KeyBoxes([{ name: 'test', secret: Buffer.alloc(32, 8) }]));
    const before = await published(db);
    try {
      const change = edit({ create: ['www A 192.0.2.1'] });
      for (const each of [wrong, without])
        await expect(saved(each, domainId, change)).rejects.toThrow(DnssecUnavailable);
      expect((await checkKeys(wrong)).unreadable).toHaveLength(2);
      expect(await published(db)).toEqual(before);
    } finally {
      await Promise.all([wrong.destroy(), without.destroy()]);
    }
  });

  test('the private part of a retired key is destroyed after 30 days, and the row stays', async () => {
    await enabled(db, { domainId });
    await disableSigning(db, { domainId }, BY);
    for (const [days, destroyed] of [
      [29, 0],
      [31, 1],
    ] as const) {
      const later = await atLater({ db, url }, days);
      expect(await destroyRetiredKeys(later)).toBe(destroyed);
      await later.destroy();
    }
    expect(await query`select sealed from signing_keys`).toEqual([{ sealed: null }]);
  });
});
