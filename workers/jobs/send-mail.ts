// One mail: load, make its link, send. The link is made here, so that no row or job ever contains its token.
//
//   load ─▶ no longer needed ─▶ dropped
//     └▶ link ─▶ send ─▶ sent, or delayed and tried again, or given up

import type { WriteLetter } from '../../src/features/feature.ts';
import { DatabaseWatch } from '../../src/jobs/database-watch.ts';
import type { RunJob } from '../../src/jobs/job-worker.ts';
import type { MailJob } from '../../src/jobs/jobs.ts';
import { writeDnssecLetter } from '../../src/mail/dnssec-letter.ts';
import { type LetterKind, writeInvite, writeLetter } from '../../src/mail/letters.ts';
import { type Letter, type Mailer, MailFault } from '../../src/mail/mailer.ts';
import { writeTakeoverLetter } from '../../src/mail/takeover-letter.ts';
import { linkTo } from '../../src/process/public-link.ts';
import { makeLink } from '../../src/store/people/credentials.ts';
import { delayMail, dropMail, loadMail, type OrderedMail } from '../../src/store/people/mails.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { addToken, isInvited, loadMailedInvite } from '../../src/store/sharing/accept-invite.ts';
import { printWithoutDot } from '../../src/zone/name-text.ts';

export type MailOutcome =
  | { readonly kind: 'sent' | 'dropped' | 'absent' }
  | { readonly kind: 'delayed' | 'given_up'; readonly mailId: number; readonly reason: string };

export interface SenderOptions {
  readonly db: Database;
  readonly mailer: Mailer;
  readonly publicUrl: string;
  /** Writes the mails of the kinds that features order. */
  readonly letters: Readonly<Record<string, WriteLetter>>;
  readonly onOutcome: (outcome: MailOutcome) => void;
}

/** Delay before the second attempt. It doubles with each attempt, for about two hours in total. */
const FIRST_DELAY_SECONDS = 60;
const MOST_ATTEMPTS = 8;

export function createMailSender(options: SenderOptions): RunJob<MailJob> {
  const database = new DatabaseWatch(options.db);
  return async (job, { signal }) => {
    options.onOutcome(await database.steadily(signal, () => sendMail(options, job)));
  };
}

async function sendMail(
  { db, mailer, publicUrl, letters }: SenderOptions,
  { mailId }: MailJob,
): Promise<MailOutcome> {
  const mail = await loadMail(db, mailId);
  if (mail === undefined) return { kind: 'absent' };
  const ofFeature = letters[mail.kind];
  const letter = ofFeature === undefined ? await write(db, publicUrl, mail) : ofFeature(mail, publicUrl);
  if (letter === undefined) {
    await dropMail(db, mailId);
    return { kind: 'dropped' };
  }
  try {
    await mailer.send(letter);
  } catch (error) {
    if (!(error instanceof MailFault)) throw error;
    const reason = error.message;
    if (error.isFinal || mail.attempts >= MOST_ATTEMPTS) {
      await dropMail(db, mailId);
      return { kind: 'given_up', mailId, reason };
    }
    await delayMail(db, mailId, FIRST_DELAY_SECONDS * 2 ** (mail.attempts - 1));
    return { kind: 'delayed', mailId, reason };
  }
  await dropMail(db, mailId);
  return { kind: 'sent' };
}

/** Writes a mail with its link. Returns undefined if no person is to receive it. */
async function write(db: Database, publicUrl: string, mail: OrderedMail): Promise<Letter | undefined> {
  if (mail.kind === 'invite') return await writeInviteOf(db, publicUrl, mail);
  const { kind: of } = mail;
  if (isAboutDomain(of)) return letterAbout(publicUrl, of, mail);
  if (mail.kind === 'register-invited' && !(await isInvited(db, mail.email))) return undefined;
  const wanted = letterOf(of, mail);
  if (wanted === undefined) return undefined;
  const { kind, link } = wanted;
  const text = link && linkTo(publicUrl, link.kind, await makeLink(db, link));
  return writeLetter(kind, mail.email, text);
}

/** Makes a link besides the inviter's. It proves that its user reads this address. */
async function writeInviteOf(
  db: Database,
  publicUrl: string,
  { email, inviteId, createdAt }: OrderedMail,
): Promise<Letter | undefined> {
  const invite = inviteId === null ? undefined : await loadMailedInvite(db, inviteId, createdAt);
  if (invite === undefined) return undefined;
  const { domain, role, invitedBy = 'The operator of the service', expiresAt } = invite;
  const link = linkTo(publicUrl, 'invite', await addToken(db, invite.id, true));
  const until = expiresAt.toISOString().slice(0, 10);
  return writeInvite(email, link, { domain: printWithoutDot(domain), role, invitedBy, until });
}

type AboutDomain = 'takeover' | 'dnssec';

function isAboutDomain(kind: OrderedMail['kind']): kind is AboutDomain {
  return ['takeover', 'dnssec'].includes(kind);
}

function letterAbout(
  publicUrl: string,
  kind: AboutDomain,
  { email, domain, message }: OrderedMail,
): Letter | undefined {
  if (domain === null || message === null) return undefined;
  const about = { domain, message, publicUrl };
  if (kind === 'dnssec') return writeDnssecLetter(email, about);
  return writeTakeoverLetter(email, about);
}

interface WantedLetter {
  readonly kind: LetterKind;
  readonly link?: Parameters<typeof makeLink>[1];
}

/** Returns undefined if no account has the email. The caller of the API does not learn this. */
function letterOf(
  kind: Exclude<OrderedMail['kind'], 'invite' | AboutDomain>,
  { email, accountId }: OrderedMail,
): WantedLetter | undefined {
  switch (kind) {
    case 'reset':
      return accountId === null ? undefined : { kind, link: { kind: 'reset', accountId } };
    case 'register':
    case 'register-invited':
      return accountId === null
        ? { kind: 'register', link: { kind: 'register', email } }
        : { kind: 'has-account' };
    case 'email':
      return accountId === null ? undefined : { kind, link: { kind: 'email', accountId, email } };
    case 'email-changed':
      return { kind };
    default:
      return kind satisfies never;
  }
}
