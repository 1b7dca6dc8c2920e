// The columns of a domain that begins, or begins again: pending and checked at once, or unverified with a TXT record to
// publish; and those of a domain that is off. Nothing is kept of an earlier life.

import { randomBytes } from 'node:crypto';
import { FINDINGS } from '../../checks/delegation/findings.ts';
import { type DnsMode, type DomainStatus, startStatus } from '../../zone/domain/domain-status.ts';
import type { StoredSet } from '../postgres/tables/schema.ts';
import type { NewVerification } from './domain-parts.ts';

const VERIFICATION_DAYS = 14;
const TOKEN_BYTES = 20;
/** How long the first look waits: a new value cannot be published yet. */
export const FIRST_LOOK_MS = 60_000;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** How often a domain is checked that has just become pending. */
const FIRST_INTERVAL_SECONDS = 60;

/** The columns of a domain whose delegation is not checked. */
export const NOT_CHECKED = {
  domain: {
    leaving: false,
    leaving_since: null as Date | null,
    lent_ns: null as string[] | null,
    turn_asked_at: null as Date | null,
    turn_from: null as Date | null,
    turn_until: null as Date | null,
    approved_ahead: false as boolean,
  },
  check: {
    due_at: null as Date | null,
    next_at: null as Date | null,
    interval_seconds: null as number | null,
    unknowns: 0,
    miss_count: 0,
    first_miss_at: null,
    last_miss_at: null,
    conclusive_at: null,
    conclusive_ours: null,
    conclusive_others: null,
    takeover_seen_at: null as Date | null,
    witness_at: null,
    seen_ns: null,
    ns_changed_at: null,
  },
};

/** The columns of a domain whose TXT record is not looked for; what was found in external mode stays. */
export const NOT_VERIFIED = { due_at: null, next_at: null, takeover_seen_at: null };

/** How a claim begins. */
export interface Start {
  readonly dnsMode: DnsMode;
  /** From `setsForClaim`. */
  readonly nsSets: readonly StoredSet[] | null;
  readonly byOperator: boolean;
  /** True if the first set of ours that the parent shows proves it. */
  readonly approvedAhead?: boolean;
  readonly now: Date;
  /** When the claim began: a domain that is created again goes on with the time of the one before. */
  readonly since?: Date;
  /** When it is checked first; by default at once. */
  readonly firstCheckAt?: Date;
  /** It asks for a turn. */
  readonly asksForTurn?: boolean;
}

export function startParts({
  dnsMode,
  nsSets,
  byOperator,
  approvedAhead = false,
  now,
  since = now,
  firstCheckAt = now,
  asksForTurn = true,
}: Start) {
  const isManaged = dnsMode === 'managed';
  return {
    domain: {
      status: startStatus(dnsMode) as DomainStatus,
      disabled_by: null,
      pending_since: isManaged ? since : null,
      moved_since: null,
      findings: JSON.stringify(isManaged && nsSets?.length === 0 ? [FINDINGS.SETS_SPENT()] : []),
      ...NOT_CHECKED.domain,
      ns_sets: nsSets === null ? null : JSON.stringify(nsSets),
      open: byOperator,
      by_operator: byOperator,
      approved_ahead: isManaged && approvedAhead,
      banned_name: false,
      claimed_at: now,
      ended_at: null as Date | null,
      ...(isManaged && asksForTurn && { turn_asked_at: now, turn_last_asked_at: now }),
    },
    check: {
      ...NOT_CHECKED.check,
      ...(isManaged && {
        due_at: firstCheckAt,
        next_at: firstCheckAt,
        interval_seconds: FIRST_INTERVAL_SECONDS,
      }),
    },
    newVerification: isManaged ? null : newVerification(now),
  };
}

/** Domains that the checker disabled are looked at so often, in seconds: they come back by themselves. */
const SWEEP_SECONDS = 86_400;

/** A domain that the checker disabled may come back by itself, so it is still checked. */
export function offParts(status: 'disabled' | 'banned', disabledBy: 'operator' | 'checker', now: Date) {
  const isSwept = status === 'disabled' && disabledBy === 'checker';
  return {
    domain: {
      status,
      disabled_by: status === 'disabled' ? disabledBy : null,
      pending_since: null,
      moved_since: null,
      served: 'none' as const,
      ended_at: isSwept ? now : null,
      ...NOT_CHECKED.domain,
    },
    check: {
      ...NOT_CHECKED.check,
      ...(isSwept && { due_at: new Date(now.getTime() + SWEEP_SECONDS * 1000) }),
    },
    verification: NOT_VERIFIED,
  };
}

export function newVerification(now: Date): NewVerification {
  return { ...tokenColumns(now), started_at: now, verified_at: null };
}

/** Makes a fresh value to publish. No other domain, and no other life of this one, ever had it. */
export function tokenColumns(now: Date) {
  const firstLook = new Date(now.getTime() + FIRST_LOOK_MS);
  return {
    value: `svc-verify=${generateToken()}`,
    expires_at: new Date(now.getTime() + VERIFICATION_DAYS * 86_400_000),
    attempts: 0,
    due_at: firstLook,
    next_at: firstLook,
    takeover_seen_at: null,
  };
}

/** Makes 160 random bits: 20 bytes are exactly 32 characters of base32. */
function generateToken(): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of randomBytes(TOKEN_BYTES)) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return text;
}
