// The Prometheus metrics of look-ups of ANAME targets: their outcomes.

import { Counter, Histogram, type Registry } from 'prom-client';
import type { FlattenOutcome } from '../jobs/flatten-aname.ts';

export function createAnameMetrics(registry: Registry): (outcome: FlattenOutcome) => void {
  const registers = [registry];
  const lookUps = new Counter({
    name: 'zonefleet_aname_lookups_total',
    help: 'Look-ups of the targets of ANAME records, by what they brought: found, none, or failed, where a part of it failed.',
    labelNames: ['outcome'],
    registers,
  });
  const unsaved = new Counter({
    name: 'zonefleet_aname_unsaved_total',
    help: 'Jobs that ended without a look-up: no record points there any more, gone, looked up a moment ago or by another.',
    labelNames: ['reason'],
    registers,
  });
  const changes = new Counter({
    name: 'zonefleet_aname_changes_total',
    help: 'Domains that were published with other addresses of a target.',
    registers,
  });
  const seconds = new Histogram({
    name: 'zonefleet_aname_seconds',
    help: 'Time that a look-up took.',
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 15],
    registers,
  });
  return (outcome) => {
    if (outcome.kind !== 'saved') return unsaved.inc({ reason: outcome.kind });
    const { v4, v6, startedAt, finishedAt } = outcome.evidence;
    const kinds = [v4.kind, v6.kind];
    const brought = outcome.fails ? 'failed' : kinds.includes('found') ? 'found' : 'none';
    lookUps.inc({ outcome: brought });
    changes.inc(outcome.changed);
    seconds.observe((finishedAt - startedAt) / 1000);
  };
}
