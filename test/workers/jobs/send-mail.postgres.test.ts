import { beforeEach, describe, expect, it } from 'vitest';
import { LETTERS } from '../../../src/features/every-feature.ts';
import { type Letter, MailFault } from '../../../src/mail/mailer.ts';
import { updateAccount } from '../../../src/store/accounts/accounts.ts';
import { claimDueMails, orderMail } from '../../../src/store/people/mails.ts';
import { findInvite } from '../../../src/store/sharing/accept-invite.ts';
import { createInvite, resendInvite } from '../../../src/store/sharing/invites.ts';
import { createMailSender, type MailOutcome } from '../../../workers/jobs/send-mail.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const { db, query } = sharedDatabase();
let sent: Letter[];
let fault: MailFault | undefined;
beforeEach(async () => {
  sent = [];
  fault = undefined;
});

/** Sends the due mails now. */
async function work(): Promise<MailOutcome[]> {
  const outcomes: MailOutcome[] = [];
  const run = createMailSender({
    db,
    publicUrl: 'https://dns.zonefleet.test',
    letters: LETTERS,
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

const due = () => query`update mails set due_at = clock_timestamp()`;
const waiting = async () => (await query`select from mails`).length;

describe('a mail', () => {
  it('is claimed by one worker, sent once, and deleted', async () => {
    await newAccount(db, 'ann@shop.example');
    await orderMail(db, 'reset', 'ANN@shop.example');
    expect(await work()).toEqual([{ kind: 'sent' }]);
    expect(sent).toEqual([
      expect.objectContaining({ to: 'ANN@shop.example', subject: 'Set a new password' }),
    ]);
    expect(await work()).toEqual([]);
    expect(await waiting()).toBe(0);
  });

  it('without a recipient, or to a deactivated account, is not sent', async () => {
    await updateAccount(db, await newAccount(db, 'ann@shop.example'), { active: false });
    await orderMail(db, 'reset', 'ann@shop.example');
    await orderMail(db, 'reset', 'nobody@shop.example');
    expect(await work()).toEqual([{ kind: 'dropped' }, { kind: 'dropped' }]);
    expect([sent, await waiting()]).toEqual([[], 0]);
  });

  it('that was rejected, or whose worker was lost, is retried, eight attempts in total', async () => {
    await orderMail(db, 'register', 'ann@shop.example');
    await claimDueMails(db, 10); // by a worker that is then lost
    expect(await work()).toEqual([]);
    await due();
    fault = new MailFault('the mail was not accepted (ECONNREFUSED)', false);
    expect(await work()).toEqual([{ kind: 'delayed', mailId: expect.any(Number), reason: fault.message }]);
    expect(await work()).toEqual([]);
    const kinds: string[] = [];
    for (let i = 0; i < 6; i++) {
      await due();
      kinds.push(...(await work()).map(({ kind }) => kind));
    }
    expect(kinds).toEqual([...Array(5).fill('delayed'), 'given_up']);
    expect(await waiting()).toBe(0);
  });
});

describe('the mail of an invite', () => {
  async function invited() {
    const accountId = await newAccount(db, 'ann@shop.example');
    const { id: domainId } = await newDomain(db, accountId, 'xn--mnchen-3ya.test.');
    const inviter = {
      sharer: { accountId, isAdmin: false },
      email: 'ann@shop.example',
      mails: true,
    } as const;
    const sent = await createInvite(db, { domainId, email: 'Bob@Shop.example', role: 'editor', inviter });
    if (sent.kind === 'refused') throw new Error(sent.message);
    return { domainId, inviter, ...sent };
  }
  const linkIn = (letter: Letter | undefined) => /#invite=(inv_\w+)/.exec(letter?.text ?? '')?.[1] ?? '';

  it('has its own link, which proves that the address is read', async () => {
    const { token, invite } = await invited();
    expect(await work()).toEqual([{ kind: 'sent' }]);
    const [letter] = sent;
    expect(letter).toMatchObject({ to: 'Bob@Shop.example', subject: 'You are invited to a domain' });
    expect(letter?.text).toContain(
      'ann@shop.example invites you to the domain xn--mnchen-3ya.test as editor.',
    );
    expect(letter?.text).toContain(`by ${invite.expiresAt.toISOString().slice(0, 10)}`);
    const mailed = linkIn(letter);
    expect(mailed).not.toBe(token);
    expect(await findInvite(db, mailed)).toMatchObject({ id: invite.id, provesEmail: true });
    expect(await findInvite(db, token)).toMatchObject({ id: invite.id, provesEmail: false });
  });

  it('is not sent once the invite has ended', async () => {
    await invited();
    await query`update invites set status = 'revoked', ended_at = clock_timestamp()`;
    expect(await work()).toEqual([{ kind: 'dropped' }]);
    expect(sent).toEqual([]);
  });

  it('is sent once, for the latest request', async () => {
    const { domainId, inviter, invite } = await invited();
    await query`update invites set sent_at = sent_at - interval '1 second'`;
    await query`update mails set created_at = created_at - interval '1 second'`;
    await resendInvite(db, { domainId, inviteId: invite.id, inviter });
    expect((await work()).map(({ kind }) => kind).sort()).toEqual(['dropped', 'sent']);
    expect(await findInvite(db, linkIn(sent[0]))).toMatchObject({ id: invite.id });
  });
});

it('if only invited people may register, no one else receives a mail', async () => {
  const accountId = await newAccount(db, 'ann@shop.example');
  const { id: domainId } = await newDomain(db, accountId);
  const order = (email: string) => orderMail(db, 'register-invited', email);
  await order('bob@shop.example');
  await order('ann@shop.example');
  expect(await work()).toEqual([{ kind: 'dropped' }, { kind: 'dropped' }]);
  const inviter = { sharer: { accountId, isAdmin: false }, mails: false } as const;
  for (const email of ['bob@shop.example', 'ann@shop.example'])
    await createInvite(db, { domainId, email, role: 'viewer', inviter });
  await order('BOB@shop.example');
  await order('ann@shop.example');
  expect(await work()).toEqual([{ kind: 'sent' }, { kind: 'sent' }]);
  expect(sent.map(({ to, subject }) => [to, subject]).sort()).toEqual([
    ['BOB@shop.example', 'Create your Zonefleet account'],
    ['ann@shop.example', 'You already have an account'],
  ]);
});
