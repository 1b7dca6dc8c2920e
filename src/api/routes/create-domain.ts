// POST /domains/: creates a domain of the caller's own, under a name that no other domain has.

import { createDomain as saveDomain } from '../../store/change/save-domain.ts';
import { judgeDomainName, parseDomainName } from '../../zone/domain/domain-name.ts';
import { invalid, problem } from '../answers/problem.ts';
import { asActor } from '../callers/caller.ts';
import { accountRoute } from '../calls/route.ts';
import { printDomain } from '../print/print-domain.ts';
import { Domain, DomainCreate } from '../schemas/domain.ts';

export const createDomain = accountRoute({
  method: 'POST',
  path: '/domains/',
  operationId: 'createDomain',
  tag: 'Domains',
  summary: 'Creates a domain.',
  description:
    'A managed domain starts as `pending`: delegate it to one of `svc_ns_sets`. Until a first check has seen that its parent does not name our servers already, only the SOA and NS of its apex are answered (`served`: `apex`); if it does, the finding `PRESET_DELEGATION` tells what to change. A claim of another account that nothing has pointed here for 72 hours yields. An external one starts as `unverified`: publish the TXT record of `verification`. Refused are public suffixes, names that cannot be delegated, names that another domain here holds, and more domains than the plan of the account allows.',
  body: DomainCreate,
  response: Domain,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['managed_by_reseller', 'domain_taken', 'plan_limit'],
  async run(call) {
    const { api, caller, body } = call;
    const parsed = parseDomainName(body.name);
    if (parsed.kind === 'problem') return invalid([{ field: 'name', error: parsed.message }]);
    const { name, unicode } = parsed;
    const { dns_mode: dnsMode } = body;
    const refused = judgeDomainName(name, { allowReserved: api.allowReservedNames, dnsMode });
    if (refused !== undefined) return invalid([{ field: 'name', error: refused.message }]);
    const created = await saveDomain(api.db, {
      accountId: caller.account.id,
      name,
      unicode,
      dnsMode,
      exempt: caller.account.isAdmin,
      isScanned: body.scan,
      by: asActor(caller),
      source: 'api',
    });
    if (created.kind === 'taken') return problem('domain_taken', created.message);
    if (created.kind === 'plan_limit') {
      return problem('plan_limit', created.message, { limit: created.limit });
    }
    if (created.kind !== 'created') throw new Error(created.message); // account and plan come from the key
    call.answerHeader('X-Change-Id', created.changeId);
    call.answerHeader('X-Zone-Serial', created.domain.serial);
    return printDomain({ ...created.domain, myRole: 'owner' });
  },
});
