// The Prometheus metrics of a workers process (docs/operating/monitor.md "Metrics"): results of checks, and the
// state at the time of the scrape.

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueDepth } from '../../src/jobs/job-queue.ts';
import { readBuild } from '../../src/process/build.ts';
import { addBuild } from '../../src/process/metrics/add-build.ts';
import type { AskedNames } from '../../src/store/checks/take-asked-names.ts';
import type { CheckOutcome } from '../jobs/check-delegation.ts';
import type { VerifyOutcome } from '../jobs/verify-txt.ts';
import type { PoolState } from '../rounds/watch-pool.ts';
import type { VantageState } from '../rounds/watch-vantages.ts';
import { addPackets, gaugesOf } from './process-metrics.ts';
import { addVerificationMetrics } from './verification-metrics.ts';

export interface WorkerGauges {
  /** Returns the depths by the queue's name. Rejects while the queues cannot be reached. */
  depths(): Promise<Readonly<Record<string, QueueDepth>>>;
  /** Returns the seconds by which the earliest planned check is late. Rejects while Postgres cannot be reached. */
  checkDelay(): Promise<number>;
  running(): number;
  /** Number of packets since the start, by kind. */
  packets(): Readonly<Record<string, number>>;
  /** Number of breakers that hold status changes back. */
  held(): number;
  /** Undefined without a nameserver pool. */
  pool(): PoolState | undefined;
  /** True if the root did not validate when its keys were last queried. */
  hasRootFault(): boolean;
  /** State of the observers. */
  vantages(): VantageState;
  /** The slots for slow checks. */
  readonly slots: { readonly slow: number; readonly refused: number };
}

export interface WorkerMetrics {
  readonly registry: Registry;
  countOutcome(outcome: CheckOutcome): void;
  countVerification(outcome: VerifyOutcome): void;
  countFailure(isDead: boolean): void;
  countTrouble(
    of:
      | 'queue'
      | 'schedule'
      | 'breaker'
      | 'housekeeping'
      | 'anchors'
      | 'vantages'
      | 'signing'
      | 'regions'
      | 'analytics'
      | 'uptime'
      | 'catalogs',
  ): void;
  /** Counts a domain whose published zone differs from its records. */
  countPublishFault(): void;
  /** Counts a status change that observers were asked to confirm. */
  countVantageAsk(outcome: string): void;
  /** Counts names that nodes reported because they received queries for them. */
  countAskedNames(asked: AskedNames): void;
}

const CHECK_BOUNDS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];

export function createWorkerMetrics(gauges: WorkerGauges): WorkerMetrics {
  const registry = new Registry();
  addBuild(registry, { ...readBuild(), process: 'workers' });
  const registers = [registry];
  addGauges(registry, gauges);
  const runs = new Counter({
    name: 'zonefleet_check_runs_total',
    help: 'Check runs that were saved, by kind and verdict.',
    labelNames: ['kind', 'verdict'],
    registers,
  });
  const unsaved = new Counter({
    name: 'zonefleet_checks_unsaved_total',
    help: 'Checks that ended without a saved run: the domain is deleted, changed meanwhile, was not due, or was already checked.',
    labelNames: ['reason'],
    registers,
  });
  const transitions = new Counter({
    name: 'zonefleet_transitions_total',
    help: 'Changes of status by checks and verifications.',
    labelNames: ['from', 'to'],
    registers,
  });
  const seconds = new Histogram({
    name: 'zonefleet_check_seconds',
    help: 'Duration of the observation of a delegation.',
    buckets: CHECK_BOUNDS_SECONDS,
    registers,
  });
  const questions = new Histogram({
    name: 'zonefleet_check_questions',
    help: 'Packets that one check sent.',
    buckets: [0, 1, 2, 3, 4, 6, 8, 12, 20, 40, 60],
    registers,
  });
  const failures = new Counter({
    name: 'zonefleet_check_failures_total',
    help: 'Job runs that ended with an internal error, by what becomes of the job: again (retried), or dead (a dead letter).',
    labelNames: ['job'],
    registers,
  });
  const troubles = new Counter({
    name: 'zonefleet_worker_troubles_total',
    help: 'Calls of the queue or of Postgres that failed outside of checks.',
    labelNames: ['of'],
    registers,
  });
  const publishFaults = new Counter({
    name: 'zonefleet_publish_faults_total',
    help: 'Domains whose published zone was found to differ from their records, which is a bug. The log names them.',
    registers,
  });
  const vantageAsks = new Counter({
    name: 'zonefleet_vantage_asks_total',
    help: 'Status changes that observers elsewhere were asked about: agreed, differ (they observed something else), away (too few responded).',
    labelNames: ['outcome'],
    registers,
  });
  const askedNames = new Counter({
    name: 'zonefleet_asked_names_total',
    help: 'Unproven names that nodes received queries for, by what was done: a check became due immediately, is due later, or the name no longer waits.',
    labelNames: ['result'],
    registers,
  });
  return {
    registry,
    countOutcome(outcome) {
      if (outcome.kind !== 'saved') return unsaved.inc({ reason: outcome.kind });
      runs.inc({ kind: outcome.job.kind, verdict: outcome.verdict });
      seconds.observe((outcome.evidence.finishedAt - outcome.evidence.startedAt) / 1000);
      questions.observe(outcome.evidence.queries);
      for (const { from, to } of outcome.transition === undefined
        ? outcome.others
        : [outcome.transition, ...outcome.others])
        transitions.inc({ from, to });
    },
    countVerification: addVerificationMetrics(registry, transitions),
    countFailure: (isDead) => failures.inc({ job: isDead ? 'dead' : 'again' }),
    countTrouble: (of) => troubles.inc({ of }),
    countPublishFault: () => publishFaults.inc(),
    countVantageAsk: (outcome) => vantageAsks.inc({ outcome }),
    countAskedNames(counts) {
      for (const [result, count] of Object.entries(counts)) if (count > 0) askedNames.inc({ result }, count);
    },
  };
}

function addGauges(registry: Registry, gauges: WorkerGauges): void {
  const registers = [registry];
  new Gauge({
    name: 'zonefleet_queue_jobs',
    help: 'Jobs of all workers in the queue. Delayed jobs failed and will be retried. Missing while the queue cannot be reached.',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      this.reset();
      const depths = await gauges.depths().catch(() => ({}));
      for (const [queue, depth] of Object.entries(depths)) {
        for (const [state, count] of Object.entries(depth)) this.set({ queue, state }, count);
      }
    },
  });
  addPackets(registry, gauges.packets);
  const gauge = gaugesOf(registry);
  new Gauge({
    name: 'zonefleet_nameserver_pool_given_ratio',
    help: 'Fraction of the nameserver pool that is assigned to accounts, 0 to 1. Missing without a pool.',
    registers,
    collect() {
      this.reset();
      this.remove();
      const pool = gauges.pool();
      if (pool !== undefined) this.set(pool.shareGiven);
    },
  });
  new Gauge({
    name: 'zonefleet_nameserver_pool_faults',
    help: 'Names and addresses of the nameserver pool that differ from its lists; see zonefleet nameservers. Missing before the first check.',
    registers,
    collect() {
      this.reset();
      this.remove();
      const faults = gauges.pool()?.faults;
      if (faults !== undefined) this.set(faults.length);
    },
  });
  new Gauge({
    name: 'zonefleet_checks_overdue_seconds',
    help: 'Time since the earliest planned delegation check of all workers should have run; 0 if none is late. Missing while Postgres cannot be reached.',
    registers,
    async collect() {
      const delay = await gauges.checkDelay().catch(() => undefined);
      if (delay === undefined) this.remove();
      else this.set(delay);
    },
  });
  gauge('zonefleet_checks_running', 'Checks that are running in this process.', gauges.running);
  gauge('zonefleet_slow_checks', 'Slow checks, in the slots for slow checks.', () => gauges.slots.slow);
  new Counter({
    name: 'zonefleet_checks_ended_later_total',
    help: 'Checks that ended early (TRY_LATER), because all slots for slow checks were taken.',
    registers,
    collect() {
      this.reset();
      this.inc(gauges.slots.refused);
    },
  });
  gauge(
    'zonefleet_vantages_away',
    'Observers elsewhere that have not requested jobs for 10 minutes. Status changes may wait for them.',
    () => gauges.vantages().away.length,
  );
  gauge(
    'zonefleet_vantage_voices',
    'Number of voices of the observers elsewhere. Observers in one network count as one voice.',
    () => gauges.vantages().voices,
  );
  gauge('zonefleet_breakers_held', 'Breakers that hold status changes back.', gauges.held);
  gauge(
    'zonefleet_root_fault',
    '1 while the root does not validate with the trust anchors, so that status changes wait.',
    () => Number(gauges.hasRootFault()),
  );
}
