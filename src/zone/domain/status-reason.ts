// The reasons why a domain is moved or disabled, and the end of that status: a closed list, each with a sentence for
// the owner.

import type { DnsMode, DomainStatus } from './domain-status.ts';

export const STATUS_REASONS = {
  delegated_elsewhere:
    'The parent zone no longer names our servers. We still answer until the time shown. The domain becomes active again as soon as the parent zone names them.',
  not_delegated:
    'For too long, no check found our nameservers in the parent zone. Set the nameservers at your registrar, then enable the domain.',
  not_verified:
    'The TXT record that proves the domain was not found in time. Publish it, then enable the domain.',
  claim_lost:
    'Another account has proved this name, or the one above it: by the servers that the parent zone names, or by its TXT record. See the findings for details.',
  switched_off: 'An operator disabled this domain. Contact support for the reason, or enable it.',
} as const;
export type StatusReason = keyof typeof STATUS_REASONS;

interface StatusFacts {
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly disabledBy: 'operator' | 'checker' | null;
  readonly movedSince: Date | null;
  readonly findings: readonly { readonly code: string }[];
}

/** Returns undefined if the status needs no reason. `movedGraceMs` is how long a moved domain is still answered. */
export function statusReason(
  domain: StatusFacts,
  movedGraceMs: number | undefined,
): { readonly reason: StatusReason; readonly until: Date | undefined } | undefined {
  const { status, movedSince } = domain;
  if (status === 'disabled') return { reason: whyDisabled(domain), until: undefined };
  if (status !== 'moved') return undefined;
  const isKnown = movedSince !== null && movedGraceMs !== undefined;
  const until = isKnown ? new Date(movedSince.getTime() + movedGraceMs) : undefined;
  return { reason: 'delegated_elsewhere', until };
}

function whyDisabled({ dnsMode, disabledBy, findings }: StatusFacts): StatusReason {
  if (findings.some(({ code }) => code === 'CLAIM_LOST')) return 'claim_lost';
  if (disabledBy !== 'checker') return 'switched_off';
  return dnsMode === 'managed' ? 'not_delegated' : 'not_verified';
}
