// A domain's row: the selected columns and tables, and their types.

import { type RawBuilder, sql } from 'kysely';
import { entitlementsOf, type Overrides } from '../../billing/entitlements.ts';
import type { Finding, FindingCode } from '../../checks/delegation/finding.ts';
import { TXT_COUNTS_MS } from '../../checks/txt/next-preparation.ts';
import { PLAN_JSON, type Plan } from '../accounts/plans.ts';
import type { StoredSet } from '../postgres/tables/schema.ts';
import type { ProblemRow } from '../records/aname-targets.ts';
import { type Domain, RESTORABLE_DAYS } from './domain.ts';
import { SELECTED_SETTINGS } from './domain-settings.ts';

/** True if the record of verification `v` was found within 14 days. Null if there is none. */
export const TXT_COUNTS = sql<boolean>`(v.verified_at > clock_timestamp()
  - make_interval(secs => ${TXT_COUNTS_MS / 1000}::float8))`;

/** SQL expression: the column `findings` without findings of these codes. */
export function findingsWithout(...codes: FindingCode[]): RawBuilder<string> {
  return sql`(select coalesce(jsonb_agg(f.value order by f.ordinality), '[]')
    from jsonb_array_elements(findings) with ordinality f where f.value ->> 'code' <> all(${codes}::text[]))`;
}

/** SQL expression: the column `findings` with this one at the end, without older ones of its code and of `others`. */
export function findingsWith(finding: Finding, ...others: FindingCode[]): RawBuilder<string> {
  return sql`${findingsWithout(finding.code, ...others)} || jsonb_build_array(${JSON.stringify(finding)}::jsonb)`;
}

/** True if the domain `d` was deleted and can be restored. */
export const IS_RESTORABLE = sql`d.deleted_at >= clock_timestamp() - make_interval(days => ${RESTORABLE_DAYS}::integer)`;

/** Null if neither an operator nor a debt suspended the domain `d`. */
export const SUSPENDED_AT = sql`least(d.suspended_at, d.debt_suspended_at)`;

/** The domain's own row, which all decisions use. `d` is the table of domains, `p` that of plans. */
export const DOMAIN_COLUMNS = sql`d.id, d.account_id as "accountId", d.name, d.unicode, d.zone_id as "zoneId", d.status,
  d.dns_mode as "dnsMode", d.served, d.leaving, d.disabled_by as "disabledBy", ${SUSPENDED_AT} as "suspendedAt",
  d.suspended_at as "suspendedByHandAt", d.debt_suspended_at as "suspendedByDebtAt",
  d.serial, d.record_count as "recordCount", d.answers_generation as "answersGeneration",
  d.edge_regions as "edgeRegions",
  d.created_at as "createdAt", d.updated_at as "updatedAt", d.deleted_at as "deletedAt",
  d.pending_since as "pendingSince", d.moved_since as "movedSince", d.delegated_ns as "delegatedNs",
  d.chosen_ns as "chosenNs", d.ns_sets as "nsSets", d.open, d.banned_name as "bannedName",
  d.by_operator as "byOperator", d.approved_ahead as "approvedAhead", d.ended_at as "endedAt", d.lent_ns as "lentNs", d.turn_from as "turnFrom", d.turn_until as "turnUntil", d.findings,
  exists (select from secondaries s where s.domain_id = d.id) as "isCopy", ${SELECTED_SETTINGS}, d.plan_overrides as "planOverrides",
  case when p.id is not null then ${PLAN_JSON} end as plan`;

export const DOMAIN_TABLES = sql`domains d left join plans p on p.id = d.plan_id`;

/** True if the check `k` of the domain's own zone saw the present delegation, and its findings apply to the domain. */
export const CHILD_COUNTS = sql`k.domain_id = d.id and k.ns = c.current_ns and c.conclusive_ours and d.dns_mode = 'managed'
  and d.status in ('pending', 'active', 'moved')`;

/**
 * Findings of the check of the domain's own zone that the owner can fix at the registrar, if that check saw the present
 * delegation. While the parent has none of the fleet's servers, the only advice is to set them.
 */
const CHILD_FINDINGS = sql`(
  select jsonb_path_query_array(k.findings, '$[*] ? (@.place == "registrar")') from child_checks k
  where ${CHILD_COUNTS})`;

const IS_WAITING = (domain: RawBuilder<unknown>) =>
  sql`${domain}.deleted_at is null and ${domain}.status = 'pending' and ${domain}.dns_mode = 'managed'`;

/**
 * Not null while claims take turns: the claim has a set, other claims wait for the name too, and no account holds the
 * name with a set that the parent still shows (docs/rules.md "Turns").
 */
const TURN = sql`case when ${IS_WAITING(sql`d`)} and d.ns_sets is distinct from '[]'
    and exists (select from domains o where o.name = d.name and o.id <> d.id and ${IS_WAITING(sql`o`)})
    and not exists (select from domains o join domain_checks h on h.domain_id = o.id
      where o.name = d.name and o.deleted_at is null and h.miss_count = 0
        and (o.leaving or o.dns_mode = 'managed' and o.status = 'active'))
  then json_build_object('from', extract(epoch from d.turn_from) * 1000, 'until', extract(epoch from d.turn_until) * 1000,
    'hasAsked', d.turn_asked_at is not null, 'now', extract(epoch from clock_timestamp()) * 1000) end`;

/** True if another account's TXT record was found but the domain's own was not. After a second time it loses the name. */
export const IS_TXT_CONTESTED = sql`(d.dns_mode = 'external' and d.status = 'active' and exists (
  select from domains o
  where o.name = d.name and o.id <> d.id and o.deleted_at is null and o.status = 'unverified'
    and o.findings @> '[{"code": "TAKEOVER_WAITS"}]'))`;

/** The domain's own row, and the results of its checks and its verification. */
export const SHOWN_COLUMNS = sql`${DOMAIN_COLUMNS}, c.next_at as "nextCheckAt", c.last_manual_at as "lastManualNsCheckAt",
  c.interval_seconds as "nsCheckIntervalSeconds", c.current_ns as "currentNs", c.conclusive_at is not null as "isChecked", v.value as "verificationValue",
  v.started_at as "verificationStartedAt", v.expires_at as "verificationExpiresAt", v.verified_at as "verifiedAt",
  v.next_at as "txtNextAt", v.offered as "txtOffered", ${TXT_COUNTS} as "txtCounts", v.expires_at <= clock_timestamp() as "txtExpired",
  ${IS_TXT_CONTESTED} as "txtContested", ${CHILD_FINDINGS} as "childFindings", ${TURN} as "sharedTurn",
  coalesce(n.status, 'off') as "dnssecStatus"`;

export const SHOWN_TABLES = sql`${DOMAIN_TABLES} join domain_checks c on c.domain_id = d.id
  left join domain_verifications v on v.domain_id = d.id left join signed_zones n on n.domain_id = d.id`;

type OfChecks = 'nextCheckAt' | 'lastManualNsCheckAt' | 'nsCheckIntervalSeconds' | 'dnssecStatus';
type Passed = Omit<
  Domain,
  'name' | 'suspended' | 'suspendedBy' | 'currentNs' | 'nameserverSets' | 'nsTurn' | 'verification' | OfChecks
>;

export interface DomainRow extends Passed {
  readonly name: string;
  readonly suspendedByHandAt: Date | null;
  readonly suspendedByDebtAt: Date | null;
  readonly zoneId: number | null;
  /** The plan without the overrides: `planOf` applies them. */
  readonly plan: Plan | null;
  readonly planOverrides: Overrides | null;
  readonly leaving: boolean;
  readonly answersGeneration: number;
  /** Null if the edges of every region serve the domain. */
  readonly edgeRegions: readonly string[] | null;
  readonly delegatedNs: readonly string[] | null;
  readonly chosenNs: readonly string[] | null;
  /** The sets that prove the domain, its own first; null if any set of NAMESERVER_SETS does. */
  readonly nsSets: readonly StoredSet[] | null;
  /** The nameservers of another account's claim that the apex shows (docs/rules.md "Turns"). */
  readonly lentNs: readonly string[] | null;
  readonly open: boolean;
  readonly bannedName: boolean;
  readonly byOperator: boolean;
  /** True if an operator approved the domain in advance: the first set of the fleet that the parent shows proves it. */
  readonly approvedAhead: boolean;
  readonly turnFrom: Date | null;
  readonly turnUntil: Date | null;
  /** True if the zone is copied from the owner's primary while it is answered whole. */
  readonly isCopy: boolean;
}

/** A domain's row with those of its checks and its verification. */
export interface ShownRow extends DomainRow, Pick<Domain, OfChecks> {
  readonly currentNs: readonly string[] | null;
  /** True if a check has seen what the parent shows since the domain became pending. */
  readonly isChecked: boolean;
  readonly verificationValue: string | null;
  readonly verificationStartedAt: Date | null;
  readonly verificationExpiresAt: Date | null;
  readonly verifiedAt: Date | null;
  readonly txtNextAt: Date | null;
  readonly txtOffered: boolean | null;
  readonly txtCounts: boolean | null;
  readonly txtExpired: boolean | null;
  readonly txtContested: boolean;
  readonly childFindings: Domain['findings'] | null;
  /** All times are milliseconds since 1970. */
  readonly sharedTurn: {
    readonly from: number | null;
    readonly until: number | null;
    readonly hasAsked: boolean;
    readonly now: number;
  } | null;
  /** Undefined if it was not selected. */
  readonly anameProblems?: readonly ProblemRow[] | null;
}

/** Returns the plan with its overrides, or null if the domain has no active plan. */
export function planOf({ plan, planOverrides }: Pick<DomainRow, 'plan' | 'planOverrides'>): Plan | null {
  return plan === null ? null : entitlementsOf(plan, planOverrides);
}
