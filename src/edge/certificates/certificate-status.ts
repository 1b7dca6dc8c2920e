// Status of a certificate, and its renewal time (RFC 9773).

interface Lifetime {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Window suggested by the authority (RFC 9773 §4.2). */
interface RenewalWindow {
  readonly start: Date;
  readonly end: Date;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const BACKOFF = { first: 5 * MINUTE_MS, factor: 3, most: DAY_MS };
/** Limits for the polling interval that an authority requests. */
const LOOK = { least: HOUR_MS, most: DAY_MS, usual: 6 * HOUR_MS };
const EXPIRING = { share: 1 / 6, most: 14 * DAY_MS };

/**
 * At two thirds of the lifetime. `spread`, from 0 to 1, subtracts up to a twentieth, to spread certificates issued on the
 * same day.
 */
export function nextRenewal({ notBefore, notAfter }: Lifetime, spread: number): Date {
  const lifetime = notAfter.getTime() - notBefore.getTime();
  return new Date(notBefore.getTime() + Math.round(lifetime * (2 / 3 - spread / 20)));
}

/** Returns a time within the window, or immediately if the window has passed, but never after the certificate has ended. */
export function renewalIn({ start, end }: RenewalWindow, { notAfter }: Lifetime, spread: number): Date {
  const at = start.getTime() + Math.max(0, end.getTime() - start.getTime()) * spread;
  return new Date(Math.min(at, notAfter.getTime() - HOUR_MS));
}

/** Returns the time until the next request for the renewal window (RFC 9773 §4.3). */
export function nextLookIn(retryAfterMs: number | undefined): number {
  return Math.min(LOOK.most, Math.max(LOOK.least, retryAfterMs ?? LOOK.usual));
}

/**
 * Returns the wait after this many consecutive failures, at least 1. `spread` separates orders that failed at the same
 * time.
 */
export function backoffIn(failures: number, spread: number): number {
  const whole = Math.min(BACKOFF.most, BACKOFF.first * BACKOFF.factor ** Math.min(20, failures - 1));
  return whole * (1 + spread / 5);
}

/** True if the certificate is near its expiry and has not been renewed. */
function isExpiring({ notBefore, notAfter }: Lifetime, now: Date): boolean {
  const lifetime = notAfter.getTime() - notBefore.getTime();
  return notAfter.getTime() - now.getTime() < Math.min(EXPIRING.most, lifetime * EXPIRING.share);
}

export const CERTIFICATE_STATUSES = ['none', 'pending', 'issued', 'failed', 'expiring', 'custom'] as const;
type CertificateStatus = (typeof CERTIFICATE_STATUSES)[number];

interface StatusFacts {
  readonly certificate: (Lifetime & { readonly kind: 'acme' | 'custom' }) | undefined;
  /** An order is in progress or planned, or the last one failed. Undefined if none was requested. */
  readonly order: 'pending' | 'failed' | undefined;
  readonly now: Date;
}

/** A valid certificate takes precedence over the state of the next order. */
export function certificateStatus({ certificate, order, now }: StatusFacts): CertificateStatus {
  if (certificate === undefined || certificate.notAfter <= now) {
    if (order !== undefined) return order;
    return certificate === undefined ? 'none' : 'expiring';
  }
  if (isExpiring(certificate, now)) return 'expiring';
  return certificate.kind === 'custom' ? 'custom' : 'issued';
}
