// Why a domain is moved or disabled, and until when that stays so: a closed list, each with a sentence for the owner.

import type { DnsMode, DomainStatus } from './domain-status.ts';

export const STATUS_REASONS = {
  delegated_elsewhere:
    'The parent zone no longer names our servers. We still answer until the time that is shown; the domain is active again as soon as the parent names them.',
  not_delegated:
    'No check saw the parent zone name our servers for too long. Set the name servers at your registrar, then enable the domain.',
  not_verified:
    'The TXT record that proves the domain was not found in time. Publish it, then enable the domain.',
  claim_lost:
    'Another account has proved this name, or the one above it: by the servers that the parent zone names, or by its TXT record. The findings tell more.',
  switched_off: 'An operator disabled this domain. Ask the support why, or enable it.',
} as const;
export type StatusReason = keyof typeof STATUS_REASONS;

interface Told {
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly disabledBy: 'operator' | 'checker' | null;
  readonly movedSince: Date | null;
  readonly findings: readonly { readonly code: string }[];
}

/** Undefined: the status needs no reason. `movedGraceMs`: how long a moved domain is answered. */
export function statusReason(
  domain: Told,
  movedGraceMs: number | undefined,
): { readonly reason: StatusReason; readonly until: Date | undefined } | undefined {
  const { status, movedSince } = domain;
  if (status === 'disabled') return { reason: whyDisabled(domain), until: undefined };
  if (status !== 'moved') return undefined;
  const isKnown = movedSince !== null && movedGraceMs !== undefined;
  const until = isKnown ? new Date(movedSince.getTime() + movedGraceMs) : undefined;
  return { reason: 'delegated_elsewhere', until };
}

function whyDisabled({ dnsMode, disabledBy, findings }: Told): StatusReason {
  if (findings.some(({ code }) => code === 'CLAIM_LOST')) return 'claim_lost';
  if (disabledBy !== 'checker') return 'switched_off';
  return dnsMode === 'managed' ? 'not_delegated' : 'not_verified';
}
