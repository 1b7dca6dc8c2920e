// Describes the job that looks up an ANAME target: its queue, metrics and log lines.

import { Counter, Histogram, type Registry } from 'prom-client';
import { fillByClaims, type Job, type JobLog, type JobTools } from '../../src/jobs/job.ts';
import { FLATTEN_ANAME, type FlattenJob } from '../../src/jobs/jobs.ts';
import { claimDueTargets } from '../../src/store/aname/claim-due-targets.ts';
import { createFlattener, type FlattenOutcome } from '../jobs/flatten-aname.ts';

const AT_ONCE = 100;

export function anameJob({ db, resolver, registry }: JobTools): Job<FlattenJob, FlattenOutcome> {
  return {
    kind: FLATTEN_ANAME,
    atOnce: AT_ONCE,
    open: (onOutcome) => createFlattener({ db, resolver, onOutcome }),
    fill: fillByClaims({ room: 2 * AT_ONCE, claim: (limit) => claimDueTargets(db, limit) }),
    count: createAnameMetrics(registry),
    log: logTarget,
  };
}

function createAnameMetrics(registry: Registry): (outcome: FlattenOutcome) => void {
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

/** Logs a target only if something changed. */
function logTarget(log: JobLog, outcome: FlattenOutcome): void {
  if (outcome.kind !== 'saved') return;
  const { target, changed, fails, hasTurned } = outcome;
  if (changed > 0) log.info({ target, domains: changed }, 'addresses changed');
  if (!hasTurned) return;
  if (fails === undefined) log.info({ target }, 'a target is found again');
  else log.warn({ target, error: fails }, 'a target fails');
}
