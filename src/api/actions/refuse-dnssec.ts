// Converts a refused change of the DNSSEC goal to a problem.

import type { ChangedGoal } from '../../store/dnssec/change-goal.ts';
import type { ChangedDenial } from '../../store/signing/change-denial.ts';
import { invalid, Problem, problem, unavailable } from '../answers/problem.ts';

const RETRY_SECONDS = 60;

export function refuseDnssec(refused: Extract<ChangedGoal | ChangedDenial, { kind: 'refused' }>): Problem {
  const { code, message, retryAfterSeconds } = refused;
  if ('field' in refused && refused.field !== undefined)
    return invalid([{ field: refused.field, error: message }]);
  if (code !== 'dnssec_unavailable') return problem(code, message);
  const { headers } = unavailable(message, retryAfterSeconds ?? RETRY_SECONDS);
  return new Problem(503, message, { code, headers });
}
