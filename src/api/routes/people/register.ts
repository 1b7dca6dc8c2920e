// POST /auth/register: ask for a link by email, then make the account with its token. Nobody can take an email that they do not
// read, and the password is chosen by whoever opens the link.

import { z } from 'zod';
import { createAccount } from '../../../store/accounts/accounts.ts';
import { readEmail } from '../../../store/accounts/email-address.ts';
import { writeAudit } from '../../../store/audit/write-audit.ts';
import { takeLink } from '../../../store/people/account-links.ts';
import { setPassword } from '../../../store/people/credentials.ts';
import { orderMail } from '../../../store/people/mails.ts';
import { inTransaction, rollBackTo } from '../../../store/postgres/transaction.ts';
import { forbidden, Problem, problem, tooBusy } from '../../answers/problem.ts';
import type { PublicCall } from '../../calls/call.ts';
import { publicRoute } from '../../calls/route.ts';
import { signInAs } from '../../people/open-session.ts';
import { hashPassword } from '../../people/passwords.ts';
import { Message } from '../../schemas/message.ts';
import { Bearer, Email, LinkToken, NewPassword, PersonName, SignedIn } from '../../schemas/people.ts';

const RegisterBody = z
  .strictObject({
    email: Email.optional(),
    token: LinkToken.optional(),
    password: NewPassword.optional(),
    name: PersonName.optional(),
    bearer: Bearer,
  })
  .refine(
    ({ email, token, password }) =>
      token === undefined
        ? email !== undefined && password === undefined
        : email === undefined && password !== undefined,
    'expected an email; or, from the link, token and password',
  );

type RegisterCall = PublicCall<unknown, unknown, z.output<typeof RegisterBody>>;
type Outcome = z.output<typeof SignedIn> | z.output<typeof Message> | Problem;

/** Whoever has the email already is told so by mail; the answer is the same. */
const ON_ITS_WAY = {
  message: 'a link is on its way to this address, if it has not had three mails within the hour',
};

export const register = publicRoute({
  method: 'POST',
  path: '/auth/register',
  operationId: 'register',
  audit: { inHandler: 'account.register' },
  tag: 'Signing in',
  summary: 'Make an account.',
  description:
    'First with `email`: a link is mailed there. Then with `token` and `password`: the account begins, and its session is open. 403 unless the service is open for registration.',
  body: RegisterBody,
  response: z.union([SignedIn, Message]),
  problems: ['wrong_state'],
  async run(call) {
    const { token, password = '' } = call.body;
    const outcome = await call.people.turns.run<Outcome>(call.asker.address, () =>
      token === undefined ? askForLink(call) : redeem(call, token, password),
    );
    return outcome ?? tooBusy();
  },
});

async function askForLink({ api, people, asker, body }: RegisterCall): Promise<Outcome> {
  if (!people.isOpen) return forbidden('this service is not open for registration');
  const email = readEmail(body.email as string) as string;
  const refused = await people.attempts.ofMails(asker.address);
  if (refused !== undefined) return refused;
  if (await people.attempts.mayMail(email)) await orderMail(api.db, 'register', email);
  return ON_ITS_WAY;
}

async function redeem(call: RegisterCall, token: string, password: string): Promise<Outcome> {
  const { api, body } = call;
  return await inTransaction<Outcome>(api.db, async (trx) => {
    const link = await takeLink(trx, 'register', token);
    if (link?.email == null) return problem('wrong_state', 'this link was used, or is too old');
    const created = await createAccount(trx, {
      email: link.email,
      name: body.name ?? null,
      selfRegistered: true,
    });
    if (created.kind !== 'created') return new Problem(409, created.message);
    await setPassword(trx, created.account.id, await hashPassword(password));
    const { id: accountId, email, name } = created.account;
    const by = { kind: 'session', accountId, address: call.asker.address } as const;
    await writeAudit(trx, { action: 'account.register', by, accountId, after: { email, name } });
    const signedIn = await signInAs(trx, call, accountId, { by: 'registration', bearer: body.bearer });
    return signedIn instanceof Problem ? rollBackTo(signedIn) : signedIn;
  });
}
