// Fields of the audit log for accounts, keys, plans and so on, under their API names. They contain no secrets.

import type { Account } from '../accounts/accounts.ts';
import type { ApiKey } from '../accounts/api-keys.ts';
import type { CataloguePlan } from '../accounts/plans.ts';
import type { ResellerToken } from '../accounts/reseller-tokens.ts';
import type { Subscription } from '../accounts/subscriptions.ts';
import type { Told } from './tell-audit.ts';
import type { AuditNote } from './write-audit.ts';

export function toldAccount(account: Account): Told {
  const { email, name, isAdmin, isReseller, providerId, active, planSlug } = account;
  return { email, name, admin: isAdmin, reseller: isReseller, provider: providerId, active, plan: planSlug };
}

/** Describes a key as the target of an action. */
export function keyNote(key: ApiKey, when: 'before' | 'after'): AuditNote {
  const { id, accountId, name, prefix, readOnly, domains, names, types, expiresAt } = key;
  const told = { name, prefix, read_only: readOnly, domains, names, types, expires_at: expiresAt };
  return { accountId, target: { id, name }, [when]: told };
}

export function toldPlan(plan: CataloguePlan): Told {
  return {
    slug: plan.slug,
    name: plan.name,
    max_records: plan.maxRecords,
    max_domains: plan.maxDomains,
    max_claims: plan.maxClaims,
    max_traffic_gb: plan.maxTrafficGb,
    max_rules_per_set: plan.maxRulesPerSet,
    max_cache_cap_mb: plan.maxCacheCapMb,
    logs_enabled: plan.logsEnabled,
    monitoring_enabled: plan.monitoringEnabled,
    rules_enabled: plan.rulesEnabled,
    cache_purge_enabled: plan.cachePurgeEnabled,
    custom_ssl_enabled: plan.customSslEnabled,
    ws_enabled: plan.wsEnabled,
    host_header_edit_enabled: plan.hostHeaderEditEnabled,
    dedicated_support_enabled: plan.dedicatedSupportEnabled,
    quota_reset_days: plan.quotaResetDays,
  };
}

/** Describes a domain's current subscription. Undefined if it has none. */
export function toldSubscription(subscription: Subscription | undefined): Told {
  if (subscription === undefined) return { plan: null };
  const { plan, term, status, overrides, autoRenew, expiresAt, graceUntil } = subscription;
  return {
    plan: plan.slug,
    term: term?.id ?? null,
    status,
    overrides,
    auto_renew: autoRenew,
    expires_at: expiresAt,
    grace_until: graceUntil,
  };
}

export function tokenNote(
  { id, accountId, name, keyId, expiresAt }: ResellerToken,
  when: 'before' | 'after',
): AuditNote {
  const told = { name, key_id: keyId, expires_at: expiresAt };
  return { accountId, target: { id, name }, [when]: told };
}

export function toldPayment(payment: {
  readonly id: number;
  readonly gateway: string;
  readonly amountRials: number;
}): Told {
  return { payment: payment.id, gateway: payment.gateway, amount_rials: payment.amountRials };
}

interface ToldMember {
  readonly accountId: number;
  readonly email: string;
  readonly role: string;
}

interface ToldInvite {
  readonly id: number;
  readonly email: string;
  readonly role: string;
}

/** Describes a member as the target. `before` or `after` is undefined if the account was or is not a member. */
export function memberNote(before: ToldMember | undefined, after: ToldMember | undefined): AuditNote {
  const member = after ?? before;
  return {
    target: { id: member?.accountId, name: member?.email },
    before: before && { email: before.email, role: before.role },
    after: after && { email: after.email, role: after.role },
  };
}

export function inviteNote({ id, email, role }: ToldInvite): AuditNote {
  return { target: { id, name: email }, after: { email, role } };
}
