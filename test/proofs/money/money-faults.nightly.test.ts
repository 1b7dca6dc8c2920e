// Money while processes die: 32 clients buy, switch and top up, and resellers move money to and from
// their clients and buy for them, through API processes that are killed, and Postgres is
// restarted. Each call is repeated with its Idempotency-Key until it is answered, and happens once: the sums are those of
// what was acknowledged, and each key answers later what it answered first.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningPostgres, startPostgres } from '../../../src/start/postgres/postgres.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { type Buyer, makeBuyers, sellTwoTerms, sessionOf } from '../../support/billing/buyers.ts';
import { unsound } from '../../support/billing/compare-money.ts';
import { randomOf } from '../../support/billing/random.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import { newAccount } from '../../support/database/domains.ts';
import { ApiFleet, type Asked, type FleetAnswer } from '../../support/processes/api-fleet.ts';
import { scale } from '../../support/tests/scale.ts';

const CLIENTS = 32;
const WALLETS = 50;
const DOMAINS = 4;
const LASTS_MS = scale(60_000, 12_000);
const LEAST = scale(5000, 200);
const KILL_EVERY_MS = 5000;
const MOST_OWED = 20_000;
const TOPUP = 10_000;

let directory: string;
let postgres: RunningPostgres;
let db: Database;
let fleet: ApiFleet;
let buyers: Buyer[];
let terms: readonly [number, number];
let admin: string;

/** What was answered with 200, with what asked for it. */
const done: { readonly asked: Asked; readonly answer: FleetAnswer; readonly kind: string }[] = [];
const refused: number[] = [];
let failures = 0;
let keys = 0;

const cluster = () => startPostgres({ directory: join(directory, 'postgres'), parameters: { fsync: 'off' } });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'zf-money-'));
  await chmod(directory, 0o711); // for the unprivileged user that root's Postgres runs as
  postgres = await cluster();
  db = openDatabase(postgres.url, { onError: () => {} });
  await migrate(db, TEST_SETTINGS);
  terms = await sellTwoTerms(db);
  buyers = await makeBuyers(db, { count: WALLETS, domains: DOMAINS, rials: 30_000, managed: true });
  admin = await sessionOf(db, await newAccount(db, 'admin@buy.test', true));
  fleet = await ApiFleet.start(postgres.url, 2, { RESELLER_MAX_NEGATIVE_RIALS: String(MOST_OWED) });
});
afterAll(async () => {
  await fleet?.stop();
  await db?.destroy();
  await postgres?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function ask(kind: string, asked: Omit<Asked, 'method' | 'key'>): Promise<FleetAnswer> {
  const whole = { ...asked, method: 'POST', key: `key-${++keys}` };
  const answer = await fleet.ask(whole);
  failures += answer.failures;
  if (answer.status === 200) done.push({ kind, asked: whole, answer });
  else refused.push(answer.status);
  return answer;
}

async function buy({ token, domains }: Buyer, random: (most: number) => number): Promise<void> {
  const path = `/domains/${domains[random(DOMAINS)]}/subscriptions`;
  const body = { plan_term_id: terms[random(2)] };
  const switched = await ask('buy', { token, path: `${path}/switch`, body });
  if (switched.status !== 200) await ask('buy', { token, path: `${path}/purchase`, body });
}

/** The customer orders it, and an operator sees the money. */
async function topUp({ token }: Buyer): Promise<void> {
  const ordered = await ask('order', { token, path: '/wallet/topup', body: { amount_rials: TOPUP } });
  if (ordered.status !== 200) return;
  await ask('topup', { token: admin, path: `/admin/payments/${ordered.body.id}/confirm`, body: {} });
}

/** Its reseller moves money both ways, and buys a service with what the client lacks, or changes it. */
async function manage(clientId: number, domainId: number, token: string, random: (most: number) => number) {
  const at = '/reseller/v1';
  const what = random(5);
  if (what === 0) {
    const body = { plan_term_id: terms[random(2)] };
    await ask('change', { token, path: `${at}/services/${domainId}/change-plan`, body });
  } else {
    const path = `${at}/clients/${clientId}/${what > 2 ? 'credit' : 'debit'}`;
    await ask('transfer', { token, path, body: { amount_rials: 1 + random(2000), description: 'moved' } });
  }
}

async function client(seed: number, isOver: () => boolean): Promise<void> {
  const random = randomOf(seed);
  while (!isOver()) {
    const buyer = buyers[random(WALLETS)] as Buyer;
    const { accountId, domainIds, provider } = buyer;
    if (provider !== undefined)
      await manage(accountId, domainIds[random(DOMAINS)] as number, provider.token, random);
    else if (random(4) === 0) await topUp(buyer);
    else await buy(buyer, random);
  }
}

async function restartPostgres(): Promise<void> {
  await postgres.stop();
  postgres = await cluster();
}

it('each acknowledged call happened once, whatever died meanwhile', async () => {
  const begun = performance.now();
  const lasted = () => performance.now() - begun;
  let isOver = false;
  const over = () => isOver;
  const faults = (async () => {
    let restarts = 0;
    while (lasted() < LASTS_MS || done.length < LEAST) {
      await pause(KILL_EVERY_MS);
      await fleet.kill();
      if (restarts < 2 && lasted() > (LASTS_MS / 3) * (restarts + 1)) {
        restarts++;
        await restartPostgres();
      }
    }
    while (restarts++ < 2) await restartPostgres();
    isOver = true;
  })();
  await Promise.all([faults, ...Array.from({ length: CLIENTS }, (_, i) => client(i + 1, over))]);
  const seconds = Math.round(lasted() / 1000);
  expect(done.length).toBeGreaterThanOrEqual(LEAST);
  expect([fleet.kills > 0, failures > 0]).toEqual([true, true]);
  const kinds = new Set(done.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual(['buy', 'change', 'order', 'topup', 'transfer']);

  expect(await unsound(db)).toEqual([]);
  const { rows } = await sql<{ account: number; balance: number }>`
    select account_id as account, balance_rials as balance from wallets`.execute(db);
  const resellers = new Set(buyers.filter(({ isReseller }) => isReseller).map(({ accountId }) => accountId));
  const tooLow = rows.filter(({ account, balance }) => balance < (resellers.has(account) ? -MOST_OWED : 0));
  expect(tooLow).toEqual([]);
  expect(await counted()).toEqual({
    bought: done.filter(({ kind }) => kind === 'buy' || kind === 'change').length,
    transferred: done.filter(({ kind }) => kind === 'transfer').length,
    ordered: done.filter(({ kind }) => kind === 'order').length,
    toppedUp: done.filter(({ kind }) => kind === 'topup').length * TOPUP,
  });

  const wrong: string[] = [];
  const left = [...done];
  const replay = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      let answer = await fleet.ask(next.asked);
      // the operator's confirmations are of one account, and are asked faster than they were at first
      while (answer.status === 429) {
        await pause(1000);
        answer = await fleet.ask(next.asked);
      }
      const { status, body, isReplay } = answer;
      const isSame = JSON.stringify(body) === JSON.stringify(next.answer.body);
      if (status !== 200 || !isReplay || !isSame)
        wrong.push(`${next.asked.path} ${next.asked.key}: ${status}`);
    }
  };
  const before = await counted();
  await Promise.all(Array.from({ length: 8 }, replay));
  expect(wrong).toEqual([]);
  expect(await counted()).toEqual(before);
  const figures = Object.fromEntries(
    [...kinds].map((kind) => [kind, done.filter((d) => d.kind === kind).length]),
  );
  const { kills } = fleet;
  console.info(
    JSON.stringify({
      acknowledged: done.length,
      ...figures,
      kills,
      failures,
      refused: refused.length,
      seconds,
    }),
  );
});

async function counted() {
  const { rows } = await sql`
    select (select count(*)::integer from ledger where ref_type = 'subscription' and account_id is not null) as bought,
      (select count(*)::integer / 2 from ledger where ref_type = 'reseller_transfer') as transferred,
      (select count(*)::integer from payments) as ordered,
      (select coalesce(sum(amount_rials), 0)::bigint from ledger where ref_type = 'topup' and account_id is not null) as "toppedUp"`.execute(
    db,
  );
  return rows[0];
}
