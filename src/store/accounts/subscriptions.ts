// Subscriptions of a domain. Functions that start or end one require the lock of its row, and set the domain's plan.

import { type RawBuilder, sql } from 'kysely';
import type { Overrides } from '../../billing/entitlements.ts';
import {
  beginSubscription,
  beginTrial,
  nextSubscription,
  type SubscriptionState,
  type Term,
} from '../../billing/subscription.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import { PLAN_JSON, type Plan, TERM_JSON } from './plans.ts';

export interface DueSubscription extends SubscriptionState {
  readonly id: number;
  readonly accountId: number;
  readonly domainId: number;
  readonly plan: Plan;
  readonly overrides: Overrides | null;
  readonly startedAt: Date;
  readonly quotaResetDays: number;
}

export interface Subscription extends DueSubscription {
  /** True if the account is a reseller's client. */
  readonly isManaged: boolean;
}

export const SUBSCRIPTION_COLUMNS = sql`s.id, s.account_id as "accountId", s.domain_id as "domainId",
  ${PLAN_JSON} as plan, ${TERM_JSON} as term, s.overrides, s.status, s.started_at as "startedAt",
  s.expires_at as "expiresAt", s.grace_until as "graceUntil", s.ended_at as "endedAt",
  s.auto_renew as "autoRenew", s.quota_reset_days as "quotaResetDays", s.is_trial as "isTrial",
  s.charge_tried_at as "chargeTriedAt"`;

const SHOWN = sql`${SUBSCRIPTION_COLUMNS}, a.provider_id is not null as "isManaged"`;

const TABLES = sql`subscriptions s join plans p on p.id = s.plan_id join accounts a on a.id = s.account_id
  left join plan_terms t on t.id = s.term_id`;

/** Lists subscriptions, newest first. */
export async function listSubscriptions(db: Database, domainId: number): Promise<Subscription[]> {
  const { rows } = await sql<Subscription>`
    select ${SHOWN} from ${TABLES}
    where s.domain_id = ${domainId} order by s.id desc`.execute(db);
  return rows;
}

export async function loadSubscription(
  db: Database,
  domainId: number,
  id: number,
): Promise<Subscription | undefined> {
  const { rows } = await sql<Subscription>`
    select ${SHOWN} from ${TABLES}
    where s.domain_id = ${domainId} and s.id = ${id}`.execute(db);
  return rows[0];
}

/** Loads the current subscriptions of these domains, by domain id. */
export async function ownSubscriptions(
  db: Database,
  domainIds: readonly number[],
): Promise<Map<number, Subscription>> {
  const { rows } = await sql<Subscription>`
    select ${SHOWN} from ${TABLES}
    where s.domain_id = any(${domainIds}::bigint[]) and s.ended_at is null`.execute(db);
  return new Map(rows.map((row) => [row.domainId, row]));
}

interface NewSubscription {
  readonly domainId: number;
  readonly accountId: number;
  readonly planId: number;
  /** Defaults to now. */
  readonly at?: Date;
  /** A term of this plan. Defaults to the first free term; without one, the subscription does not expire. */
  readonly termId?: number;
  readonly autoRenew?: boolean;
  readonly trialDays?: number;
  readonly overrides?: Overrides | null;
}

/** Returns false and writes nothing if the plan has no such term. */
export async function startSubscription(trx: Database, wanted: NewSubscription): Promise<boolean> {
  const start = await loadStartOfPlan(trx, wanted);
  if (wanted.termId !== undefined && start.term === null) return false;
  await sendWithNext(trx, subscriptionInsert(wanted, start));
  return true;
}

/** Returns a part of a WITH that starts the subscription. */
export function subscriptionWritten(
  wanted: Omit<NewSubscription, 'termId'>,
  start: TimedStart,
): RawBuilder<unknown> {
  return sql`subscription as (${subscriptionInsert(wanted, start)})`;
}

export interface StartOfPlan {
  readonly quotaResetDays: number;
  readonly term: Term | null;
}

interface TimedStart extends StartOfPlan {
  readonly now: Date;
}

async function loadStartOfPlan(
  trx: Database,
  { planId, termId }: Pick<NewSubscription, 'planId' | 'termId'>,
): Promise<TimedStart> {
  const { rows } = await sql<{ now: Date; start: StartOfPlan }>`
    select ${TIME} as now, ${startOfPlan(sql`${planId}`, termId)} as start`.execute(trx);
  const { now, start } = rows[0] as (typeof rows)[0];
  return { now, ...start };
}

/** Selects what `startSubscription` needs; null if there is no plan. */
export function startOfPlan(
  planId: RawBuilder<unknown>,
  termId: number | null = null,
): RawBuilder<StartOfPlan | null> {
  return sql`(
    select json_build_object('quotaResetDays', p.quota_reset_days, 'term', (
      select ${TERM_JSON} from plan_terms t
      where t.plan_id = p.id and t.retired_at is null
        and ${termId === null ? sql`t.price_rials = 0` : sql`t.id = ${termId}`}
      order by t.id limit 1))
    from plans p where p.id = ${planId})`;
}

function subscriptionInsert(
  { domainId, accountId, planId, at: startedAt, overrides = null, trialDays, autoRenew }: NewSubscription,
  { now, quotaResetDays, term }: TimedStart,
): RawBuilder<unknown> {
  const at = startedAt ?? now;
  const state =
    trialDays === undefined
      ? beginSubscription(at, term, { ...(autoRenew !== undefined && { autoRenew }) })
      : beginTrial(at, trialDays);
  const columns = columnsOf(state, at);
  return sql`
    insert into subscriptions (domain_id, account_id, plan_id, started_at, quota_reset_days, overrides,
      ${sql.join(Object.keys(columns).map((name) => sql.ref(name)))})
    values (${domainId}, ${accountId}, ${planId}, ${at}, ${quotaResetDays},
      ${overrides === null ? null : JSON.stringify(overrides)}::jsonb, ${sql.join(Object.values(columns))})`;
}

/** @param at the time from which `due_at` is computed */
function columnsOf(state: SubscriptionState, at: Date) {
  const step = nextSubscription(state, at);
  return {
    status: state.status,
    term_id: state.term?.id ?? null,
    expires_at: state.expiresAt,
    grace_until: state.graceUntil,
    ended_at: state.endedAt,
    auto_renew: state.autoRenew,
    is_trial: state.isTrial,
    charge_tried_at: state.chargeTriedAt,
    due_at: step.kind === 'wait' ? step.dueAt : at,
  };
}

export async function saveSubscription(
  trx: Database,
  id: number,
  state: SubscriptionState,
  at: Date,
): Promise<void> {
  await trx.updateTable('subscriptions').set(columnsOf(state, at)).where('id', '=', id).execute();
}

/** Ends the domain's current subscription, if it has one. */
export async function stopSubscription(trx: Database, domainId: number, at: Date): Promise<void> {
  await sql`
    update subscriptions set status = 'cancelled', expires_at = least(expires_at, ${at}::timestamptz),
      ended_at = ${at}, auto_renew = false, due_at = null
    where domain_id = ${domainId} and ended_at is null`.execute(trx);
}

/** For a deleted domain: the subscription keeps its dates, but workers no longer process it. */
export async function pauseSubscription(trx: Database, domainId: number): Promise<void> {
  await sql`
    update subscriptions set due_at = null where domain_id = ${domainId} and ended_at is null`.execute(trx);
}

/** Makes workers catch up on what was due for a restored domain. Returns false if the domain has no subscription. */
export async function resumeSubscription(trx: Database, domainId: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update subscriptions set due_at = case when expires_at is not null then clock_timestamp() end
    where domain_id = ${domainId} and ended_at is null`.execute(trx);
  return numAffectedRows === 1n;
}
