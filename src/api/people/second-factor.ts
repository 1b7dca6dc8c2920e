// Checks the code of the second factor: of the authenticator app, or a recovery code. Each can be used once.

import { loadTotp, takeRecoveryCode, takeStep } from '../../store/people/totp.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { About } from '../../store/secrets/key-boxes.ts';
import { PROBLEM_CODES, Problem } from '../answers/problem.ts';
import type { Asker, People } from './people.ts';
import { findStep, hashRecoveryCode, isRecoveryCode } from './totp.ts';

/** What a stored secret of this kind is sealed with. */
export function aboutTotp(accountId: number): About {
  return ['totp', String(accountId)];
}

/** `state`: a code is asked for at sign-in once it is confirmed; only the first one is taken before. */
export async function takeCode(
  db: Database,
  { keyBoxes }: People,
  accountId: number,
  { code, state }: { readonly code: string; readonly state: 'confirmed' | 'new' },
): Promise<boolean> {
  const totp = await loadTotp(db, accountId);
  if (totp === undefined || totp.isConfirmed !== (state === 'confirmed')) return false;
  if (state === 'confirmed' && isRecoveryCode(code))
    return await takeRecoveryCode(db, accountId, hashRecoveryCode(code));
  const secret = await keyBoxes.unseal(db, totp, aboutTotp(accountId));
  const step = findStep(secret, code, totp.now.getTime(), totp.lastStep);
  return step !== undefined && (await takeStep(db, accountId, step));
}

/** Asks for the code of somebody whose password, or link, is right. Undefined: it is right. */
export async function judgeCode(
  db: Database,
  people: People,
  asker: Asker,
  { accountId, code }: { readonly accountId: number; readonly code: string | undefined },
): Promise<Problem | undefined> {
  if (code === undefined) return codeProblem('the code of your authenticator app is needed too');
  const attempt = await people.attempts.forCode(asker.address, accountId);
  if (attempt instanceof Problem) return attempt;
  const isRight = await attempt.run(() => takeCode(db, people, accountId, { code, state: 'confirmed' }));
  return isRight ? undefined : codeProblem('the code is wrong, or has been used');
}

function codeProblem(error: string): Problem {
  return new Problem(PROBLEM_CODES.otp_required, error, { code: 'otp_required' });
}
