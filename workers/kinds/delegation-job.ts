// Describes the job that checks a delegation: its queue, metrics and log lines.

import type { Job, JobLog, JobTools } from '../../src/jobs/job.ts';
import { CHECK_DELEGATION, type CheckJob } from '../../src/jobs/jobs.ts';
import type { AskedNames } from '../../src/store/checks/take-asked-names.ts';
import { type CheckerOptions, type CheckOutcome, createChecker } from '../jobs/check-delegation.ts';
import { rememberOurAddresses } from '../jobs/our-addresses.ts';
import { runSchedule } from '../jobs/schedule.ts';

export function delegationJob(
  { db, resolver, shares, sendsMail }: JobTools,
  {
    atOnce,
    onAsked,
    count,
    ...options
  }: Pick<CheckerOptions, 'slots' | 'breaker' | 'vantages' | 'rules'> & {
    readonly atOnce: number;
    /** Called with the names that nodes reported because they received queries for them. */
    readonly onAsked: (asked: AskedNames) => void;
    readonly count: (outcome: CheckOutcome) => void;
  },
): Job<CheckJob, CheckOutcome> {
  const ourAddresses = rememberOurAddresses(resolver);
  return {
    kind: CHECK_DELEGATION,
    atOnce,
    open: (onOutcome) =>
      createChecker({ db, resolver, ourAddresses, shares, sendsMail, ...options, onOutcome }),
    fill: (queue, onTrouble) => runSchedule({ db, queue, room: atOnce, onAsked, onTrouble }),
    count,
    log: logTransition,
  };
}

function logTransition(log: JobLog, outcome: CheckOutcome): void {
  if (outcome.kind !== 'saved') return;
  const { name, job, checkId, verdict, transition, others } = outcome;
  if (transition !== undefined)
    log.info({ domain: name, id: job.domainId, ...transition, verdict, check: checkId }, 'status changed');
  for (const { domainId: id, from, to } of others) log.info({ domain: name, id, from, to }, 'status changed');
}
