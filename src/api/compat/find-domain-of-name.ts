// Finds the domain in which a call writes records, for surfaces whose requests name records and not domains.

import { foldCase, type Name, parentOf, ROOT } from '../../dns/name.ts';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import { findVisibleNames } from '../../store/domains/load-domains.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { Problem } from '../answers/problem.ts';
import { asStoreCaller, seesDomain } from '../callers/caller.ts';
import type { Call } from '../calls/call.ts';
import { findVisibleDomain } from '../calls/find-domain.ts';
import { judgeDomain } from '../calls/guard.ts';
import { domain } from '../calls/route.ts';

const WRITES_RECORDS = domain('records.edit', { writesRecords: true });

/**
 * Returns the longest domain that contains the name, out of those that the API key may use, or the problem if the caller
 * may not write its records. The key's restrictions to names and types are applied by `saveJudged`.
 */
export async function findDomainOfName(
  { api, caller }: Pick<Call, 'api' | 'caller'>,
  name: Name,
): Promise<VisibleDomain | Problem> {
  const seen = namesAbove(foldCase(name)).filter((above) => seesDomain(caller.key, above));
  const found = await findVisibleNames(api.db, asStoreCaller(caller), seen);
  const longest = seen.find((above) => found.includes(above));
  if (longest === undefined)
    return new Problem(404, `no domain of this API key contains ${printWithoutDot(name)}`);
  const visible = await findVisibleDomain(api.db, caller, printWithoutDot(longest), true);
  if (visible instanceof Problem) return visible;
  return judgeDomain(true, caller, WRITES_RECORDS, visible) ?? visible;
}

/** Returns the name and all names above it, except the root, the longest first. */
function namesAbove(name: Name): Name[] {
  const names: Name[] = [];
  for (let at = name; at !== ROOT; at = parentOf(at)) names.push(at);
  return names;
}
