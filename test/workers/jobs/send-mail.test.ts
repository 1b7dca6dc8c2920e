import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Letter, MailFault } from '../../../src/mail/mailer.ts';
import { updateAccount } from '../../../src/store/accounts/accounts.ts';
import { claimDueMails, orderMail } from '../../../src/store/people/mails.ts';
import { createMailSender, type MailOutcome } from '../../../workers/jobs/send-mail.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount } from '../../support/database/domains.ts';

let database: TestDatabase;
let sent: Letter[];
let fault: MailFault | undefined;
beforeEach(async () => {
  database = await createDatabase();
  sent = [];
  fault = undefined;
});
afterEach(() => database.drop());

/** Does what is due now. */
async function work(): Promise<MailOutcome[]> {
  const { db } = database;
  const outcomes: MailOutcome[] = [];
  const run = createMailSender({
    db,
    publicUrl: 'https://dns.zonefleet.test',
    mailer: {
      async send(letter) {
        if (fault !== undefined) throw fault;
        sent.push(letter);
      },
      close() {},
    },
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  for (const job of await claimDueMails(db, 10))
    await run(job, { signal: new AbortController().signal, again: false });
  return outcomes;
}

const due = () => sql`update mails set due_at = clock_timestamp()`.execute(database.db);
const waiting = async () => (await sql`select from mails`.execute(database.db)).rows.length;

describe('a mail', () => {
  it('is claimed by one worker, sent once, and gone', async () => {
    await newAccount(database.db, 'ann@shop.example');
    await orderMail(database.db, 'reset', 'ANN@shop.example');
    expect(await work()).toEqual([{ kind: 'sent' }]);
    expect(sent).toEqual([
      expect.objectContaining({ to: 'ANN@shop.example', subject: 'Set a new password' }),
    ]);
    expect(await work()).toEqual([]);
    expect(await waiting()).toBe(0);
  });

  it('to nobody, or to a deactivated account, is not sent', async () => {
    const { db } = database;
    await updateAccount(db, await newAccount(db, 'ann@shop.example'), { active: false });
    await orderMail(db, 'reset', 'ann@shop.example');
    await orderMail(db, 'reset', 'nobody@shop.example');
    expect(await work()).toEqual([{ kind: 'dropped' }, { kind: 'dropped' }]);
    expect([sent, await waiting()]).toEqual([[], 0]);
  });

  it('that is not taken is tried again, eight times in all', async () => {
    await orderMail(database.db, 'register', 'ann@shop.example');
    fault = new MailFault('the mail was not taken (ECONNREFUSED)', false);
    expect(await work()).toEqual([{ kind: 'delayed', reason: fault.message }]);
    expect(await work()).toEqual([]);
    const kinds: string[] = [];
    for (let i = 0; i < 7; i++) {
      await due();
      kinds.push(...(await work()).map(({ kind }) => kind));
    }
    expect(kinds).toEqual([...Array(6).fill('delayed'), 'given_up']);
    expect(await waiting()).toBe(0);
  });

  it('whose worker was lost is due again', async () => {
    await orderMail(database.db, 'register', 'ann@shop.example');
    await claimDueMails(database.db, 10);
    expect(await work()).toEqual([]);
    await due();
    expect(await work()).toEqual([{ kind: 'sent' }]);
  });
});
