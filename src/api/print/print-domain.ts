// Prints a domain as its readers see it. Members that are not set are absent, and the caller's permissions are
// listed. Global admins also see owners and subscriptions.

import type { z } from 'zod';
import { ownSubscriptions, type Subscription } from '../../store/accounts/subscriptions.ts';
import type { StoredSsl } from '../../store/certificates/load-ssl.ts';
import type { ListedDomain, Domain as StoredDomain, VisibleDomain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  findNewestVerification,
  type VerificationRun,
} from '../../store/verifications/load-verifications.ts';
import { STATUS_REASONS, statusReason } from '../../zone/domain/status-reason.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { permissionsOf } from '../callers/caller.ts';
import type { AdminDomain } from '../schemas/admin/domain.ts';
import type { Domain, DomainListItem } from '../schemas/domain.ts';
import { moments } from '../schemas/fields.ts';
import { printSubscription } from './print-plan.ts';
import { printSslSummary } from './print-ssl.ts';
import { printVerification } from './print-verification.ts';

type DomainBody = z.input<typeof Domain>;

interface PrintOptions {
  readonly nowMs?: number;
  /** Time for which a moved domain is still answered, if it is known here. */
  readonly movedGraceMs?: number | undefined;
  /** The newest lookup of the TXT record, if it is shown. */
  readonly progress?: { readonly run: VerificationRun | undefined } | undefined;
}

export function printDomain(domain: VisibleDomain, options: PrintOptions = {}): DomainBody {
  const { nowMs = Date.now(), movedGraceMs, progress } = options;
  const why = statusReason(domain, movedGraceMs);
  const { verification, developerModeUntil, currentNs, nsCheckIntervalSeconds, myRole } = domain;
  const sets = domain.nameserverSets.map((set) => set.map(printWithoutDot));
  return {
    id: domain.id,
    name: printWithoutDot(domain.name),
    name_unicode: domain.unicode,
    status: domain.status,
    ...(why !== undefined && { status_reason: { code: why.reason, message: STATUS_REASONS[why.reason] } }),
    dns_mode: domain.dnsMode,
    served: domain.served,
    serial: domain.serial,
    user_id: domain.accountId,
    suspended: domain.suspended,
    ...moments({
      verification_started_at: verification?.startedAt ?? null,
      developer_mode_until: isAhead(developerModeUntil, nowMs) ? developerModeUntil : null,
      pending_since: domain.pendingSince,
      moved_since: domain.movedSince,
      status_until: why?.until ?? null,
      next_check_at: domain.nextCheckAt,
      last_manual_ns_check_at: domain.lastManualNsCheckAt,
      suspended_at: domain.suspendedAt,
    }),
    created_at: domain.createdAt.toISOString(),
    updated_at: domain.updatedAt.toISOString(),
    ...printSettings(domain),
    ...(verification === null ? {} : { verification: printVerification(verification, nowMs, progress) }),
    svc_ns: sets[0] ?? [],
    svc_ns_sets: sets,
    ...printTurn(domain, nowMs),
    ...(currentNs === null ? {} : { current_ns: currentNs.map(printWithoutDot) }),
    ...(nsCheckIntervalSeconds === null ? {} : { ns_check_interval_seconds: nsCheckIntervalSeconds }),
    dnssec: { status: domain.dnssecStatus },
    findings: domain.findings.map(({ code, message }) => ({ code, message })),
    my_role: myRole,
    my_permissions: permissionsOf(myRole),
  };
}

/** Prints a new or enabled domain without revealing whether others wait for the name. */
export function printNewClaim(domain: VisibleDomain, options: PrintOptions = {}): DomainBody {
  const body = printDomain(domain, options);
  if (domain.status !== 'pending') return body;
  const { ns_turn: _turn, ...rest } = body;
  return { ...rest, served: 'apex', findings: body.findings.filter(({ code }) => code !== 'NS_TURN') };
}

/** `subscription` is the active one, which only the owner sees. */
export function printDomainListItem(
  domain: ListedDomain,
  subscription: Subscription | undefined,
  ssl: StoredSsl | undefined,
  options: PrintOptions = {},
): z.input<typeof DomainListItem> {
  return {
    ...printDomain(domain, options),
    records: domain.recordCount,
    changed_at: domain.changedAt.toISOString(),
    ssl: printSslSummary(ssl, options.nowMs),
    ...(subscription === undefined || domain.myRole !== 'owner'
      ? {}
      : { subscription: printSubscription(subscription, domain) }),
  };
}

function printSettings(domain: VisibleDomain) {
  return {
    cache_l2_max_gb: domain.cacheL2MaxGb,
    cache_l2_ttl_days: domain.cacheL2TtlDays,
    cache_cap_mb: domain.cacheCapMb as DomainBody['cache_cap_mb'], // the database has the same list
    sec_no_sniff: domain.secNoSniff,
    sec_referrer_policy: domain.secReferrerPolicy,
    sec_strip_headers: domain.secStripHeaders,
    markdown_for_agents: domain.markdownForAgents,
    outage_alerts: domain.outageAlerts,
    uptime_threshold_pct: domain.uptimeThresholdPct,
    uptime_window_min: domain.uptimeWindowMin,
    uptime_min_requests: domain.uptimeMinRequests,
    uptime_min_active_min: domain.uptimeMinActiveMin,
    uptime_recover_min: domain.uptimeRecoverMin,
  };
}

function isAhead(time: Date | null, nowMs: number): boolean {
  return time !== null && time.getTime() > nowMs;
}

function printTurn({ nsTurn, status }: VisibleDomain, nowMs: number): Partial<DomainBody> {
  if (nsTurn === null || status !== 'pending' || nsTurn.until.getTime() <= nowMs) return {};
  return { ns_turn: { from: minuteOf(nsTurn.from), until: minuteOf(nsTurn.until) } };
}

/** Rounds to minutes, because the exact time would reveal when another account claimed the name. */
function minuteOf(time: Date): string {
  return `${time.toISOString().slice(0, 16)}:00.000Z`;
}

export async function answerDomain(
  { db, movedGraceMs }: { readonly db: Database; readonly movedGraceMs?: number | undefined },
  domain: VisibleDomain,
): Promise<z.input<typeof Domain>> {
  const { id, verification } = domain;
  if (verification === null) return printDomain(domain, { movedGraceMs });
  const run = await findNewestVerification(db, id, verification.value);
  return printDomain(domain, { movedGraceMs, progress: { run } });
}

/** Uses two statements for any number of domains. */
export async function printAdminDomains(
  db: Database,
  domains: readonly StoredDomain[],
  options: PrintOptions,
): Promise<z.input<typeof AdminDomain>[]> {
  if (domains.length === 0) return [];
  const subscriptions = await ownSubscriptions(
    db,
    domains.map(({ id }) => id),
  );
  const owners = [...new Set(domains.map(({ accountId }) => accountId))];
  const accounts = await db
    .selectFrom('accounts')
    .select(['id', 'email'])
    .where('id', 'in', owners)
    .execute();
  const emails = new Map(accounts.map(({ id, email }) => [id, email]));
  return domains.map((domain) => {
    const subscription = subscriptions.get(domain.id);
    return {
      ...printDomain({ ...domain, myRole: 'owner' }, options),
      user_email: emails.get(domain.accountId) ?? '',
      suspended_by: [...domain.suspendedBy],
      ...(subscription !== undefined && { subscription: printSubscription(subscription, domain) }),
      ...(subscription?.overrides && { overrides: subscription.overrides }),
      ...moments({ deleted_at: domain.deletedAt }),
    };
  });
}

export async function printAdminDomain(
  db: Database,
  domain: StoredDomain,
  options: PrintOptions,
): Promise<z.input<typeof AdminDomain>> {
  const [printed] = await printAdminDomains(db, [domain], options);
  return printed as z.input<typeof AdminDomain>;
}
