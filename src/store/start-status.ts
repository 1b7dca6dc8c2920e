// The columns of a domain that begins, or begins again: pending, or unverified with a TXT record to publish.

import { randomBytes } from 'node:crypto';
import { type DnsMode, type DomainStatus, startStatus } from '../zone/domain-status.ts';

export const VERIFICATION_DAYS = 14;
const TOKEN_OCTETS = 20;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

export function startColumns(dnsMode: DnsMode, now: Date) {
  return {
    status: startStatus(dnsMode) as DomainStatus,
    disabled_by: null,
    pending_since: dnsMode === 'managed' ? now : null,
    moved_since: null,
    ...verificationColumns(dnsMode, now),
  };
}

function verificationColumns(dnsMode: DnsMode, now: Date) {
  const isExternal = dnsMode === 'external';
  return {
    verification_value: isExternal ? `svc-verify=${generateToken()}` : null,
    verification_started_at: isExternal ? now : null,
    verification_expires_at: isExternal ? new Date(now.getTime() + VERIFICATION_DAYS * 86_400_000) : null,
    verified_at: null,
  };
}

/** 160 bits: 20 octets are exactly 32 characters of base32. */
function generateToken(): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const octet of randomBytes(TOKEN_OCTETS)) {
    held = (held << 8) | octet;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return text;
}
