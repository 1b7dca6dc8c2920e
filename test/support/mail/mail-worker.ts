// A worker that sends mails, with a real queue, as its own database role, so that missing privileges fail.

import { openMailer } from '../../../src/mail/mailer.ts';
import { migrateQueue } from '../../../src/queue/connection.ts';
import { SEND_MAIL } from '../../../src/queue/jobs.ts';
import { claimDueMails } from '../../../src/store/people/mails.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { fillQueue } from '../../../workers/fill-queue.ts';
import { createMailSender, type MailOutcome } from '../../../workers/jobs/send-mail.ts';
import { QueueWorker } from '../../../workers/queue-worker.ts';
import { runRounds } from '../../../workers/rounds/run-rounds.ts';
import { asRole } from '../database/database.ts';

export interface MailWorker {
  readonly outcomes: readonly MailOutcome[];
  /** What went wrong. */
  readonly troubles: readonly unknown[];
  stop(): Promise<void>;
}

export async function startMailWorker(
  databaseUrl: string,
  { smtpUrl, publicUrl }: { readonly smtpUrl: string; readonly publicUrl: string },
): Promise<MailWorker> {
  const place = { databaseUrl, redisUrl: undefined };
  await migrateQueue(place);
  const outcomes: MailOutcome[] = [];
  const troubles: unknown[] = [];
  const db = openDatabase(asRole(databaseUrl, 'zonefleet_worker'));
  const mailer = openMailer(smtpUrl, 'zonefleet@dns.zonefleet.test');
  const worker = new QueueWorker({ place, kind: SEND_MAIL, onQueueTrouble: (error) => troubles.push(error) });
  worker.start({
    run: createMailSender({ db, mailer, publicUrl, onOutcome: (outcome) => outcomes.push(outcome) }),
    concurrency: 4,
    rounds: runRounds({
      round: fillQueue({ queue: worker.queue, room: 8, claim: (limit) => claimDueMails(db, limit) }),
      idleMs: 50,
      onTrouble: (error) => troubles.push(error),
    }),
    onFailed: (_job, error) => troubles.push(error),
  });
  return {
    outcomes,
    troubles,
    async stop() {
      await worker.stop(1000);
      await worker.close();
      mailer.close();
      await db.destroy();
    },
  };
}
