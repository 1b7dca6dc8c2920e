// Two-step sign-in with an authenticator app (TOTP, RFC 6238). Turning it on and off requires a code.

import { z } from 'zod';
import { writeAudit } from '../../../store/audit/write-audit.ts';
import { confirmTotp, deleteTotp, saveTotp } from '../../../store/people/totp.ts';
import { inTransaction, rollBackTo } from '../../../store/postgres/transaction.ts';
import { forbidden, invalid, Problem, problem } from '../../answers/problem.ts';
import { asActor } from '../../callers/caller.ts';
import { type Route, route, session } from '../../calls/route.ts';
import { aboutTotp, takeCode } from '../../people/second-factor.ts';
import { renewSession } from '../../people/sessions.ts';
import { base32, hashRecoveryCode, makeRecoveryCodes, makeTotpSecret, totpUri } from '../../people/totp.ts';
import { Code, OtpSecret, RecoveryCodes, Rotated } from '../../schemas/people.ts';

const wrongCode = () => invalid([{ field: 'otp', error: 'is wrong or was already used' }]);

const enableOtp = route(session({ fresh: true }), {
  method: 'POST',
  path: '/auth/otp/enable',
  operationId: 'enableOtp',
  audit: { inHandler: 'account.begin_otp' },
  tag: 'Signing in',
  summary: 'Starts to set up two-step sign-in: returns a secret for an authenticator app.',
  description: 'Two-step sign-in is enabled when its first code is confirmed: `POST /auth/otp/confirm`.',
  idempotent: false,
  response: OtpSecret,
  problems: ['wrong_state'],
  async run({ api, people, caller }) {
    const { id, email } = caller.account;
    if (!people.keyBoxes.canSeal)
      return forbidden('two-step sign-in is not available: the service has no KEY_SECRETS');
    const secret = makeTotpSecret();
    const isSaved = await inTransaction(api.db, async (trx) => {
      const isNew = await saveTotp(trx, id, await people.keyBoxes.seal(trx, aboutTotp(id), secret));
      const entry = { action: 'account.begin_otp', by: asActor(caller), accountId: id } as const;
      if (isNew) await writeAudit(trx, entry);
      return isNew;
    });
    if (!isSaved) return problem('wrong_state', 'two-step sign-in is already on');
    return { secret: base32(secret), uri: totpUri(secret, email) };
  },
});

const confirmOtp = route(session({ fresh: true }), {
  method: 'POST',
  path: '/auth/otp/confirm',
  operationId: 'confirmOtp',
  audit: { inHandler: 'account.enable_otp' },
  tag: 'Signing in',
  summary: 'Turns two-step sign-in on with a first code.',
  description: 'Ends all other sessions. This one gets a new token.',
  idempotent: false,
  body: z.strictObject({ otp: Code }),
  response: RecoveryCodes,
  async run(call) {
    const { api, people, asker, caller, body } = call;
    const { id } = caller.account;
    const attempt = await people.attempts.forCode(asker.address, id);
    if (attempt instanceof Problem) return attempt;
    if (!(await attempt.run(() => takeCode(api.db, people, id, { code: body.otp, state: 'new' }))))
      return wrongCode();
    const codes = makeRecoveryCodes();
    return await inTransaction<z.output<typeof RecoveryCodes> | Problem>(api.db, async (trx) => {
      await confirmTotp(trx, id, codes.map(hashRecoveryCode));
      await writeAudit(trx, { action: 'account.enable_otp', by: asActor(caller), accountId: id });
      const renewed = await renewSession(trx, call, caller.credential.session);
      return renewed instanceof Problem ? rollBackTo(renewed) : { recovery_codes: codes, ...renewed };
    });
  },
});

const disableOtp = route(session({ fresh: true }), {
  method: 'POST',
  path: '/auth/otp/disable',
  operationId: 'disableOtp',
  audit: { inHandler: 'account.disable_otp' },
  tag: 'Signing in',
  summary: 'Turns two-step sign-in off, with a code.',
  description: 'Ends all other sessions. This one gets a new token.',
  idempotent: false,
  body: z.strictObject({ otp: Code }),
  response: Rotated,
  async run(call) {
    const { api, people, asker, caller, body } = call;
    const { id } = caller.account;
    const attempt = await people.attempts.forCode(asker.address, id);
    if (attempt instanceof Problem) return attempt;
    if (!(await attempt.run(() => takeCode(api.db, people, id, { code: body.otp, state: 'confirmed' }))))
      return wrongCode();
    return await inTransaction<z.output<typeof Rotated> | Problem>(api.db, async (trx) => {
      await deleteTotp(trx, id);
      await writeAudit(trx, { action: 'account.disable_otp', by: asActor(caller), accountId: id });
      const renewed = await renewSession(trx, call, caller.credential.session);
      return renewed instanceof Problem
        ? rollBackTo(renewed)
        : { message: 'two-step sign-in is off', ...renewed };
    });
  },
});

export const OTP_ROUTES: readonly Route[] = [enableOtp, confirmOtp, disableOtp];
