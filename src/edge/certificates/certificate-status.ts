// The status of a domain's certificate, as its owner sees it.

import { isExpiring, type Lifetime } from './renewal.ts';

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
