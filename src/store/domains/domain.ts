// A customer's domain as it is loaded, and how it is made from its row.

import { type RawBuilder, sql } from 'kysely';
import { entitlementsOf, type Overrides } from '../../billing/entitlements.ts';
import { turnFinding } from '../../checks/claims/turn-finding.ts';
import { FINDINGS, type Finding } from '../../checks/delegation/findings.ts';
import type { DnssecStatus } from '../../checks/dnssec/told/dnssec-status.ts';
import { TXT_COUNTS_MS } from '../../checks/txt/next-preparation.ts';
import { TXT_FINDINGS } from '../../checks/txt/txt-findings.ts';
import type { Name } from '../../dns/name.ts';
import { challengeOf } from '../../zone/domain/challenge-name.ts';
import type { DnsMode, DomainStatus, Served } from '../../zone/domain/domain-status.ts';
import { type NameserverChoice, nameserverSetsOf } from '../../zone/publish/select-nameservers.ts';
import { PLAN_JSON, type Plan } from '../accounts/plans.ts';
import type { PublishSettings } from '../postgres/answer-settings.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { Role, StoredSet } from '../postgres/tables/schema.ts';
import { findingsOf, type TroubleRow } from '../records/aname-troubles.ts';
import { TXT_COUNTS } from './found-txt.ts';

/** The settings that the owner makes. */
export interface DomainSettings {
  readonly cacheL2MaxGb: number;
  readonly cacheL2TtlDays: number;
  readonly cacheCapMb: number;
  readonly developerModeUntil: Date | null;
  readonly secNoSniff: boolean;
  readonly secReferrerPolicy: boolean;
  readonly secStripHeaders: boolean;
  readonly markdownForAgents: boolean;
  readonly outageAlerts: boolean;
  readonly uptimeThresholdPct: number;
  readonly uptimeWindowMin: number;
  readonly uptimeMinRequests: number;
  readonly uptimeMinActiveMin: number;
  readonly uptimeRecoverMin: number;
}

/** The operator's hand, or the debt of who pays for it (docs/rules.md "Money"). */
type SuspendedBy = 'operator' | 'debt';

export interface Domain extends DomainSettings {
  readonly id: number;
  readonly accountId: number;
  readonly name: Name;
  readonly unicode: string;
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly served: Served;
  /** Who disabled it. */
  readonly disabledBy: 'operator' | 'checker' | null;
  readonly suspended: boolean;
  /** By whichever came first. */
  readonly suspendedAt: Date | null;
  readonly suspendedBy: readonly SuspendedBy[];
  readonly serial: number;
  /** The number of records, without managed ones. */
  readonly recordCount: number;
  /** With what its subscription overrides. */
  readonly plan: Plan | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When it was deleted; it can be restored for 30 days. */
  readonly deletedAt: Date | null;
  readonly pendingSince: Date | null;
  readonly movedSince: Date | null;
  readonly nextCheckAt: Date | null;
  readonly lastManualNsCheckAt: Date | null;
  readonly nsCheckIntervalSeconds: number | null;
  readonly currentNs: readonly Name[] | null;
  /** When the checker disabled it. */
  readonly endedAt: Date | null;
  /** The sets that prove the domain, its own first. */
  readonly nameserverSets: readonly (readonly Name[])[];
  /** While several claims wait for the name: when its apex shows the nameservers of this one. */
  readonly nsTurn: { readonly from: Date; readonly until: Date } | null;
  /** The verification: in external mode, and of a waiting domain in managed mode that is offered a TXT record. */
  readonly verification: Verification | null;
  readonly findings: readonly { readonly code: string; readonly message: string }[];
  readonly dnssecStatus: DnssecStatus;
}

export interface Verification {
  readonly host: Name;
  readonly value: string;
  /** In managed mode: the record was found, and counts until `verifiedUntil`. */
  readonly verified: boolean;
  readonly verifiedUntil: Date | null;
  readonly startedAt: Date;
  readonly expiresAt: Date;
  /** When the TXT record is looked for next; null when it is not. */
  readonly nextAt: Date | null;
}

/** A domain with the role that the caller has in it. */
export interface VisibleDomain extends Domain {
  readonly myRole: Role;
}

/** A domain of a list. */
export interface ListedDomain extends VisibleDomain {
  /** When it was last changed, of its log of changes. */
  readonly changedAt: Date;
}

export const RESTORABLE_DAYS = 30;

/** The domain `d` was deleted, and can be brought back. */
export const IS_RESTORABLE = sql`d.deleted_at >= clock_timestamp() - make_interval(days => ${RESTORABLE_DAYS}::integer)`;

/** Null: the domain `d` is not suspended, neither by the operator's hand nor by a debt. */
export const SUSPENDED_AT = sql`least(d.suspended_at, d.debt_suspended_at)`;

/** What decides about a domain: its own row. `d` is the table of domains, `p` that of plans. */
export const DOMAIN_COLUMNS = sql`d.id, d.account_id as "accountId", d.name, d.unicode, d.zone_id as "zoneId", d.status,
  d.dns_mode as "dnsMode", d.served, d.leaving, d.disabled_by as "disabledBy", ${SUSPENDED_AT} as "suspendedAt",
  d.suspended_at as "suspendedByHandAt", d.debt_suspended_at as "suspendedByDebtAt",
  d.serial, d.record_count as "recordCount", d.answers_generation as "answersGeneration",
  d.edge_regions as "edgeRegions",
  d.created_at as "createdAt", d.updated_at as "updatedAt", d.deleted_at as "deletedAt",
  d.pending_since as "pendingSince", d.moved_since as "movedSince", d.delegated_ns as "delegatedNs",
  d.chosen_ns as "chosenNs", d.ns_sets as "nsSets", d.open, d.banned_name as "bannedName",
  d.by_operator as "byOperator", d.approved_ahead as "approvedAhead", d.ended_at as "endedAt", d.lent_ns as "lentNs", d.turn_from as "turnFrom", d.turn_until as "turnUntil", d.findings,
  d.cache_l2_max_gb as "cacheL2MaxGb", d.cache_l2_ttl_days as "cacheL2TtlDays", d.cache_cap_mb as "cacheCapMb",
  d.developer_mode_until as "developerModeUntil", d.sec_no_sniff as "secNoSniff",
  d.sec_referrer_policy as "secReferrerPolicy", d.sec_strip_headers as "secStripHeaders",
  d.markdown_for_agents as "markdownForAgents", d.outage_alerts as "outageAlerts",
  d.uptime_threshold_pct as "uptimeThresholdPct", d.uptime_window_min as "uptimeWindowMin",
  d.uptime_min_requests as "uptimeMinRequests", d.uptime_min_active_min as "uptimeMinActiveMin",
  d.uptime_recover_min as "uptimeRecoverMin", d.plan_overrides as "planOverrides",
  case when p.id is not null then ${PLAN_JSON} end as plan`;

export const DOMAIN_TABLES = sql`domains d left join plans p on p.id = d.plan_id`;

/** Whether the check `k` of a domain's own zone saw today's delegation, and the domain is one to advise about. */
export const CHILD_COUNTS = sql`k.domain_id = d.id and k.ns = c.current_ns and c.conclusive_ours and d.dns_mode = 'managed'
  and d.status in ('pending', 'active', 'moved')`;

/**
 * What the check of a domain's own zone found that its owner can change at the registrar, if that check saw today's
 * delegation. While the parent names none of our servers, the only advice is to set those.
 */
const CHILD_FINDINGS = sql`(
  select jsonb_path_query_array(k.findings, '$[*] ? (@.place == "registrar")') from child_checks k
  where ${CHILD_COUNTS})`;

const IS_WAITING = (domain: RawBuilder<unknown>) =>
  sql`${domain}.deleted_at is null and ${domain}.status = 'pending' and ${domain}.dns_mode = 'managed'`;

/**
 * While turns are given: the claim has a set and waits beside others, and no account holds the name whose set the parent still
 * shows (docs/rules.md "Turns").
 */
const TURN = sql`case when ${IS_WAITING(sql`d`)} and d.ns_sets is distinct from '[]'
    and exists (select from domains o where o.name = d.name and o.id <> d.id and ${IS_WAITING(sql`o`)})
    and not exists (select from domains o join domain_checks h on h.domain_id = o.id
      where o.name = d.name and o.deleted_at is null and h.miss_count = 0
        and (o.leaving or o.dns_mode = 'managed' and o.status = 'active'))
  then json_build_object('from', extract(epoch from d.turn_from) * 1000, 'until', extract(epoch from d.turn_until) * 1000,
    'hasAsked', d.turn_asked_at is not null, 'now', extract(epoch from clock_timestamp()) * 1000) end`;

/** Another account's TXT record was found, and the domain's own was not: after a second such look the name is lost. */
export const IS_TXT_CONTESTED = sql`(d.dns_mode = 'external' and d.status = 'active' and exists (
  select from domains o
  where o.name = d.name and o.id <> d.id and o.deleted_at is null and o.status = 'unverified'
    and o.findings @> '[{"code": "TAKEOVER_WAITS"}]'))`;

/** What is shown of a domain: its own row, and what its checks and its verification have come to. */
export const SHOWN_COLUMNS = sql`${DOMAIN_COLUMNS}, c.next_at as "nextCheckAt", c.last_manual_at as "lastManualNsCheckAt",
  c.interval_seconds as "nsCheckIntervalSeconds", c.current_ns as "currentNs", c.conclusive_at is not null as "isChecked", v.value as "verificationValue",
  v.started_at as "verificationStartedAt", v.expires_at as "verificationExpiresAt", v.verified_at as "verifiedAt",
  v.next_at as "txtNextAt", v.offered as "txtOffered", ${TXT_COUNTS} as "txtCounts", v.expires_at <= clock_timestamp() as "txtExpired",
  ${IS_TXT_CONTESTED} as "txtContested", ${CHILD_FINDINGS} as "childFindings", ${TURN} as "sharedTurn",
  coalesce(n.status, 'off') as "dnssecStatus"`;

export const SHOWN_TABLES = sql`${DOMAIN_TABLES} join domain_checks c on c.domain_id = d.id
  left join domain_verifications v on v.domain_id = d.id left join signed_zones n on n.domain_id = d.id`;

/** Of other tables. */
type OfChecks = 'nextCheckAt' | 'lastManualNsCheckAt' | 'nsCheckIntervalSeconds' | 'dnssecStatus';
type Passed = Omit<
  Domain,
  'name' | 'suspended' | 'suspendedBy' | 'currentNs' | 'nameserverSets' | 'nsTurn' | 'verification' | OfChecks
>;

/** A domain's own row. */
export interface DomainRow extends Passed {
  readonly name: string;
  readonly suspendedByHandAt: Date | null;
  readonly suspendedByDebtAt: Date | null;
  readonly zoneId: number | null;
  /** Without the overrides: `planOf` has both. */
  readonly plan: Plan | null;
  readonly planOverrides: Overrides | null;
  readonly leaving: boolean;
  readonly answersGeneration: number;
  /** Null: edges of every region serve the domain. */
  readonly edgeRegions: readonly string[] | null;
  readonly delegatedNs: readonly string[] | null;
  readonly chosenNs: readonly string[] | null;
  /** The sets that prove the domain, its own first; null: any set of NAMESERVER_SETS. */
  readonly nsSets: readonly StoredSet[] | null;
  /** The nameservers of another account's claim, which the apex shows (docs/rules.md "Turns"). */
  readonly lentNs: readonly string[] | null;
  readonly open: boolean;
  readonly bannedName: boolean;
  readonly byOperator: boolean;
  /** True if the first set of ours that the parent shows proves it, because an operator approved it. */
  readonly approvedAhead: boolean;
  readonly turnFrom: Date | null;
  readonly turnUntil: Date | null;
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
  /** Present if it was selected. */
  readonly anameTroubles?: readonly TroubleRow[] | null;
}

/** Member by member: lists are long, and copies of unknown members are slow. */
export function decodeDomain(row: ShownRow, settings: PublishSettings): Domain {
  const { turnFrom, turnUntil } = row;
  const name = decodeNameColumn(row.name);
  const verification = verificationOf(row, name);
  return {
    id: row.id,
    accountId: row.accountId,
    name,
    unicode: row.unicode,
    status: row.status,
    dnsMode: row.dnsMode,
    served: row.served,
    disabledBy: row.disabledBy,
    suspended: row.suspendedAt !== null,
    suspendedAt: row.suspendedAt,
    suspendedBy: suspendedBy(row),
    serial: row.serial,
    recordCount: row.recordCount,
    plan: planOf(row),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    deletedAt: row.deletedAt,
    pendingSince: row.pendingSince,
    movedSince: row.movedSince,
    nextCheckAt: row.nextCheckAt,
    lastManualNsCheckAt: row.lastManualNsCheckAt,
    nsCheckIntervalSeconds: row.nsCheckIntervalSeconds,
    currentNs: row.currentNs?.map(decodeNameColumn) ?? null,
    endedAt: row.endedAt,
    nameserverSets: shownSets(row, settings),
    nsTurn: turnFrom !== null && turnUntil !== null ? { from: turnFrom, until: turnUntil } : null,
    verification,
    findings: [
      ...row.findings,
      ...txtFindings(row, verification),
      ...findingsOf(row.anameTroubles ?? null),
      ...(row.childFindings ?? []),
      ...(row.served === 'full' ? [] : turnFindings(row.sharedTurn)),
      ...apexFindings(row, settings),
    ],
    dnssecStatus: row.dnssecStatus,
    cacheL2MaxGb: row.cacheL2MaxGb,
    cacheL2TtlDays: row.cacheL2TtlDays,
    cacheCapMb: row.cacheCapMb,
    developerModeUntil: row.developerModeUntil,
    secNoSniff: row.secNoSniff,
    secReferrerPolicy: row.secReferrerPolicy,
    secStripHeaders: row.secStripHeaders,
    markdownForAgents: row.markdownForAgents,
    outageAlerts: row.outageAlerts,
    uptimeThresholdPct: row.uptimeThresholdPct,
    uptimeWindowMin: row.uptimeWindowMin,
    uptimeMinRequests: row.uptimeMinRequests,
    uptimeMinActiveMin: row.uptimeMinActiveMin,
    uptimeRecoverMin: row.uptimeRecoverMin,
  };
}

function turnFindings(shared: ShownRow['sharedTurn']): readonly Finding[] {
  if (shared === null) return [];
  const { from, until, hasAsked, now } = shared;
  const turn = from === null || until === null ? undefined : { from, until };
  return [turnFinding({ turn, hasAsked }, now)];
}

/** Findings that already say that the records are not answered. */
const SAY_APEX_ONLY: ReadonlySet<string> = new Set(['PRESET_DELEGATION', 'NAME_IN_USE']);

/** Is the same for every claim before its first check, so that it does not reveal whether other accounts wait for the name. */
function apexFindings(row: ShownRow, settings: PublishSettings): readonly Finding[] {
  const { status, dnsMode, served, deletedAt, byOperator, isChecked, findings } = row;
  if (status !== 'pending' || dnsMode !== 'managed' || served === 'full' || deletedAt !== null) return [];
  if (findings.some(({ code }) => SAY_APEX_ONLY.has(code))) return [];
  const target = provingSets(row, settings).length === 0 ? undefined : shownSets(row, settings)[0];
  return [FINDINGS.APEX_ONLY({ isChecked: isChecked || byOperator, mayBeApproved: !byOperator, target })];
}

/** What the domain may do; null: it has no active plan. */
export function planOf({ plan, planOverrides }: Pick<DomainRow, 'plan' | 'planOverrides'>): Plan | null {
  return plan === null ? null : entitlementsOf(plan, planOverrides);
}

type SetColumns = Pick<DomainRow, 'delegatedNs' | 'chosenNs' | 'nsSets'>;

export function nameserverChoice({
  delegatedNs,
  chosenNs,
}: Pick<SetColumns, 'delegatedNs' | 'chosenNs'>): NameserverChoice {
  return { delegated: delegatedNs?.map(decodeNameColumn), chosen: chosenNs?.map(decodeNameColumn) };
}

/** The sets that prove the domain; none when all are spent. */
export function provingSets(
  { nsSets }: Pick<SetColumns, 'nsSets'>,
  { nameserverSets }: PublishSettings,
): readonly (readonly Name[])[] {
  return nsSets === null ? nameserverSets : nsSets.map(({ names }) => names.map(decodeNameColumn));
}

/** The domain's own set first. Never empty: a domain without a set that proves it has the canonical one at its apex. */
function shownSets(row: SetColumns, settings: PublishSettings): readonly (readonly Name[])[] {
  const sets = provingSets(row, settings);
  return nameserverSetsOf(nameserverChoice(row), sets.length > 0 ? sets : canonicalSets(settings));
}

/** The nameservers of the domain's apex: its own, or those of a claim that has the turn. */
export function nameserversOf(
  { lentNs, ...row }: SetColumns & Partial<Pick<DomainRow, 'lentNs'>>,
  settings: PublishSettings,
): readonly Name[] {
  return lentNs?.map(decodeNameColumn) ?? (shownSets(row, settings)[0] as readonly Name[]);
}

function canonicalSets({ nameserverSets, pool }: PublishSettings): readonly (readonly Name[])[] {
  const [canonical] = nameserverSets;
  return [canonical ?? pool?.lists.flatMap((names) => names.slice(0, 1)) ?? []];
}

function verificationOf(row: ShownRow, name: Name): Verification | null {
  const {
    verificationValue: value,
    verificationStartedAt: startedAt,
    verificationExpiresAt: expiresAt,
    verifiedAt,
  } = row;
  const isExternal = row.dnsMode === 'external';
  const isOffered = row.status === 'pending' && row.txtOffered === true;
  if (!isExternal && !isOffered) return null;
  if (value === null || startedAt === null || expiresAt === null) return null;
  // What is planned for later than that is the end of the domain's time, or of the record's.
  const nextAt = row.txtNextAt !== null && row.txtNextAt < expiresAt ? row.txtNextAt : null;
  const verified = isExternal ? verifiedAt !== null : row.txtCounts === true;
  const verifiedUntil =
    !isExternal && verified && verifiedAt !== null ? new Date(verifiedAt.getTime() + TXT_COUNTS_MS) : null;
  return { host: challengeOf(name), value, verified, verifiedUntil, startedAt, expiresAt, nextAt };
}

function txtFindings(
  { dnsMode, txtContested, txtExpired }: ShownRow,
  verification: Verification | null,
): Domain['findings'] {
  if (verification === null) return [];
  const { host, value, verified } = verification;
  if (dnsMode === 'managed') return verified ? [] : [FINDINGS.PREPARE(host, txtExpired ? undefined : value)];
  return txtContested ? [TXT_FINDINGS.TAKEOVER_SEEN(host, value)] : [];
}

function suspendedBy({ suspendedByHandAt, suspendedByDebtAt }: DomainRow): SuspendedBy[] {
  return [
    ...(suspendedByHandAt === null ? [] : ['operator' as const]),
    ...(suspendedByDebtAt === null ? [] : ['debt' as const]),
  ];
}

/** As the audit log tells it. */
export function suspensionOf({ suspended, suspendedBy: by }: Pick<Domain, 'suspended' | 'suspendedBy'>) {
  return { suspended, suspended_by: by };
}
