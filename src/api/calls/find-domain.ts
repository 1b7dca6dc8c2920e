// Finds the domain of a call. On the customer surface: by name, among the domains in which the caller has a role. On
// the reseller surface: by id, among those of the caller's clients. Global admins may also use an id, since several
// accounts may have a name.

import type { Name } from '../../dns/name.ts';
import type { Domain, DomainHead, Visible } from '../../store/domains/domain.ts';
import {
  type DomainPart,
  findDomains,
  loadClientsDomain,
  loadDomain,
  loadVisibleById,
} from '../../store/domains/load-domains.ts';
import type { Database } from '../../store/postgres/database.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { forbidden, notFound, type Problem, problem } from '../answers/problem.ts';
import { type ApiCaller, asStoreCaller, seesDomain } from '../callers/caller.ts';

/** `text` is the name or id from the path or query. `writes` is true if the call changes the domain. */
export type FindDomain = <D extends DomainHead = Domain>(
  db: Database,
  caller: ApiCaller,
  text: string,
  writes: boolean,
  part?: DomainPart<D>,
) => Promise<Visible<D> | Problem>;

/** Cannot match a name, because no domain here has a name of digits only. */
const DOMAIN_ID = /^[1-9][0-9]{0,14}$/;

export const findVisibleDomain: FindDomain = async (db, caller, text, writes, part) => {
  if (caller.account.isAdmin && DOMAIN_ID.test(text)) {
    const domain = await loadVisibleById(db, asStoreCaller(caller), Number(text), part);
    return domain !== undefined && seesDomain(caller.key, domain.name) ? domain : notFound('domain');
  }
  const parsed = parseDomainName(text);
  if (parsed.kind === 'problem' || !seesDomain(caller.key, parsed.name)) return notFound('domain');
  if (writes && caller.account.isAdmin) return await loadOnlyDomain(db, caller, parsed.name, part);
  return (await loadDomain(db, asStoreCaller(caller), parsed.name, part)) ?? notFound('domain');
};

/** Finds a domain by an id of the PowerDNS API, which may have the final dot and escapes such as `=2E`. */
export const findCompatDomain: FindDomain = (db, caller, text, writes, part) => {
  const name = text.replaceAll(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return findVisibleDomain(db, caller, name, writes, part);
};

/** Finds the domain that a global admin writes. If several accounts have the name, none of them is chosen. */
async function loadOnlyDomain<D extends DomainHead>(
  db: Database,
  caller: ApiCaller,
  name: Name,
  part?: DomainPart<D>,
): Promise<Visible<D> | Problem> {
  const domains = await findDomains(db, name, part);
  const own = domains.find(({ accountId }) => accountId === caller.account.id);
  const [meant = own] = own === undefined ? domains : [own];
  if (meant === undefined) return notFound('domain');
  if (own === undefined && domains.length > 1)
    return problem('domain_ambiguous', 'several accounts have this domain: use its id in the path', {
      domains: domains.map(({ id, accountId, status }) => ({ id, user_id: accountId, status })),
    });
  return { ...meant, myRole: 'owner' };
}

/** The same for every id that is not one of the caller's clients', so that it does not reveal which exist. */
export function notOwned(): Problem {
  return forbidden('this id does not belong to one of your clients');
}

export const findClientsDomain: FindDomain = async (db, caller, text, _writes, part) => {
  // Text that is not an id is looked up as an id that does not exist.
  const id = DOMAIN_ID.test(text) ? Number(text) : 0;
  return (await loadClientsDomain(db, caller.account.id, id, part)) ?? notOwned();
};
