import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { encodeEvidence } from '../../../src/checks/delegation/evidence-json.ts';
import { parseName } from '../../../src/dns/name.ts';
import { RETENTION_OF_FEATURES } from '../../../src/features/every-feature.ts';
import { purgeOld } from '../../../src/store/housekeeping/keep-house.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import {
  endAsk,
  loadVantageAnswers,
  makeVantageJobs,
  saveVantageAnswer,
  takeVantageJobs,
  vantagesWithJobs,
} from '../../../src/store/vantage/vantage-jobs.ts';
import {
  addVantage,
  listVantages,
  MOST_VANTAGES,
  noteVantageSeen,
  removeVantage,
  useNonce,
} from '../../../src/store/vantage/vantages.ts';
import { asRole } from '../../support/database/database.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { evidenceOf } from '../../support/world/made-checks.ts';

const NAME = 'shop.example.';
const QUESTION = { nameText: NAME, fresh: true, thorough: false, deadlineSeconds: 30 };

const { db, url, query, value } = sharedDatabase();
/** With the processes' roles, so that missing privileges cause errors. */
let api: Database;
let worker: Database;
beforeAll(async () => {
  api = openDatabase(asRole(url, 'zonefleet_api'));
  worker = openDatabase(asRole(url, 'zonefleet_worker'));
});
afterAll(() => Promise.all([api.destroy(), worker.destroy()]));
beforeEach(async () => {
  for (const name of ['a', 'b']) await add(name);
});

const add = (name: string) =>
  addVantage(db, { name, network: `net-${name}`, publicKey: `key-${name}`, address: null });
const seen = (...names: string[]) => Promise.all(names.map((name) => noteVantageSeen(api, name, null)));
/** Takes a job of the vantage point, and returns its result. */
const takeOne = async (vantage: string) => {
  const [job] = await takeVantageJobs(api, vantage, 1);
  const evidence = encodeEvidence(evidenceOf(parseName(NAME), ['ns1.x.example.']));
  return { id: job?.id as string, vantage, nameText: NAME, evidence };
};
const rows = (table: string) => value<number>`select count(*)::int as n from ${sql.table(table)}`;

test('creates jobs for vantage points that requested some within a minute', async () => {
  expect((await makeVantageJobs(worker, QUESTION)).asked).toEqual([]);
  await noteVantageSeen(api, 'a', '192.0.2.1');
  await noteVantageSeen(api, 'b', null);
  expect((await makeVantageJobs(worker, QUESTION)).asked.toSorted()).toEqual(['a', 'b']);
  await query`update vantages set seen_at = clock_timestamp() - interval '61 seconds' where name = 'b'`;
  expect((await makeVantageJobs(worker, QUESTION)).asked).toEqual(['a']);
});

test('a job is handed out once to concurrent requests, and not after its deadline', async () => {
  await noteVantageSeen(api, 'a', null);
  for (let i = 0; i < 10; i++) await makeVantageJobs(worker, QUESTION);
  expect(await vantagesWithJobs(api, ['a', 'b'])).toEqual(['a']);
  const taken = await Promise.all(Array.from({ length: 6 }, () => takeVantageJobs(api, 'a', 3)));
  const ids = taken.flat().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const rest = await takeVantageJobs(api, 'a', 16);
  expect(ids.length + rest.length).toBe(10);
  await makeVantageJobs(worker, { ...QUESTION, deadlineSeconds: 0 });
  expect(await takeVantageJobs(api, 'a', 16)).toEqual([]);
  expect(await vantagesWithJobs(api, ['a'])).toEqual([]);
});

test('concurrent results of the same job are accepted once', async () => {
  await noteVantageSeen(api, 'a', null);
  const { ask } = await makeVantageJobs(worker, QUESTION);
  const answer = await takeOne('a');
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => saveVantageAnswer(api, answer)));
  expect(outcomes.toSorted()).toEqual(['taken', 'twice', 'twice', 'twice', 'twice']);
  const [read] = await loadVantageAnswers(worker, [ask], []);
  expect(read?.evidence.domain).toBe(parseName(NAME));
  expect(await loadVantageAnswers(worker, [ask], [answer.id])).toEqual([]);
  expect((await listVantages(worker))[0]).toMatchObject({ name: 'a', answers: 1, dropped: 4 });
});

test('ending an ask deletes jobs that were not taken, and leaves the rest', async () => {
  await seen('a', 'b');
  const { ask } = await makeVantageJobs(worker, QUESTION);
  const answer = await takeOne('a');
  await endAsk(worker, ask);
  expect(await takeVantageJobs(api, 'b', 1)).toEqual([]);
  expect(await saveVantageAnswer(api, answer)).toBe('taken');
});

test('a result is stored only while its check waits, and then only its receipt', async () => {
  await seen('a', 'b');
  const { ask } = await makeVantageJobs(worker, QUESTION);
  const [first, second] = [await takeOne('a'), await takeOne('b')];
  const kept = async () => (await query`select 1 from vantage_jobs where evidence is not null`).length;
  expect(await saveVantageAnswer(api, first)).toBe('taken');
  await purgeOld(worker, RETENTION_OF_FEATURES);
  expect(await kept()).toBe(1);
  await endAsk(worker, ask);
  expect(await kept()).toBe(0);
  expect(await saveVantageAnswer(api, second)).toBe('taken');
  await query`update vantage_jobs set deadline = clock_timestamp()`;
  await purgeOld(worker, RETENTION_OF_FEATURES);
  expect(await kept()).toBe(0);
  expect(await loadVantageAnswers(worker, [ask], [])).toEqual([]);
  for (const answer of [first, second]) expect(await saveVantageAnswer(api, answer)).toBe('twice');
});

test('removing a vantage point deletes its jobs', async () => {
  await seen('a');
  await makeVantageJobs(worker, QUESTION);
  expect(await removeVantage(db, 'a')).toBe(true);
  expect(await rows('vantage_jobs')).toBe(0);
  expect(await removeVantage(db, 'a')).toBe(false);
});

test('the number of vantage points is limited, and names are unique', async () => {
  expect(await add('a')).toBe('exists');
  for (let i = 2; i < MOST_VANTAGES; i++) expect(await add(`v${i}`)).toBe('added');
  expect(await add('one-more')).toBe('too_many');
});

test('an address given by the operator takes precedence over the connection’s', async () => {
  await addVantage(db, { name: 'c', network: 'net-c', publicKey: 'key-c', address: '198.51.100.7' });
  for (const name of ['a', 'c']) await noteVantageSeen(api, name, '192.0.2.9');
  await noteVantageSeen(api, 'a', null);
  expect((await listVantages(api)).map(({ name, address }) => [name, address])).toEqual([
    ['a', '192.0.2.9'],
    ['b', null],
    ['c', '198.51.100.7'],
  ]);
});

test('a nonce is accepted once per vantage point, as long as its time is', async () => {
  expect(await useNonce(api, 'a', 'f'.repeat(32))).toBe(true);
  expect(await useNonce(api, 'a', 'f'.repeat(32))).toBe(false);
  expect(await useNonce(api, 'b', 'f'.repeat(32))).toBe(true);
  await purgeOld(worker, RETENTION_OF_FEATURES);
  expect(await rows('vantage_nonces')).toBe(2);
  await query`update vantage_nonces set at = at - interval '200 seconds'`;
  await purgeOld(worker, RETENTION_OF_FEATURES);
  expect(await rows('vantage_nonces')).toBe(0);
});

test('old jobs are deleted, except those for which late results may arrive', async () => {
  await seen('a');
  await makeVantageJobs(worker, QUESTION);
  const answer = await takeOne('a');
  await query`update vantage_jobs set deadline = clock_timestamp() - interval '9 minutes'`;
  await purgeOld(worker, RETENTION_OF_FEATURES);
  expect(await saveVantageAnswer(api, answer)).toBe('late');
  await query`update vantage_jobs set deadline = clock_timestamp() - interval '11 minutes'`;
  await purgeOld(worker, RETENTION_OF_FEATURES);
  expect(await rows('vantage_jobs')).toBe(0);
});
