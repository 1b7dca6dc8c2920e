// POST /domains/{domain}/dnssec/check: has a worker check the keys of a domain, usually within seconds. The call does not
// wait, because the parent may be slow. The check is made even if the workers start later.

import { MOST_MANUAL } from '../../checks/shares/turns.ts';
import { countManualCheck } from '../../store/checks/check-shares.ts';
import { askLook } from '../../store/dnssec/ask-look.ts';
import { PROBLEM_CODES, Problem, problem } from '../answers/problem.ts';
import { domain, route } from '../calls/route.ts';
import { Dnssec } from '../schemas/dnssec.ts';
import { answer as answerDnssec } from './dnssec.ts';

const HOUR_SECONDS = 3600;
/** After this time, a third of the account's calls still count towards the limit. */
const TOO_MANY_SECONDS = 60;

export const checkDnssec = route(domain('domain.settings'), {
  method: 'POST',
  path: '/domains/{domain}/dnssec/check',
  operationId: 'checkDnssec',
  audit: { none: 'it asks for a look; the steps that follow are changes' },
  tag: 'DNSSEC',
  summary: 'Checks the DS records at the parent now.',
  description:
    'Answers at once with what is known so far: `at_parent.checked_at` is later than this call once the look is made, within seconds as a rule. Once an hour for each domain. While a DS record is awaited the parent is asked every few minutes anyway.',
  response: Dnssec,
  problems: ['wrong_state', 'dnssec_check_limited'],
  async run({ api, caller, domain }) {
    const isOperator = caller.account.isAdmin;
    const manual = isOperator ? 0 : await countManualCheck(api.db, domain.accountId);
    if (manual >= MOST_MANUAL)
      return limited('the users of this account asked for too many checks within a minute', TOO_MANY_SECONDS);
    const asked = await askLook(api.db, domain.id, isOperator ? {} : { everySeconds: HOUR_SECONDS });
    if (asked.kind === 'no_keys') return problem('wrong_state', 'the domain is not signed');
    if (asked.kind === 'limited')
      return limited('the domain was looked at within the last hour', asked.retryAfterSeconds);
    return await answerDnssec(api, domain);
  },
});

function limited(message: string, seconds: number): Problem {
  return new Problem(PROBLEM_CODES.dnssec_check_limited, message, {
    code: 'dnssec_check_limited',
    headers: { 'Retry-After': String(seconds) },
  });
}
