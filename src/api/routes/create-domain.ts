// POST /domains/: creates a domain for the caller's account. Other accounts may also wait for the name.

import type { z } from 'zod';
import { createDomainSigned } from '../../store/dnssec/create-signed-domain.ts';
import type { SigningWishes } from '../../store/dnssec/signing-wishes.ts';
import { judgeDomainName, parseDomainName } from '../../zone/domain/domain-name.ts';
import { domainTaken, invalid, problem } from '../answers/problem.ts';
import { asActor } from '../callers/caller.ts';
import type { Api } from '../calls/call.ts';
import { account, route } from '../calls/route.ts';
import { printDomain, printNewClaim } from '../print/print-domain.ts';
import { Domain, DomainCreate } from '../schemas/domain.ts';
import { refusal as refuseDnssec } from './dnssec.ts';

export const createDomain = route(account(), {
  method: 'POST',
  path: '/domains/',
  operationId: 'createDomain',
  audit: 'changes',
  tag: 'Domains',
  summary: 'Creates a domain.',
  description:
    'A managed domain starts as `pending`: delegate it to exactly `svc_ns`. It becomes active when its parent zone shows that set, even if other accounts wait for the name. Until a first check has seen that the parent names none of our other servers, only the SOA and NS of its apex are answered (`served`: `apex`), in turn with others that wait; this response does not depend on them. If the domain is in use and points here already, ask the operator to create it. If the parent names others of our servers, the finding `PRESET_DELEGATION` explains what to change. An external one starts as `unverified`: publish the TXT record of `verification`. Refused are public suffixes, names that cannot be delegated, reserved and banned names, more domains than the plan of the account allows, and a name that another account uses here, unless `transfer` is set: then the domain waits for it. At most 32 domains of one name wait; if none of them can give its place, this is a 409 `domain_taken` with `Retry-After`.',
  body: DomainCreate,
  response: Domain,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['managed_by_reseller', 'domain_taken', 'plan_limit', 'dnssec_unavailable'],
  async run(call) {
    const { api, caller, body } = call;
    const parsed = parseDomainName(body.name);
    if (parsed.kind === 'problem') return invalid([{ field: 'name', error: parsed.message }]);
    const { name, unicode } = parsed;
    const { dns_mode: dnsMode } = body;
    const refused = judgeDomainName(name, { allowReserved: api.allowReservedNames, dnsMode });
    if (refused !== undefined) return invalid([{ field: 'name', error: refused.message }]);
    if (body.dnssec && dnsMode === 'external')
      return invalid([{ field: 'dnssec', error: 'only domains in managed mode are signed here' }]);
    const wanted = {
      accountId: caller.account.id,
      name,
      unicode,
      dnsMode,
      exempt: caller.account.isAdmin,
      isScanned: body.scan,
      transfer: body.transfer,
      claimsPerAccount: api.claimsPerAccount,
      trial: caller.account.isAdmin ? undefined : api.trial,
      by: asActor(caller),
      source: 'api',
    } as const;
    const created = await createDomainSigned(api.db, wanted, signingOf(body, api));
    if (created.kind === 'refused') {
      if (created.code !== 'wrong_state') return refuseDnssec(created);
      return invalid([{ field: 'dnssec', error: created.message }]);
    }
    if (created.kind === 'taken' || created.kind === 'full') return domainTaken(created);
    if (created.kind === 'plan_limit') {
      return problem('plan_limit', created.message, { limit: created.limit });
    }
    if (created.kind !== 'created') throw new Error(created.message); // account and plan come from the key
    call.answerHeader('X-Change-Id', created.changeId);
    call.answerHeader('X-Zone-Serial', created.domain.serial);
    const print = caller.account.isAdmin ? printDomain : printNewClaim;
    return print({ ...created.domain, myRole: 'owner' });
  },
});

/** Returns undefined if the domain is not to be signed. */
function signingOf(
  { dnssec, dns_mode: dnsMode }: z.output<typeof DomainCreate>,
  { signsNewDomains = false }: Pick<Api, 'signsNewDomains'>,
): SigningWishes | undefined {
  if (dnsMode === 'external') return undefined;
  if (dnssec === undefined) return signsNewDomains ? {} : undefined;
  if (typeof dnssec === 'boolean') return dnssec ? {} : undefined;
  return dnssec;
}
