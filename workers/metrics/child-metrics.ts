// The Prometheus metrics of checks of delegated zones: what they found, and whether our own nameservers answer.

import { Counter, Histogram, type Registry } from 'prom-client';
import type { ChildOutcome } from '../jobs/check-child.ts';

export function createChildMetrics(registry: Registry): (outcome: ChildOutcome) => void {
  const registers = [registry];
  const runs = new Counter({
    name: 'zonefleet_child_checks_total',
    help: 'Checks of delegated zones, by how they ended: saved, or absent, where nothing is delegated any more.',
    labelNames: ['outcome'],
    registers,
  });
  const findings = new Counter({
    name: 'zonefleet_child_findings_total',
    help: 'Findings of checks of delegated zones, by code and by who can change it; those for the operator are about our own nameservers.',
    labelNames: ['code', 'place'],
    registers,
  });
  const questions = new Histogram({
    name: 'zonefleet_child_check_questions',
    help: 'Packets that one check of a delegated zone sent.',
    buckets: [2, 4, 8, 12, 16, 20, 24, 32, 40],
    registers,
  });
  return (outcome) => {
    runs.inc({ outcome: outcome.kind });
    if (outcome.kind !== 'saved') return;
    for (const { code, place } of outcome.findings) findings.inc({ code, place });
    questions.observe(outcome.evidence.queries);
  };
}
