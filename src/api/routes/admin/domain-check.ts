// POST /admin/domains/{id}/check: has a worker check the delegation immediately, for an operator. It does not count against
// the hourly limit of the domain or the vantage limit of the account.

import { waitForCheck } from '../../../store/checks/wait-for-check.ts';
import { loadDomainById } from '../../../store/domains/load-domains.ts';
import { whyUnchecked } from '../../../zone/domain/why-unchecked.ts';
import { enqueueNow } from '../../actions/enqueue.ts';
import { jobRequestOf } from '../../actions/job-request.ts';
import { notFound, problem, unavailable } from '../../answers/problem.ts';
import { admin, route } from '../../calls/route.ts';
import { printAdminDomain } from '../../print/print-admin-domain.ts';
import { printCheck } from '../../print/print-check.ts';
import { AdminDomain } from '../../schemas/admin/domain.ts';
import { Check } from '../../schemas/checks/check.ts';
import { oneDomain } from './domains.ts';

/** The same as for `ns-check`. */
const WAIT_MS = 25_000;
const RETRY_SECONDS = 10;

export const checkDomain = route(admin, {
  method: 'POST',
  path: '/admin/domains/{id}/check',
  operationId: 'adminCheckDomain',
  tag: 'Domains',
  summary: 'Check the delegation of a domain now.',
  description: 'Answers with the domain as it is afterwards and the check that was made, within 25 seconds.',
  audit: { none: 'it asks for a check, which the log of checks has; a move that follows is a change' },
  waits: true,
  ...oneDomain,
  response: AdminDomain.extend({ check: Check }).meta({ id: 'AdminCheckedDomain' }),
  problems: ['wrong_state'],
  async run(call) {
    const { api, found, gone } = call;
    const message = whyUnchecked(found);
    if (message !== undefined) return problem('wrong_state', message);
    const about = { ...call, domain: found };
    const request = jobRequestOf('admin-check', about);
    const job = { domainId: found.id, kind: 'operator', request } as const;
    const isEnqueued = await enqueueNow(api.checks, job, 'check', about);
    const timeoutMs = api.checks.waitMs ?? WAIT_MS;
    const run = isEnqueued ? await waitForCheck(api.db, request, { timeoutMs, signal: gone }) : undefined;
    if (run === undefined) return unavailable('the check could not be made now; try again', RETRY_SECONDS);
    const now = await loadDomainById(api.db, found.id);
    if (now === undefined) return notFound('domain');
    return { ...(await printAdminDomain(api.db, now, api)), check: printCheck(run) };
  },
});
