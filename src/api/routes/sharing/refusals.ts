// A change of sharing that is not made, as a problem.

import type { SharingRefusal } from '../../../store/sharing/lock-sharing.ts';
import { forbidden, notFound, Problem, problem } from '../../answers/problem.ts';

/** `what`: the name of what the path names, for its 404. */
export function sharingProblem(
  { code, message, retryAfterSeconds = 1 }: SharingRefusal,
  what: string,
): Problem {
  switch (code) {
    case 'no_domain':
      return notFound('domain');
    case 'absent':
      return notFound(what);
    case 'forbidden':
      return forbidden(message);
    case 'owner':
    case 'provider':
    case 'ended':
      return problem('wrong_state', message);
    case 'full':
      return new Problem(409, message);
    case 'limited':
      return new Problem(429, message, { headers: { 'Retry-After': String(retryAfterSeconds) } });
    default:
      return code satisfies never;
  }
}
