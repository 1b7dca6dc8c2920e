// The job that changes the keys of a domain: what it writes in each step, and what it waits for.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/checks/dnssec/rules.ts';
import { parseName } from '../../../src/dns/name.ts';
import { enableDnssec, rollDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { loadDnssec } from '../../../src/store/dnssec/dnssec-state.ts';
import { askLook } from '../../../src/store/dnssec/due-steps.ts';
import { changeDenial } from '../../../src/store/signing/change-denial.ts';
import { claimDuePieces } from '../../../src/store/signing/claim-due-zones.ts';
import { addChain, removeChain } from '../../../src/store/signing/denial-chains.ts';
import { signInPieces } from '../../../src/store/signing/sign-pieces.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { BY, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { RolledDomain } from '../../support/database/rolled-domain.ts';
import { signatureFaults } from '../../support/database/signed-zones.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const HOUR_MS = 3_600_000;
/** With signatures and NSEC records, more than one transaction can re-sign. */
const LARGE = 1100;
const PARENT = parseName('com.');

let rolled: RolledDomain;
let database: TestDatabase;
let domainId: number;

beforeEach(async () => {
  rolled = await RolledDomain.create();
  ({ database, domainId } = rolled);
});
afterEach(() => rolled.drop());

test('a large zone is re-signed with a new key in pieces, while edits are signed immediately', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  await rolled.settle();
  const names = Array.from({ length: LARGE }, (_, i) => `h${i} A 198.51.100.1`);
  await saved(db, domainId, names);
  await rolled.nodesFollow();
  await rollDnssec(db, { ...BY, domainId, compromised: false });
  const kinds: string[] = [];
  for (let looks = 0; looks < 12; looks++) {
    const outcome = await rolled.look();
    kinds.push(outcome.kind === 'saved' ? (outcome.step ?? 'wait') : outcome.kind);
    await rolled.nodesFollow();
    if (outcome.kind !== 'saved' || outcome.step === undefined) continue;
    await saved(db, domainId, [`edit${looks} A 198.51.100.2`]);
    await rolled.nodesFollow();
  }
  const begun = kinds.indexOf('change_signatures');
  expect(kinds.slice(begun, begun + 2)).toEqual(['change_signatures', 'writing']);
  expect(kinds).toContain('withdraw');
  expect(await signatureFaults(db, APEX)).toEqual([]);
  const { rows } = await sql<{ tags: number }>`
    select count(distinct substring(rdata from 17 for 2))::integer as tags from zone_records
    where type = 46 and not removed`.execute(db);
  expect(rows).toEqual([{ tags: 1 }]);
});

/** Returns the algorithms of the keys, and of the signatures over the SOA, at the apex. */
async function algorithms(): Promise<{ keys: number[]; signatures: number[] }> {
  const { rows } = await sql<{ keys: number[]; signatures: number[] }>`
    select coalesce(array_agg(get_byte(rdata, 3) order by get_byte(rdata, 3)) filter (where type = 48), '{}') as keys,
      coalesce(array_agg(get_byte(rdata, 2) order by get_byte(rdata, 2))
        filter (where type = 46 and get_byte(rdata, 1) = 6), '{}') as signatures
    from zone_records where owner = 'example.com.' and not removed`.execute(database.db);
  return rows[0] as { keys: number[]; signatures: number[] };
}

test('a large NSEC3 zone is signed with another algorithm in pieces, before its denial changes', async () => {
  const { db } = database;
  const names = Array.from({ length: LARGE / 2 }, (_, i) => `h${i}.d${i % 40} A 198.51.100.1`);
  await saved(db, domainId, names);
  await enableDnssec(db, { ...BY, domainId, denial: 'nsec3' });
  expect(await rolled.look()).toMatchObject({ step: 'sign', status: 'signing' });
  await signInPieces(db, (await loadDnssec(db, domainId))?.signed.id as number, new AbortController().signal);
  expect(await rolled.look()).toEqual({ kind: 'writing' });
  await rolled.nodesFollow();
  await rolled.settle();
  await saved(db, domainId, edit({ create: names.map((name) => `x${name}`) }));
  await rolled.nodesFollow();
  await rollDnssec(db, { ...BY, domainId, compromised: false, algorithm: 15 });
  expect(await rolled.look()).toMatchObject({ step: 'add_signatures' });
  const change = { ...BY, denial: 'nsec' } as const;
  const { inPieces: id } = (await changeDenial(db, { domainId }, change)) as { inPieces: number };
  expect(await claimDuePieces(db, 9)).toEqual([]);
  expect(await rolled.look()).toEqual({ kind: 'writing' }); // the last piece of the signatures
  expect(await signatureFaults(db, APEX)).toEqual([]);
  expect(await claimDuePieces(db, 9)).toMatchObject([{ id, work: 'adding' }]);
  const before = await algorithms();
  expect(before).toEqual({ keys: [13], signatures: [13, 15] });
  rolled.ahead += 3 * DAY_MS;
  await rolled.nodesFollow();
  expect(await rolled.look()).toEqual({ kind: 'writing' }); // the last piece of the chain
  expect(await algorithms()).toEqual(before);
  const signal = new AbortController().signal;
  expect(await addChain(db, id, signal)).toBe('changed');
  await rolled.nodesFollow();
  expect(await rolled.look()).toMatchObject({ step: 'publish' });
  expect(await algorithms()).toEqual({ keys: [13, 15], signatures: [13, 15] });
  await removeChain(db, id, signal);
  expect(await signatureFaults(db, APEX)).toEqual([]);
  const { rows } = await sql`select from zone_records where type in (50, 51) and not removed`.execute(db);
  expect(rows).toEqual([]);
});

test('a ZSK is replaced automatically, once, when it reaches the configured age', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId, split: true });
  await rolled.passTime(4);
  rolled.shown = [await rolled.dsOf((await rolled.machine()).wanted?.sep)];
  expect((await rolled.passTime(1)).status).toBe('secure');
  const wanted = (await rolled.machine()).wanted;
  const every = { rollZskEveryMs: 20 * DAY_MS };
  await rolled.look(every);
  expect((await rolled.machine()).wanted).toEqual(wanted);
  rolled.ahead += 20 * DAY_MS;
  await rolled.look(every);
  expect((await rolled.machine()).wanted).toEqual(wanted); // the DS must be observed again after this time
  expect((await rolled.passTime(1)).waiting).toBeNull();
  await rolled.look(every);
  const after = (await rolled.machine()).wanted;
  expect([after?.sep, after?.data === wanted?.data]).toEqual([wanted?.sep, false]);
  await rolled.look(every);
  expect((await rolled.machine()).wanted).toEqual(after);
  const { rows } = await sql`
    select actor_kind as kind from domain_changes where operation = 'dnssec' order by id desc limit 1`.execute(
    db,
  );
  expect(rows).toEqual([{ kind: 'system' }]);
});

test('a requested check queries the parent, regardless of the last query', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  await rolled.settle();
  rolled.timesAsked = 0;
  await rolled.look();
  expect(rolled.timesAsked).toBe(0);
  expect(await askLook(db, domainId)).toEqual({ kind: 'asked' });
  await rolled.look();
  await rolled.look();
  expect(rolled.timesAsked).toBe(1);
});

const reminders = async () => {
  const { rows } = await sql<{ message: string }>`
    select message from mails where kind = 'dnssec' order by id`.execute(database.db);
  return rows.map(({ message }) => message);
};
/** Time of Postgres, which the machine's time is ahead of. */
const aMonthLater = () =>
  sql`update signed_zones set reminded_at = reminded_at - interval '30 days'`.execute(database.db);

test('the owner is reminded of the DS after three days, and monthly until it is published', async () => {
  const { db } = database;
  const wait = async (days: number) => {
    for (let hours = 0; hours < 24 * days; hours += 12) {
      rolled.ahead += 12 * HOUR_MS;
      await rolled.look({ sendsMail: true });
      await rolled.nodesFollow();
    }
  };
  await enableDnssec(db, { ...BY, domainId });
  expect((await rolled.passTime(4)).status).toBe('ds_wanted');
  expect(await reminders()).toEqual([]);
  await wait(2);
  expect(await reminders()).toEqual([]);
  await wait(2);
  const ds = await rolled.dsOf((await rolled.machine()).wanted?.sep);
  expect(await reminders()).toEqual([expect.stringContaining(ds.split(' ')[3] as string)]);
  await wait(35);
  expect(await reminders()).toHaveLength(1); // Postgres uses its own clock
  await aMonthLater();
  await wait(1);
  expect(await reminders()).toHaveLength(2);
  rolled.shown = [ds];
  await wait(2);
  await aMonthLater();
  await wait(5);
  expect(await reminders()).toHaveLength(2);
});

test('a parent zone of the fleet shows a DS once every node serves it', async () => {
  const { db } = database;
  const parent = (...more: string[]) => {
    const lines = [
      '@ SOA ns. host. 1 3600 600 86400 120',
      '@ NS ns.example.',
      'example NS ns1.example.net.',
      ...more,
    ];
    return saveZones(db, [{ apex: PARENT, records: recordsOf(lines.join('\n'), 'com.') }], {
      source: 'test',
      actor: 'me',
    });
  };
  await parent();
  await rolled.nodesFollow();
  await enableDnssec(db, { ...BY, domainId });
  await rolled.settle();
  const seen = async () =>
    Object.values((await rolled.machine()).parent.addresses ?? {}).map((address) => address.shown?.ds);
  const wanted = await rolled.dsOf((await rolled.machine()).wanted?.sep);
  expect(await seen()).toEqual([[]]);
  await parent(`example DS ${wanted}`);
  rolled.ahead += 13 * HOUR_MS;
  await rolled.look();
  expect(await seen()).toEqual([[]]);
  await rolled.nodesFollow();
  rolled.ahead += 13 * HOUR_MS;
  await rolled.look();
  expect(await seen()).toEqual([[wanted]]);
});

test('a job of several zones observes each zone, even if one of them has no domain', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  const { id } = await newDomain(db, await newAccount(db, 'other@example.org'), 'other.example.');
  await enableDnssec(db, { ...BY, domainId: id });
  const other = (await loadDnssec(db, id))?.signed.id as number;
  const outcomes = await rolled.lookIn([999_999, other]);
  expect(outcomes.map((outcome) => (outcome.kind === 'saved' ? outcome.step : outcome.kind))).toEqual([
    'sign',
    'absent',
    'sign',
  ]);
});
