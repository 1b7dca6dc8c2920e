// The Prometheus metrics of verifications: their results.

import { Counter, Histogram, type Registry } from 'prom-client';
import type { VerifyOutcome } from '../jobs/verify-txt.ts';

/** `transitions` counts the status changes of checks and verifications together. */
export function addVerificationMetrics(
  registry: Registry,
  transitions: Counter<'from' | 'to'>,
): (outcome: VerifyOutcome) => void {
  const registers = [registry];
  const runs = new Counter({
    name: 'zonefleet_verification_runs_total',
    help: 'Verifications by TXT that were saved, by kind and verdict.',
    labelNames: ['kind', 'verdict'],
    registers,
  });
  const unsaved = new Counter({
    name: 'zonefleet_verifications_unsaved_total',
    help: 'Verifications that ended without a saved run: as for checks, or because the value has expired.',
    labelNames: ['reason'],
    registers,
  });
  const seconds = new Histogram({
    name: 'zonefleet_verification_seconds',
    help: 'Duration of the observation of a TXT record.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30],
    registers,
  });
  const questions = new Histogram({
    name: 'zonefleet_verification_questions',
    help: 'Packets that one verification sent.',
    buckets: [2, 4, 8, 12, 20, 40, 60, 90, 120, 180],
    registers,
  });
  return (outcome) => {
    if (outcome.kind === 'saved') {
      runs.inc({ kind: outcome.job.kind, verdict: outcome.verdict });
      seconds.observe((outcome.evidence.finishedAt - outcome.evidence.startedAt) / 1000);
      questions.observe(outcome.evidence.queries);
    } else {
      unsaved.inc({ reason: outcome.kind });
    }
    if ((outcome.kind === 'saved' || outcome.kind === 'expired') && outcome.transition !== undefined) {
      transitions.inc({ from: outcome.transition.from, to: outcome.transition.to });
    }
    if (outcome.kind === 'saved' && outcome.lost !== undefined)
      transitions.inc({ from: 'active', to: 'disabled' });
  };
}
