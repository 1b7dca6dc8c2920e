// Prints the certificate of a domain as its readers see it.

import type { z } from 'zod';
import { certificateStatus } from '../../edge/certificates/certificate-status.ts';
import type { StoredSsl } from '../../store/certificates/load-ssl.ts';
import { moments } from '../schemas/fields.ts';
import type { Ssl, SslSummary } from '../schemas/ssl.ts';

export function printSsl(stored: StoredSsl | undefined, nowMs = Date.now()): z.input<typeof Ssl> {
  const { certificate, order } = stored ?? {};
  const isIssued = certificate?.kind === 'acme';
  return {
    status: statusOf(stored, nowMs),
    names: [...(certificate?.names ?? order?.names ?? [])],
    ...moments({
      not_before: certificate?.notBefore ?? null,
      not_after: certificate?.notAfter ?? null,
    }),
    ...(certificate !== undefined && { issuer: certificate.issuer, fingerprint: certificate.fingerprint }),
    ...moments({ renews_at: (isIssued && order?.renewAt) || null }),
    ...(order?.lastError !== undefined && { last_error: order.lastError }),
    ...moments({
      failed_at: order?.failedAt ?? null,
      next_attempt_at: (order?.isFailed === true && order.nextAt) || null,
    }),
    findings: (order?.findings ?? []).map(({ code, message }) => ({ code, message })),
  };
}

export function printSslSummary(
  stored: StoredSsl | undefined,
  nowMs = Date.now(),
): z.input<typeof SslSummary> {
  return {
    status: statusOf(stored, nowMs),
    ...moments({ not_after: stored?.certificate?.notAfter ?? null }),
  };
}

function statusOf(stored: StoredSsl | undefined, nowMs: number) {
  const order = stored?.order;
  return certificateStatus({
    certificate: stored?.certificate,
    order: order && (order.isFailed ? 'failed' : 'pending'),
    now: new Date(nowMs),
  });
}
