// The list of all accepted differences between Zonefleet's answers and those of NSD 4.6 and Knot 3.2, with the reasons. A
// rule sees both answers and removes only the difference that it describes. Any remaining difference is a fault of Zonefleet.

import { nsec3Hash } from '../../../src/dns/dnssec/nsec3-hash.ts';
import {
  isWildcard,
  isWithin,
  type Name,
  parentOf,
  parseName,
  ROOT,
  wildcardBelow,
} from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import type { PeerName } from '../peers/peers.ts';
import { isSame, isSameSection, type Observed } from './observed-answer.ts';

interface Compared {
  readonly peer: PeerName;
  readonly zones: ReadonlyMap<Name, Zone>;
  /** Folded. */
  readonly name: Name;
  readonly type: number;
  /** DO; false by default. */
  readonly dnssecOk?: boolean;
  /** Maximum octets of the answer. */
  readonly limit: number;
  readonly ours: Observed;
  readonly theirs: Observed;
  /** Zonefleet's answer over TCP, from which nothing is omitted for lack of space. */
  readonly complete: Observed;
  /** The peer's answer over TCP, if only one of the two has TC. */
  readonly theirComplete?: Observed;
}

/** One of the three functions describes the difference. The two answers are then compared again without it. */
interface AcceptedDifference {
  readonly rule: string;
  readonly peers: readonly PeerName[];
  readonly reason: string;
  /** Returns true if the rule explains all remaining differences. */
  accepts?(seen: Compared): boolean;
  /** Returns the peer's additional section without the difference. */
  additional?(seen: Compared): readonly string[];
  /** Returns undefined if the rule does not apply. */
  resolve?(seen: Compared): Pick<Compared, 'ours' | 'theirs'> | undefined;
}

const BOTH: readonly PeerName[] = ['nsd', 'knot'];
const MAX_PASSES = 3; // one rule may reveal another difference

const ACCEPTED_DIFFERENCES: readonly AcceptedDifference[] = [
  {
    rule: 'the content of a truncated answer',
    peers: BOTH,
    reason:
      'A client ignores it and retries over TCP (RFC 2181 §9). Zonefleet stops at the first set that does not fit.',
    resolve: ({ ours, theirs }) =>
      ours.tc && theirs.tc ? { ours, theirs: withSectionsOf(theirs, ours) } : undefined,
  },
  {
    rule: 'glue that does not fit, without TC',
    peers: ['nsd'],
    reason: 'NSD 4.6 sends the glue that fits, without TC. RFC 9471 §3.1 (2023) requires TC.',
    resolve: ({ ours, theirs, complete }) => {
      const isReferral = hasType(complete.authority, 'NS');
      const isCut = ours.tc && !theirs.tc && isReferral && isPartOf(theirs.additional, complete.additional);
      const isRest =
        isSameSection(theirs.answer, complete.answer) && isSameSection(theirs.authority, complete.authority);
      return isCut && isRest ? { ours, theirs: withSectionsOf({ ...theirs, tc: true }, ours) } : undefined;
    },
  },
  {
    rule: 'the choice of optional records if not all fit',
    peers: BOTH,
    reason: 'Additional records beyond in-domain glue are optional (RFC 2181 §9, RFC 9471 §3.2).',
    additional: ({ ours, theirs, complete, limit }) => {
      const isWhole = !ours.tc && !theirs.tc && ours.octets > 0;
      const isOwed =
        hasNoRoomForMore(ours, complete, limit, true) && hasNoRoomForMore(theirs, complete, limit, false);
      return isWhole && isOwed ? ours.additional : theirs.additional;
    },
  },
  {
    rule: 'addresses in addition to MX, SRV, SVCB and HTTPS',
    peers: ['nsd'],
    reason:
      'NSD with minimal-responses has additional records only for NS. Zonefleet adds them like Knot. They are optional.',
    resolve: ({ ours, theirs, type }) => {
      const isAbsent =
        NAMING_TYPES.includes(type) && theirs.additional.length === 0 && ours.additional.length > 0;
      return isAbsent && ours.aa ? { ours: { ...ours, additional: [] }, theirs } : undefined;
    },
  },
  {
    rule: 'a duplicate additional record',
    peers: ['knot'],
    reason: 'Knot adds the addresses of a host once per record that names it; once is enough (RFC 2181 §5).',
    additional: ({ theirs }) => [...new Set(theirs.additional)],
  },
  {
    rule: 'an additional record owned by the wildcard',
    peers: ['knot'],
    reason:
      'If rdata names are not compressed, Knot writes the wildcard as owner instead of the matching name.',
    resolve: ({ ours, theirs, complete }) => {
      const surplus = without(theirs.additional, complete.additional);
      const meant = surplus.map((line) => complete.additional.find((own) => tailOf(own) === tailOf(line)));
      const isWildcard = surplus.every((line) => line.startsWith('*.')) && !meant.includes(undefined);
      const lacking = without(ours.additional, theirs.additional);
      const tails = new Set(theirs.additional.filter((line) => line.startsWith('*.')).map(tailOf));
      const isTwice =
        surplus.length === 0 && lacking.length > 0 && lacking.every((line) => tails.has(tailOf(line)));
      if (isTwice) return { ours, theirs: { ...theirs, additional: ours.additional } };
      if (surplus.length === 0 || !isWildcard) return undefined;
      const additional = [...without(theirs.additional, surplus), ...meant.map(String)].sort();
      return { ours, theirs: { ...theirs, additional: [...new Set(additional)] } };
    },
  },
  {
    rule: 'glue made by a wildcard below the cut',
    peers: BOTH,
    reason:
      'Synthesis is for names in the zone (RFC 1034 §4.3.2 3c); below a cut there are only the stored addresses.',
    additional: ({ theirs, complete, zones, name }) => {
      const zone = zoneOfName(zones, name);
      const surplus = without(theirs.additional, complete.additional);
      const isMade = (line: string) =>
        zone !== undefined && isMadeBelowCut(zone, parseName(line.split(' ')[0] ?? ''));
      return surplus.every(isMade) ? without(theirs.additional, surplus) : theirs.additional;
    },
  },
  {
    rule: 'the answer repeated as an additional record',
    peers: ['knot'],
    reason: 'The set of a service binding that targets its owner is already in the answer.',
    additional: ({ theirs }) => without(theirs.additional, theirs.answer),
  },
  {
    rule: 'additional records in an answer to ANY',
    peers: ['knot'],
    reason: 'Answers to ANY should be minimal (RFC 8482 §4.1). Knot adds addresses to an NS, MX or SRV set.',
    additional: ({ ours, theirs, type }) =>
      type === TYPE.ANY && ours.aa && ours.additional.length === 0 ? [] : theirs.additional,
  },
  {
    rule: 'TC because one server compresses better than the other',
    peers: BOTH,
    reason: 'Over TCP both answers are equal, and the one with TC exceeds the limit.',
    resolve: ({ ours, theirs, complete, theirComplete, limit }) => {
      if (theirComplete === undefined || ours.tc === theirs.tc) return undefined;
      const isTooLong = (ours.tc ? complete : theirComplete).octets > limit;
      const seen = { ours: complete, theirs: theirComplete };
      return isTooLong ? seen : undefined;
    },
  },
  {
    rule: 'addresses in addition to SVCB and HTTPS',
    peers: ['knot'],
    reason:
      'RFC 9460 §4.1 requests the addresses of every target in the zone, and §2.5.2 defines "." as the owner. Knot only has those of some.',
    resolve: ({ ours, theirs, type }) => {
      const isBinding = type === TYPE.SVCB || type === TYPE.HTTPS;
      if (!isBinding || !ours.aa || !isPartOf(theirs.additional, ours.additional)) return undefined;
      return { ours: { ...ours, additional: theirs.additional }, theirs };
    },
  },
  {
    rule: 'the maximum length of a chain',
    peers: ['knot'],
    reason:
      'Knot stops after 5 links (until then it repeats a DNAME loop), and Zonefleet after 16; resolvers continue from there.',
    accepts: ({ ours, theirs }) =>
      linksIn(theirs.answer) === 5 && isPartOf(theirs.answer, ours.answer) && isBare(theirs),
  },
  {
    rule: 'a chain of more than 16 links',
    peers: ['nsd'],
    reason:
      'NSD follows a chain to its end. Any zone owner can cause a lookup for each link, so Zonefleet stops after 16.',
    accepts: ({ ours, theirs }) =>
      linksIn(ours.answer) === 16 && isPartOf(ours.answer, theirs.answer) && isBare(ours),
  },
  {
    rule: 'a DNAME applied twice',
    peers: ['nsd'],
    reason: 'NSD applies each DNAME once in an answer and leaves the rest of the chain to the resolver.',
    accepts: ({ ours, theirs }) =>
      hasType(theirs.answer, 'DNAME') && isPartOf(theirs.answer, ours.answer) && isBare(theirs),
  },
  {
    rule: 'a DNAME at a wildcard that is queried by its own name',
    peers: ['knot'],
    reason:
      'Below the label "*" Knot returns the DNAME with the query name as owner; its owner is the wildcard (RFC 6672 §3.1).',
    resolve: ({ ours, theirs }) => {
      const wildcards = ours.answer.filter((line) => line.startsWith('*.') && line.includes(' DNAME '));
      const own = (line: string) => wildcards.find((wildcard) => tailOf(wildcard) === tailOf(line)) ?? line;
      const answer = [...new Set(theirs.answer.map(own))].sort();
      if (isSameSection(answer, theirs.answer)) return undefined;
      const fixed = { ...theirs, answer };
      return isPartOf(answer, ours.answer) && isBare(theirs)
        ? { ours: fixed, theirs: fixed }
        : { ours, theirs: fixed };
    },
  },
  {
    rule: 'a DNAME that yields a name that is too long',
    peers: ['knot'],
    reason: 'Knot 3.2 continues at the target and answers NXDOMAIN; RFC 6672 §3.2 3C requires YXDOMAIN.',
    accepts: ({ ours, theirs }) =>
      ours.rcode === 'YXDOMAIN' && theirs.rcode === 'NXDOMAIN' && isPartOf(ours.answer, theirs.answer),
  },
  {
    rule: 'a chain into another zone of the node',
    peers: BOTH,
    reason:
      'Tenants are kept apart. NSD follows such a chain. For a name below the apex of the first zone, Knot answers from that zone.',
    resolve: (seen) => {
      const { ours, theirs } = seen;
      const isEnd = leadsIntoAnotherZone(seen) && isPartOf(ours.answer, theirs.answer) && isBare(ours);
      return isEnd
        ? { ours, theirs: { ...withSectionsOf(theirs, ours), rcode: ours.rcode, tc: ours.tc } }
        : undefined;
    },
  },
  {
    rule: 'DS at the apex of a zone that no other zone of the node delegates',
    peers: BOTH,
    reason:
      'In NSD and Knot, any enclosing zone answers. A zone that does not delegate the name is not its parent, and its NXDOMAIN would deny the child (RFC 8020).',
    accepts: (seen) => {
      const end = endOfChain(seen);
      const isApex = seen.zones.has(end) && !isDelegatedByOurs(seen.zones, end);
      return seen.type === TYPE.DS && isApex && isNodata(seen.ours);
    },
  },
  {
    rule: 'RRSIG and NSEC at an alias',
    peers: ['nsd'],
    reason:
      'Both may exist at the owner of a CNAME (RFC 4034 §3, §4), so queries for them are about the alias itself, as in Knot. NSD follows it.',
    accepts: ({ ours, theirs, type }) => {
      const isAsked = type === TYPE.RRSIG || type === TYPE.NSEC;
      return isAsked && isNodata(ours) && hasMore(theirs.answer, ours.answer);
    },
  },
  {
    rule: 'a name that only another zone has',
    peers: ['nsd'],
    reason:
      'NSD stores all zones in one tree: names of an enclosing zone below the apex of another zone exist there too, as NODATA, and hide wildcards.',
    accepts: (seen) =>
      hasType(seen.theirs.authority, 'SOA') &&
      isPartOf(seen.theirs.answer, seen.ours.answer) &&
      isInAnotherZone(seen),
  },
  {
    rule: 'the record set that answers ANY',
    peers: BOTH,
    reason: 'RFC 8482 §4.1 leaves the choice to the server. Zonefleet uses the lowest type code.',
    resolve: ({ ours, theirs, type }) => {
      if (type !== TYPE.ANY || ours.rcode !== 'NOERROR') return undefined;
      if (theirs.tc && theirs.aa && !ours.tc)
        return { ours, theirs: { ...withSectionsOf(theirs, ours), tc: false } };
      const [mine, other] = [without(ours.answer, theirs.answer), without(theirs.answer, ours.answer)];
      const isOneEach = dataSetsIn(ours.answer) === 1 && dataSetsIn(theirs.answer) <= 1;
      if (!isOneEach || (mine.length > 0 && other.length > 0 && ownersIn(mine) !== ownersIn(other)))
        return undefined;
      return { ours, theirs: { ...theirs, answer: ours.answer, tc: ours.tc, additional: ours.additional } };
    },
  },
  {
    rule: 'addresses that are optional, with DO',
    peers: BOTH,
    reason:
      'Additional records beyond in-domain glue are optional (RFC 9471 §3.2). Signatures make them large, so Zonefleet omits them.',
    additional: ({ ours, theirs, complete, dnssecOk }) =>
      dnssecOk === true && !ours.tc
        ? theirs.additional.filter((line) => complete.additional.includes(line))
        : theirs.additional,
  },
  {
    rule: 'RRSIG of one set',
    peers: BOTH,
    reason:
      'All signatures of a name are a large answer to one query; those of one set suffice (RFC 8482 §4.1).',
    accepts: ({ ours, theirs, type }) => {
      if (type !== TYPE.RRSIG || ours.answer.length === 0 || ours.tc) return false;
      // Knot returns those of one set without EDNS, or more than fit, and not always those of the lowest type.
      const isOther = theirs.answer.length > 0 && theirs.answer.every((line) => / RRSIG /.test(line));
      return theirs.tc || hasMore(theirs.answer, ours.answer) || isOther;
    },
  },
  {
    rule: 'more than the NSEC3 of a wildcard that is queried by its own name',
    peers: ['nsd'],
    reason:
      'The name exists and its record matches (RFC 5155 §7.2.3). NSD also proves that no closer name exists.',
    accepts: ({ name, dnssecOk, ours, theirs, complete, theirComplete = theirs }) =>
      isWildcard(name) &&
      dnssecOk === true &&
      !ours.tc &&
      hasMore(theirComplete.authority, complete.authority),
  },
  {
    rule: 'a name below one that opt-out omits',
    peers: ['nsd'],
    reason:
      'The closest encloser must be proven, so it is a name with an NSEC3 record (RFC 5155 §7.2.1). NSD uses an existing name without one.',
    resolve: (seen) => {
      if (seen.dnssecOk !== true || !isBelowOmitted(seen)) return undefined;
      const ours = withoutNsec3(seen.ours);
      const theirs = withoutNsec3(seen.theirs);
      return isSameSection(ours.authority, theirs.authority) ? { ours, theirs } : undefined;
    },
  },
  {
    rule: 'the proof of a wildcard that is an empty non-terminal',
    peers: ['knot'],
    reason:
      'It exists without the type, which the preceding NSEC shows (RFC 4035 §3.1.3.4). Knot only proves that the name does not exist.',
    accepts: (seen) => seen.dnssecOk === true && provesLess(seen) && standsForEmptyWildcard(seen),
  },
  {
    rule: 'the proof that a name which begins with an asterisk does not exist, in addition to the NSEC of a wildcard',
    peers: ['knot'],
    reason:
      'Another wildcard may match such a name, so its absence must be proven (RFC 4035 §3.1.3.4). Knot only proves that the wildcard does not have the type.',
    accepts: (seen) => {
      const { complete, theirs, zones, name, dnssecOk } = seen;
      const isThere = [...zones.values()].some(({ nodes }) => nodes.has(name));
      const surplus = without(complete.authority, theirs.authority);
      const isNsec = surplus.every((line) => / (RRSIG )?NSEC /.test(line));
      return dnssecOk === true && isWildcard(name) && !isThere && !theirs.tc && isNsec && provesLess(seen);
    },
  },
];

/** Ignores signatures, because Knot may return only those. */
function dataSetsIn(lines: readonly string[]): number {
  return setsIn(lines.filter((line) => !line.includes(' RRSIG '))).size;
}

const NAMING_TYPES: readonly number[] = [TYPE.MX, TYPE.SRV, TYPE.SVCB, TYPE.HTTPS];

/** Returns true if the rules explain every difference between the two answers. */
export function explains(seen: Compared): boolean {
  let now = seen;
  for (let pass = 0; pass < MAX_PASSES && !isSame(now.ours, now.theirs); pass++) {
    for (const { peers, accepts, additional, resolve } of ACCEPTED_DIFFERENCES) {
      if (isSame(now.ours, now.theirs)) break;
      if (!peers.includes(seen.peer)) continue;
      const { theirs } = now;
      let resolved = accepts?.(now) ? { ours: theirs, theirs } : resolve?.(now);
      const left = additional?.(now) ?? theirs.additional;
      if (!isSameSection(left, theirs.additional))
        resolved = { ours: now.ours, theirs: { ...theirs, additional: left } };
      now = { ...now, ...resolved };
    }
  }
  return isSame(now.ours, now.theirs);
}

function withSectionsOf(answer: Observed, other: Observed): Observed {
  return { ...answer, answer: other.answer, authority: other.authority, additional: other.additional };
}

/** Returns true for NOERROR with nothing after the answer section: a chain that ends early. */
function isBare({ rcode, authority, additional }: Observed): boolean {
  return rcode === 'NOERROR' && authority.length === 0 && additional.length === 0;
}

/**
 * Returns true if the additional records are those of `complete`, or the missing ones would not have fitted. A peer may
 * write an owner in full where Zonefleet uses a pointer.
 */
function hasNoRoomForMore(
  answer: Observed,
  complete: Observed,
  limit: number,
  pointsToOwners: boolean,
): boolean {
  if (!isPartOf(answer.additional, complete.additional)) return false;
  const lacking = without(complete.additional, answer.additional);
  const owners = pointsToOwners ? [] : new Set(lacking.map((line) => line.split(' ')[0] ?? ''));
  let octets = answer.octets;
  for (const owner of owners) octets += parseName(owner).length;
  for (const line of lacking) octets += line.includes(' AAAA ') ? 28 : line.includes(' A ') ? 16 : 60;
  return lacking.length === 0 || octets > limit;
}

function isNodata({ rcode, authority }: Observed): boolean {
  return rcode === 'NOERROR' && hasType(authority, 'SOA');
}

/** Returns true if the peer sends a part of the proof. */
function provesLess({ complete, theirs }: Compared): boolean {
  return isPartOf(theirs.authority, complete.authority) && isSameSection(theirs.answer, complete.answer);
}

function hasMore(lines: readonly string[], others: readonly string[]): boolean {
  return lines.length > others.length && isPartOf(others, lines);
}

function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  return some.every((line) => all.includes(line));
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  return lines.filter((line) => !others.includes(line));
}

function hasType(lines: readonly string[], type: string): boolean {
  return lines.some((line) => line.includes(` ${type} `));
}

function linksIn(lines: readonly string[]): number {
  return lines.filter((line) => line.includes(' CNAME ')).length;
}

/** Returns the line without its owner. */
function tailOf(line: string): string {
  return line.slice(line.indexOf(' '));
}

/** Returns the record sets: `owner type` of each line. */
function setsIn(lines: readonly string[]): Set<string> {
  return new Set(lines.map((line) => `${line.split(' ')[0]} ${line.split(' ')[2]}`));
}

function ownersIn(lines: readonly string[]): string {
  return [...new Set(lines.map((line) => line.split(' ')[0]))].sort().join(' ');
}

function zoneOfName(zones: ReadonlyMap<Name, Zone>, name: Name): Zone | undefined {
  for (let apex = name; ; apex = parentOf(apex)) {
    const zone = zones.get(apex);
    if (zone !== undefined || apex === ROOT) return zone;
  }
}

/** Returns the name at the end of the chain in Zonefleet's answer; the query name if there is no chain. */
function endOfChain({ name, ours }: Compared): Name {
  const links = new Map(
    ours.answer
      .map((line) => line.split(' '))
      .filter(([, , type]) => type === 'CNAME')
      .map(([owner = '', , , target = '']) => [parseName(owner), parseName(target)]),
  );
  const passed = new Set<Name>();
  let end = name;
  for (let next = links.get(end); next !== undefined && !passed.has(end); next = links.get(end)) {
    passed.add(end);
    end = next;
  }
  return end;
}

/** Returns true if a CNAME in Zonefleet's answer points to a name in another zone of the node. */
function leadsIntoAnotherZone({ zones, name, ours }: Compared): boolean {
  const start = zoneOfName(zones, name);
  return ours.answer.some((line) => {
    const [, , type, target = ''] = line.split(' ');
    if (type !== 'CNAME') return false;
    const zone = zoneOfName(zones, parseName(target));
    return zone !== undefined && zone !== start;
  });
}

/** Returns true if another zone has a name in the answer, an ancestor of it, or a wildcard that may match it. */
function isInAnotherZone({ zones, name, ours }: Compared): boolean {
  const owners = [name];
  for (const line of ours.answer) {
    const [owner = '', , type, target = ''] = line.split(' ');
    owners.push(parseName(owner));
    if (type === 'CNAME') owners.push(parseName(target));
  }
  return owners.some((owner) => {
    const own = zoneOfName(zones, owner);
    if (own === undefined) return false;
    for (let above = owner; above !== own.apex; above = parentOf(above)) {
      for (const candidate of [above, wildcardBelow(parentOf(above)) ?? above]) {
        const isElsewhere = [...zones.values()].some(
          (zone) => zone !== own && (zone.nodes.has(candidate) || isWithin(zone.apex, candidate)),
        );
        if (isElsewhere && !own.nodes.has(candidate)) return true;
      }
    }
    return false;
  });
}

/** Returns true for a nonexistent name that is covered by a wildcard at or below a cut of the zone. */
function isMadeBelowCut(zone: Zone, name: Name): boolean {
  if ((zone.nodes.has(name) && !isWildcard(name)) || !isWithin(name, zone.apex) || name === zone.apex)
    return false;
  let encloser = parentOf(name);
  while (!zone.nodes.has(encloser)) encloser = parentOf(encloser);
  const wildcard = wildcardBelow(encloser);
  if (wildcard === undefined || !zone.nodes.has(wildcard)) return false;
  for (; encloser !== zone.apex; encloser = parentOf(encloser)) {
    if (zone.nodes.get(encloser)?.sets.has(TYPE.NS)) return true;
  }
  return false;
}

/** Determines independently of the code under test whether the enclosing zone has NS at the name, and none above it. */
function isDelegatedByOurs(zones: ReadonlyMap<Name, Zone>, apex: Name): boolean {
  if (apex === ROOT) return false;
  const above = zoneOfName(zones, parentOf(apex));
  if (above === undefined) return true; // without an enclosing zone there is no difference
  const cuts = [...above.nodes.values()].filter(
    (node) => node.name !== above.apex && node.sets.has(TYPE.NS) && isWithin(apex, node.name),
  );
  return cuts.length === 1 && cuts[0]?.name === apex;
}

function standsForEmptyWildcard({ zones, name }: Compared): boolean {
  return [...zones.values()].some((zone) => hasEmptyWildcard(zone, name));
}

function hasEmptyWildcard(zone: Zone, name: Name): boolean {
  if (zone.nodes.has(name) || !name.endsWith(zone.apex)) return false;
  let encloser = parentOf(name);
  while (!zone.nodes.has(encloser)) encloser = parentOf(encloser);
  const wildcard = wildcardBelow(encloser);
  return wildcard !== undefined && zone.nodes.get(wildcard)?.sets.size === 0;
}

function withoutNsec3(observed: Observed): Observed {
  return { ...observed, authority: observed.authority.filter((line) => !/ NSEC3 /.test(line)) };
}

/** Returns true below an empty non-terminal that opt-out omits, so that it has no NSEC3 (RFC 5155 §7.1). */
function isBelowOmitted({ zones, name }: Compared): boolean {
  return [...zones.values()].some(({ apex, nodes, denials }) => {
    if (denials?.kind !== 'nsec3' || !isWithin(name, apex)) return false;
    const { salt, iterations, entries } = denials;
    for (let above = name; above !== apex; ) {
      above = parentOf(above);
      if (!nodes.has(above)) continue;
      const wanted = nsec3Hash(above, salt, iterations);
      if (!entries.some(({ hash }) => Buffer.compare(hash, wanted) === 0)) return true;
    }
    return false;
  });
}
