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

/** Maximum number of names in one lookup, including all names above them. */
const MAX_NAMES_SOUGHT = 100_000;
const MAX_DOMAINS_FOUND = 1000;

type Finder = Pick<Call, 'api' | 'caller'>;

/**
 * Returns the longest domain that contains the name and that the API key may use. Returns a problem if the caller may not
 * write its records. `saveJudged` applies the key's restrictions to names and types.
 */
export async function findDomainOfName(call: Finder, name: Name): Promise<VisibleDomain | Problem> {
  const found = await findDomainsOfNames(call, [name]);
  return found instanceof Problem ? found : (found.get(name) ?? noDomainFor(name));
}

export function noDomainFor(name: Name): Problem {
  return new Problem(404, `no domain of this API key contains ${printWithoutDot(name)}`);
}

/** Does the same for several names, with one query and another one per domain. Omits names that no domain contains. */
export async function findDomainsOfNames(
  { api, caller }: Finder,
  names: readonly Name[],
): Promise<ReadonlyMap<Name, VisibleDomain> | Problem> {
  const sought = new Set<Name>();
  for (const name of names) {
    for (const above of namesAbove(foldCase(name))) sought.add(above);
    if (sought.size > MAX_NAMES_SOUGHT) return new Problem(413, 'the request has too many names');
  }
  const seen = [...sought].filter((above) => seesDomain(caller.key, above));
  const visible = new Set(await findVisibleNames(api.db, asStoreCaller(caller), seen));
  const loaded = new Map<Name, VisibleDomain>();
  const found = new Map<Name, VisibleDomain>();
  for (const name of names) {
    const longest = namesAbove(foldCase(name)).find((above) => visible.has(above));
    if (longest === undefined) continue;
    const known = loaded.get(longest) ?? (await loadWritable({ api, caller }, longest));
    if (known instanceof Problem) return known;
    loaded.set(longest, known);
    if (loaded.size > MAX_DOMAINS_FOUND) return new Problem(413, 'the request has too many domains');
    found.set(name, known);
  }
  return found;
}

async function loadWritable({ api, caller }: Finder, name: Name): Promise<VisibleDomain | Problem> {
  const visible = await findVisibleDomain(api.db, caller, printWithoutDot(name), true);
  if (visible instanceof Problem) return visible;
  return judgeDomain(true, caller, WRITES_RECORDS, visible) ?? visible;
}

/** Returns the name and all names above it, except the root, the longest first. */
function namesAbove(name: Name): Name[] {
  const names: Name[] = [];
  for (let at = name; at !== ROOT; at = parentOf(at)) names.push(at);
  return names;
}
