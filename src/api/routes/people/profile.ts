// GET and PUT /users/me, and the change of the email address, which takes effect when the mailed link is opened. Also
// describes the caller's credential: its account and its permissions.

import { z } from 'zod';
import { type Account, emailKeyOf, readEmail } from '../../../store/accounts/accounts.ts';
import { writeAudit } from '../../../store/audit/write-audit.ts';
import {
  dropLinks,
  loadCredentials,
  setEmail,
  setName,
  takeLink,
} from '../../../store/people/credentials.ts';
import { orderMailOf } from '../../../store/people/mails.ts';
import type { Database } from '../../../store/postgres/database.ts';
import { inTransaction, rollBackTo } from '../../../store/postgres/transaction.ts';
import { forbidden, notFound, Problem, problem } from '../../answers/problem.ts';
import { asActor } from '../../callers/caller.ts';
import { account, type Route, route, session } from '../../calls/route.ts';
import { forResellers } from '../../calls/surfaces.ts';
import { sessionEndsAt } from '../../people/sessions.ts';
import { Message } from '../../schemas/fields.ts';
import { Email, LinkToken, PersonName, Profile, WhoAmI } from '../../schemas/people.ts';

async function profileOf(
  db: Database,
  { id: accountId }: Account,
): Promise<z.input<typeof Profile> | Problem> {
  const who = await loadCredentials(db, { accountId });
  if (who === undefined) return notFound('account');
  const { account, passwordHash, hasTotp, hasIdentity } = who;
  return {
    user_id: account.id,
    email: account.email,
    email_confirmed: account.isEmailConfirmed,
    ...(account.name !== null && { name: account.name }),
    admin: account.isAdmin,
    reseller: account.isReseller,
    ...(account.providerId !== null && { provider: account.providerId }),
    password_set: passwordHash !== null,
    otp: hasTotp,
    identity: hasIdentity,
    created_at: account.createdAt.toISOString(),
  };
}

const getProfile = route(session(), {
  method: 'GET',
  path: '/users/me',
  operationId: 'getProfile',
  tag: 'Your account',
  summary: 'Returns your account.',
  response: Profile,
  run: ({ api, caller }) => profileOf(api.db, caller.account),
});

const updateProfile = route(session(), {
  method: 'PUT',
  path: '/users/me',
  operationId: 'updateProfile',
  audit: 'account.update',
  tag: 'Your account',
  summary: 'Changes your name.',
  body: z.strictObject({ name: PersonName }),
  response: Profile,
  async run({ api, caller, body, audit }) {
    const { id, name } = caller.account;
    await setName(api.db, id, body.name);
    audit(name === body.name ? undefined : { before: { name }, after: { name: body.name } });
    return await profileOf(api.db, caller.account);
  },
});

const changeEmail = route(session({ fresh: true }), {
  method: 'PUT',
  path: '/users/me/email',
  operationId: 'changeEmail',
  audit: { inHandler: 'account.ask_email' },
  tag: 'Your account',
  summary: 'Requests a change of your email address.',
  description:
    'Mails a link to the new address. The change takes effect when the link is opened, and the old address is then notified.',
  body: z.strictObject({ email: Email }),
  response: Message,
  problems: ['wrong_state'],
  async run({ api, people, asker, caller, body }) {
    if (!people.sendsMail)
      return forbidden('this service sends no mail: ask the operator to change the address');
    const email = readEmail(body.email) as string;
    if (email === caller.account.email) return problem('wrong_state', 'this is already your email address');
    const refused = await people.attempts.ofMails(asker.address);
    if (refused !== undefined) return refused;
    const { id: accountId } = caller.account;
    if (await people.attempts.mayMail(email))
      await inTransaction(api.db, async (trx) => {
        await orderMailOf(trx, 'email', accountId, email);
        const by = asActor(caller);
        await writeAudit(trx, { action: 'account.ask_email', by, accountId, after: { email } });
      });
    return {
      message: 'a link was sent to this address, unless it already received three mails within the hour',
    };
  },
});

const confirmEmailChange = route(session(), {
  method: 'POST',
  path: '/users/me/email/confirm',
  operationId: 'confirmEmail',
  audit: { inHandler: 'account.email' },
  tag: 'Your account',
  summary: 'Confirms a new email address with the token of its link.',
  idempotent: false,
  body: z.strictObject({ token: LinkToken }),
  response: Profile,
  problems: ['wrong_state'],
  conflicts: true,
  async run({ api, people, caller, body }) {
    const { account } = caller;
    return await inTransaction<z.input<typeof Profile> | Problem>(api.db, async (trx) => {
      const link = await takeLink(trx, 'email', body.token);
      if (link?.email == null) return problem('wrong_state', 'this link was already used or has expired');
      if (link.accountId !== account.id)
        return rollBackTo(problem('wrong_state', 'this link belongs to another account'));
      if (!(await setEmail(trx, account.id, link.email)))
        return new Problem(409, 'another account has this email address');
      await writeAudit(trx, {
        action: 'account.email',
        by: asActor(caller),
        accountId: account.id,
        before: { email: account.email },
        after: { email: link.email },
      });
      // Links mailed to the old address become invalid.
      await dropLinks(trx, account.id);
      if (people.sendsMail && emailKeyOf(link.email) !== emailKeyOf(account.email))
        await orderMailOf(trx, 'email-changed', account.id, account.email);
      return await profileOf(trx, account);
    });
  },
});

const whoAmI = route(account(), {
  method: 'GET',
  path: '/whoami',
  operationId: 'whoAmI',
  tag: 'Your account',
  summary: 'Returns the account of the credential, and its permissions.',
  response: WhoAmI,
  run({ caller }) {
    const { account, credential, key, rate } = caller;
    const { domains, names, types } = key;
    const expiresAt =
      credential.kind === 'session' ? sessionEndsAt(credential.session, account) : credential.expiresAt;
    return {
      user_id: account.id,
      email: account.email,
      admin: account.isAdmin,
      reseller: account.isReseller,
      ...(account.providerId !== null && { provider: account.providerId }),
      credential: credential.kind,
      read_only: key.readOnly,
      ...(domains !== null && { domains: [...domains] }),
      ...(names !== null && { names: [...names] }),
      ...(types !== null && { types: [...types] }),
      ...(expiresAt !== null && { expires_at: expiresAt.toISOString() }),
      ...(rate !== undefined && {
        rate: { limit: rate.limit, remaining: rate.remaining, reset_seconds: rate.resetSeconds },
      }),
    };
  },
});

export const PROFILE_ROUTES: readonly Route[] = [
  whoAmI,
  getProfile,
  updateProfile,
  changeEmail,
  confirmEmailChange,
];

/** Core routes that only resellers may call. */
export const CORE_RESELLER_ROUTES: readonly Route[] = [{ ...forResellers(whoAmI), tag: 'Reseller' }];
