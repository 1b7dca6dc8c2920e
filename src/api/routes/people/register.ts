// POST /auth/register: requests a link by email, then creates the account with its token. So only a person who can
// read the mail can register the address and choose the password. If registration is closed, only invited addresses
// get a link, and the responses do not reveal which addresses are invited.

import { z } from 'zod';
import { createAccount, readEmail } from '../../../store/accounts/accounts.ts';
import { writeAudit } from '../../../store/audit/write-audit.ts';
import { setPassword, takeLink } from '../../../store/people/credentials.ts';
import { orderMail } from '../../../store/people/mails.ts';
import type { Database } from '../../../store/postgres/database.ts';
import { inTransaction, rollBackTo } from '../../../store/postgres/transaction.ts';
import { findInvite, isInvited } from '../../../store/sharing/accept-invite.ts';
import { forbidden, Problem, problem, tooBusy } from '../../answers/problem.ts';
import type { CallOf } from '../../calls/call.ts';
import { everyone, route } from '../../calls/route.ts';
import { hashPassword } from '../../people/passwords.ts';
import { signInAs } from '../../people/sessions.ts';
import { Message } from '../../schemas/fields.ts';
import { Bearer, Email, LinkToken, NewPassword, PersonName, SignedIn } from '../../schemas/people.ts';

const RegisterBody = z
  .strictObject({
    email: Email.optional(),
    token: LinkToken.optional(),
    invite: LinkToken.optional().describe(
      'The token of an invite whose link was mailed or created by the operator. The account gets the invited email address.',
    ),
    password: NewPassword.optional(),
    name: PersonName.optional(),
    bearer: Bearer,
  })
  .refine(
    ({ email, token, invite, password }) =>
      [email, token, invite].filter((text) => text !== undefined).length === 1 &&
      (email === undefined) === (password !== undefined),
    'expected an email address; or, from a link, a password and a token or invite',
  );

type RegisterCall = CallOf<'public', unknown, unknown, z.output<typeof RegisterBody>>;
type Outcome = z.output<typeof SignedIn> | z.output<typeof Message> | Problem;

/** The response for every address if only invited people may register. */
const IF_INVITED = {
  message:
    'if this address is invited, a link was sent to it, unless it already received three mails within the hour',
};

/** Also the response for an address that has an account. Its owner is notified by mail. */
const LINK_SENT = {
  message: 'a link was sent to this address, unless it already received three mails within the hour',
};

export const register = route(everyone, {
  method: 'POST',
  path: '/auth/register',
  operationId: 'register',
  audit: { inHandler: 'account.register' },
  tag: 'Signing in',
  summary: 'Creates an account.',
  description:
    'Call it first with `email`, which mails a link. Then call it with `token` and `password`, which creates the account and opens a session. Unless the service is open for registration, a link is mailed only to addresses that are invited to a domain. The response is the same for all addresses. With `invite` and `password`, the account is created immediately. Accept the invite afterwards.',
  body: RegisterBody,
  response: z.union([SignedIn, Message]),
  problems: ['wrong_state'],
  conflicts: true,
  async run(call) {
    const { token, invite } = call.body;
    const outcome = await call.people.turns.run<Outcome>(call.asker.address, () => {
      if (invite !== undefined) return begin(call, (trx) => invitedEmail(trx, invite));
      return token === undefined ? askForLink(call) : begin(call, (trx) => linkedEmail(trx, call, token));
    });
    return outcome ?? tooBusy();
  },
});

async function askForLink({ api, people, asker, body }: RegisterCall): Promise<Outcome> {
  if (!people.sendsMail) return forbidden('this service is not open for registration');
  const email = readEmail(body.email as string) as string;
  const refused = await people.attempts.ofMails(asker.address);
  if (refused !== undefined) return refused;
  if (await people.attempts.mayMail(email))
    await orderMail(api.db, people.isOpen ? 'register' : 'register-invited', email);
  return people.isOpen ? LINK_SENT : IF_INVITED;
}

const USED_UP = problem('wrong_state', 'this link was already used or has expired');

/** Returns the email address of the link. The link cannot be used again. */
async function linkedEmail(
  trx: Database,
  { people }: RegisterCall,
  token: string,
): Promise<string | Problem> {
  const link = await takeLink(trx, 'register', token);
  if (link?.email == null) return USED_UP;
  return people.isOpen || (await isInvited(trx, link.email)) ? link.email : USED_UP;
}

/** Returns the invited email address. The invite is not accepted yet. */
async function invitedEmail(trx: Database, token: string): Promise<string | Problem> {
  const invite = await findInvite(trx, token);
  if (invite === undefined) return USED_UP;
  // The inviter also has a link, which must not create an account with the invited person's address.
  return invite.provesEmail
    ? invite.email
    : problem(
        'wrong_state',
        'this link was not mailed to the invited address: request another one with `email`',
      );
}

async function begin(
  call: RegisterCall,
  emailOf: (trx: Database) => Promise<string | Problem>,
): Promise<Outcome> {
  const { api, body } = call;
  return await inTransaction<Outcome>(api.db, async (trx) => {
    const email = await emailOf(trx);
    if (email instanceof Problem) return rollBackTo(email);
    const created = await createAccount(trx, { email, name: body.name ?? null, selfRegistered: true });
    if (created.kind !== 'created') return new Problem(409, created.message);
    const { id: accountId, name } = created.account;
    await setPassword(trx, accountId, await hashPassword(body.password as string));
    const by = { kind: 'session', accountId, address: call.asker.address } as const;
    await writeAudit(trx, { action: 'account.register', by, accountId, after: { email, name } });
    const signedIn = await signInAs(trx, call, accountId, { by: 'registration', bearer: body.bearer });
    return signedIn instanceof Problem ? rollBackTo(signedIn) : signedIn;
  });
}
