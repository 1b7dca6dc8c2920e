// Creates a domain of the calling account, within its limits.

import type { z } from 'zod';
import type { CreatedDomain, NewDomain } from '../../store/change/save-domain.ts';
import { createDomainSigned } from '../../store/dnssec/create-signed-domain.ts';
import type { SigningWishes } from '../../store/dnssec/dnssec-state.ts';
import type { ChangeSource } from '../../store/postgres/tables/schema.ts';
import { judgeDomainName, parseDomainName } from '../../zone/domain/domain-name.ts';
import { domainTaken, invalid, Problem, problem } from '../answers/problem.ts';
import { asActor } from '../callers/caller.ts';
import type { Api, Call } from '../calls/call.ts';
import type { DomainCreate } from '../schemas/domain.ts';
import { refuseDnssec } from './refuse-dnssec.ts';

type Wanted = z.output<typeof DomainCreate>;

export async function createOwnDomain(
  call: Pick<Call, 'api' | 'caller'>,
  body: Wanted,
  source: ChangeSource = 'api',
): Promise<Extract<CreatedDomain, { kind: 'created' }> | Problem> {
  const wanted = readOwnDomain(call, body, source);
  if (wanted instanceof Problem) return wanted;
  const created = await createDomainSigned(call.api.db, wanted.domain, wanted.signing);
  return created.kind === 'created' ? created : refuseDomain(created);
}

interface OwnDomain {
  readonly domain: NewDomain;
  readonly signing: SigningWishes | undefined;
}

/** Returns the domain that the body describes. */
export function readOwnDomain(
  { api, caller }: Pick<Call, 'api' | 'caller'>,
  body: Wanted,
  source: ChangeSource,
): OwnDomain | Problem {
  const parsed = parseDomainName(body.name);
  if (parsed.kind === 'problem') return invalid([{ field: 'name', error: parsed.message }]);
  const { name, unicode } = parsed;
  const { dns_mode: dnsMode } = body;
  const refused = judgeDomainName(name, { allowReserved: api.allowReservedNames, dnsMode });
  if (refused !== undefined) return invalid([{ field: 'name', error: refused.message }]);
  if (body.dnssec && dnsMode === 'external')
    return invalid([{ field: 'dnssec', error: 'only domains in managed mode can be signed' }]);
  const domain = {
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
    source,
  } as const;
  return { domain, signing: signingOf(body, api) };
}

export function refuseDomain(
  refused: Exclude<Awaited<ReturnType<typeof createDomainSigned>>, { kind: 'created' }>,
): Problem {
  if (refused.kind === 'refused') {
    if (refused.code !== 'wrong_state') return refuseDnssec(refused);
    return invalid([{ field: 'dnssec', error: refused.message }]);
  }
  if (refused.kind === 'taken' || refused.kind === 'full') return domainTaken(refused);
  if (refused.kind === 'plan_limit') {
    return problem('plan_limit', refused.message, { limit: refused.limit });
  }
  throw new Error(refused.message); // account and plan come from the key
}

/** Returns undefined if the domain will not be signed. */
function signingOf(
  { dnssec, dns_mode: dnsMode }: Wanted,
  { signsNewDomains = false }: Pick<Api, 'signsNewDomains'>,
): SigningWishes | undefined {
  if (dnsMode === 'external') return undefined;
  if (dnssec === undefined) return signsNewDomains ? {} : undefined;
  if (typeof dnssec === 'boolean') return dnssec ? {} : undefined;
  return dnssec;
}
