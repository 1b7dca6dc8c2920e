import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import type { CheckOutcome } from '../../../workers/jobs/check-delegation.ts';
import { createWorkerMetrics, type WorkerGauges } from '../../../workers/metrics/metrics.ts';
import { evidenceOf } from '../../support/world/made-checks.ts';

const gauges: WorkerGauges = {
  depths: async () => ({ 'check-delegation': { waiting: 5, active: 2, delayed: 1, dead: 3 } }),
  running: () => 2,
  packets: () => ({ sent: 7, replies: 6 }),
  held: () => 1,
  pool: () => undefined,
  hasRootFault: () => true,
  vantages: () => ({ vantages: 3, voices: 2, isAsked: true, away: ['one'] }),
  slots: { slow: 4, refused: 9 },
};

const saved = (verdict: 'match' | 'unknown', transition?: { from: string; to: string }): CheckOutcome => ({
  kind: 'saved',
  job: { domainId: 1, kind: transition === undefined ? 'background' : 'manual', request: randomUUID() },
  name: 'example.com.',
  checkId: 1,
  evidence: evidenceOf(parseName('example.com.'), 'timeout'),
  verdict,
  transition,
  others: [],
});

test('runs are counted by kind and verdict, transitions by both ends, and the queue by state', async () => {
  const metrics = createWorkerMetrics(gauges);
  metrics.countOutcome(saved('match', { from: 'pending', to: 'active' }));
  metrics.countOutcome(saved('unknown'));
  metrics.countOutcome(saved('unknown'));
  metrics.countOutcome({ kind: 'conflict', job: { domainId: 1, kind: 'background' } });
  metrics.countFailure(true);
  metrics.countFailure(false);
  metrics.countTrouble('queue');
  metrics.countVantageAsk('away');
  const lines = (await metrics.registry.metrics()).split('\n');
  for (const line of [
    'zonefleet_check_runs_total{kind="manual",verdict="match"} 1',
    'zonefleet_check_runs_total{kind="background",verdict="unknown"} 2',
    'zonefleet_transitions_total{from="pending",to="active"} 1',
    'zonefleet_checks_unsaved_total{reason="conflict"} 1',
    'zonefleet_check_failures_total{job="dead"} 1',
    'zonefleet_check_failures_total{job="again"} 1',
    'zonefleet_worker_troubles_total{of="queue"} 1',
    'zonefleet_queue_jobs{queue="check-delegation",state="waiting"} 5',
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
  ]) {
    expect(lines).toContain(line);
  }
});

test('a queue that cannot be reached leaves its depth out, and nothing else', async () => {
  const { registry } = createWorkerMetrics({ ...gauges, depths: () => Promise.reject(new Error('away')) });
  const text = await registry.metrics();
  expect(text).not.toMatch(/^zonefleet_queue_jobs\{/m);
  expect(text).toContain('zonefleet_checks_running 2');
});

test('without a nameserver pool it has no metrics, and before its first check no count of faults', async () => {
  const text = async (pool: WorkerGauges['pool']) =>
    await createWorkerMetrics({ ...gauges, pool }).registry.metrics();
  expect(await text(() => undefined)).not.toMatch(/^zonefleet_nameserver_pool/m);
  const before = await text(() => ({ shareGiven: 0.25, faults: undefined }));
  expect(before).toContain('zonefleet_nameserver_pool_given_ratio 0.25');
  expect(before).not.toMatch(/^zonefleet_nameserver_pool_faults/m);
  const fault = { of: 'ns1.example.net', message: 'x' };
  expect(await text(() => ({ shareGiven: 1, faults: [fault] }))).toContain(
    'zonefleet_nameserver_pool_faults 1',
  );
});
