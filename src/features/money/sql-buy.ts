// Buys a term of a plan for a domain.

import { sql } from 'kysely';
import { type BuyKind, type EndedSubscription, judgeBuying } from '../../billing/buy-term.ts';
import { type GivenBack, giveBackOf, type PaidPeriod } from '../../billing/give-back.ts';
import { describeTerm } from '../../billing/invoice.ts';
import { type Above, aboveLimits, cacheCapUnder } from '../../billing/limits-in-use.ts';
import type { Term } from '../../billing/subscription.ts';
import { PLAN_JSON, type Plan, TERM_JSON } from '../../store/accounts/plans.ts';
import {
  ownSubscriptions,
  type Subscription,
  startSubscription,
  stopSubscription,
} from '../../store/accounts/subscriptions.ts';
import { type DomainLock, isGone, lockDomain } from '../../store/change/lock-domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { announceAfterCommit, inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { countRulesByType } from '../../store/rules/load-rules.ts';
import { type Charged, type Charging, chargePurchase, lockPayers } from './sql-charge.ts';
import { creditUnused } from './sql-wallet.ts';

interface BuyOrder extends Charging {
  readonly kind: BuyKind;
  readonly domainId: number;
  /** The account that ordered it, and pays. The domain must still belong to it. */
  readonly ownerId: number;
  readonly termId: number;
  /** Default true. */
  readonly autoRenew?: boolean | undefined;
  /** Default now. */
  readonly at?: Date;
}

export type Bought =
  | {
      readonly kind: 'bought';
      readonly before: Subscription | undefined;
      readonly subscription: Subscription;
      /** Undefined if the term is free. */
      readonly invoiceId: number | undefined;
    }
  | { readonly kind: 'absent' }
  /** Nothing is written. */
  | { readonly kind: 'unknown_term' | 'short' | 'credit_limit' | 'wrong_state'; readonly message: string }
  | { readonly kind: 'above_limits'; readonly message: string; readonly above: readonly Above[] };

export async function buyTerm(db: Database, order: BuyOrder): Promise<Bought> {
  const { domainId, termId, autoRenew = true, kind, seller = '' } = order;
  return await inTransaction<Bought>(db, async (trx) => {
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined || isGone(lock, order)) return { kind: 'absent' };
    const { accountId } = lock.row;
    const at = order.at ?? lock.now;
    if (await isBoughtOften(trx, domainId, at)) return { kind: 'wrong_state', message: TOO_OFTEN };
    const sold = await findTerm(trx, termId);
    if (sold === undefined) return { kind: 'unknown_term', message: `no plan has a term ${termId} on sale` };
    const { plan, term } = sold;
    const own = (await ownSubscriptions(trx, [domainId])).get(domainId);
    const buying = judgeBuying(own, { kind, term, at, lastPaid: await lastPaid(trx, domainId) });
    if (buying.kind === 'refused') return { kind: 'wrong_state', message: buying.message };
    const above = aboveLimits(plan, await inUse(trx, lock));
    if (above.length > 0) return { kind: 'above_limits', message: tooMuch(plan, above), above };

    const back = kind === 'switch' && own !== undefined ? await unusedOf(trx, own, accountId, at) : NOTHING;
    const payers = await lockPayers(trx, [accountId], [...back.funders.keys()]);
    const domain = lock.row.name.replace(/\.$/, '');
    if (own !== undefined && back.totalRials > 0) {
      const description = `Unused time of ${own.plan.name}: ${domain}`;
      const about = { accountId, domainId, subscriptionId: own.id };
      await creditUnused(trx, { ...back, ...about, description, seller, at });
    }
    await stopSubscription(trx, domainId, at);
    await startSubscription(trx, {
      domainId,
      accountId,
      planId: plan.id,
      termId,
      autoRenew,
      at: buying.start,
    });
    await trx
      .updateTable('domains')
      .set({
        plan_id: plan.id,
        plan_overrides: null,
        cache_cap_mb: cacheCapUnder(plan, lock.row.cacheCapMb),
        updated_at: lock.now,
      })
      .where('id', '=', domainId)
      .execute();
    const subscription = (await ownSubscriptions(trx, [domainId])).get(domainId) as Subscription;
    let invoiceId: number | undefined;
    if (term.priceRials > 0) {
      const charged = await chargePurchase(
        trx,
        {
          accountId,
          subscriptionId: subscription.id,
          domainId,
          priceRials: term.priceRials,
          description: describeTerm({ planName: plan.name, days: term.days, domain }),
          period: { start: buying.start, end: buying.end },
          at,
        },
        payers,
        order,
      );
      if (charged.kind !== 'paid') rollBackTo(unpaid(charged.kind));
      else ({ invoiceId } = charged);
    }
    announceAfterCommit(trx); // edges receive the features of the new plan
    return { kind: 'bought', before: own, subscription, invoiceId };
  });
}

/** Limited, because purchases and credits are never deleted, and switching immediately costs almost nothing. */
const MOST_A_DAY = 100;
const TOO_OFTEN = `the domain started ${MOST_A_DAY} subscriptions within a day: try again later`;

async function isBoughtOften(trx: Database, domainId: number, at: Date): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select started_at from subscriptions where domain_id = ${domainId} order by id desc limit ${MOST_A_DAY}) last
    where started_at > ${at}::timestamptz - interval '1 day'`.execute(trx);
  return (rows[0]?.count ?? 0) >= MOST_A_DAY;
}

/** Returns undefined if the term does not exist, or if it is no longer on sale. */
async function findTerm(
  trx: Database,
  termId: number,
): Promise<{ readonly plan: Plan; readonly term: Term } | undefined> {
  const { rows } = await sql<{ plan: Plan; term: Term }>`
    select ${PLAN_JSON} as plan, ${TERM_JSON} as term from plan_terms t join plans p on p.id = t.plan_id
    where t.id = ${termId} and t.retired_at is null`.execute(trx);
  return rows[0];
}

async function inUse(trx: Database, { row }: DomainLock) {
  const { rows } = await sql<{ own: boolean }>`
    select exists (select from certificates where domain_id = ${row.id} and kind = 'custom') as own`.execute(
    trx,
  );
  return {
    records: row.recordCount,
    rules: await countRulesByType(trx, row.id),
    cacheCapMb: row.cacheCapMb,
    hasOwnCertificate: rows[0]?.own === true,
  };
}

function tooMuch({ slug }: Plan, above: readonly Above[]): string {
  const each = above.map(({ what, used, allowed }) => `${what} ${used} of ${allowed}`);
  return `the domain uses more than the plan "${slug}" allows: ${each.join(', ')}`;
}

const NOTHING: GivenBack = { totalRials: 0, funders: new Map() };

/** Counts only what this account paid for this subscription. A plan that an operator granted has no value. */
async function unusedOf(trx: Database, own: Subscription, accountId: number, at: Date): Promise<GivenBack> {
  const { rows } = await sql<PaidPeriod>`
    select total_rials as "paidRials", period_start as start, period_end as "end", funded_by as "fundedBy",
      funded_rials as "fundedRials"
    from invoices
    where subscription_id = ${own.id} and account_id = ${accountId} and period_end > ${at} order by id`.execute(
    trx,
  );
  return giveBackOf(rows, at);
}

/** Returns undefined if nothing was bought, or if the last bought subscription has not ended. */
async function lastPaid(trx: Database, domainId: number): Promise<EndedSubscription | undefined> {
  const { rows } = await sql<{ expiresAt: Date; endedAt: Date | null }>`
    select s.expires_at as "expiresAt", s.ended_at as "endedAt"
    from subscriptions s join plan_terms t on t.id = s.term_id
    where s.domain_id = ${domainId} and t.price_rials > 0 order by s.id desc limit 1`.execute(trx);
  const [last] = rows;
  return last?.endedAt == null ? undefined : { expiresAt: last.expiresAt, endedAt: last.endedAt };
}

function unpaid(kind: Exclude<Charged['kind'], 'paid'>): Bought {
  return kind === 'short'
    ? { kind, message: 'the balance of the wallet is too low' }
    : { kind, message: "the reseller's wallet may not go that far below zero: top it up" };
}
