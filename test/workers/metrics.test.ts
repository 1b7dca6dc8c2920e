import { randomUUID } from 'node:crypto';
import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import type { JobTools } from '../../src/jobs/job.ts';
import type { CheckOutcome } from '../../workers/jobs/check-delegation.ts';
import type { ScanOutcome } from '../../workers/jobs/scan-import.ts';
import type { VerifyOutcome } from '../../workers/jobs/verify-txt.ts';
import { scanJob } from '../../workers/kinds/scan-job.ts';
import { createWorkerMetrics, type WorkerGauges } from '../../workers/metrics/metrics.ts';
import { addVerificationMetrics } from '../../workers/metrics/verification-metrics.ts';
import { evidenceOf } from '../support/world/made-checks.ts';
import { scanOf } from '../support/world/made-scans.ts';
import { txtEvidenceOf } from '../support/world/made-verifications.ts';

const name = 'example.com.';
const gauges: WorkerGauges = {
  depths: async () => ({ 'check-delegation': { waiting: 5, active: 2, delayed: 1, dead: 3 } }),
  checkDelay: async () => 17,
  running: () => 2,
  packets: () => ({ sent: 7, replies: 6 }),
  held: () => 1,
  pool: () => undefined,
  hasRootFault: () => true,
  vantages: () => ({ vantages: 3, voices: 2, isAsked: true, away: ['one'] }),
  slots: { slow: 4, refused: 9 },
};

async function expectLines(registry: Registry, lines: readonly string[]): Promise<void> {
  expect((await registry.metrics()).split('\n')).toEqual(expect.arrayContaining([...lines]));
}

test('the worker counts checks by kind and verdict, transitions by both ends, and jobs by state', async () => {
  const metrics = createWorkerMetrics(gauges);
  const saved = (verdict: 'match' | 'unknown', transition?: { from: string; to: string }): CheckOutcome => ({
    kind: 'saved',
    job: { domainId: 1, kind: transition === undefined ? 'background' : 'manual', request: randomUUID() },
    name,
    checkId: 1,
    evidence: evidenceOf(parseName(name), 'timeout'),
    verdict,
    transition,
    others: [],
  });
  metrics.countOutcome(saved('match', { from: 'pending', to: 'active' }));
  metrics.countOutcome(saved('unknown'));
  metrics.countOutcome(saved('unknown'));
  metrics.countOutcome({ kind: 'conflict', job: { domainId: 1, kind: 'background' } });
  metrics.countFailure(true);
  metrics.countFailure(false);
  metrics.countTrouble('queue');
  metrics.countVantageAsk('away');
  await expectLines(metrics.registry, [
    'zonefleet_check_runs_total{kind="manual",verdict="match"} 1',
    'zonefleet_check_runs_total{kind="background",verdict="unknown"} 2',
    'zonefleet_transitions_total{from="pending",to="active"} 1',
    'zonefleet_checks_unsaved_total{reason="conflict"} 1',
    'zonefleet_check_failures_total{job="dead"} 1',
    'zonefleet_check_failures_total{job="again"} 1',
    'zonefleet_worker_troubles_total{of="queue"} 1',
    'zonefleet_queue_jobs{queue="check-delegation",state="waiting"} 5',
    'zonefleet_checks_overdue_seconds 17',
    'zonefleet_queue_jobs{queue="check-delegation",state="dead"} 3',
    'zonefleet_resolver_packets_total{kind="sent"} 7',
    'zonefleet_checks_running 2',
    'zonefleet_breakers_held 1',
    'zonefleet_root_fault 1',
    'zonefleet_vantages_away 1',
    'zonefleet_vantage_voices 2',
    'zonefleet_vantage_asks_total{outcome="away"} 1',
    'zonefleet_check_seconds_count 3',
    'zonefleet_check_questions_count 3',
  ]);
});

test('the worker omits the depth of a queue that it cannot reach, and nothing else', async () => {
  const { registry } = createWorkerMetrics({ ...gauges, depths: () => Promise.reject(new Error('away')) });
  const text = await registry.metrics();
  expect(text).not.toMatch(/^zonefleet_queue_jobs\{/m);
  expect(text).toContain('zonefleet_checks_running 2');
});

test('the worker reports a nameserver pool if there is one, and its faults after the first check', async () => {
  const text = (pool: WorkerGauges['pool']) => createWorkerMetrics({ ...gauges, pool }).registry.metrics();
  expect(await text(() => undefined)).not.toMatch(/^zonefleet_nameserver_pool/m);
  const before = await text(() => ({ shareGiven: 0.25, faults: undefined }));
  expect(before).toContain('zonefleet_nameserver_pool_given_ratio 0.25');
  expect(before).not.toMatch(/^zonefleet_nameserver_pool_faults/m);
  const fault = { of: 'ns1.example.net', message: 'x' };
  expect(await text(() => ({ shareGiven: 1, faults: [fault] }))).toContain(
    'zonefleet_nameserver_pool_faults 1',
  );
});

test('scans are counted by kind and completeness, and their records by outcome', async () => {
  const registry = new Registry();
  const { count } = scanJob({ registry } as JobTools, undefined);
  const job = { scanId: 1 };
  const saved = (imported: Extract<ScanOutcome, { kind: 'saved' }>['imported']) =>
    count({ kind: 'saved', job, name, scanKind: 'background', scan: scanOf([]), records: 7, imported });
  saved({ kind: 'imported', created: 4, failed: [], present: 3, changeId: 1 });
  saved({ kind: 'refused', code: 'plan_limit', message: '' });
  saved(undefined);
  count({ kind: 'held', job });
  await expectLines(registry, [
    'zonefleet_scans_total{kind="background",complete="true"} 3',
    'zonefleet_scans_unsaved_total{reason="held"} 1',
    'zonefleet_scan_records_total{became="imported"} 4',
    'zonefleet_scan_records_total{became="skipped"} 3',
    'zonefleet_scan_records_total{became="refused"} 7',
    'zonefleet_scan_seconds_sum 4.5',
    'zonefleet_scan_questions_sum 36',
  ]);
});

test('verifications are counted by kind and verdict, unsaved ones by reason, and transitions of both', async () => {
  const registry = new Registry();
  const labelNames = ['from', 'to'];
  const transitions = new Counter({ name: 'moves', help: 'Moves.', labelNames, registers: [registry] });
  const count = addVerificationMetrics(registry, transitions);
  const job = { domainId: 1, kind: 'background' } as const;
  const evidence = txtEvidenceOf(parseName('_svc-challenge.example.com.'), { servers: ['nodata'] });
  const saved: VerifyOutcome = {
    kind: 'saved',
    job,
    name,
    runId: 1,
    evidence,
    verdict: 'absent',
    transition: undefined,
  };
  count(saved);
  count({ ...saved, verdict: 'verified', transition: { from: 'unverified', to: 'active' } });
  count({ kind: 'expired', job, name, transition: { from: 'unverified', to: 'disabled' } });
  count({ kind: 'conflict', job });
  await expectLines(registry, [
    'zonefleet_verification_runs_total{kind="background",verdict="absent"} 1',
    'zonefleet_verification_runs_total{kind="background",verdict="verified"} 1',
    'zonefleet_verifications_unsaved_total{reason="expired"} 1',
    'zonefleet_verifications_unsaved_total{reason="conflict"} 1',
    'zonefleet_verification_seconds_count 2',
    'zonefleet_verification_questions_count 2',
    'moves{from="unverified",to="active"} 1',
    'moves{from="unverified",to="disabled"} 1',
  ]);
});
