// The job that moves the keys of a domain: what it writes step by step, and what it waits for.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { disableDnssec, enableDnssec, rollDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { claimDueSteps } from '../../../src/store/dnssec/claim-due-steps.ts';
import { loadDnssec } from '../../../src/store/dnssec/load-dnssec.ts';
import { loadKeyWork } from '../../../src/store/dnssec/load-key-work.ts';
import { saveKeyStep, saveWritten } from '../../../src/store/dnssec/save-key-step.ts';
import { signInPieces } from '../../../src/store/signing/sign-pieces.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { BY, published, saved } from '../../support/database/domains.ts';
import { RolledDomain } from '../../support/database/rolled-domain.ts';
import { signatureFaults } from '../../support/database/signed-zones.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

const HOUR_MS = 3_600_000;
/** With signatures and NSEC records they are more than one transaction signs anew. */
const LARGE = 1100;

let rolled: RolledDomain;
let database: TestDatabase;
let domainId: number;

beforeEach(async () => {
  rolled = await RolledDomain.create();
  ({ database, domainId } = rolled);
});
afterEach(() => database.drop());

const typesAtApex = async () => {
  const lines = (await published(database.db)) ?? [];
  return new Set(lines.filter((line) => line.startsWith('@ ')).map((line) => line.split(' ')[2]));
};
test('a domain goes from off to secure, to other keys, and back to off, whole at each step', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  expect(await claimDueSteps(db, 10)).toHaveLength(1);
  expect(await claimDueSteps(db, 10)).toEqual([]);
  let seen = await rolled.settle();
  expect([seen.status, seen.waiting?.cause]).toEqual(['waiting', 'delegation']);
  expect(await typesAtApex()).toContain('DNSKEY');
  expect(await typesAtApex()).not.toContain('CDS');
  seen = await rolled.passTime(4);
  expect([seen.status, seen.waiting?.cause]).toEqual(['ds_wanted', 'ds_wanted']);
  expect(await typesAtApex()).toContain('CDS');

  const first = (await rolled.machine()).wanted?.sep;
  rolled.shown = [await rolled.dsOf(first)];
  expect(rolled.texts()).toEqual(rolled.shown);
  seen = await rolled.passTime(1);
  expect([seen.status, seen.waiting]).toEqual(['secure', null]);

  expect((await rollDnssec(db, { ...BY, domainId, compromised: false })).kind).toBe('updated');
  seen = await rolled.passTime(5);
  expect([seen.status, seen.waiting?.cause]).toEqual(['rolling', 'ds_wanted']);
  const second = (await rolled.machine()).wanted?.sep;
  expect(second).not.toBe(first);
  rolled.shown = [await rolled.dsOf(second)];
  seen = await rolled.passTime(10);
  expect([seen.status, seen.waiting]).toEqual(['secure', null]);
  const keys = (await loadDnssec(db, domainId))?.keys ?? [];
  expect(keys.map(({ signs, retiredAt }) => [signs, retiredAt !== null])).toEqual([
    ['none', true],
    ['both', false],
  ]);

  await disableDnssec(db, { ...BY, domainId });
  seen = await rolled.passTime(1);
  expect([seen.status, seen.waiting?.cause]).toEqual(['ds_removal', 'ds_unwanted']);
  expect(await typesAtApex()).toContain('CDS');
  rolled.shown = [];
  seen = await rolled.passTime(3);
  expect([seen.status, seen.waiting?.cause]).toEqual(['ds_removal', 'stay']);
  seen = await rolled.passTime(6);
  expect([seen.status, seen.waiting]).toEqual(['off', null]);
  expect(await typesAtApex()).toEqual(new Set(['SOA', 'NS']));

  rolled.shown = [await rolled.dsOf(second)];
  seen = await rolled.passTime(1);
  expect(await typesAtApex()).toContain('DNSKEY');
  expect(seen.status).toBe('ds_removal');
});

test('a large zone is signed with a new key in pieces, and what is edited meanwhile with it at once', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  await rolled.settle();
  const names = Array.from({ length: LARGE }, (_, i) => `h${i} A 198.51.100.1`);
  await saved(db, domainId, edit({ create: names }));
  await rolled.nodesFollow();
  await rollDnssec(db, { ...BY, domainId, compromised: false });
  const kinds: string[] = [];
  for (let looks = 0; looks < 12; looks++) {
    const outcome = await rolled.look();
    kinds.push(outcome.kind === 'saved' ? (outcome.step ?? 'wait') : outcome.kind);
    await rolled.nodesFollow();
    if (outcome.kind !== 'saved' || outcome.step === undefined) continue;
    await saved(db, domainId, edit({ create: [`edit${looks} A 198.51.100.2`] }));
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

test('answers that do not validate are shown no DS for, and no step is taken on', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  rolled.isValid = false;
  for (let hours = 0; hours < 120; hours += 12) {
    const outcome = await rolled.look();
    await rolled.nodesFollow();
    expect(outcome).not.toMatchObject({ step: 'ask' });
    rolled.ahead += 12 * HOUR_MS;
  }
  expect(await rolled.look()).toMatchObject({ status: 'waiting', waiting: { cause: 'preflight' } });
  expect(await typesAtApex()).not.toContain('CDS');
});

test('what was saved since a look began is kept, and the look ends without a result', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  const work = await loadKeyWork(db, (await loadDnssec(db, domainId))?.signed.id as number);
  if (work === undefined) throw new Error('there is no work');
  await disableDnssec(db, { ...BY, domainId });
  const serving = { keys: ['1'], keySigners: ['1'], dataSigners: ['1'] };
  const step = { kind: 'sign', serving, asked: [] } as const;
  const machine = { ...work.machine, serving };
  const options = { dueInMs: 0, rules: RULES };
  expect(await saveKeyStep(db, work, { machine, step }, options)).toEqual({ kind: 'conflict' });
  expect(await saveKeyStep(db, work, { machine, step: undefined }, options)).toEqual({ kind: 'conflict' });
  expect(await saveWritten(db, work, RULES)).toBe('conflict');
  expect((await rolled.machine()).goal).toBe('unsigned');
  expect(await typesAtApex()).toEqual(new Set(['SOA', 'NS']));
});

test('a large domain is signed in pieces by another job, and goes on once its apex is', async () => {
  const { db } = database;
  const names = Array.from({ length: 2 * LARGE }, (_, i) => `h${i} A 198.51.100.1`);
  await saved(db, domainId, edit({ create: names }));
  await enableDnssec(db, { ...BY, domainId });
  expect(await rolled.look()).toMatchObject({ kind: 'saved', step: 'sign', status: 'signing' });
  expect(await rolled.look()).toEqual({ kind: 'writing' });
  expect(await typesAtApex()).toEqual(new Set(['SOA', 'NS']));
  const id = (await loadDnssec(db, domainId))?.signed.id as number;
  expect(await signInPieces(db, id, new AbortController().signal)).toBe('signed');
  expect(await rolled.look()).toEqual({ kind: 'writing' });
  await rolled.nodesFollow();
  expect(await rolled.settle()).toMatchObject({ status: 'waiting' });
  expect(await signatureFaults(db, APEX)).toEqual([]);
});
