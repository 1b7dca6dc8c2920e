// The sweep of names whose domains have ended, with a resolver that is told what it sees, and the rights of a worker.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { sweepName } from '../../../src/store/claims/swept-names.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import type { Rounds } from '../../../workers/rounds/run-rounds.ts';
import { sweepNames } from '../../../workers/rounds/sweep-names.ts';
import { asRole } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf } from '../../support/world/check-evidence.ts';

const DAY_MS = 86_400_000;
const database = sharedDatabase();
let worker: Database;
let me: number;
let rounds: Rounds;
const asked: string[] = [];
const troubles: unknown[] = [];
let said: string;

beforeEach(async () => {
  worker = openDatabase(asRole(database.url, 'zonefleet_worker'));
  me = await newAccount(database.db, 'me@example.org');
  asked.length = 0;
  troubles.length = 0;
  rounds = sweepNames({
    db: worker,
    resolver: {
      observeDelegation: async (domain) => {
        asked.push(printName(domain));
        return evidenceOf(`${said}; ${said}`, { domain, finishedAt: Date.now() });
      },
    },
    onTrouble: (error) => troubles.push(error),
    idleMs: 5,
    random: () => 0.5,
  });
});
afterEach(async () => {
  await rounds.stop();
  await worker.destroy();
  expect(troubles).toEqual([]);
});

const ended = async (name: string, days: number) => {
  await sql`insert into name_holders (name, account_id, active_at) values (${name}, ${me}, now())`.execute(
    database.db,
  );
  await sweepName(database.db, { name, accountId: me }, new Date(Date.now() - days * DAY_MS));
};
const sightings = async () =>
  (
    await sql<{ name: string; names: string[] }>`select name, names from ns_sightings order by name`.execute(
      database.db,
    )
  ).rows;
/** In how many days the name is due; undefined: it is not looked at any more. */
const dueIn = async (name: string) => {
  const { rows } = await sql<{ days: number }>`
    select round(extract(epoch from due_at - now()) / 86400)::integer as days from swept_names where name = ${name}`.execute(
    database.db,
  );
  return rows[0]?.days;
};

it('a name that still points here leaves a sighting, and is looked at again a day later', async () => {
  said = 'referral ns1.example.net ns9.elsewhere.test';
  await ended('shop.example.', 2);
  await until(async () => (await dueIn('shop.example.')) === 1, 'the name was looked at');
  expect(asked).toEqual(['shop.example.']);
  expect(await sightings()).toEqual([{ name: 'shop.example.', names: ['ns1.example.net.'] }]);
});

it('after 90 days a name is looked at weekly while it points here, and no more when it does not', async () => {
  said = 'referral ns1.example.net';
  await ended('shop.example.', 91);
  await until(async () => (await dueIn('shop.example.')) === 7, 'it is due in a week');
  said = 'nodata';
  await sql`update swept_names set due_at = now()`.execute(database.db);
  await until(async () => (await dueIn('shop.example.')) === undefined, 'it is forgotten');
  expect(asked).toHaveLength(2);
});

it('a silent parent changes nothing', async () => {
  said = 'timeout';
  await ended('shop.example.', 2);
  await until(async () => (await dueIn('shop.example.')) === 1, 'the name was looked at');
  expect(await sightings()).toEqual([]);
});

it('a name that is a domain’s again is looked at by that domain’s checks alone', async () => {
  said = 'referral ns1.example.net';
  await newDomain(database.db, me, 'shop.example.');
  await ended('shop.example.', 2);
  await until(async () => (await dueIn('shop.example.')) === 1, 'the name was passed over');
  expect(asked).toEqual([]);
});
