import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import type { VerifyOutcome } from '../../../workers/jobs/verify-txt.ts';
import { addVerificationMetrics } from '../../../workers/metrics/verification-metrics.ts';
import { txtEvidenceOf } from '../../support/world/made-verifications.ts';

test('runs are counted by kind and verdict, the others by reason, and moves of both', async () => {
  const registry = new Registry();
  const transitions = new Counter({
    name: 'moves',
    help: 'Moves.',
    labelNames: ['from', 'to'],
    registers: [registry],
  });
  const count = addVerificationMetrics(registry, transitions);
  const job = { domainId: 1, kind: 'background' } as const;
  const saved: VerifyOutcome = {
    kind: 'saved',
    job,
    name: 'example.com.',
    runId: 1,
    evidence: txtEvidenceOf(parseName('_svc-challenge.example.com.'), { servers: ['nodata'] }),
    verdict: 'absent',
    transition: undefined,
  };
  count(saved);
  count({ ...saved, verdict: 'verified', transition: { from: 'unverified', to: 'active' } });
  count({ kind: 'expired', job, name: 'example.com.', transition: { from: 'unverified', to: 'disabled' } });
  count({ kind: 'conflict', job });
  const lines = (await registry.metrics()).split('\n');
  for (const line of [
    'zonefleet_verification_runs_total{kind="background",verdict="absent"} 1',
    'zonefleet_verification_runs_total{kind="background",verdict="verified"} 1',
    'zonefleet_verifications_unsaved_total{reason="expired"} 1',
    'zonefleet_verifications_unsaved_total{reason="conflict"} 1',
    'zonefleet_verification_seconds_count 2',
    'zonefleet_verification_questions_count 2',
    'moves{from="unverified",to="active"} 1',
    'moves{from="unverified",to="disabled"} 1',
  ]) {
    expect(lines).toContain(line);
  }
});
