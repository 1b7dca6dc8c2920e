// DNSSEC of a domain: shows its state, signs the domain, changes its keys, and has a worker check the DS records at
// the parent. The call does not wait for the check, because the parent may be slow.

import type { z } from 'zod';
import { delegatedTo } from '../../checks/dnssec/told/dnssec-findings.ts';
import { MOST_MANUAL } from '../../checks/shares/turns.ts';
import { countManualCheck } from '../../store/checks/check-shares.ts';
import {
  type ChangedGoal,
  abortDnssec as saveAbort,
  disableDnssec as saveDisable,
  enableDnssec as saveEnable,
  rollDnssec as saveRoll,
} from '../../store/dnssec/change-goal.ts';
import { loadToldDnssec } from '../../store/dnssec/dnssec-state.ts';
import { askLook } from '../../store/dnssec/due-steps.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { type ChangedDenial, changeDenial } from '../../store/signing/change-denial.ts';
import { refuseDnssec } from '../actions/refuse-dnssec.ts';
import { notFound, PROBLEM_CODES, Problem, problem } from '../answers/problem.ts';
import { asActor } from '../callers/caller.ts';
import type { Api, CallOf } from '../calls/call.ts';
import { domain, type Route, route } from '../calls/route.ts';
import { NO_DNSSEC, printDnssec } from '../print/print-dnssec.ts';
import { ChangeDnssec, Dnssec, EnableDnssec, RollDnssec } from '../schemas/dnssec.ts';

export const WRITE = {
  method: 'POST',
  audit: 'changes',
  tag: 'DNSSEC',
  response: Dnssec,
  answerHeaders: ['X-Change-Id'],
} as const;

const getDnssec = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/dnssec',
  operationId: 'getDnssec',
  tag: 'DNSSEC',
  summary:
    'Returns the DNSSEC state of a domain: its keys, the DS records at the parent, and what to enter at the registrar.',
  response: Dnssec,
  run: ({ api, domain }) => answerDnssec(api, domain),
});

const enableDnssec = route(domain('domain.settings'), {
  ...WRITE,
  path: '/domains/{domain}/dnssec/enable',
  operationId: 'enableDnssec',
  summary: 'Enables DNSSEC for a domain.',
  description:
    'Signs the zone, and requests a DS record as soon as no resolver can hold earlier answers. `registrar` shows when and which record to enter. For a domain that is already signed, returns its state.',
  body: EnableDnssec.nullish(),
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_unavailable'],
  run: async (call) =>
    await answerChanged(call, await saveEnable(call.api.db, { ...orderOf(call), ...call.body })),
});

const disableDnssec = route(domain('domain.settings'), {
  ...WRITE,
  path: '/domains/{domain}/dnssec/disable',
  operationId: 'disableDnssec',
  summary: 'Disables DNSSEC: removes the signatures once the parent shows no DS record.',
  description:
    'Remove the DS record at the registrar. The zone stays signed until the parent has shown none for seven days. No call of this API makes the domain fail validation.',
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_unavailable'],
  run: async (call) => await answerChanged(call, await saveDisable(call.api.db, orderOf(call))),
});

const rollDnssec = route(domain('domain.settings'), {
  ...WRITE,
  path: '/domains/{domain}/dnssec/rollover',
  operationId: 'rollDnssec',
  summary: 'Changes to a new key, optionally of another algorithm.',
  description:
    'With `split`, changes to two new keys. With `key_id`, replaces only this key; a new `zsk` needs nothing at the registrar. The old key stays until its DS record is no longer at the parent. If the algorithm changes, both keys sign everything until then. `compromised` skips waiting times that only guard against mistakes, but none that resolvers need.',
  body: RollDnssec.nullish(),
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_unavailable'],
  run: async (call) => {
    const { reason, algorithm, split, key_id: keyId } = call.body ?? {};
    const order = { ...orderOf(call), compromised: reason === 'compromised', algorithm, split, keyId };
    return await answerChanged(call, await saveRoll(call.api.db, order));
  },
});

const changeDnssec = route(domain('domain.settings'), {
  ...WRITE,
  method: 'PUT',
  path: '/domains/{domain}/dnssec',
  operationId: 'changeDnssec',
  summary: 'Changes between NSEC and NSEC3 for a signed domain.',
  description:
    'The DS record stays. For a large zone, the new records are first written in addition to the current ones, and `next_denial` shows the new value until answers use them. Requesting the current value again cancels this.',
  body: ChangeDnssec,
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_unavailable'],
  run: async (call) => {
    const { domainId, ...order } = orderOf(call);
    return await answerChanged(
      call,
      await changeDenial(call.api.db, { domainId }, { ...order, ...call.body }),
    );
  },
});

const abortDnssec = route(domain('domain.settings'), {
  ...WRITE,
  path: '/domains/{domain}/dnssec/abort',
  operationId: 'abortDnssec',
  summary: 'Restores the goal from before the last call.',
  description:
    'Only until the last goal is reached, and only once: a second abort is refused with 400 `wrong_state`.',
  problems: ['wrong_state', 'dnssec_unavailable'],
  run: async (call) => await answerChanged(call, await saveAbort(call.api.db, orderOf(call))),
});

type AnyCall = CallOf<'domain'>;

export function orderOf({ caller, domain }: AnyCall) {
  return { domainId: domain.id, ownerId: domain.accountId, by: asActor(caller), source: 'api' } as const;
}

export async function answerChanged(call: AnyCall, changed: ChangedGoal | ChangedDenial) {
  switch (changed.kind) {
    case 'absent':
      return notFound('domain');
    case 'refused':
      return refuseDnssec(changed);
    case 'updated':
      if (changed.changeId !== undefined) call.answerHeader('X-Change-Id', changed.changeId);
      return await answerDnssec(call.api, call.domain);
    default:
      return changed satisfies never;
  }
}

export async function answerDnssec(
  api: Api,
  { id, currentNs, nameserverSets }: VisibleDomain,
): Promise<z.input<typeof Dnssec>> {
  const stored = await loadToldDnssec(api.db, id);
  return stored === undefined
    ? NO_DNSSEC
    : printDnssec(stored, delegatedTo(currentNs, nameserverSets.flat()));
}

const HOUR_SECONDS = 3600;
/** After this time, a third of the account's calls still count towards the limit. */
const TOO_MANY_SECONDS = 60;

const checkDnssec = route(domain('domain.settings'), {
  method: 'POST',
  path: '/domains/{domain}/dnssec/check',
  operationId: 'checkDnssec',
  audit: { none: 'it requests a check; the steps that follow are changes' },
  tag: 'DNSSEC',
  summary: 'Checks the DS records at the parent now.',
  description:
    'Returns immediately what is known so far. `at_parent.checked_at` is later than this call once the check is done, usually within seconds. At most once per hour for each domain. While a DS record is expected, the parent is queried every few minutes anyway.',
  response: Dnssec,
  problems: ['wrong_state', 'dnssec_check_limited'],
  async run({ api, caller, domain }) {
    const isOperator = caller.account.isAdmin;
    const manual = isOperator ? 0 : await countManualCheck(api.db, domain.accountId);
    if (manual >= MOST_MANUAL)
      return limited('the users of this account requested too many checks within a minute', TOO_MANY_SECONDS);
    const asked = await askLook(api.db, domain.id, isOperator ? {} : { everySeconds: HOUR_SECONDS });
    if (asked.kind === 'no_keys') return problem('wrong_state', 'the domain is not signed');
    if (asked.kind === 'limited')
      return limited('the domain was checked within the last hour', asked.retryAfterSeconds);
    return await answerDnssec(api, domain);
  },
});

function limited(message: string, seconds: number): Problem {
  return new Problem(PROBLEM_CODES.dnssec_check_limited, message, {
    code: 'dnssec_check_limited',
    headers: { 'Retry-After': String(seconds) },
  });
}

export const DNSSEC_ROUTES: readonly Route[] = [
  getDnssec,
  enableDnssec,
  disableDnssec,
  rollDnssec,
  changeDnssec,
  abortDnssec,
  checkDnssec,
];
