// Describes the job that verifies a domain by its TXT record: its queue, metrics and log lines.

import { accountsInTurn } from '../../src/jobs/fill-queue.ts';
import { fillByClaims, type Job, type JobLog, type JobTools } from '../../src/jobs/job.ts';
import { VERIFY_TXT, type VerifyJob } from '../../src/jobs/jobs.ts';
import { claimDueVerifications } from '../../src/store/verifications/verified-domain.ts';
import { createVerifier, type VerifierOptions, type VerifyOutcome } from '../jobs/verify-txt.ts';

const AT_ONCE = 50;

export function verificationJob(
  { db, resolver, shares, sendsMail }: JobTools,
  {
    count,
    ...options
  }: Pick<VerifierOptions, 'unverifiedMaxMs' | 'breaker'> & {
    readonly count: (outcome: VerifyOutcome) => void;
  },
): Job<VerifyJob, VerifyOutcome> {
  const [claim, claimLight] = accountsInTurn(
    (due) => claimDueVerifications(db, due),
    (domainId, turn): VerifyJob => ({ domainId, kind: 'background', turn }),
  );
  return {
    kind: VERIFY_TXT,
    atOnce: AT_ONCE,
    open: (onOutcome) => createVerifier({ db, resolver, shares, sendsMail, ...options, onOutcome }),
    fill: fillByClaims({ room: 2 * AT_ONCE, claim, claimLight }),
    count,
    log: logVerification,
  };
}

function logVerification(log: JobLog, outcome: VerifyOutcome): void {
  if (outcome.kind !== 'saved' && outcome.kind !== 'expired') return;
  if (outcome.transition === undefined) return;
  const found = outcome.kind === 'saved' ? { verdict: outcome.verdict, verification: outcome.runId } : {};
  log.info({ domain: outcome.name, ...outcome.transition, ...found }, 'status changed');
  if (outcome.kind === 'saved' && outcome.lost !== undefined)
    log.info({ domain: outcome.name, id: outcome.lost, from: 'active', to: 'disabled' }, 'status changed');
}
