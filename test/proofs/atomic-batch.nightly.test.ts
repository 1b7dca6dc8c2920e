// A batch is done whole or not at all, also when the API process is killed at any moment of it; and what was
// acknowledged is there. Every batch moves all records of a domain from one generation to the next.

import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { checkPublished } from '../../src/store/housekeeping/check-published.ts';
import { loadZone } from '../../src/store/zones/load-zones.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';

const ITEMS = scale(10_000, 1000);
const KILLS = scale(50, 3);
const DOMAIN = 'all-or-nothing.com';
const RECORDS = `/domains/${DOMAIN}/records/`;
const QUARTER = ITEMS / 4;
/** A quarter of the items each: updates, replacements, deletes and creates of the same names. */
const NAMES = 3 * QUARTER;

let database: TestDatabase;
let api: ApiProcess | undefined;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(async () => {
  await api?.stop('SIGKILL');
  await database?.drop();
});

const address = (generation: number): string => `10.0.${generation >> 8}.${generation & 255}`;

function batchOf(generation: number, ids: ReadonlyMap<string, number>): object {
  const destination = address(generation);
  const names = (from: number) => Array.from({ length: QUARTER }, (_, i) => `h${from + i}`);
  return {
    update: names(0).map((name) => ({ id: ids.get(name), destination })),
    replace: names(QUARTER).map((name) => ({ name, type: 'A', records: [{ destination }] })),
    delete: names(2 * QUARTER).map((name) => ids.get(name)),
    create: names(2 * QUARTER).map((name) => ({ name, type: 'A', destination })),
  };
}

async function idsByName(): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: number; name: string }>`
    select id, split_part(name, '.', 1) as name from records where not managed`.execute(database.db);
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** Until Postgres has ended what the killed process had begun. */
async function untilQuiet(): Promise<void> {
  await until(
    async () => {
      const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and application_name = 'zonefleet' and state <> 'idle'`.execute(database.db);
      return rows.length === 0;
    },
    'no transaction of the killed process runs',
    60_000,
  );
}

/** The one generation that all records are of, in the customer's view and in the published one. */
async function generationOf(domainId: number): Promise<number> {
  const held = await sql<{ destination: string; count: number }>`
    select destination, count(*) as count from records where not managed group by destination`.execute(
    database.db,
  );
  expect(held.rows.map(({ count }) => count)).toEqual([NAMES]);
  const zone = await loadZone(database.db, parseName(`${DOMAIN}.`));
  const published = (zone?.records ?? []).filter(({ type }) => type === TYPE.A);
  const addresses = new Set(published.map(({ rdata }) => rdata.join('.')));
  expect(new Set(published.map(({ owner }) => printName(owner))).size).toBe(NAMES);
  expect([...addresses]).toEqual([held.rows[0]?.destination]);
  expect(await checkPublished(database.db, domainId)).toEqual([]);
  const [, , high, low] = (held.rows[0]?.destination as string).split('.').map(Number) as number[];
  return ((high as number) << 8) | (low as number);
}

test(`batches of ${ITEMS} items survive ${KILLS} kills of the API`, async () => {
  api = await startApi(database.url);
  const { key } = api;
  const made = await api.ask('POST', '/domains/', { name: DOMAIN, scan: false });
  const domainId = made.body.id as number;
  const create = Array.from({ length: NAMES }, (_, i) => ({
    name: `h${i}`,
    type: 'A',
    destination: address(0),
  }));
  expect((await api.ask('PUT', `${RECORDS}batch`, { create })).status).toBe(200);

  let generation = 0;
  let batchMs = 2_000;
  let changes = 2;
  const outcomes = { acknowledged: 0, done: 0, undone: 0 };
  for (let kill = 0; kill < KILLS; kill++) {
    api ??= await startApi(database.url, { key });
    const running = api;
    let ids = await idsByName();
    const killing = pause(Math.random() * 2 * batchMs).then(() => running.stop('SIGKILL'));
    let acknowledged = generation;
    for (;;) {
      const startedMs = performance.now();
      const answer = await running
        .ask('PUT', `${RECORDS}batch`, batchOf(acknowledged + 1, ids))
        .catch(() => undefined);
      if (answer === undefined) break;
      expect([answer.status, answer.body.serial]).toEqual([200, changes + acknowledged + 1 - generation]);
      acknowledged++;
      outcomes.acknowledged++;
      batchMs = (batchMs + performance.now() - startedMs) / 2;
      ids = await idsByName();
    }
    await killing;
    api = undefined;
    await untilQuiet();
    const found = await generationOf(domainId);
    // the batch that was not answered is there whole, or not at all; the acknowledged ones are
    expect([acknowledged, acknowledged + 1]).toContain(found);
    if (found === acknowledged) outcomes.undone++;
    else outcomes.done++;
    const { rows } = await sql<{ serial: number; changes: number }>`
      select d.serial, (select count(*) from domain_changes c where c.domain_id = d.id) as changes
      from domains d where d.id = ${domainId}`.execute(database.db);
    changes += found - generation;
    expect(rows).toEqual([{ serial: changes, changes }]);
    generation = found;
  }
  const { acknowledged, done, undone } = outcomes;
  console.info(
    `${KILLS} kills, batches of ${ITEMS} items in ${batchMs.toFixed(0)} ms: ${acknowledged} acknowledged and there; ` +
      `of the interrupted ones ${done} there whole, ${undone} not at all`,
  );
});
