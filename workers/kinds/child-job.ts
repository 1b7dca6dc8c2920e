// Describes the job that checks a delegated zone on its own nameservers: its queue, metrics and log lines.

import { Counter, Histogram, type Registry } from 'prom-client';
import type { AsnOf } from '../../src/checks/child/observation.ts';
import { fillByClaims, type Job, type JobLog, type JobTools } from '../../src/jobs/job.ts';
import { CHECK_CHILD, type ChildJob } from '../../src/jobs/jobs.ts';
import { claimDueChildChecks, noteCheckedDomains } from '../../src/store/checks/due-child-checks.ts';
import { type ChildOutcome, createChildChecker } from '../jobs/check-child.ts';
import type { CheckNotes } from '../jobs/note-checks.ts';

const AT_ONCE = 50;

/** Each round first records which delegations were checked, and then claims the child checks that this makes due. */
export function childJob(
  { db, resolver, registry }: JobTools,
  { asnOf, notes }: { readonly asnOf: AsnOf | undefined; readonly notes: CheckNotes },
): Job<ChildJob, ChildOutcome> {
  return {
    kind: CHECK_CHILD,
    atOnce: AT_ONCE,
    open: (onOutcome) => createChildChecker({ db, resolver, asnOf, onOutcome }),
    fill: fillByClaims({
      room: 2 * AT_ONCE,
      async claim(limit) {
        await notes.flush((noted) => noteCheckedDomains(db, noted));
        return await claimDueChildChecks(db, limit);
      },
    }),
    count: createChildMetrics(registry),
    log: logChild,
  };
}

function createChildMetrics(registry: Registry): (outcome: ChildOutcome) => void {
  const registers = [registry];
  const runs = new Counter({
    name: 'zonefleet_child_checks_total',
    help: 'Checks of delegated zones, by result: saved, or absent (nothing is delegated any more).',
    labelNames: ['outcome'],
    registers,
  });
  const findings = new Counter({
    name: 'zonefleet_child_findings_total',
    help: "Findings of checks of delegated zones, by code and by who can resolve them. Those for the operator are about the fleet's nameservers.",
    labelNames: ['code', 'place'],
    registers,
  });
  const questions = new Histogram({
    name: 'zonefleet_child_check_questions',
    help: 'Packets that one check of a delegated zone sent.',
    buckets: [2, 4, 8, 12, 16, 20, 24, 32, 40],
    registers,
  });
  // An alert does not see the first increment of a new series.
  findings.inc({ code: 'OUR_SERVERS_UNREACHABLE', place: 'operator' }, 0);
  return (outcome) => {
    runs.inc({ outcome: outcome.kind });
    if (outcome.kind !== 'saved') return;
    for (const { code, place } of outcome.findings) findings.inc({ code, place });
    questions.observe(outcome.evidence.queries);
  };
}

/** Interval of log lines about one fault of the fleet's nameservers. Every domain's check finds it. */
const OWN_FAULT_LINE_MS = 300_000;
const loggedAtMs = new Map<string, number>();

/** Logs the faults of the fleet's own nameservers, except notices. */
function logChild(log: JobLog, outcome: ChildOutcome): void {
  if (outcome.kind !== 'saved') return;
  for (const { code, place, severity, message } of outcome.findings) {
    const isSoon = performance.now() - (loggedAtMs.get(code) ?? Number.NEGATIVE_INFINITY) < OWN_FAULT_LINE_MS;
    if (place !== 'operator' || severity === 'notice' || isSoon) continue;
    loggedAtMs.set(code, performance.now());
    const say = code === 'OUR_SERVERS_UNREACHABLE' ? log.error : log.warn;
    say.call(log, { domain: outcome.name, code, message }, "the fleet's own nameservers have a fault");
  }
}
