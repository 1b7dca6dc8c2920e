// The job that takes the next steps of the order for a certificate.

import type { JobKind } from '../../jobs/jobs.ts';

export interface CertificateJob {
  readonly orderId: number;
  /** Position of the account's turn, as for checks. */
  readonly turn?: number;
}

export const ISSUE_CERTIFICATE: JobKind<CertificateJob> = {
  queue: 'issue-certificate',
  key: ({ orderId }) => `certificate:${orderId}`,
  turn: ({ turn }) => turn,
  connections: 2,
};
