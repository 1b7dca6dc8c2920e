// Shows, deletes and enables one domain. `update-domain.ts` changes its settings.

import { changeStatus } from '../../store/change/change-status.ts';
import { deleteDomain as saveDeletion } from '../../store/change/save-domain.ts';
import { notFound } from '../answers/problem.ts';
import { asActor } from '../callers/caller.ts';
import { domain, route } from '../calls/route.ts';
import { answerDomain } from '../print/answer-domain.ts';
import { printNewClaim } from '../print/print-domain.ts';
import { Domain, DomainEnable } from '../schemas/domain.ts';
import { Message } from '../schemas/message.ts';
import { answerUpdated } from './update-domain.ts';

export const getDomain = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}',
  operationId: 'getDomain',
  tag: 'Domains',
  summary: 'A domain with its settings and its state.',
  response: Domain,
  run: ({ api, domain }) => answerDomain(api, domain),
});

export const deleteDomain = route(domain('domain.delete', { whileDisabled: true }), {
  method: 'DELETE',
  path: '/domains/{domain}',
  operationId: 'deleteDomain',
  audit: 'changes',
  tag: 'Domains',
  summary: 'Deletes a domain with its records.',
  description: 'Its name is free immediately. The operator can restore the domain for 30 days.',
  response: Message,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  async run(call) {
    const { api, caller, domain } = call;
    const deleted = await saveDeletion(api.db, {
      domainId: domain.id,
      ownerId: domain.accountId,
      by: asActor(caller),
      source: 'api',
    });
    if (deleted.kind === 'absent') return notFound('domain');
    call.answerHeader('X-Change-Id', deleted.changeId);
    call.answerHeader('X-Zone-Serial', deleted.serial);
    return { message: 'domain deleted' };
  },
});

export const enableDomain = route(domain('domain.settings', { whileDisabled: true }), {
  method: 'POST',
  path: '/domains/{domain}/enable',
  operationId: 'enableDomain',
  audit: 'changes',
  tag: 'Domains',
  summary: 'Enables a disabled domain.',
  description:
    'It starts over as `pending`, as a new one does, in external mode as `unverified`. If another account uses the name here by now, this is a 409 unless `transfer` is set: then the domain waits for the name, as with `createDomain`. The limit of waiting domains of one account applies here too, and `served` is `apex`, as with `createDomain`.',
  body: DomainEnable.nullish(),
  response: Domain,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['wrong_state', 'domain_taken', 'plan_limit'],
  async run(call) {
    const { api, caller, domain, body } = call;
    const changed = await changeStatus(api.db, {
      domainId: domain.id,
      ownerId: domain.accountId,
      event: 'enable',
      exempt: caller.account.isAdmin,
      transfer: body?.transfer ?? false,
      claimsPerAccount: api.claimsPerAccount,
      by: asActor(caller),
      source: 'status',
    });
    return answerUpdated(call, changed, caller.account.isAdmin ? undefined : printNewClaim);
  },
});
