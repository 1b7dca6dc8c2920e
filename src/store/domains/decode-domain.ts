// Builds a domain from its row: its nameservers, its verification and the findings that its columns imply.

import { turnFinding } from '../../checks/claims/turn-finding.ts';
import type { Finding } from '../../checks/delegation/finding.ts';
import { FINDINGS } from '../../checks/delegation/findings.ts';
import { TXT_COUNTS_MS } from '../../checks/txt/next-preparation.ts';
import { TXT_FINDINGS } from '../../checks/txt/txt-findings.ts';
import type { Name } from '../../dns/name.ts';
import { challengeOf } from '../../zone/domain/challenge-name.ts';
import type { PublishSettings } from '../postgres/answer-settings.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { findingsOf } from '../records/aname-targets.ts';
import type { Domain, SuspendedBy, Verification } from './domain.ts';
import { type DomainRow, planOf, type ShownRow } from './domain-row.ts';
import { withSettings } from './domain-settings.ts';
import { provingSets, shownSets } from './nameserver-sets.ts';

/** Copies fields individually, because spreading a row is slow and lists are long. */
export function decodeDomain(row: ShownRow, settings: PublishSettings): Domain {
  const { turnFrom, turnUntil } = row;
  const name = decodeNameColumn(row.name);
  const verification = verificationOf(row, name);
  const domain = {
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
      ...findingsOf(row.anameProblems ?? null),
      ...(row.childFindings ?? []),
      ...(row.served === 'full' ? [] : turnFindings(row.sharedTurn)),
      ...apexFindings(row, settings),
    ],
    dnssecStatus: row.dnssecStatus,
  };
  return withSettings(domain, row);
}

/** The columns of a new domain's checks that owners see. */
export interface NewCheck {
  readonly next_at: Date | null;
  readonly interval_seconds: number | null;
}

/** Builds a domain in managed mode that was just created and whose name no other domain has. */
export function decodeNewDomain(row: DomainRow, settings: PublishSettings, check: NewCheck): Domain {
  const shown: ShownRow = {
    ...row,
    nextCheckAt: check.next_at,
    lastManualNsCheckAt: null,
    nsCheckIntervalSeconds: check.interval_seconds,
    currentNs: null,
    isChecked: false,
    verificationValue: null,
    verificationStartedAt: null,
    verificationExpiresAt: null,
    verifiedAt: null,
    txtNextAt: null,
    txtOffered: null,
    txtCounts: null,
    txtExpired: null,
    txtContested: false,
    childFindings: null,
    sharedTurn: null,
    dnssecStatus: 'off',
  };
  return decodeDomain(shown, settings);
}

function turnFindings(shared: ShownRow['sharedTurn']): readonly Finding[] {
  if (shared === null) return [];
  const { from, until, hasAsked, now } = shared;
  const turn = from === null || until === null ? undefined : { from, until };
  return [turnFinding({ turn, hasAsked }, now)];
}

/** Findings that already state that the records are not served. */
const COVER_APEX_ONLY: ReadonlySet<string> = new Set(['PRESET_DELEGATION', 'NAME_IN_USE']);

/** Returns the same finding for every claim before its first check, to hide whether other accounts wait for the name. */
function apexFindings(row: ShownRow, settings: PublishSettings): readonly Finding[] {
  const { status, dnsMode, served, deletedAt, byOperator, isChecked, findings } = row;
  if (status !== 'pending' || dnsMode !== 'managed' || served === 'full' || deletedAt !== null) return [];
  if (findings.some(({ code }) => COVER_APEX_ONLY.has(code))) return [];
  const target = provingSets(row, settings).length === 0 ? undefined : shownSets(row, settings)[0];
  return [FINDINGS.APEX_ONLY({ isChecked: isChecked || byOperator, mayBeApproved: !byOperator, target })];
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
  // A later time is the end of the domain's verification or of the record, not a query.
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
