// The job that moves the keys of a domain: what it writes step by step, and what it waits for.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DsEvidence, dsFields, dsText } from '../../../src/checks/dnssec/ds-evidence.ts';
import type { PreflightEvidence } from '../../../src/checks/dnssec/preflight.ts';
import { DAY_MS, RULES } from '../../../src/checks/dnssec/rules.ts';
import type { TheirEvidence } from '../../../src/checks/dnssec/their-keys.ts';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { parseName } from '../../../src/dns/name.ts';
import { askLook } from '../../../src/store/dnssec/ask-look.ts';
import { disableDnssec, enableDnssec, rollDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { claimDueSteps } from '../../../src/store/dnssec/claim-due-steps.ts';
import { importForeignKeys, replaceForeignKeys } from '../../../src/store/dnssec/foreign-keys.ts';
import { loadDnssec } from '../../../src/store/dnssec/load-dnssec.ts';
import { loadKeyWork } from '../../../src/store/dnssec/load-key-work.ts';
import { saveKeyStep, saveWritten } from '../../../src/store/dnssec/save-key-step.ts';
import { EPOCH_SQL } from '../../../src/store/feed/change-feed.ts';
import { dsOf as dsOfKey } from '../../../src/store/keys/apex-keys.ts';
import { signInPieces } from '../../../src/store/signing/sign-pieces.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { makeKey, SIGNING_ALGORITHM } from '../../../src/zone/signing/signing-key.ts';
import { createKeyRoller, type KeyOutcome } from '../../../workers/jobs/roll-keys.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import {
  BY,
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
} from '../../support/database/domains.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const HOUR_MS = 3_600_000;
const MATCH = 'referral ns1.example.net ns2.example.net';
/** With signatures and NSEC records they are more than one transaction signs anew. */
const LARGE = 1100;
const PARENT = parseName('com.');

let database: TestDatabase;
let domainId: number;
/** How far the machine's clock is ahead. */
let ahead: number;
/** What two addresses of the parent show. */
let shown: readonly string[];
let isValid: boolean;
/** What the servers of another operator show. */
let theirs: TheirEvidence;
/** How often the parent was asked. */
let asked: number;

beforeEach(async () => {
  database = await createDatabase();
  useSecrets(database.db);
  domainId = (await newDomain(database.db, await newAccount(database.db, 'me@example.org'))).id;
  await saved(database.db, domainId, edit({ create: ['www A 198.51.100.1'] }));
  ahead = 0;
  shown = [];
  isValid = true;
  theirs = { servers: [], failure: 'there are none' };
  asked = 0;
  await sql`
    insert into nodes (name, instance, started_at, loaded, zones, records, abilities, unserved)
    values ('ns1', gen_random_uuid(), clock_timestamp(), true, 0, 0, '{dnssec}', '{}')`.execute(database.db);
  await nodesFollow();
  await checkOnce(database.db, domainId, MATCH);
});
afterEach(() => database.drop());

/** The node has seen all that is committed. */
async function nodesFollow() {
  await sql`
    update nodes set snapshot = pg_current_snapshot(),
      seen_at = clock_timestamp() + make_interval(secs => ${ahead / 1000}::float8),
      epoch = (select ${sql.raw(EPOCH_SQL)} from feed)`.execute(database.db);
}

function dsRdata(text: string): Uint8Array {
  const { keyTag, algorithm, digestType, digest } = dsFields(text);
  return Uint8Array.from([keyTag >> 8, keyTag & 0xff, algorithm, digestType, ...Buffer.from(digest, 'hex')]);
}

function seenDs(): DsEvidence {
  const ds = shown.map(dsRdata);
  const answer = { outcome: ds.length > 0 ? 'positive' : 'none', ds, ttl: 3600, error: undefined } as const;
  return {
    domain: APEX,
    parent: PARENT,
    answers: ['192.5.6.30', '192.33.14.30'].map((address) => ({ server: PARENT, address, ...answer })),
    parentIsSecure: true,
    observedAt: Date.now(),
  };
}

/** As the domain's servers would answer that serve what Postgres has. */
async function seenAnswers(ids: readonly string[]): Promise<PreflightEvidence> {
  const faults = await signatureFaults(database.db, APEX);
  const lines = (await published(database.db)) ?? [];
  const verifiedBy = isValid && faults.length === 0 && lines.some((line) => / DNSKEY /.test(line)) ? ids : [];
  const server = {
    server: parseName('ns1.example.net.'),
    address: '192.0.2.53',
    outcome: 'answered',
    verifiedBy,
    hasStrangers: false,
    error: verifiedBy.length > 0 ? undefined : 'bogus',
  } as const;
  return { servers: [server], missing: [], failure: undefined };
}

async function look({
  sendsMail = false,
  rollZskEveryMs = undefined as number | undefined,
} = {}): Promise<KeyOutcome> {
  const outcomes: KeyOutcome[] = [];
  const roll = createKeyRoller({
    db: database.db,
    resolver: {
      observeDs: async () => {
        asked++;
        return seenDs();
      },
      observeSigned: async (_, { keys }) =>
        await seenAnswers(keys.filter(({ isSep }) => isSep).map(({ id }) => id)),
      observeTheirKeys: async () => theirs,
    },
    rules: RULES,
    sendsMail,
    rollZskEveryMs,
    onOutcome: (outcome) => void outcomes.push(outcome),
    ahead: () => ahead,
  });
  const signedZoneId = (await loadDnssec(database.db, domainId))?.signed.id as number;
  await roll({ signedZoneId }, { signal: new AbortController().signal, again: false });
  return outcomes[0] as KeyOutcome;
}

/** Looks until nothing is to be done at this time; the node follows. Every answer on the way is whole. */
async function settle(): Promise<Extract<KeyOutcome, { kind: 'saved' }>> {
  const told: string[] = [];
  for (let looks = 0; looks < 10; looks++) {
    const outcome = await look();
    if (outcome.kind !== 'saved') throw new Error(`it is ${outcome.kind}`);
    await nodesFollow();
    if (outcome.step !== undefined) {
      const isUnsigned = !((await published(database.db)) ?? []).some((line) => / DNSKEY /.test(line));
      if (!isUnsigned) expect(await signatureFaults(database.db, APEX)).toEqual([]);
      await expectPublished(database.db, domainId);
      continue;
    }
    const { cause } = outcome.waiting ?? {};
    told.push(`${outcome.status} ${cause} ${outcome.preflight?.failure}`);
    if (cause !== 'nodes' && cause !== 'preflight' && cause !== 'observation') return outcome;
    if (looks > 2 && !isValid) return outcome;
  }
  throw new Error(`it does not settle: ${told.join('; ')}`);
}

/** Goes on hour by hour, so that no gap is between observations, until it waits for that. */
async function passTime(days: number): Promise<Extract<KeyOutcome, { kind: 'saved' }>> {
  let outcome = await settle();
  for (const end = ahead + days * DAY_MS; ahead < end; ) {
    ahead += 6 * HOUR_MS;
    outcome = await settle();
  }
  return outcome;
}

const typesAtApex = async () => {
  const lines = (await published(database.db)) ?? [];
  return new Set(lines.filter((line) => line.startsWith('@ ')).map((line) => line.split(' ')[2]));
};
const machineOf = async () => (await loadDnssec(database.db, domainId))?.machine;
const dsOf = async (id: string | undefined) =>
  (await machineOf())?.keys
    .find((key) => key.id === id)
    ?.ds.find((text) => text.split(' ')[2] === '2') as string;
const texts = () => seenDs().answers[0]?.ds.map(dsText);

test('a domain goes from off to secure, to other keys, and back to off, whole at each step', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  expect((await claimDueSteps(db, { limit: 10 })).rows).toHaveLength(1);
  expect((await claimDueSteps(db, { limit: 10 })).rows).toEqual([]);
  let seen = await settle();
  expect([seen.status, seen.waiting?.cause]).toEqual(['waiting', 'delegation']);
  expect(await typesAtApex()).toContain('DNSKEY');
  expect(await typesAtApex()).not.toContain('CDS');
  seen = await passTime(4);
  expect([seen.status, seen.waiting?.cause]).toEqual(['ds_wanted', 'ds_wanted']);
  expect(await typesAtApex()).toContain('CDS');

  const first = (await machineOf())?.wanted?.sep;
  shown = [await dsOf(first)];
  expect(texts()).toEqual(shown);
  seen = await passTime(1);
  expect([seen.status, seen.waiting]).toEqual(['secure', null]);

  expect((await rollDnssec(db, { ...BY, domainId, compromised: false })).kind).toBe('updated');
  seen = await passTime(5);
  expect([seen.status, seen.waiting?.cause]).toEqual(['rolling', 'ds_wanted']);
  const second = (await machineOf())?.wanted?.sep;
  expect(second).not.toBe(first);
  shown = [await dsOf(second)];
  seen = await passTime(10);
  expect([seen.status, seen.waiting]).toEqual(['secure', null]);
  const keys = (await loadDnssec(db, domainId))?.keys ?? [];
  expect(keys.map(({ signs, retiredAt }) => [signs, retiredAt !== null])).toEqual([
    ['none', true],
    ['both', false],
  ]);

  await disableDnssec(db, { ...BY, domainId });
  seen = await passTime(1);
  expect([seen.status, seen.waiting?.cause]).toEqual(['ds_removal', 'ds_unwanted']);
  expect(await typesAtApex()).toContain('CDS');
  shown = [];
  seen = await passTime(3);
  expect([seen.status, seen.waiting?.cause]).toEqual(['ds_removal', 'stay']);
  seen = await passTime(6);
  expect([seen.status, seen.waiting]).toEqual(['off', null]);
  expect(await typesAtApex()).toEqual(new Set(['SOA', 'NS']));

  shown = [await dsOf(second)];
  seen = await passTime(1);
  expect(await typesAtApex()).toContain('DNSKEY');
  expect(seen.status).toBe('ds_removal');
});

test('a large zone is signed with a new key in pieces, and what is edited meanwhile with it at once', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  await settle();
  const names = Array.from({ length: LARGE }, (_, i) => `h${i} A 198.51.100.1`);
  await saved(db, domainId, edit({ create: names }));
  await nodesFollow();
  await rollDnssec(db, { ...BY, domainId, compromised: false });
  const kinds: string[] = [];
  for (let looks = 0; looks < 12; looks++) {
    const outcome = await look();
    kinds.push(outcome.kind === 'saved' ? (outcome.step ?? 'wait') : outcome.kind);
    await nodesFollow();
    if (outcome.kind !== 'saved' || outcome.step === undefined) continue;
    await saved(db, domainId, edit({ create: [`edit${looks} A 198.51.100.2`] }));
    await nodesFollow();
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
  isValid = false;
  for (let hours = 0; hours < 120; hours += 12) {
    const outcome = await look();
    await nodesFollow();
    expect(outcome).not.toMatchObject({ step: 'ask' });
    ahead += 12 * HOUR_MS;
  }
  expect(await look()).toMatchObject({ status: 'waiting', waiting: { cause: 'preflight' } });
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
  const options = { dueInMs: 0, rules: RULES, wantedSince: null };
  expect(await saveKeyStep(db, work, { machine, step }, options)).toEqual({ kind: 'conflict' });
  expect(await saveKeyStep(db, work, { machine, step: undefined }, options)).toEqual({ kind: 'conflict' });
  expect(await saveWritten(db, work, RULES)).toBe('conflict');
  expect((await machineOf())?.goal).toBe('unsigned');
  expect(await typesAtApex()).toEqual(new Set(['SOA', 'NS']));
});

test('a large domain is signed in pieces by another job, and goes on once its apex is', async () => {
  const { db } = database;
  const names = Array.from({ length: 2 * LARGE }, (_, i) => `h${i} A 198.51.100.1`);
  await saved(db, domainId, edit({ create: names }));
  await enableDnssec(db, { ...BY, domainId });
  expect(await look()).toMatchObject({ kind: 'saved', step: 'sign', status: 'signing' });
  expect(await look()).toEqual({ kind: 'writing' });
  expect(await typesAtApex()).toEqual(new Set(['SOA', 'NS']));
  const id = (await loadDnssec(db, domainId))?.signed.id as number;
  expect(await signInPieces(db, id, new AbortController().signal)).toBe('signed');
  expect(await look()).toEqual({ kind: 'writing' });
  await nodesFollow();
  expect(await settle()).toMatchObject({ status: 'waiting' });
  expect(await signatureFaults(db, APEX)).toEqual([]);
});

/** A key for flags 257, as a DNSKEY record's rdata. */
const foreignRdata = () => makeKey(SIGNING_ALGORITHM.ECDSAP256SHA256, 257).dnskey;

function shownByTheirs(...keys: readonly Uint8Array[]): TheirEvidence {
  const server = { address: '192.0.2.99', keys, ttl: 3600, isSilent: false, error: undefined };
  return { servers: [server], failure: undefined };
}

const dsTextOf = (rdata: Uint8Array) => dsText(dsOfKey(APEX, { tag: keyTag(rdata), dnskey: rdata }, 2));

test('an import takes what the DS leads to into the DNSKEY set, and a DS of theirs is no fault any more', async () => {
  const { db } = database;
  const rdata = foreignRdata();
  shown = [dsTextOf(rdata)];
  await enableDnssec(db, { ...BY, domainId });
  expect((await settle()).status).toBe('broken');
  await importForeignKeys(db, { ...BY, domainId });
  theirs = shownByTheirs(rdata);
  expect(await look()).toEqual({ kind: 'writing' });
  const seen = await settle();
  expect(seen.status).toBe('waiting');
  const keys = (await loadDnssec(db, domainId))?.keys ?? [];
  expect(keys.map(({ origin, signs, isUsable }) => [origin, signs, isUsable])).toEqual([
    ['ours', 'both', true],
    ['foreign', 'none', false],
  ]);
  const served = (await published(db))?.filter((line) => / DNSKEY /.test(line) && !/RRSIG/.test(line)) ?? [];
  expect(served).toHaveLength(2);
  expect(await signatureFaults(db, APEX)).toEqual([]);
});

test.each([
  [
    'the keys do not verify',
    () => ({
      servers: [{ ...shownByTheirs().servers[0], keys: undefined, error: 'no key matches its DS records' }],
      failure: undefined,
    }),
    'no key matches',
  ],
  [
    'nobody answers',
    () => ({ servers: [], failure: 'the parent names no nameservers but ours' }),
    'no nameservers but ours',
  ],
  ['there are five', () => shownByTheirs(...Array.from({ length: 5 }, foreignRdata)), 'more than 4'],
  [
    'one is RSA',
    () => shownByTheirs(Uint8Array.from([1, 1, 3, 8, ...new Uint8Array(516)])),
    'its algorithm is 8',
  ],
  [
    'one is revoked',
    () => shownByTheirs(Uint8Array.from([1, 0x81, 3, 13, ...foreignRdata().subarray(4)])),
    'revoked',
  ],
])('an import of which %s changes no key, and says why', async (_, evidence, why) => {
  const { db } = database;
  shown = [dsTextOf(foreignRdata())];
  await enableDnssec(db, { ...BY, domainId });
  await settle();
  await importForeignKeys(db, { ...BY, domainId });
  theirs = evidence() as TheirEvidence;
  await look();
  const machine = await machineOf();
  expect(machine?.foreign).toMatchObject({ wanted: [], importAskedAt: null });
  expect(machine?.foreign?.imported?.failure).toContain(why);
  expect((await loadDnssec(db, domainId))?.keys).toHaveLength(1);
});

test('an import asks nobody where the parent shows no DS, or proves none', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  await settle();
  theirs = shownByTheirs(foreignRdata());
  await importForeignKeys(db, { ...BY, domainId });
  await look();
  expect((await machineOf())?.foreign?.imported?.failure).toContain('no DS record');
  expect((await loadDnssec(db, domainId))?.keys).toHaveLength(1);
});

test('CDS has the DS of another operator beside ours, and never that of a key without SEP', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  await settle();
  const [entry, data] = [foreignRdata(), makeKey(SIGNING_ALGORITHM.ECDSAP256SHA256, 256).dnskey];
  const fields = (rdata: Uint8Array) => ({
    flags: 256 | (rdata[1] as number),
    protocol: 3,
    algorithm: 13,
    publicKey: rdata.subarray(4),
  });
  const list = [fields(entry), fields(data)];
  expect((await replaceForeignKeys(db, { ...BY, domainId, keys: list })).kind).toBe('updated');
  const seen = await passTime(4);
  expect(seen.status).toBe('ds_wanted');
  const lines = (await published(db)) ?? [];
  const cds = lines.filter((line) => /^@ \d+ CDS /.test(line)).map((line) => line.split(' ')[3]);
  expect(cds.sort()).toEqual(
    [String(keyTag(entry)), (await dsOf((await machineOf())?.wanted?.sep)).split(' ')[0]].sort(),
  );
  expect(lines.filter((line) => /^@ \d+ CDNSKEY /.test(line))).toHaveLength(2);
  expect(lines.filter((line) => /^@ \d+ DNSKEY /.test(line))).toHaveLength(3);
});

test('of two keys the one for data alone is changed, without the registrar and whole at each step', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId, split: true });
  await passTime(4);
  const before = (await machineOf())?.wanted;
  shown = [await dsOf(before?.sep)];
  expect((await passTime(1)).status).toBe('secure');
  const zsk = Number(before?.data);
  const order = { ...BY, domainId, compromised: false };
  expect((await rollDnssec(db, { ...order, keyId: zsk })).kind).toBe('updated');
  const seen = await passTime(7);
  expect([seen.status, seen.waiting]).toEqual(['secure', null]);
  expect((await machineOf())?.wanted?.sep).toBe(before?.sep);
  const keys = (await loadDnssec(db, domainId))?.keys ?? [];
  expect(keys.map(({ role, signs, retiredAt }) => [role, signs, retiredAt !== null])).toEqual([
    ['ksk', 'keys', false],
    ['zsk', 'none', true],
    ['zsk', 'data', false],
  ]);
  expect(await rollDnssec(db, { ...order, keyId: zsk })).toMatchObject({ code: 'wrong_state' });
});

test('a ZSK is replaced by itself when it is as old as the operator has it, once and by the system', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId, split: true });
  await passTime(4);
  shown = [await dsOf((await machineOf())?.wanted?.sep)];
  expect((await passTime(1)).status).toBe('secure');
  const wanted = (await machineOf())?.wanted;
  const every = { rollZskEveryMs: 20 * DAY_MS };
  await look(every);
  expect((await machineOf())?.wanted).toEqual(wanted);
  ahead += 20 * DAY_MS;
  await look(every);
  expect((await machineOf())?.wanted).toEqual(wanted); // the DS has to be seen again after so long
  expect((await passTime(1)).waiting).toBeNull();
  await look(every);
  const rolled = (await machineOf())?.wanted;
  expect([rolled?.sep, rolled?.data === wanted?.data]).toEqual([wanted?.sep, false]);
  await look(every);
  expect((await machineOf())?.wanted).toEqual(rolled);
  const { rows } = await sql`
    select actor_kind as kind from domain_changes where operation = 'dnssec' order by id desc limit 1`.execute(
    db,
  );
  expect(rows).toEqual([{ kind: 'system' }]);
});

test('a look that is asked for asks the parent, whenever it was asked last', async () => {
  const { db } = database;
  await enableDnssec(db, { ...BY, domainId });
  await settle();
  asked = 0;
  await look();
  expect(asked).toBe(0);
  expect(await askLook(db, domainId)).toEqual({ kind: 'asked' });
  await look();
  await look();
  expect(asked).toBe(1);
});

const reminders = async () => {
  const { rows } = await sql<{ message: string }>`
    select message from mails where kind = 'dnssec' order by id`.execute(database.db);
  return rows.map(({ message }) => message);
};
/** By the clock of Postgres, which the machine's is ahead of. */
const aMonthLater = () =>
  sql`update signed_zones set reminded_at = reminded_at - interval '30 days'`.execute(database.db);

test('the owner is reminded of the DS after three days, and again a month later, until it is there', async () => {
  const { db } = database;
  const wait = async (days: number) => {
    for (let hours = 0; hours < 24 * days; hours += 12) {
      ahead += 12 * HOUR_MS;
      await look({ sendsMail: true });
      await nodesFollow();
    }
  };
  await enableDnssec(db, { ...BY, domainId });
  expect((await passTime(4)).status).toBe('ds_wanted');
  expect(await reminders()).toEqual([]);
  await wait(2);
  expect(await reminders()).toEqual([]);
  await wait(2);
  const ds = await dsOf((await machineOf())?.wanted?.sep);
  expect(await reminders()).toEqual([expect.stringContaining(ds.split(' ')[3] as string)]);
  await wait(35);
  expect(await reminders()).toHaveLength(1); // Postgres counts by its own clock
  await aMonthLater();
  await wait(1);
  expect(await reminders()).toHaveLength(2);
  shown = [ds];
  await wait(2);
  await aMonthLater();
  await wait(5);
  expect(await reminders()).toHaveLength(2);
});

test('a parent zone of ours shows a DS from when every node serves it', async () => {
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
  await nodesFollow();
  await enableDnssec(db, { ...BY, domainId });
  await settle();
  const seen = async () =>
    Object.values((await machineOf())?.parent.addresses ?? {}).map((address) => address.shown?.ds);
  const wanted = await dsOf((await machineOf())?.wanted?.sep);
  expect(await seen()).toEqual([[]]);
  await parent(`example DS ${wanted}`);
  ahead += 13 * HOUR_MS;
  await look();
  expect(await seen()).toEqual([[]]);
  await nodesFollow();
  ahead += 13 * HOUR_MS;
  await look();
  expect(await seen()).toEqual([[wanted]]);
});
