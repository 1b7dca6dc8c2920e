// Columns of a domain that starts (pending and checked immediately, or unverified with a TXT record to publish), of one
// that is off, and of a claim with an offered TXT record. They replace all earlier state.

import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { FINDINGS } from '../../checks/delegation/findings.ts';
import { type DnsMode, type DomainStatus, startStatus } from '../../zone/domain/domain-status.ts';
import type { Database } from '../postgres/database.ts';
import type { StoredSet } from '../postgres/tables/schema.ts';
import { insertVerification, type NewVerification } from './domain-parts.ts';

const VERIFICATION_DAYS = 14;
const TOKEN_BYTES = 20;
/** Delay of the first query: a new value cannot be published yet. */
const FIRST_QUERY_MS = 60_000;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Interval between checks of a domain that has just become pending. */
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

/** Columns of a domain whose TXT record is not queried. Results from external mode stay. */
export const NOT_VERIFIED = { due_at: null, next_at: null, takeover_seen_at: null };

export interface Start {
  readonly dnsMode: DnsMode;
  /** From `setsForClaim`. */
  readonly nsSets: readonly StoredSet[] | null;
  readonly byOperator: boolean;
  /** True if the first of the fleet's sets that the parent shows proves the claim. */
  readonly approvedAhead?: boolean;
  readonly now: Date;
  /** Start of the claim. A domain that is created again may keep its earlier start. */
  readonly since?: Date;
  /** Time of the first check. Immediately by default. */
  readonly firstCheckAt?: Date;
  /** True if the claim requests a turn. */
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

/** Seconds between checks of a domain that the checker disabled: it may recover automatically. */
const SWEEP_SECONDS = 86_400;

/** Returns the columns of a domain that is off. If the checker disabled it, checks continue, because it may recover. */
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

function newVerification(now: Date): NewVerification {
  return { ...tokenColumns(now), started_at: now, verified_at: null };
}

/** Returns columns with a new random value to publish. */
export function tokenColumns(now: Date) {
  const firstLook = new Date(now.getTime() + FIRST_QUERY_MS);
  return {
    value: `svc-verify=${generateToken()}`,
    expires_at: new Date(now.getTime() + VERIFICATION_DAYS * 86_400_000),
    attempts: 0,
    due_at: firstLook,
    next_at: firstLook,
    takeover_seen_at: null,
  };
}

/** Generates 160 random bits: 20 bytes are exactly 32 characters of base32. */
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

const MINUTE_MS = 60_000;

interface OfferRow {
  readonly id: number;
  /** Null if it has no verification. */
  readonly offered: boolean | null;
  readonly now: Date;
}

/**
 * Offers a TXT record to the claims that would be answered completely with it, and withdraws the offer from those that
 * no longer need it, so that useless records are not queried. `rows` are the waiting claims, `wanted` those that get
 * the offer. Call it under `lockNamesAround`.
 */
export async function settleOffers(
  trx: Database,
  rows: readonly OfferRow[],
  wanted: readonly number[],
): Promise<void> {
  const missing = rows.filter(({ id, offered }) => offered === null && wanted.includes(id));
  // These times are public, and must not reveal the exact time of another account's claim.
  for (const { id, now } of missing) await insertVerification(trx, id, newVerification(minuteOf(now)));
  const renewed = rows.filter(({ id, offered }) => offered === false && wanted.includes(id));
  const ended = rows.filter(({ id, offered }) => offered === true && !wanted.includes(id));
  // The pauses between queries continue, so that repeated offers do not cause more queries.
  if (renewed.length > 0)
    await sql`
      update domain_verifications set offered = true, due_at = case when next_at is not null then
        greatest(next_at, clock_timestamp() + make_interval(secs => ${FIRST_QUERY_MS / 1000}::float8)) end
      where domain_id = any(${renewed.map(({ id }) => id)}::bigint[])`.execute(trx);
  if (ended.length > 0)
    await sql`
      update domain_verifications set offered = false, due_at = null
      where domain_id = any(${ended.map(({ id }) => id)}::bigint[])`.execute(trx);
}

function minuteOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS);
}
