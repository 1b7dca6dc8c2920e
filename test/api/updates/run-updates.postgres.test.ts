import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { runUpdates, type UpdateRunner } from '../../../src/api/updates/run-updates.ts';
import { UpdateRates } from '../../../src/api/updates/update-rates.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { createKey } from '../../../src/store/transfers/keys.ts';
import { allowName, findTargets } from '../../../src/store/updates/grants.ts';
import {
  claimUpdates,
  dropUpdates,
  offerUpdates,
  renewClaims,
  takeUpdateAnswers,
  type UpdateAnswer,
} from '../../../src/store/updates/queue.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { readAnswer, type SentUpdate, signedUpdate } from '../../support/answer/signed-updates.ts';
import { openRole } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, value } = keptDatabase();
const tsigSecrets = [{ name: 'test', secret: Buffer.alloc(32, 9) }];
const [INSTANCE, FORMER] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
const NAMES = ['a.com.', 'b.com.', 'op.test.'];
const [A, B, C] = NAMES.map((name) => parseName(name)) as [Name, Name, Name];
let key: Parameters<typeof signedUpdate>[2];
let node: Connection;
let apiDb: Database;
let runners: UpdateRunner[] = [];
let lines: object[] = [];

beforeAll(async () => {
  const accountId = await newAccount(db, 'ann@example.com');
  const stored = await createKey(db, tsigSecrets, { accountId: null, algorithm: 'hmac-sha256', label: 'k' });
  if (stored.kind !== 'stored') throw new Error(stored.kind);
  key = { ...stored.key, name: parseName(stored.key.name), secret: stored.secret };
  for (const name of NAMES) {
    const apex = parseName(name);
    const records = recordsOf('@ SOA a. b. 1 1 1 1 1\n@ NS a.', name);
    if (name === 'op.test.') await saveZones(db, [{ apex, records }], { source: 'test' });
    else await newDomain(db, accountId, name);
    await db.transaction().execute(async (trx) => {
      const [target] = await findTargets(trx, apex);
      if (target === undefined) throw new Error('no domain');
      const grant = { match: 'subtree', owner: apex, types: null, editsOrigin: false } as const;
      await allowName(trx, target, { ...grant, keyId: stored.key.id });
    });
  }
  const apiUrl = await openRole(url, 'zonefleet_api');
  apiDb = openDatabase(apiUrl);
  node = await connect(await openRole(url, 'zonefleet_node'), { applicationName: 'test' });
  return async () => {
    await node.close();
    await apiDb.destroy();
  };
});
beforeEach(async () => {
  lines = [];
  await query`delete from dns_updates`;
});
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.stop()));
  runners = [];
});

function run(registry = new Registry()): Registry {
  const log = {
    info: (line: object) => void lines.push(line),
    warn: (line: object) => void lines.push(line),
  };
  const options = { db: apiDb, databaseUrl: url, tsigSecrets, perSecond: undefined, registry, log };
  runners.push(runUpdates({ ...options, countryOf: undefined, originAllow: [] }));
  return registry;
}

const offer = (sent: readonly SentUpdate[], instance = INSTANCE, deadlineMs = Date.now() + 3000) =>
  offerUpdates(
    node,
    'n1',
    instance,
    sent.map(({ octets }, slot) => ({ slot, octets, address: '192.0.2.7', transport: 'udp', deadlineMs })),
  );

const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Returns the answers in the order of their slots. */
async function answers(count: number): Promise<UpdateAnswer[]> {
  const taken: UpdateAnswer[] = [];
  while (taken.length < count) {
    taken.push(...(await takeUpdateAnswers(node, 'n1', INSTANCE)));
    await pause();
  }
  return taken.sort((a, b) => a.slot - b.slot);
}

const read = (sent: readonly SentUpdate[], taken: readonly UpdateAnswer[]) =>
  taken.map(({ slot, answer }) => readAnswer(sent[slot] as SentUpdate, answer));

it('several processes carry out each message of several zones once', async () => {
  const registries = [run(), run()];
  for (let round = 0; round < 4; round++) {
    const sent = Array.from({ length: 9 }, (_, i) =>
      signedUpdate([A, B, C][i % 3] as Name, `add n${i % 2} 60 TXT "${round} ${i}"`, key),
    );
    await offer(sent);
    const taken = await answers(sent.length);
    expect(new Set(read(sent, taken))).toEqual(new Set(['NOERROR']));
    expect(taken.map(({ change }) => change?.apex)).toEqual(sent.map((_, i) => [A, B, C][i % 3]));
  }
  expect(await value`select count(*)::integer from domain_changes where source = 'update'`).toBe(24);
  expect(
    await value`select count(*)::integer from changes where zone = 'op.test.' and source = 'update'`,
  ).toBe(12);
  expect(await query`select from dns_updates`).toEqual([]);
  expect(lines[0]).toMatchObject({
    zone: expect.any(String),
    key: expect.any(String),
    rcode: 'NOERROR',
    records: expect.any(Number),
  });
  const metrics = await Promise.all(registries.map((registry) => registry.metrics()));
  expect(metrics.join()).toContain('zonefleet_updates_total{rcode="NOERROR"}');
});

it('a process takes over the messages of a crashed one, and does not repeat a change', async () => {
  const sent = [signedUpdate(A, 'add crash 60 TXT "x"', key)];
  await offer(sent);
  expect(await claimUpdates(db, 10)).toHaveLength(1);
  expect(await claimUpdates(db, 10)).toEqual([]);
  await query`update dns_updates set claimed_at = now() - interval '2 seconds'`;
  run();
  const [first] = await answers(1);
  await offer(sent); // the client repeats its message, and the node has lost the answer
  const [again] = await answers(1);
  expect(again?.change).toEqual(first?.change);
  expect(read(sent, [again as UpdateAnswer])).toEqual(['NOERROR']);
});

it('an answer that cannot be written is written later, with the same rcode', async () => {
  await query`create sequence answers_written`;
  await query`create function fail_once() returns trigger language plpgsql security definer as $$
    begin
      if nextval('answers_written') = 1 then raise exception 'no answer'; end if;
      return new;
    end $$`;
  await query`create trigger fail_once before update of answer on dns_updates for each row execute function fail_once()`;
  const sent = [signedUpdate(A, 'nxrrset unwritten TXT\nadd unwritten 60 TXT "x"', key)];
  run();
  await offer(sent);
  while (!JSON.stringify(lines).includes('err')) await pause();
  await query`update dns_updates set claimed_at = null`;
  expect(read(sent, await answers(1))).toEqual(['NOERROR']);
  await query`drop function fail_once cascade`;
});

it('a process that stops renews its claims until it has answered, and uses 8 connections for updates', async () => {
  const sent = Array.from({ length: 20 }, (_, i) => signedUpdate(A, `add s${i} 60 TXT "x"`, key));
  const claimedAt = () => value<string>`select max(claimed_at)::text from dns_updates`;
  const blocked = () =>
    value<number>`
      select count(*)::integer from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%tsig_keys k%'`;
  let stopped: Promise<void> | undefined;
  await db.transaction().execute(async (trx) => {
    await sql`lock table tsig_keys`.execute(trx);
    run();
    await offer(sent);
    while (((await blocked()) ?? 0) < 8) await pause();
    stopped = runners[0]?.stop();
    for (const before = await claimedAt(); (await claimedAt()) === before; ) await pause();
    expect(await blocked()).toBe(8);
  });
  expect(read(sent, await answers(20))).toEqual(sent.map(() => 'NOERROR'));
  await stopped;
});

it('a renewal of claims does not wait for rows that a node deletes', async () => {
  await offer([0, 1].map((i) => signedUpdate(A, `add r${i} 60 TXT "x"`, key)));
  const claimed = await claimUpdates(apiDb, 2);
  await query`update dns_updates set claimed_at = null`;
  await node.query('begin', []);
  await dropUpdates(node, 'n1', INSTANCE, [0]);
  await renewClaims(apiDb, claimed);
  await node.query('commit', []);
  expect(await query`select slot, claimed_at is not null as renewed from dns_updates`).toEqual([
    { slot: 1, renewed: true },
  ]);
});

it('a message for which the client no longer waits is not carried out', async () => {
  await offer([signedUpdate(A, 'add late 60 TXT "x"', key)], INSTANCE, Date.now() - 1);
  expect(await claimUpdates(db, 10)).toEqual([]);
});

it('a node replaces the rows of a former instance, and deletes only its own', async () => {
  const sent = [signedUpdate(A, 'add x 60 TXT "x"', key)];
  await offer(sent, FORMER);
  await offer(sent);
  expect(await query`select instance from dns_updates`).toEqual([{ instance: INSTANCE }]);
  await dropUpdates(node, 'n1', FORMER, [0]);
  expect(await query`select from dns_updates`).toHaveLength(1);
  await dropUpdates(node, 'n1', INSTANCE, [0]);
  expect(await query`select from dns_updates`).toEqual([]);
});

it.each([
  "update dns_updates set answer = '\\x00'",
  "insert into dns_updates (node, slot, instance, octets, address, transport, answer) values ('n', 0, gen_random_uuid(), '', '::1', 'udp', '')",
  'select from update_grants',
  'select from seen_updates',
  "insert into update_grants (key_id, zone_id, match, owner) values (1, 1, 'exact', 'a.')",
])('a node may not %s', async (statement) => {
  await expect(node.query(statement)).rejects.toThrow('permission denied');
});

it('UpdateRates admits a burst, and then the configured number of updates per second', () => {
  let nowMs = 0;
  const rates = new UpdateRates(50, () => nowMs);
  const taken = () => Array.from({ length: 300 }, () => rates.take(1)).filter(Boolean).length;
  expect([taken(), rates.take(2)]).toEqual([200, true]);
  nowMs = 1000;
  expect(taken()).toBe(50);
  nowMs = 60_000;
  expect(taken()).toBe(200);
});
