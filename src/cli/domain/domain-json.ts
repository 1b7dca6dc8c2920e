// Prints a domain as JSON for the command line.

import type { Caller } from '../../store/accounts/actor.ts';
import type { Domain } from '../../store/domains/domain.ts';
import { printWithoutDot } from '../../zone/name-text.ts';

/** A caller for operators, who see every domain. No account has this id. */
export const OPERATOR: Caller = { accountId: 0, isAdmin: true };

export function domainJson(domain: Domain, email: string): object {
  const { createdAt, updatedAt, deletedAt, pendingSince, movedSince, nextCheckAt, verification } = domain;
  return {
    id: domain.id,
    domain: printWithoutDot(domain.name),
    unicode: domain.unicode,
    account: { id: domain.accountId, email },
    status: domain.status,
    dns_mode: domain.dnsMode,
    served: domain.served,
    suspended: domain.suspended,
    suspended_by: domain.suspendedBy,
    serial: domain.serial,
    records: domain.recordCount,
    max_records: domain.plan === null ? 0 : domain.plan.maxRecords,
    plan: domain.plan?.slug ?? null,
    nameservers: (domain.nameserverSets[0] ?? []).map(printWithoutDot),
    current_nameservers: domain.currentNs?.map(printWithoutDot) ?? null,
    dnssec: { status: domain.dnssecStatus },
    findings: domain.findings,
    ...(verification !== null && {
      verification: {
        host: printWithoutDot(verification.host),
        value: verification.value,
        verified: verification.verified,
        expires_at: verification.expiresAt.toISOString(),
      },
    }),
    pending_since: pendingSince?.toISOString() ?? null,
    moved_since: movedSince?.toISOString() ?? null,
    next_check_at: nextCheckAt?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    deleted_at: deletedAt?.toISOString() ?? null,
  };
}
