// Plans, and what a domain may do under its plan.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** A plan; null in a field means no limit. */
export interface Plan {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly maxRecords: number | null;
  /** The most domains of an account with this plan. */
  readonly maxDomains: number | null;
  readonly maxTrafficGb: number | null;
  readonly maxRulesPerSet: number | null;
  readonly maxCacheCapMb: number;
  readonly logsEnabled: boolean;
  readonly monitoringEnabled: boolean;
  readonly rulesEnabled: boolean;
  readonly cachePurgeEnabled: boolean;
  readonly customSslEnabled: boolean;
  readonly wsEnabled: boolean;
  readonly hostHeaderEditEnabled: boolean;
  readonly dedicatedSupportEnabled: boolean;
  readonly termId: number;
  readonly billingDurationDays: number;
  readonly quotaResetDays: number;
}

export interface Subscription {
  readonly id: number;
  readonly accountId: number;
  readonly domainId: number;
  readonly plan: Plan;
  readonly status: 'active' | 'expired' | 'grace' | 'cancelled';
  readonly startedAt: Date;
  readonly expiresAt: Date | null;
  readonly graceUntil: Date | null;
  readonly autoRenew: boolean;
  readonly quotaResetDays: number;
  readonly isTrial: boolean;
}

/** A plan as a JSON object in SQL, in our field names. `p` is the table. */
export const PLAN_JSON = sql`jsonb_build_object('id', p.id, 'slug', p.slug, 'name', p.name,
  'maxRecords', p.max_records, 'maxDomains', p.max_domains, 'maxTrafficGb', p.max_traffic_gb, 'maxRulesPerSet', p.max_rules_per_set,
  'maxCacheCapMb', p.max_cache_cap_mb, 'logsEnabled', p.logs_enabled,
  'monitoringEnabled', p.monitoring_enabled, 'rulesEnabled', p.rules_enabled,
  'cachePurgeEnabled', p.cache_purge_enabled, 'customSslEnabled', p.custom_ssl_enabled,
  'wsEnabled', p.ws_enabled, 'hostHeaderEditEnabled', p.host_header_edit_enabled,
  'dedicatedSupportEnabled', p.dedicated_support_enabled, 'termId', p.term_id,
  'billingDurationDays', p.billing_duration_days, 'quotaResetDays', p.quota_reset_days)`;

const SUBSCRIPTION = sql`s.id, s.account_id as "accountId", s.domain_id as "domainId", ${PLAN_JSON} as plan, s.status,
  s.started_at as "startedAt", s.expires_at as "expiresAt", s.grace_until as "graceUntil",
  s.auto_renew as "autoRenew", s.quota_reset_days as "quotaResetDays", s.is_trial as "isTrial"`;

/** Lists subscriptions, newest first. */
export async function listSubscriptions(db: Database, domainId: number): Promise<Subscription[]> {
  const { rows } = await sql<Subscription>`
    select ${SUBSCRIPTION} from subscriptions s join plans p on p.id = s.plan_id
    where s.domain_id = ${domainId} order by s.id desc`.execute(db);
  return rows;
}

export async function loadSubscription(
  db: Database,
  domainId: number,
  id: number,
): Promise<Subscription | undefined> {
  const { rows } = await sql<Subscription>`
    select ${SUBSCRIPTION} from subscriptions s join plans p on p.id = s.plan_id
    where s.domain_id = ${domainId} and s.id = ${id}`.execute(db);
  return rows[0];
}

/** The active subscriptions of these domains, by domain. */
export async function activeSubscriptions(
  db: Database,
  domainIds: readonly number[],
): Promise<Map<number, Subscription>> {
  const { rows } = await sql<Subscription>`
    select ${SUBSCRIPTION} from subscriptions s join plans p on p.id = s.plan_id
    where s.domain_id = any(${domainIds}::bigint[]) and s.status = 'active'`.execute(db);
  return new Map(rows.map((row) => [row.domainId, row]));
}
