// The subscriptions of a domain: its own, which has not ended, and those before it.

import { sql } from 'kysely';
import type { Overrides } from '../../billing/entitlements.ts';
import type { SubscriptionState } from '../../billing/subscription.ts';
import type { Database } from '../postgres/database.ts';
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
  /** The account is a reseller's client. */
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

/** The own subscriptions of these domains, by domain. */
export async function ownSubscriptions(
  db: Database,
  domainIds: readonly number[],
): Promise<Map<number, Subscription>> {
  const { rows } = await sql<Subscription>`
    select ${SHOWN} from ${TABLES}
    where s.domain_id = any(${domainIds}::bigint[]) and s.ended_at is null`.execute(db);
  return new Map(rows.map((row) => [row.domainId, row]));
}
