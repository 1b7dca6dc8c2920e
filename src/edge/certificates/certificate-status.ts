// The status of a certificate, and when it is renewed (RFC 9773).

interface Lifetime {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** The window that the authority suggests (RFC 9773 §4.2). */
interface RenewalWindow {
  readonly start: Date;
  readonly end: Date;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const BACKOFF = { first: 5 * MINUTE_MS, factor: 3, most: DAY_MS };
/** An authority that asks to be asked again sooner or later than this is not followed. */
const LOOK = { least: HOUR_MS, most: DAY_MS, usual: 6 * HOUR_MS };
const EXPIRING = { share: 1 / 6, most: 14 * DAY_MS };

/** At two thirds of the lifetime; `spread` from 0 to 1 takes up to a twentieth off, so that those of one day part. */
export function nextRenewal({ notBefore, notAfter }: Lifetime, spread: number): Date {
  const lifetime = notAfter.getTime() - notBefore.getTime();
  return new Date(notBefore.getTime() + Math.round(lifetime * (2 / 3 - spread / 20)));
}

/** A moment within the window, at once when that is over, and never so late that the certificate has ended. */
export function renewalIn({ start, end }: RenewalWindow, { notAfter }: Lifetime, spread: number): Date {
  const at = start.getTime() + Math.max(0, end.getTime() - start.getTime()) * spread;
  return new Date(Math.min(at, notAfter.getTime() - HOUR_MS));
}

/** How long until the authority is asked for the window again (RFC 9773 §4.3). */
export function nextLookIn(retryAfterMs: number | undefined): number {
  return Math.min(LOOK.most, Math.max(LOOK.least, retryAfterMs ?? LOOK.usual));
}

/** The wait after so many failures in a row, from 1. `spread` as above: orders that failed together part. */
export function backoffIn(failures: number, spread: number): number {
  const whole = Math.min(BACKOFF.most, BACKOFF.first * BACKOFF.factor ** Math.min(20, failures - 1));
  return whole * (1 + spread / 5);
}

/** Near its end, when nothing has renewed it. */
function isExpiring({ notBefore, notAfter }: Lifetime, now: Date): boolean {
  const lifetime = notAfter.getTime() - notBefore.getTime();
  return notAfter.getTime() - now.getTime() < Math.min(EXPIRING.most, lifetime * EXPIRING.share);
}

export const CERTIFICATE_STATUSES = ['none', 'pending', 'issued', 'failed', 'expiring', 'custom'] as const;
type CertificateStatus = (typeof CERTIFICATE_STATUSES)[number];

interface StatusFacts {
  readonly certificate: (Lifetime & { readonly kind: 'acme' | 'custom' }) | undefined;
  /** An order is under way or will be made, or the last one has failed. Undefined: none was asked for. */
  readonly order: 'pending' | 'failed' | undefined;
  readonly now: Date;
}

/** A certificate that is valid comes before what becomes of the next one. */
export function certificateStatus({ certificate, order, now }: StatusFacts): CertificateStatus {
  if (certificate === undefined || certificate.notAfter <= now) {
    if (order !== undefined) return order;
    return certificate === undefined ? 'none' : 'expiring';
  }
  if (isExpiring(certificate, now)) return 'expiring';
  return certificate.kind === 'custom' ? 'custom' : 'issued';
}
