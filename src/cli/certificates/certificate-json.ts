// What operators are told of the certificate of a domain, and of the order for it. Never its key.

import { certificateStatus } from '../../edge/certificates/certificate-status.ts';
import type { StoredSsl } from '../../store/certificates/load-ssl.ts';

export function statusOf({ certificate, order }: StoredSsl, now: Date) {
  return certificateStatus({ certificate, order: order && (order.isFailed ? 'failed' : 'pending'), now });
}

export function certificateJson(ssl: StoredSsl & { readonly domain: string }, now: Date): object {
  const { domain, certificate, order } = ssl;
  return {
    domain,
    status: statusOf(ssl, now),
    names: certificate?.names ?? order?.names ?? [],
    not_before: certificate?.notBefore.toISOString() ?? null,
    not_after: certificate?.notAfter.toISOString() ?? null,
    issuer: certificate?.issuer ?? null,
    fingerprint: certificate?.fingerprint ?? null,
    order:
      order === undefined
        ? null
        : {
            step: order.step,
            names: order.names,
            attempts: order.attempts,
            last_error: order.lastError ?? null,
            failed_at: order.failedAt?.toISOString() ?? null,
            next_at: order.nextAt?.toISOString() ?? null,
            renews_at: order.renewAt?.toISOString() ?? null,
            findings: order.findings,
          },
  };
}
