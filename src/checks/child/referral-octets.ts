// Calculates the size of a referral with name compression and the glue that the parent must add. A larger referral makes
// every resolver repeat its query over TCP.

import { isWithin, type Name, parentOf, ROOT } from '../../dns/name.ts';

const HEADER_OCTETS = 12;
const OPT_OCTETS = 11;
/** Longest name in a query, with type and class (RFC 1035 §2.3.4). */
const QUESTION_OCTETS = 255 + 4;
const POINTER_OCTETS = 2;
/** Type, class, TTL and RDLENGTH of a record. */
const RECORD_OCTETS = 10;

interface ReferralParts {
  readonly domain: Name;
  readonly ns: readonly Name[];
  readonly glue: readonly { readonly name: Name; readonly address: string }[];
}

/** Returns the size of a referral with all of its glue. `edns`: the reply to a query with EDNS. */
export function referralOctets({ domain, ns, glue }: ReferralParts, edns: boolean): number {
  const known = new Set<Name>();
  for (let name = domain; name !== ROOT; name = parentOf(name)) known.add(name);
  let octets = HEADER_OCTETS + QUESTION_OCTETS + (edns ? OPT_OCTETS : 0);
  for (const name of ns) octets += POINTER_OCTETS + RECORD_OCTETS + compressed(name, known);
  // The owner names of glue already appear in the NS set.
  for (const { address } of glue) octets += POINTER_OCTETS + RECORD_OCTETS + (address.includes(':') ? 16 : 4);
  return octets;
}

/** Returns the first A and the first AAAA record: the minimum glue, as Zonemaster counts it. */
export function leastGlue(glue: ReferralParts['glue']): ReferralParts['glue'] {
  const ipv4 = glue.find(({ address }) => !address.includes(':'));
  const ipv6 = glue.find(({ address }) => address.includes(':'));
  return [ipv4, ipv6].filter((each) => each !== undefined);
}

/** Returns the glue that must not be omitted: that of servers inside the zone (RFC 9471 §2.1). */
export function inDomainGlue({ domain, glue }: ReferralParts): ReferralParts['glue'] {
  return glue.filter(({ name }) => isWithin(name, domain));
}

/** Returns the octets of a name compressed against the known suffixes (RFC 1035 §4.1.4). Adds its own suffixes to them. */
function compressed(name: Name, known: Set<Name>): number {
  let octets = 0;
  for (let rest = name; rest !== ROOT; rest = parentOf(rest)) {
    if (known.has(rest)) return octets + POINTER_OCTETS;
    known.add(rest);
    octets += rest.length - parentOf(rest).length;
  }
  return octets + 1;
}
