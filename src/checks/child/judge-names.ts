// Evaluates the names of a zone's nameservers: whether parent and zone list the same names, and whether one fault can make
// all of them unreachable.

import { compareNames, isWithin, type Name } from '../../dns/name.ts';
import type { ChildEvidence, ChildServer } from './evidence.ts';
import { prefixOf } from './network-prefix.ts';
import type { AsnOf, Observation } from './observation.ts';
import { inDomainGlue, leastGlue, referralOctets } from './referral-octets.ts';

const MIN_NAMES = 2; // RFC 1034 §4.1
const PLAIN_UDP_OCTETS = 512; // RFC 1035 §4.2.1
const EDNS_UDP_OCTETS = 1232; // RFC 9715 §3

export function judgeNames(evidence: ChildEvidence, own: ReadonlySet<Name>, asnOf?: AsnOf): Observation[] {
  const { domain, servers } = evidence;
  const atParent = servers.filter(({ isAtParent }) => isAtParent);
  const inZone = servers.filter(({ isInZone }) => isInZone);
  const areOurs = servers.every(({ name }) => own.has(name)); // the delegation check evaluates our sets
  const compared = inZone.length > 0 && !areOurs;
  const onlyAtParent = compared ? atParent.filter(({ isInZone }) => !isInZone) : [];
  const large = referral(evidence, atParent);
  // Glue that did not fit into the reply may still exist at the parent.
  const mayLackGlue = large.every(({ code }) => code !== 'REFERRAL_OVER_1232');
  const onlyInZone = compared ? inZone.filter(({ isAtParent }) => !isAtParent) : [];
  // Evaluate our names and other names separately, so that findings for the owner never include faults of our servers.
  const apart = (judge: (some: readonly ChildServer[]) => Observation[]): Observation[] => [
    ...judge(servers.filter(({ name }) => own.has(name))),
    ...judge(servers.filter(({ name }) => !own.has(name))),
  ];
  return [
    ...(atParent.length < MIN_NAMES ? about('TOO_FEW_NAMES', atParent) : []),
    ...about('NS_ONLY_AT_PARENT', onlyAtParent),
    ...about('NS_ONLY_IN_ZONE', onlyInZone),
    ...apart((some) =>
      about(
        'NAME_IS_ALIAS',
        some.filter(({ found }) => found.kind === 'alias'),
      ),
    ),
    ...apart((some) => about('NS_WITHOUT_ADDRESS', some.filter(hasNoAddress))),
    ...apart((some) => about('GLUE_MISSING', mayLackGlue ? some.filter(lacksGlue(domain)) : [])),
    ...apart((some) =>
      glueDiffers(
        domain,
        some.filter(({ isAtParent }) => isAtParent),
      ),
    ),
    ...sameAddress(servers, own),
    ...families(servers),
    ...places(servers, asnOf),
    ...large,
  ];
}

function about(code: Observation['code'], servers: readonly ChildServer[], detail?: string): Observation[] {
  if (servers.length === 0) return [];
  const names = servers.map(({ name }) => name).sort(compareNames);
  return [{ code, names, ...(detail !== undefined && { detail }) }];
}

function hasNoAddress({ found, glue }: ChildServer): boolean {
  return found.kind === 'none' && glue.length === 0;
}

function lacksGlue(domain: Name) {
  return ({ name, glue, isAtParent }: ChildServer) =>
    isAtParent && isWithin(name, domain) && glue.length === 0;
}

/** Returns all addresses at which a resolver may find the server: from the parent's glue and from the zone. */
function addressesOf({ glue, found }: ChildServer): string[] {
  const known = found.kind === 'found' || found.kind === 'alias' ? found.addresses : [];
  return [...new Set([...glue, ...known])];
}

/** Reports glue that the server's zone does not have and, for servers inside the domain, addresses missing from the glue. */
function glueDiffers(domain: Name, servers: readonly ChildServer[]): Observation[] {
  const differing = servers.filter(({ name, glue, found }) => {
    if (glue.length === 0 || (found.kind !== 'found' && found.kind !== 'none')) return false;
    const addresses = found.kind === 'found' ? found.addresses : [];
    const isWrong = glue.some((address) => !addresses.includes(address));
    return isWrong || (isWithin(name, domain) && addresses.some((address) => !glue.includes(address)));
  });
  const detail = differing.map(({ glue, found }) => {
    const addresses = found.kind === 'found' ? found.addresses.join(' ') : 'none';
    return `${glue.join(' ')} instead of ${addresses}`;
  });
  return about('GLUE_DIFFERS', differing, detail.join('; '));
}

function sameAddress(servers: readonly ChildServer[], own: ReadonlySet<Name>): Observation[] {
  const byAddress = new Map<string, ChildServer[]>();
  for (const server of servers) {
    for (const address of addressesOf(server)) {
      byAddress.set(address, [...(byAddress.get(address) ?? []), server]);
    }
  }
  const shared = [...byAddress].filter(([, sharing]) => sharing.length > 1);
  const areOurs = (each: readonly ChildServer[]) => each.every(({ name }) => own.has(name));
  return [true, false].flatMap((ours) => {
    const some = shared.filter(([, each]) => areOurs(each) === ours);
    const sharing = new Set(some.flatMap(([, each]) => each));
    return about('SAME_ADDRESS', [...sharing], some.map(([address]) => address).join(', '));
  });
}

/** Reports nothing while the addresses of a server are unknown. */
function families(servers: readonly ChildServer[]): Observation[] {
  const addresses = servers.flatMap(addressesOf);
  if (addresses.length === 0) return [];
  const isKnown = servers.every(({ found }) => found.kind !== 'unknown');
  const hasIpv6 = addresses.some(isIpv6);
  const hasIpv4 = addresses.some((address) => !isIpv6(address));
  if (isKnown && !hasIpv6) return about('IPV4_ONLY', servers);
  return isKnown && !hasIpv4 ? about('IPV6_ONLY', servers) : [];
}

/** A family whose addresses are all in one network is fine if the other family is not. */
function places(servers: readonly ChildServer[], asnOf: AsnOf | undefined): Observation[] {
  const addresses = [...new Set(servers.flatMap(addressesOf))];
  if (servers.length < MIN_NAMES || servers.some(({ found }) => found.kind === 'unknown')) return [];
  if (addresses.length === 0) return [];
  const found: Observation[] = [];
  const byFamily = [addresses.filter(isIpv6), addresses.filter((address) => !isIpv6(address))];
  const prefixes = byFamily.map((family) => new Set(family.map(prefixOf)));
  if (prefixes.every(({ size }) => size <= 1)) {
    const text = prefixes.flatMap((each) => [...each]).join(', ');
    found.push(...about('ALL_IN_ONE_PREFIX', servers, text));
  }
  const numbers = asnOf === undefined ? [undefined] : addresses.map(asnOf);
  const [asn] = numbers;
  if (asn !== undefined && numbers.every((each) => each === asn)) {
    found.push(...about('ALL_IN_ONE_AS', servers, String(asn)));
  }
  return found;
}

function isIpv6(address: string): boolean {
  return address.includes(':');
}

function referral({ domain, parent }: ChildEvidence, servers: readonly ChildServer[]): Observation[] {
  const ns = servers.map(({ name }) => name);
  const isBelow = servers.every(
    (server) => parent === undefined || addressesOf(server).length === 0 || isWithin(server.name, parent),
  );
  const glue = servers.flatMap((server) =>
    addressesOf(server).map((address) => ({ name: server.name, address })),
  );
  const parts = { domain, ns, glue };
  const large = referralOctets({ ...parts, glue: inDomainGlue(parts) }, true);
  if (large > EDNS_UDP_OCTETS) return about('REFERRAL_OVER_1232', servers, String(large));
  const least = referralOctets({ ...parts, glue: isBelow ? leastGlue(glue) : [] }, false);
  return least > PLAIN_UDP_OCTETS ? about('REFERRAL_OVER_512', servers, String(least)) : [];
}
