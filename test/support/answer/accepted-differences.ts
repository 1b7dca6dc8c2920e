// The one list of where our answers differ from NSD 4.6 and Knot 3.2, each with its reason. A rule sees both answers
// and takes away the difference that it stands for, and no other: what is left over is a fault of ours.

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
import { type AcceptedDifference, BOTH, type Compared } from './accepted-difference.ts';
import { isSame, isSameSection, type Observed } from './observed-answer.ts';
import { SIGNED_DIFFERENCES } from './signed-differences.ts';

const MAX_PASSES = 3; // one rule may uncover another

export const ACCEPTED_DIFFERENCES: readonly AcceptedDifference[] = [
  {
    rule: 'what a truncated answer still holds',
    peers: BOTH,
    reason:
      'A client ignores it and asks over TCP (RFC 2181 §9). We stop at the first set that does not fit.',
    resolve: ({ ours, theirs }) =>
      ours.tc && theirs.tc ? { ours, theirs: withSectionsOf(theirs, ours) } : undefined,
  },
  {
    rule: 'glue that does not fit, without TC',
    peers: ['nsd'],
    reason: 'NSD 4.6 sends what fits of the glue and no TC. RFC 9471 §3.1 (2023) wants TC.',
    resolve: ({ ours, theirs, complete }) => {
      const isReferral = hasType(complete.authority, 'NS');
      const isCut = ours.tc && !theirs.tc && isReferral && isPartOf(theirs.additional, complete.additional);
      const isRest =
        isSameSection(theirs.answer, complete.answer) && isSameSection(theirs.authority, complete.authority);
      return isCut && isRest ? { ours, theirs: withSectionsOf({ ...theirs, tc: true }, ours) } : undefined;
    },
  },
  {
    rule: 'which optional records are left out when not all fit',
    peers: BOTH,
    reason: 'Additional records beyond in-domain glue are optional (RFC 2181 §9, RFC 9471 §3.2).',
    resolve: ({ ours, theirs, complete, limit }) => {
      if (ours.tc || theirs.tc || ours.octets === 0) return undefined;
      const isOwed =
        hasNoRoomForMore(ours, complete, limit, true) && hasNoRoomForMore(theirs, complete, limit, false);
      return isOwed ? { ours, theirs: { ...theirs, additional: ours.additional } } : undefined;
    },
  },
  {
    rule: 'addresses beside MX, SRV, SVCB and HTTPS',
    peers: ['nsd'],
    reason:
      'NSD with minimal-responses has additional records for NS only. We add them as Knot does: optional.',
    resolve: ({ ours, theirs, type }) => {
      const isAbsent =
        NAMING_TYPES.includes(type) && theirs.additional.length === 0 && ours.additional.length > 0;
      return isAbsent && ours.aa ? { ours: { ...ours, additional: [] }, theirs } : undefined;
    },
  },
  {
    rule: 'an additional record twice',
    peers: ['knot'],
    reason:
      'Knot adds the addresses of a host once for every record that names it; once is enough (RFC 2181 §5).',
    resolve: ({ ours, theirs }) => {
      const additional = [...new Set(theirs.additional)];
      return additional.length < theirs.additional.length
        ? { ours, theirs: { ...theirs, additional } }
        : undefined;
    },
  },
  {
    rule: 'an additional record owned by the wildcard',
    peers: ['knot'],
    reason:
      'Where rdata names are not compressed Knot writes the wildcard as owner, not the name that it stands for.',
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
      'Synthesis is for names in the zone (RFC 1034 §4.3.2 3c); below a cut there are only the addresses that stand there.',
    resolve: ({ ours, theirs, complete, zones, name }) => {
      const zone = zoneOfName(zones, name);
      const surplus = without(theirs.additional, complete.additional);
      const isMade = (line: string) =>
        zone !== undefined && isMadeBelowCut(zone, parseName(line.split(' ')[0] ?? ''));
      if (surplus.length === 0 || !surplus.every(isMade)) return undefined;
      return { ours, theirs: { ...theirs, additional: without(theirs.additional, surplus) } };
    },
  },
  {
    rule: 'the answer once more as an additional record',
    peers: ['knot'],
    reason: 'A service binding that targets its owner: its set is in the answer already.',
    resolve: ({ ours, theirs }) => {
      const additional = without(theirs.additional, theirs.answer);
      return additional.length < theirs.additional.length
        ? { ours, theirs: { ...theirs, additional } }
        : undefined;
    },
  },
  {
    rule: 'additional records beside ANY',
    peers: ['knot'],
    reason: 'ANY asks for as little as may be (RFC 8482 §4.1). Knot adds addresses to an NS, MX or SRV set.',
    resolve: ({ ours, theirs, type }) => {
      const isMore =
        type === TYPE.ANY && ours.aa && ours.additional.length === 0 && theirs.additional.length > 0;
      return isMore ? { ours, theirs: { ...theirs, additional: [] } } : undefined;
    },
  },
  {
    rule: 'TC where the one compresses better than the other',
    peers: BOTH,
    reason: 'Over TCP both say the same, and the one with TC takes more octets for it than the limit.',
    resolve: ({ ours, theirs, complete, theirComplete, limit }) => {
      if (theirComplete === undefined || ours.tc === theirs.tc) return undefined;
      const isTooLong = (ours.tc ? complete : theirComplete).octets > limit;
      const seen = { ours: complete, theirs: theirComplete };
      return isTooLong ? seen : undefined;
    },
  },
  {
    rule: 'addresses beside SVCB and HTTPS',
    peers: ['knot'],
    reason:
      'RFC 9460 §4.1 asks for the addresses of every target in the zone, §2.5.2 makes "." the owner. Knot has those of some.',
    resolve: ({ ours, theirs, type }) => {
      const isBinding = type === TYPE.SVCB || type === TYPE.HTTPS;
      if (!isBinding || !ours.aa || !isPartOf(theirs.additional, ours.additional)) return undefined;
      return { ours: { ...ours, additional: theirs.additional }, theirs };
    },
  },
  {
    rule: 'how long a chain may be',
    peers: ['knot'],
    reason:
      'Knot stops after 5 links (a DNAME loop it repeats until then), we after 16; resolvers ask on from there.',
    resolve: ({ ours, theirs }) => {
      const links = linksIn(theirs.answer);
      const isCut = links === 5 && isPartOf([...new Set(theirs.answer)], ours.answer) && isBare(theirs);
      return isCut ? { ours: theirs, theirs } : undefined;
    },
  },
  {
    rule: 'a chain of more than 16 links',
    peers: ['nsd'],
    reason:
      'NSD follows a chain to its end. Any zone owner can make us pay a lookup for each link, so we stop after 16.',
    resolve: ({ ours, theirs }) => {
      const links = linksIn(ours.answer);
      return links === 16 && isPartOf(ours.answer, theirs.answer) && isBare(ours)
        ? { ours: theirs, theirs }
        : undefined;
    },
  },
  {
    rule: 'a DNAME applied twice',
    peers: ['nsd'],
    reason: 'NSD applies each DNAME once in an answer and leaves the rest of the chain to the resolver.',
    resolve: ({ ours, theirs }) => {
      const hasDname = hasType(theirs.answer, 'DNAME');
      return hasDname && isPartOf(theirs.answer, ours.answer) && isBare(theirs)
        ? { ours: theirs, theirs }
        : undefined;
    },
  },
  {
    rule: 'a DNAME at a wildcard that is asked for by its own name',
    peers: ['knot'],
    reason:
      'Below the label "*" Knot gives the DNAME the name asked for as owner; it is owned by the wildcard (RFC 6672 §3.1).',
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
    rule: 'a DNAME that makes too long a name',
    peers: ['knot'],
    reason: 'Knot 3.2 goes on from the target and answers NXDOMAIN; RFC 6672 §3.2 3C wants YXDOMAIN.',
    resolve: ({ ours, theirs }) =>
      ours.rcode === 'YXDOMAIN' && theirs.rcode === 'NXDOMAIN' && isPartOf(ours.answer, theirs.answer)
        ? { ours: theirs, theirs }
        : undefined,
  },
  {
    rule: 'a chain into another zone of ours',
    peers: BOTH,
    reason:
      'Tenants stay apart. NSD follows; Knot, for a name below the apex of the zone it started in, gives what that zone says.',
    resolve: (seen) => {
      const { ours, theirs } = seen;
      const isEnd = leadsIntoAnotherZone(seen) && isPartOf(ours.answer, theirs.answer) && isBare(ours);
      return isEnd
        ? { ours, theirs: { ...withSectionsOf(theirs, ours), rcode: ours.rcode, tc: ours.tc } }
        : undefined;
    },
  },
  {
    rule: 'DS at the apex of a zone that no zone of ours delegates',
    peers: BOTH,
    reason:
      'Any enclosing zone answers for NSD and Knot. One that does not delegate the name is not its parent, and its NXDOMAIN would deny the child (RFC 8020).',
    resolve: (seen) => {
      const end = endOfChain(seen);
      if (seen.type !== TYPE.DS || !seen.zones.has(end) || isDelegatedByOurs(seen.zones, end))
        return undefined;
      const isNodata = seen.ours.rcode === 'NOERROR' && hasType(seen.ours.authority, 'SOA');
      return isNodata ? { ours: seen.theirs, theirs: seen.theirs } : undefined;
    },
  },
  {
    rule: 'RRSIG and NSEC at an alias',
    peers: ['nsd'],
    reason:
      'Both may stand beside a CNAME (RFC 4034 §3, §4), so they are asked of the alias itself, as in Knot. NSD follows it.',
    resolve: ({ ours, theirs, type }) => {
      const isAsked = type === TYPE.RRSIG || type === TYPE.NSEC;
      const isNodata = ours.rcode === 'NOERROR' && hasType(ours.authority, 'SOA');
      const isFollowed = theirs.answer.length > ours.answer.length && isPartOf(ours.answer, theirs.answer);
      return isAsked && isNodata && isFollowed ? { ours: theirs, theirs } : undefined;
    },
  },
  {
    rule: 'a name that only another zone has',
    peers: ['nsd'],
    reason:
      'NSD keeps all zones in one tree: names that a zone above has below the apex of one of ours exist there too, as NODATA and in the way of wildcards.',
    resolve: (seen) => {
      const { ours, theirs } = seen;
      const isSoa = hasType(theirs.authority, 'SOA');
      return isSoa && isPartOf(theirs.answer, ours.answer) && isInAnotherZone(seen)
        ? { ours: theirs, theirs }
        : undefined;
    },
  },
  {
    rule: 'which record set ANY gets',
    peers: BOTH,
    reason: 'RFC 8482 §4.1 leaves the choice to the server. We take the lowest type code.',
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
  ...SIGNED_DIFFERENCES,
];

/** Without signatures: Knot may give those alone. */
function dataSetsIn(lines: readonly string[]): number {
  return setsIn(lines.filter((line) => !line.includes(' RRSIG '))).size;
}

const NAMING_TYPES: readonly number[] = [TYPE.MX, TYPE.SRV, TYPE.SVCB, TYPE.HTTPS];

/** The rules that explain every difference between the two answers; undefined when something is left. */
export function explain(seen: Compared): string[] | undefined {
  let now = seen;
  const rules = new Set<string>();
  for (let pass = 0; pass < MAX_PASSES && !isSame(now.ours, now.theirs); pass++) {
    for (const { rule, peers, resolve } of ACCEPTED_DIFFERENCES) {
      if (isSame(now.ours, now.theirs)) break;
      const resolved = peers.includes(seen.peer) ? resolve(now) : undefined;
      if (resolved === undefined) continue;
      now = { ...now, ...resolved };
      rules.add(rule);
    }
  }
  return isSame(now.ours, now.theirs) ? [...rules] : undefined;
}

function withSectionsOf(answer: Observed, other: Observed): Observed {
  return { ...answer, answer: other.answer, authority: other.authority, additional: other.additional };
}

/** NOERROR and nothing behind the answer section: a chain left where it stands. */
function isBare({ rcode, authority, additional }: Observed): boolean {
  return rcode === 'NOERROR' && authority.length === 0 && additional.length === 0;
}

/**
 * True when the additional records are those of `complete`, or what lacks would not have fitted. A peer may write an
 * owner in full where we point to it.
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

/** The line without its owner. */
function tailOf(line: string): string {
  return line.slice(line.indexOf(' '));
}

/** `owner type` of each line: the record sets. */
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

/** The name that our answer's chain leads to; without one, the question's. */
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

/** True when a CNAME of our answer points to a name that another zone of ours holds. */
function leadsIntoAnotherZone({ zones, name, ours }: Compared): boolean {
  const start = zoneOfName(zones, name);
  return ours.answer.some((line) => {
    const [, , type, target = ''] = line.split(' ');
    if (type !== 'CNAME') return false;
    const zone = zoneOfName(zones, parseName(target));
    return zone !== undefined && zone !== start;
  });
}

/** True when a zone other than the one that answers has a name of our answer, one above it or a wildcard beside it. */
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

/** True for a name that is not there, but covered by a wildcard at or below a cut of the zone. */
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

/** By its own light, not the code under test: the enclosing zone of ours has NS at the name, and no NS above it. */
function isDelegatedByOurs(zones: ReadonlyMap<Name, Zone>, apex: Name): boolean {
  if (apex === ROOT) return false;
  const above = zoneOfName(zones, parentOf(apex));
  if (above === undefined) return true; // without a zone above there is no difference
  const cuts = [...above.nodes.values()].filter(
    (node) => node.name !== above.apex && node.sets.has(TYPE.NS) && isWithin(apex, node.name),
  );
  return cuts.length === 1 && cuts[0]?.name === apex;
}
