// Describes the job that issues a certificate: its queue, metrics and log lines.

import { Counter, type Registry } from 'prom-client';
import { accountsInTurn } from '../../src/jobs/fill-queue.ts';
import { fillByClaims, type Job, type JobLog, type JobTools } from '../../src/jobs/job.ts';
import { type CertificateJob, ISSUE_CERTIFICATE } from '../../src/jobs/jobs.ts';
import type { Authority } from '../../src/outbound/acme/authority.ts';
import { claimDueOrders } from '../../src/store/certificates/claim-due-orders.ts';
import { type CertificateOutcome, createIssuer } from '../jobs/issue-certificate.ts';

/** Small, because certificate authorities limit concurrent requests. */
const AT_ONCE = 10;

export function certificateJob(
  { db, resolver, registry, shares }: JobTools,
  authority: Authority,
): Job<CertificateJob, CertificateOutcome> {
  const [claim, claimLight] = accountsInTurn(
    (due) => claimDueOrders(db, due),
    (orderId, turn): CertificateJob => ({ orderId, turn }),
  );
  return {
    kind: ISSUE_CERTIFICATE,
    atOnce: AT_ONCE,
    open: (onOutcome) => createIssuer({ db, resolver, authority, shares, onOutcome }),
    fill: fillByClaims({ room: 2 * AT_ONCE, claim, claimLight }),
    count: createCertificateMetrics(registry),
    log: logCertificate,
  };
}

function createCertificateMetrics(registry: Registry): (outcome: CertificateOutcome) => void {
  const runs = new Counter({
    name: 'zonefleet_certificate_runs_total',
    help: 'Looks at orders for certificates by how they ended: issued, failed, busy (the authority is asked later), waiting, resting, conflict, absent.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return ({ kind }) => runs.inc({ outcome: kind });
}

function logCertificate(log: JobLog, outcome: CertificateOutcome): void {
  const { kind } = outcome;
  if (kind === 'issued')
    log.info({ domain: outcome.domain, names: outcome.names }, 'a certificate is issued');
  if (kind === 'failed')
    log.warn({ domain: outcome.domain, error: outcome.error }, 'a certificate is not issued');
}
