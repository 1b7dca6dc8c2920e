// The columns of a domain that begins, or begins again: pending and checked at once, or unverified with a TXT record to
// publish; and those of a domain that is off. Nothing is kept of an earlier life.

import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import {
  type DnsMode,
  type DomainStatus,
  type PresetKind,
  startStatus,
} from '../../zone/domain/domain-status.ts';

const VERIFICATION_DAYS = 14;
const TOKEN_BYTES = 20;
/** How long the first look waits: a new value cannot be published yet. */
const FIRST_LOOK_MS = 60_000;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** How often a domain is checked that has just become pending. */
const FIRST_INTERVAL_SECONDS = 60;

/** Counts `check_seq` up, so that a running check is no longer saved. */
export const NEXT_CHECK_SEQ = sql<number>`check_seq + 1`;

const NOTHING_SEEN = {
  miss_count: 0,
  first_miss_at: null,
  last_miss_at: null,
  conclusive_at: null,
  conclusive_ours: null,
};

/** The columns of a domain whose delegation is not checked. */
export const NOT_CHECKED = {
  ...NOTHING_SEEN,
  due_at: null as Date | null,
  next_check_at: null as Date | null,
  ns_check_interval_seconds: null as number | null,
  leaving: false,
  leaving_since: null as Date | null,
  preset: 'clear' as PresetKind,
  preset_taken: '[]',
};

/** The columns of a domain whose TXT record is not looked for. */
export const NOT_VERIFIED = { txt_due_at: null as Date | null, txt_next_at: null as Date | null };

/** `preset` comes from `presetAtEntry`. */
export function startColumns({
  dnsMode,
  preset,
  now,
}: {
  readonly dnsMode: DnsMode;
  readonly preset: PresetKind;
  readonly now: Date;
}) {
  const isManaged = dnsMode === 'managed';
  return {
    status: startStatus(dnsMode) as DomainStatus,
    disabled_by: null,
    pending_since: isManaged ? now : null,
    moved_since: null,
    findings: '[]',
    ...NOT_CHECKED,
    preset,
    ...(isManaged && {
      due_at: now,
      next_check_at: now,
      ns_check_interval_seconds: FIRST_INTERVAL_SECONDS,
    }),
    ...verificationColumns(dnsMode, now),
  };
}

export function offColumns(status: 'disabled' | 'banned', disabledBy: 'operator' | 'checker') {
  return {
    status,
    disabled_by: status === 'disabled' ? disabledBy : null,
    pending_since: null,
    moved_since: null,
    served: 'none' as const,
    ...NOT_CHECKED,
    ...NOT_VERIFIED,
  };
}

function verificationColumns(dnsMode: DnsMode, now: Date) {
  if (dnsMode === 'external')
    return { ...tokenColumns(now), verification_started_at: now, verified_at: null };
  return {
    verification_value: null,
    verification_started_at: null,
    verification_expires_at: null,
    verified_at: null,
    txt_attempts: 0,
    ...NOT_VERIFIED,
  };
}

/** Makes a fresh value to publish. No other domain, and no other life of this one, ever had it. */
export function tokenColumns(now: Date) {
  const firstLook = new Date(now.getTime() + FIRST_LOOK_MS);
  return {
    verification_value: `svc-verify=${generateToken()}`,
    verification_expires_at: new Date(now.getTime() + VERIFICATION_DAYS * 86_400_000),
    txt_attempts: 0,
    txt_due_at: firstLook,
    txt_next_at: firstLook,
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
