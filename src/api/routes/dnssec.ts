// DNSSEC of a domain: shows its state and sets its goal. Workers then take each step when it is safe.

import type { z } from 'zod';
import { delegatedTo } from '../../checks/dnssec/told/dnssec-findings.ts';
import {
  type ChangedGoal,
  abortDnssec as saveAbort,
  disableDnssec as saveDisable,
  enableDnssec as saveEnable,
  rollDnssec as saveRoll,
} from '../../store/dnssec/change-goal.ts';
import { loadToldDnssec } from '../../store/dnssec/load-told-dnssec.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { type ChangedDenial, changeDenial } from '../../store/signing/change-denial.ts';
import { invalid, notFound, Problem, problem, unavailable } from '../answers/problem.ts';
import { asActor } from '../callers/caller.ts';
import type { Api, CallOf } from '../calls/call.ts';
import { domain, route } from '../calls/route.ts';
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
  summary: 'DNSSEC of a domain: its keys, what the parent shows, and what to enter at the registrar.',
  response: Dnssec,
  run: ({ api, domain }) => answer(api, domain),
});

const enableDnssec = route(domain('domain.settings'), {
  ...WRITE,
  path: '/domains/{domain}/dnssec/enable',
  operationId: 'enableDnssec',
  summary: 'Enables DNSSEC: signs the domain.',
  description:
    'Signs the zone, and asks for a DS record as soon as no resolver can hold answers from before: `registrar` says when and which. A domain that is signed already is answered as it is.',
  body: EnableDnssec.nullish(),
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_unavailable'],
  run: async (call) =>
    await answerChanged(call, await saveEnable(call.api.db, { ...orderOf(call), ...call.body })),
});

const disableDnssec = route(domain('domain.settings'), {
  ...WRITE,
  path: '/domains/{domain}/dnssec/disable',
  operationId: 'disableDnssec',
  summary: 'Removes the signatures of a domain once no DS record is left.',
  description:
    'Remove the DS record at the registrar: the zone stays signed until the parent has shown none for seven days. Nothing that you call here makes the domain unreachable.',
  problems: ['wrong_state', 'dnssec_busy', 'dnssec_unavailable'],
  run: async (call) => await answerChanged(call, await saveDisable(call.api.db, orderOf(call))),
});

const rollDnssec = route(domain('domain.settings'), {
  ...WRITE,
  path: '/domains/{domain}/dnssec/rollover',
  operationId: 'rollDnssec',
  summary: 'Changes to a new key, also of another algorithm.',
  description:
    'With `split` to two new keys, or with `key_id` in place of that one alone: a new `zsk` needs nothing at the registrar. The old key stays until its DS record is gone from the parent; of another algorithm, both sign everything meanwhile. `compromised` leaves out what only guards against mistakes, and nothing that resolvers need.',
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
  summary: 'Changes how a signed domain proves what is not there.',
  description:
    'The DS record stays. Of a large zone the new records are written beside the others, and `next_denial` shows them until answers use them; asking for the other kind gives up.',
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
  summary: 'Restores the goal that was set before the last call.',
  description:
    'Only until the last goal is reached, and once: a second abort has nothing to give up (400 `wrong_state`).',
  problems: ['wrong_state', 'dnssec_unavailable'],
  run: async (call) => await answerChanged(call, await saveAbort(call.api.db, orderOf(call))),
});

export const DNSSEC_ROUTES = [getDnssec, enableDnssec, disableDnssec, rollDnssec, changeDnssec, abortDnssec];

type AnyCall = CallOf<'domain'>;

export function orderOf({ caller, domain }: AnyCall) {
  return { domainId: domain.id, ownerId: domain.accountId, by: asActor(caller), source: 'api' } as const;
}

export async function answerChanged(call: AnyCall, changed: ChangedGoal | ChangedDenial) {
  switch (changed.kind) {
    case 'absent':
      return notFound('domain');
    case 'refused':
      return refusal(changed);
    case 'updated':
      if (changed.changeId !== undefined) call.answerHeader('X-Change-Id', changed.changeId);
      return await answer(call.api, call.domain);
    default:
      return changed satisfies never;
  }
}

const RETRY_SECONDS = 60;

export function refusal(refused: Extract<ChangedGoal | ChangedDenial, { kind: 'refused' }>): Problem {
  const { code, message, retryAfterSeconds } = refused;
  if ('field' in refused && refused.field !== undefined)
    return invalid([{ field: refused.field, error: message }]);
  if (code !== 'dnssec_unavailable') return problem(code, message);
  const { headers } = unavailable(message, retryAfterSeconds ?? RETRY_SECONDS);
  return new Problem(503, message, { code, headers });
}

export async function answer(
  api: Api,
  { id, currentNs, nameserverSets }: VisibleDomain,
): Promise<z.input<typeof Dnssec>> {
  const stored = await loadToldDnssec(api.db, id);
  return stored === undefined
    ? NO_DNSSEC
    : printDnssec(stored, delegatedTo(currentNs, nameserverSets.flat()));
}
