import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { disableSigning } from '../../../src/store/signing/disable-signing.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { type SigningOutcome, signZones } from '../../../workers/rounds/sign-zones.ts';
import { SigningBreaker } from '../../../workers/rounds/signing-breaker.ts';
import { atLater } from '../../support/database/database-clock.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const database = sharedDatabase();
const opened: Database[] = [];
const outcomes: SigningOutcome[] = [];
const stopped: string[] = [];

beforeEach(async () => {
  useSecrets(database.db);
  outcomes.length = 0;
  stopped.length = 0;
});
afterEach(() => Promise.all(opened.splice(0).map((db) => db.destroy())));

function started(db: Database) {
  const faults: string[] = [];
  const onTrouble = (error: unknown) => stopped.push(String(error));
  const onFault = ({ zone }: { zone: string }) => faults.push(zone);
  const breaker = new SigningBreaker({ db, onFault, onOpen: () => stopped.push('open'), onTrouble });
  const running = signZones({
    db,
    breaker,
    onOutcome: (outcome) => outcomes.push(outcome),
    onTrouble,
    idleMs: 5,
  });
  return { running, breaker, faults };
}

async function signedDomains(count: number): Promise<string[]> {
  const account = await newAccount(database.db, 'ann@example.org');
  const names = Array.from({ length: count }, (_, i) => `d${i}.example.com.`);
  for (const name of names) {
    const { id } = await newDomain(database.db, account, name);
    await enabled(database.db, { domainId: id });
  }
  return names;
}

async function later(): Promise<Database> {
  const db = await atLater(database, 8);
  opened.push(db);
  return db;
}

it('a large zone is signed, and unsigned again', async () => {
  const { db } = database;
  const names = Array.from({ length: 4200 }, (_, i) => `n${i} A 192.0.2.1`);
  const records = recordsOf(
    ['@ SOA ns. host. 1 2 3 4 5', '@ NS ns.else.example.', ...names].join('\n'),
    'big.test.',
  );
  await saveZones(db, [{ apex: parseName('big.test.'), records }], { source: 'test' });
  const subject = { zoneName: 'big.test.' };
  await enabled(db, subject);
  const { running } = started(db);
  try {
    await until(() => outcomes.some(({ kind }) => kind === 'signed'), 'it is signed');
    expect(await disableSigning(db, subject, BY)).toBe('unsigning');
    await until(() => outcomes.some(({ kind }) => kind === 'unsigned'), 'it is unsigned');
  } finally {
    await running.stop();
  }
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from zone_records where not removed`.execute(db);
  expect(rows[0]?.count).toBe(records.length);
  expect(stopped).toEqual([]);
});

it('a zone whose key cannot be decrypted is reported, remains unchanged and does not delay others', async () => {
  const [bad, ...good] = (await signedDomains(3)) as [string, ...string[]];
  await sql`
    update signing_keys set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)
    where signed_zone_id = (select s.id from signed_zones s join domains d on d.id = s.domain_id where d.name = ${bad})`.execute(
    database.db,
  );
  const db = await later();
  useSecrets(db);
  const { running } = started(db);
  try {
    await until(() => outcomes.length >= 3, 'all had their turn');
  } finally {
    await running.stop();
  }
  expect(outcomes.find(({ zone }) => zone === bad)).toMatchObject({
    kind: 'unreadable',
    error: { message: expect.stringMatching(/^key \d+ \(tag \d+\) cannot be opened/) },
  });
  expect(
    outcomes
      .filter(({ kind }) => kind === 'refreshed')
      .map(({ zone }) => zone)
      .sort(),
  ).toEqual(good);
  expect(await signatureFaults(database.db, parseName(bad))).toEqual([]);
});

it('stops if its signatures do not verify, and reports each such zone once', async () => {
  const names = await signedDomains(4);
  const db = await later();
  useSecrets(db);
  const without = openDatabase(database.url);
  opened.push(without);
  const { running, breaker, faults } = started(db);
  await running.stop();
  await sql`delete from zone_records where type = 47`.execute(without);
  for (const [i, name] of names.entries()) {
    await breaker.look({ id: i, name });
    await breaker.look({ id: i, name });
  }
  expect(faults).toEqual(names);
  expect(breaker.isOpen).toBe(true);
  expect(stopped).toEqual(['open']);
});
