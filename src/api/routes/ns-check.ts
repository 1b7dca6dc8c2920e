// POST /domains/{domain}/ns-check: has a worker check the delegation immediately, and waits for the result. The job
// contains the request id, which identifies the run.
//
//     take the hourly slot → enqueue → wait for the run → respond
//         no run, or a run with the result `unknown`: the slot is released, at most twice a day

import { z } from 'zod';
import { MANUAL_WAIT_MS } from '../../checks/shares/deadlines.ts';
import { MOST_MANUAL, manualTurn } from '../../checks/shares/turns.ts';
import type { SavedRun } from '../../store/checks/check-runs.ts';
import { findCheckByRequest, waitForCheck } from '../../store/checks/check-runs.ts';
import { countManualCheck } from '../../store/checks/check-shares.ts';
import {
  askForTurn,
  giveBackManualCheck,
  takeManualCheck,
  undoManualCheck,
} from '../../store/checks/manual-check.ts';
import { loadVisibleById } from '../../store/domains/load-domains.ts';
import { enqueueNow, jobRequestOf } from '../actions/enqueue.ts';
import { notFound, PROBLEM_CODES, Problem, problem, unavailable } from '../answers/problem.ts';
import { asStoreCaller } from '../callers/caller.ts';
import { type CallOf, STOPPING } from '../calls/call.ts';
import { domain, route } from '../calls/route.ts';
import { printCheck } from '../print/print-check.ts';
import { printDomain } from '../print/print-domain.ts';
import { Check } from '../schemas/checks/check.ts';
import { Domain } from '../schemas/domain.ts';

const RETRY_SECONDS = 10;
/** After this time, a third of the account's calls still count towards the limit. */
const TOO_MANY_SECONDS = 60;

const CheckedDomain = z.object({ ...Domain.shape, check: Check }).meta({ id: 'CheckedDomain' });

type CheckCall = CallOf<'domain'>;

export const checkNameservers = route(domain('domain.settings'), {
  method: 'POST',
  path: '/domains/{domain}/ns-check',
  operationId: 'checkNameservers',
  audit: {
    none: 'it requests a check, which the log of checks records; a status change that follows is a change',
  },
  tag: 'Checks',
  summary: 'Checks the delegation now.',
  description:
    'Returns the domain and the check within 25 seconds. At most once per hour for each domain. A check with the verdict `unknown` does not count, and neither does a 503, unless the database failed during the check. At most two such checks per day are not counted.',
  waits: true,
  response: CheckedDomain,
  problems: ['wrong_state', 'ns_check_limited'],
  async run(call) {
    const { api, caller, domain, idempotencyKey } = call;
    if (domain.dnsMode === 'external') {
      return problem('wrong_state', 'the domain is in external mode, which needs no delegation');
    }
    const request = jobRequestOf('ns-check', call);
    const before = idempotencyKey === undefined ? undefined : await findCheckByRequest(api.db, request);
    if (before !== undefined) return await answer(call, before);
    const manual = caller.account.isAdmin ? 0 : await countManualCheck(api.db, domain.accountId);
    if (manual >= MOST_MANUAL) return tooMany();
    const hour = caller.account.isAdmin ? undefined : await takeManualCheck(api.db, domain.id);
    if (hour?.kind === 'limited') return limited(hour.retryAfterSeconds);
    const release = async (isMade: boolean) => {
      if (hour === undefined) return;
      await (isMade ? giveBackManualCheck : undoManualCheck)(api.db, domain.id, hour);
    };
    await askForTurn(api.db, domain.id);
    return await runCheck(call, { request, turn: manualTurn({ manual }) }, release);
  },
});

async function runCheck(
  call: CheckCall,
  { request, turn }: { readonly request: string; readonly turn: number },
  release: (isMade: boolean) => Promise<void>,
) {
  const { api, domain, gone } = call;
  const job = { domainId: domain.id, kind: 'manual', request, turn } as const;
  const isEnqueued = await enqueueNow(api.checks, job, 'check', call);
  let run: SavedRun | undefined;
  try {
    const timeoutMs = api.checks.waitMs ?? MANUAL_WAIT_MS;
    if (isEnqueued) run = await waitForCheck(api.db, request, { timeoutMs, signal: gone });
  } catch (error) {
    await release(isEnqueued).catch(() => {}); // the first error already reports the database
    throw error;
  }
  if (run !== undefined) {
    if (run.verdict === 'unknown') await release(true);
    return await answer(call, run);
  }
  // Keep the slot if the client disconnected: otherwise it could request checks without limit.
  if (!gone.aborted || gone.reason === STOPPING) await release(isEnqueued);
  return unavailable('the check could not be made now; try again', RETRY_SECONDS);
}

function tooMany(): Problem {
  const message = 'the users of this account requested too many checks within a minute';
  return new Problem(PROBLEM_CODES.ns_check_limited, message, {
    code: 'ns_check_limited',
    headers: { 'Retry-After': String(TOO_MANY_SECONDS) },
  });
}

function limited(retryAfterSeconds: number): Problem {
  return new Problem(PROBLEM_CODES.ns_check_limited, 'the delegation was checked within the last hour', {
    code: 'ns_check_limited',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}

async function answer({ api, caller, domain }: CheckCall, run: SavedRun) {
  const now = await loadVisibleById(api.db, asStoreCaller(caller), domain.id);
  if (now === undefined) return notFound('domain');
  return { ...printDomain(now, api), check: printCheck(run) };
}
