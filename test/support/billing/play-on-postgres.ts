// Plays random histories of many domains' subscriptions on Postgres, by the operator's commands and the workers' rounds
// with a moved clock and a wallet, and says where they differ from the model.

import { sql } from 'kysely';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { listSubscriptions } from '../../../src/store/accounts/subscriptions.ts';
import { moveSubscriptions } from '../../../src/store/change/move-subscriptions.ts';
import { cancelSubscription, setPlan } from '../../../src/store/change/set-plan.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { newDomain } from '../database/domains.ts';
import { randomOf } from './random.ts';
import { ModelDomain } from './subscription-model.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const GAPS = [60_000, DAY / 2, DAY, 2 * DAY, 2.9 * DAY, 3 * DAY, 7 * DAY, 30 * DAY, 150 * DAY];
const DAYS = [1, 3, 7, 30];
const WORKERS = 3;

interface Play {
  readonly domains: number;
  readonly rounds: number;
  readonly seed: number;
}

interface Player {
  readonly domainId: number;
  readonly accountId: number;
  readonly model: ModelDomain;
}

export async function playOnPostgres(db: Database, { domains, rounds, seed }: Play): Promise<string[]> {
  const random = randomOf(seed);
  const terms = await makeTerms(db);
  const players: Player[] = [];
  for (let i = 0; i < domains; i++) players.push(await begin(db, i));
  const byAccount = new Map(players.map((player) => [player.accountId, player.model]));
  const charged = new Map<number, number>();
  const money = new Map<number, number>();
  const wallet = {
    async lock() {
      return async ({ accountId, priceRials }: { accountId: number; priceRials: number }) => {
        const left = money.get(accountId) ?? 0;
        if (left < priceRials) return false;
        money.set(accountId, left - priceRials);
        charged.set(accountId, (charged.get(accountId) ?? 0) + priceRials);
        return true;
      };
    },
  };
  let now = START;
  const differences: string[] = [];
  for (let round = 0; round < rounds && differences.length === 0; round++) {
    now += (GAPS[random(GAPS.length)] as number) - random(2);
    for (const player of players) {
      if (random(4) > 0) continue;
      await act(db, player, { now, random, terms });
      if (random(2) > 0) continue;
      const amount = 100 * random(60);
      player.model.money += amount;
      money.set(player.accountId, (money.get(player.accountId) ?? 0) + amount);
    }
    const at = new Date(now);
    await Promise.all(Array.from({ length: WORKERS }, () => moveAll(db, at, wallet)));
    for (const { model } of players) model.visit(now);
    for (const player of players) {
      const difference = await compare(db, player);
      if (difference !== undefined) differences.push(`round ${round}: ${difference}`);
    }
    for (const [accountId, spent] of charged) {
      const wanted = byAccount.get(accountId)?.spent;
      if (spent !== wanted)
        differences.push(`round ${round}: account ${accountId} paid ${spent}, not ${wanted}`);
    }
  }
  return differences;
}

async function moveAll(db: Database, at: Date, wallet: Parameters<typeof moveSubscriptions>[1]['wallet']) {
  // A worker that finds nothing may have been beside one that holds what is left.
  for (let idle = 0; idle < 3; ) {
    const { isMore, ...moved } = await moveSubscriptions(db, { at, wallet, limit: 7 });
    idle = isMore || Object.values(moved).some((count) => count > 0) ? 0 : idle + 1;
  }
}

async function makeTerms(db: Database): Promise<{ id: number; days: number; priceRials: number }[]> {
  for (const days of DAYS) await addTerm(db, 'pro', { days, priceRials: 100 * days });
  return [...((await addTerm(db, 'pro', { days: 5, priceRials: 0 }))?.terms ?? [])];
}

async function begin(db: Database, i: number): Promise<Player> {
  const created = await createAccount(db, { email: `player${i}@play.test` });
  if (created.kind !== 'created') throw new Error(created.message);
  const { id: accountId } = created.account;
  const { id: domainId } = await newDomain(db, accountId, `player${i}.test.`, { planSlug: 'free' });
  const model = new ModelDomain();
  model.begin(START, 'free', { days: 30, price: 0 });
  await sql`
    update subscriptions set started_at = ${new Date(START)}, expires_at = ${new Date(START + 30 * DAY)},
      due_at = ${new Date(START + 27 * DAY)} where domain_id = ${domainId}`.execute(db);
  return { domainId, accountId, model };
}

async function act(
  db: Database,
  { domainId, model }: Player,
  {
    now,
    random,
    terms,
  }: {
    now: number;
    random: (most: number) => number;
    terms: readonly { id: number; days: number; priceRials: number }[];
  },
): Promise<void> {
  const at = new Date(now);
  const planSlug = model.own.plan;
  switch (random(5)) {
    case 0:
      model.cancel();
      await cancelSubscription(db, { domainId, at });
      return;
    case 1: {
      const autoRenew = random(2) === 0;
      model.setRenews(autoRenew);
      await setPlan(db, { domainId, planSlug, autoRenew, at });
      return;
    }
    case 2:
      model.give(now, 'free', null);
      await setPlan(db, { domainId, planSlug: 'free', at });
      return;
    default: {
      const term = terms[random(terms.length)] as (typeof terms)[number];
      model.give(now, 'pro', { days: term.days, price: term.priceRials });
      await setPlan(db, { domainId, planSlug: 'pro', termId: term.id, at });
    }
  }
}

async function compare(db: Database, { domainId, model }: Player): Promise<string | undefined> {
  const stored = (await listSubscriptions(db, domainId)).reverse();
  const came = stored.map(({ plan, status, startedAt, expiresAt, graceUntil, endedAt, autoRenew }) =>
    [plan.slug, status, ms(startedAt), ms(expiresAt), ms(graceUntil), ms(endedAt), autoRenew].join(' '),
  );
  const wanted = model.history.map(({ plan, status, from, until, graceUntil, over, renews }) =>
    [plan, status, from, until, graceUntil, over, renews].join(' '),
  );
  const domain = await db
    .selectFrom('domains')
    .innerJoin('plans', 'plans.id', 'domains.plan_id')
    .select('slug')
    .where('domains.id', '=', domainId)
    .executeTakeFirst();
  if (domain?.slug !== model.own.plan)
    return `domain ${domainId} has the plan ${domain?.slug}, not ${model.own.plan}`;
  if (String(came) === String(wanted)) return undefined;
  return `domain ${domainId}: expected ${wanted.join(', ')}, not ${came.join(', ')}`;
}

function ms(at: Date | null): number | null {
  return at === null ? null : at.getTime();
}
