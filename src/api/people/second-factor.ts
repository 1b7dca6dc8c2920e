// Checks the code of the second factor: from the authenticator app, or a recovery code. Each can be used once.

import { loadTotp, takeRecoveryCode, takeStep } from '../../store/people/totp.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { About } from '../../store/secrets/key-boxes.ts';
import { PROBLEM_CODES, Problem } from '../answers/problem.ts';
import type { Asker, People } from './people.ts';
import { findStep, hashRecoveryCode, isRecoveryCode } from './totp.ts';

/** Returns the context with which a secret of this kind is encrypted. */
export function aboutTotp(accountId: number): About {
  return ['totp', String(accountId)];
}

/** Marks a valid code as used. `state` is `confirmed` to sign in, and `new` to confirm a new secret. */
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

/** Checks the code of a person whose password or link is valid. Returns undefined if the code is correct. */
export async function judgeCode(
  db: Database,
  people: People,
  asker: Asker,
  { accountId, code }: { readonly accountId: number; readonly code: string | undefined },
): Promise<Problem | undefined> {
  if (code === undefined) return codeProblem('a code from your authenticator app is required too');
  const attempt = await people.attempts.forCode(asker.address, accountId);
  if (attempt instanceof Problem) return attempt;
  const isRight = await attempt.run(() => takeCode(db, people, accountId, { code, state: 'confirmed' }));
  return isRight ? undefined : codeProblem('the code is wrong or was already used');
}

function codeProblem(error: string): Problem {
  return new Problem(PROBLEM_CODES.otp_required, error, { code: 'otp_required' });
}
