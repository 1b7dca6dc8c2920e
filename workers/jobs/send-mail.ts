// One mail: load, make its link, send. The link is made here, so that no row and no job ever has its token.
//
//   load ─▶ nobody is to get it ─▶ dropped
//     └▶ link ─▶ send ─▶ sent, or delayed and tried again, or given up

import { type LetterKind, writeLetter } from '../../src/mail/letters.ts';
import { type Mailer, MailFault } from '../../src/mail/mailer.ts';
import { linkTo } from '../../src/process/public-link.ts';
import type { RunJob } from '../../src/queue/job-worker.ts';
import type { MailJob } from '../../src/queue/jobs.ts';
import { makeLink } from '../../src/store/people/account-links.ts';
import { delayMail, dropMail, loadMail, type OrderedMail } from '../../src/store/people/mails.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { DatabaseWatch } from '../rounds/database-watch.ts';

export type MailOutcome =
  | { readonly kind: 'sent' | 'dropped' | 'absent' }
  | { readonly kind: 'delayed' | 'given_up'; readonly reason: string };

interface SenderOptions {
  readonly db: Database;
  readonly mailer: Mailer;
  readonly publicUrl: string;
  readonly onOutcome: (outcome: MailOutcome, job: MailJob) => void;
}

/** How long until a mail that was not taken is tried again: 1 minute, 2, 4 … for about two hours. */
const FIRST_DELAY_SECONDS = 60;
const MOST_ATTEMPTS = 8;

export function createMailSender(options: SenderOptions): RunJob<MailJob> {
  const database = new DatabaseWatch(options.db);
  return async (job, { signal }) => {
    options.onOutcome(await database.steadily(signal, () => sendMail(options, job)), job);
  };
}

async function sendMail({ db, mailer, publicUrl }: SenderOptions, { mailId }: MailJob): Promise<MailOutcome> {
  const mail = await loadMail(db, mailId);
  if (mail === undefined) return { kind: 'absent' };
  const letter = letterOf(mail);
  if (letter === undefined) {
    await dropMail(db, mailId);
    return { kind: 'dropped' };
  }
  try {
    const { kind, link } = letter;
    const token = link === undefined ? undefined : await makeLink(db, link);
    const text = token === undefined || link === undefined ? undefined : linkTo(publicUrl, link.kind, token);
    await mailer.send(writeLetter(kind, mail.email, text));
  } catch (error) {
    if (!(error instanceof MailFault)) throw error;
    const reason = error.message;
    if (error.isFinal || mail.attempts >= MOST_ATTEMPTS) {
      await dropMail(db, mailId);
      return { kind: 'given_up', reason };
    }
    await delayMail(db, mailId, FIRST_DELAY_SECONDS * 2 ** (mail.attempts - 1));
    return { kind: 'delayed', reason };
  }
  await dropMail(db, mailId);
  return { kind: 'sent' };
}

interface WantedLetter {
  readonly kind: LetterKind;
  readonly link?: Parameters<typeof makeLink>[1];
}

/** Undefined: nobody has the email, and nobody learns it. */
function letterOf({ kind, email, accountId }: OrderedMail): WantedLetter | undefined {
  switch (kind) {
    case 'reset':
      return accountId === null ? undefined : { kind, link: { kind: 'reset', accountId } };
    case 'register':
      return accountId === null ? { kind, link: { kind: 'register', email } } : { kind: 'has-account' };
    case 'email':
      return accountId === null ? undefined : { kind, link: { kind: 'email', accountId, email } };
    case 'email-changed':
      return { kind };
    default:
      return kind satisfies never;
  }
}
