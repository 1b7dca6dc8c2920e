// The Prometheus metrics of an observer (docs/operating/vantage-points.md "Vantage points").

import { Counter, Registry } from 'prom-client';
import { readBuild } from '../../src/process/build.ts';
import { addBuild } from '../../src/process/metrics/add-build.ts';
import { addPackets, gaugesOf } from '../metrics/process-metrics.ts';
import type { JobOutcome } from './observer.ts';

interface ObserverGauges {
  running(): number;
  isReached(): boolean;
  /** Number of packets since the start, by kind. */
  packets(): Readonly<Record<string, number>>;
  hasRootFault(): boolean;
}

interface ObserverMetrics {
  readonly registry: Registry;
  countOutcome(outcome: JobOutcome): void;
}

export function createObserverMetrics(gauges: ObserverGauges): ObserverMetrics {
  const registry = new Registry();
  addBuild(registry, { ...readBuild(), process: 'observer' });
  const registers = [registry];
  const jobs = new Counter({
    name: 'zonefleet_observer_jobs_total',
    help: 'Jobs of the API, by result: taken, dropped by the API, late, refused by the observer, or failed.',
    labelNames: ['outcome'],
    registers,
  });
  addPackets(registry, gauges.packets);
  const gauge = gaugesOf(registry);
  gauge('zonefleet_observer_running', 'Jobs that are running.', gauges.running);
  gauge('zonefleet_observer_api_reached', '1 while the API gives jobs to this observer.', () =>
    Number(gauges.isReached()),
  );
  gauge('zonefleet_root_fault', "1 while the root does not validate with the observer's trust anchors.", () =>
    Number(gauges.hasRootFault()),
  );
  return { registry, countOutcome: (outcome) => jobs.inc({ outcome }) };
}
