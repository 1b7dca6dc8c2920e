// Sets a new password, with a mailed link or in a session whose password was confirmed recently.

import { z } from 'zod';
import { readEmail } from '../../../store/accounts/accounts.ts';
import { writeAudit } from '../../../store/audit/write-audit.ts';
import {
  confirmEmail,
  dropLinks,
  lockCredentials,
  setPassword,
  takeLink,
} from '../../../store/people/credentials.ts';
import { orderMail } from '../../../store/people/mails.ts';
import { endSessions } from '../../../store/people/sessions.ts';
import { inTransaction, rollBackTo } from '../../../store/postgres/transaction.ts';
import { forbidden, Problem, problem, tooBusy } from '../../answers/problem.ts';
import { asActor } from '../../callers/caller.ts';
import { everyone, type Route, route, session } from '../../calls/route.ts';
import { hashPassword } from '../../people/passwords.ts';
import { renewSession } from '../../people/sessions.ts';
import { Message } from '../../schemas/fields.ts';
import { Email, LinkToken, NewPassword, Rotated } from '../../schemas/people.ts';

type Said = z.output<typeof Message> | Problem;

const forgotPassword = route(everyone, {
  method: 'POST',
  path: '/auth/password/forgot',
  operationId: 'forgotPassword',
  audit: { none: 'it requests a mail for any address; the reset itself is recorded' },
  tag: 'Signing in',
  summary: 'Requests a link to set a new password.',
  description:
    'The response is the same whether or not an account has this email address. The link can be used once, within 30 minutes.',
  body: z.strictObject({ email: Email }),
  response: Message,
  async run({ api, people, asker, body }) {
    if (!people.sendsMail) return forbidden('this service sends no mail: ask its operator for a link');
    const outcome = await people.turns.run<Said>(asker.address, async () => {
      const email = readEmail(body.email) as string;
      const refused = await people.attempts.ofMails(asker.address);
      if (refused !== undefined) return refused;
      if (await people.attempts.mayMail(email)) await orderMail(api.db, 'reset', email);
      return {
        message:
          'if an account has this email address, a link was sent to it; at most three are sent per hour',
      };
    });
    return outcome ?? tooBusy();
  },
});

const resetPassword = route(everyone, {
  method: 'POST',
  path: '/auth/password/reset',
  operationId: 'resetPassword',
  audit: { inHandler: 'account.reset_password' },
  tag: 'Signing in',
  summary: 'Sets a new password with the token of a link.',
  description: 'Ends every session of the account. Two-step sign-in stays on.',
  body: z.strictObject({ token: LinkToken, password: NewPassword }),
  response: Message,
  problems: ['wrong_state'],
  async run({ api, people, asker, body }) {
    const outcome = await people.turns.run<Said>(asker.address, () =>
      inTransaction<Said>(api.db, async (trx) => {
        const link = await takeLink(trx, 'reset', body.token);
        if (link?.accountId == null)
          return problem('wrong_state', 'this link was already used or has expired');
        const who = await lockCredentials(trx, { accountId: link.accountId });
        if (who?.account.active !== true) return rollBackTo(problem('wrong_state', 'account is inactive'));
        await setPassword(trx, link.accountId, await hashPassword(body.password));
        await confirmEmail(trx, link.accountId);
        await endSessions(trx, link.accountId);
        await dropLinks(trx, link.accountId);
        const { accountId } = link;
        const by = { kind: 'session', accountId, address: asker.address } as const;
        await writeAudit(trx, { action: 'account.reset_password', by, accountId });
        return { message: 'the password was changed; sign in with it' };
      }),
    );
    return outcome ?? tooBusy();
  },
});

const changePassword = route(session({ fresh: true }), {
  method: 'PUT',
  path: '/users/me/password',
  operationId: 'changePassword',
  audit: { inHandler: 'account.password' },
  tag: 'Your account',
  summary: 'Sets a new password.',
  description: 'Ends all other sessions. This one gets a new token.',
  body: z.strictObject({ password: NewPassword }),
  response: Rotated,
  async run(call) {
    const { api, people, asker, caller, body } = call;
    const { session } = caller.credential;
    const outcome = await people.turns.run<z.output<typeof Rotated> | Problem>(asker.address, async () => {
      const hash = await hashPassword(body.password);
      return await inTransaction(api.db, async (trx) => {
        const { accountId } = session;
        await dropLinks(trx, accountId); // before the account is locked, in the order of `lockOut`
        await setPassword(trx, accountId, hash);
        await writeAudit(trx, { action: 'account.password', by: asActor(caller), accountId });
        const renewed = await renewSession(trx, call, session);
        return renewed instanceof Problem
          ? rollBackTo(renewed)
          : { message: 'the password was changed', ...renewed };
      });
    });
    return outcome ?? tooBusy();
  },
});

export const PASSWORD_ROUTES: readonly Route[] = [forgotPassword, resetPassword, changePassword];
