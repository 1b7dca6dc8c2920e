// GET /domains/{domain}/verifications: lists the lookups of the TXT record. POST /domains/{domain}/verify: has a
// worker look it up immediately, and waits for the result. The job contains the request id, which identifies the run.
// A domain has at most one lookup at a time: calls that arrive meanwhile share the next one.
//
//     expired → new value → respond
//     otherwise → enqueue → wait for this run, or for the end of another one → respond

import { z } from 'zod';
import { MOST_MANUAL, manualTurn } from '../../checks/shares/turns.ts';
import { countManualCheck } from '../../store/checks/check-shares.ts';
import { loadVisibleById } from '../../store/domains/load-domains.ts';
import {
  findVerificationByRequest,
  listVerifications,
  waitForVerification,
} from '../../store/verifications/load-verifications.ts';
import { renewExpiredVerification } from '../../store/verifications/verified-domain.ts';
import { enqueueNow, jobRequestOf } from '../actions/enqueue.ts';
import { notFound, Problem, problem, unavailable } from '../answers/problem.ts';
import { asStoreCaller } from '../callers/caller.ts';
import type { CallOf } from '../calls/call.ts';
import { domain, type Route, route } from '../calls/route.ts';
import { answerDomain } from '../print/print-domain.ts';
import { printLook } from '../print/print-verification.ts';
import { VerificationLook } from '../schemas/checks/verification.ts';
import { Domain } from '../schemas/domain.ts';

/** A verification takes at most 20 s. */
const WAIT_MS = 25_000;
const RETRY_SECONDS = 10;

type VerifyCall = CallOf<'domain'>;

const verifyDomain = route(domain('domain.settings'), {
  method: 'POST',
  path: '/domains/{domain}/verify',
  operationId: 'verifyDomain',
  audit: {
    none: 'it requests a lookup, which the verifications record; a status change that follows is a change',
  },
  tag: 'Domains',
  summary: 'Looks up the TXT record of a domain now.',
  description:
    'Returns the domain within 25 seconds, verified or not. `verification` contains the response of each nameserver of the zone. The record must be on every server that responds, and at least half of the servers must respond. An expired value is replaced by a new one, which must be published instead and is not looked up by this call. An active domain is returned unchanged. A domain in managed mode has a record only while it is `pending` and has a `verification`. Otherwise the call is refused with 400. The users of one account may request a hundred lookups per minute, including those of `ns-check` (429). The service also looks the record up automatically, at `next_attempt_at`.',
  waits: true,
  response: Domain,
  problems: ['wrong_state'],
  async run(call) {
    const { api, domain, idempotencyKey } = call;
    if (domain.verification === null)
      return problem(
        'wrong_state',
        'the domain is in managed mode: its delegation proves it, and no TXT record is needed',
      );
    if (domain.status !== 'unverified' && domain.status !== 'pending') return await answer(call);
    if (await renewExpiredVerification(api.db, domain.id)) return await answer(call);
    const request = jobRequestOf('verify', call);
    const isMade = idempotencyKey !== undefined && (await findVerificationByRequest(api.db, request));
    return isMade ? await answer(call) : await runVerification(call, request);
  },
});

const listVerificationsOfDomain = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/verifications',
  operationId: 'listDomainVerifications',
  tag: 'Domains',
  summary: 'Lists the lookups of the TXT record of a domain, newest first.',
  description: 'The newest 20 are kept, including those of expired values.',
  response: z.array(VerificationLook),
  run: async ({ api, domain }) => (await listVerifications(api.db, domain.id)).map(printLook),
});

async function runVerification(call: VerifyCall, request: string) {
  const { api, caller, domain, gone } = call;
  const { id: domainId, verification } = domain;
  const manual = caller.account.isAdmin ? 0 : await countManualCheck(api.db, domain.accountId);
  if (manual >= MOST_MANUAL) return TOO_MANY;
  const since = new Date();
  const job = { domainId, kind: 'manual', request, turn: manualTurn({ manual }) } as const;
  if (await enqueueNow(api.verifications, job, 'verification', call)) {
    const wanted = { domainId, value: verification?.value ?? '', request, since };
    const timeoutMs = api.verifications.waitMs ?? WAIT_MS;
    const came = await waitForVerification(api.db, wanted, { timeoutMs, signal: gone });
    if (came !== undefined) return await answer(call);
  }
  return unavailable('the TXT record could not be looked up now; try again', RETRY_SECONDS);
}

/** After this time, a third of the account's calls still count towards the limit. */
const TOO_MANY_SECONDS = 60;
const TOO_MANY = new Problem(
  429,
  'the users of this account requested too many checks and verifications within a minute',
  { headers: { 'Retry-After': String(TOO_MANY_SECONDS) } },
);

async function answer({ api, caller, domain }: VerifyCall) {
  const now = await loadVisibleById(api.db, asStoreCaller(caller), domain.id);
  return now === undefined ? notFound('domain') : await answerDomain(api, { ...now, myRole: domain.myRole });
}

export const VERIFICATION_ROUTES: readonly Route[] = [verifyDomain, listVerificationsOfDomain];
