// Describes the job that sends a mail: its queue, metrics and log lines.

import { Counter, type Registry } from 'prom-client';
import { fillByClaims, type Job, type JobLog, type JobTools } from '../../src/jobs/job.ts';
import { type MailJob, SEND_MAIL } from '../../src/jobs/jobs.ts';
import { claimDueMails } from '../../src/store/people/mails.ts';
import { createMailSender, type MailOutcome, type SenderOptions } from '../jobs/send-mail.ts';

const AT_ONCE = 4;

export function mailJob(
  { db, registry }: JobTools,
  options: Pick<SenderOptions, 'mailer' | 'publicUrl' | 'letters'>,
): Job<MailJob, MailOutcome> {
  return {
    kind: SEND_MAIL,
    atOnce: AT_ONCE,
    open: (onOutcome) => createMailSender({ db, ...options, onOutcome }),
    fill: fillByClaims({ room: 2 * AT_ONCE, claim: (limit) => claimDueMails(db, limit) }),
    count: createMailMetrics(registry),
    log: logMail,
  };
}

function createMailMetrics(registry: Registry): (outcome: MailOutcome) => void {
  const mails = new Counter({
    name: 'zonefleet_mails_total',
    help: 'Mails, by result: sent, dropped (no account has the email), delayed (will be retried), given_up, absent.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  mails.inc({ outcome: 'given_up' }, 0); // an alert does not see the first increment of a new series
  return ({ kind }) => mails.inc({ outcome: kind });
}

/** Does not log the address, which is personal. */
function logMail(log: JobLog, outcome: MailOutcome): void {
  if (outcome.kind === 'delayed')
    log.warn(
      { mail: outcome.mailId, reason: outcome.reason },
      'a mail could not be sent and will be retried',
    );
  if (outcome.kind === 'given_up')
    log.error({ mail: outcome.mailId, reason: outcome.reason }, 'a mail could not be sent and was given up');
}
