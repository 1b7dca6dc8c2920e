// The job that issues a certificate.

import type { JobKind } from '../../jobs/jobs.ts';

/** Take the next steps of the order for a certificate. */
export interface CertificateJob {
  readonly orderId: number;
  /** As for a check. */
  readonly turn?: number;
}

export const ISSUE_CERTIFICATE: JobKind<CertificateJob> = {
  queue: 'issue-certificate',
  key: ({ orderId }) => `certificate:${orderId}`,
  turn: ({ turn }) => turn,
  connections: 2,
};
