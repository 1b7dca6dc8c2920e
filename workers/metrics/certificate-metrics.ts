// The Prometheus metric of orders for certificates.

import { Counter, type Registry } from 'prom-client';
import type { CertificateOutcome } from '../jobs/issue-certificate.ts';

export function createCertificateMetrics(registry: Registry): (outcome: CertificateOutcome) => void {
  const runs = new Counter({
    name: 'zonefleet_certificate_runs_total',
    help: 'Looks at orders for certificates by how they ended: issued, failed, busy (the authority is asked later), waiting, resting, conflict, absent.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return ({ kind }) => runs.inc({ outcome: kind });
}
