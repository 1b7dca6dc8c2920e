// Where our answers from signed zones differ from those of NSD 4.6 and Knot 3.2, each with its reason.

import { nsec3Hash } from '../../../src/dns/dnssec/nsec3-hash.ts';
import { isWildcard, isWithin, type Name, parentOf, wildcardBelow } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { type AcceptedDifference, BOTH, type Compared } from './accepted-difference.ts';
import { isSameSection, type Observed } from './observed-answer.ts';

export const SIGNED_DIFFERENCES: readonly AcceptedDifference[] = [
  {
    rule: 'addresses that are optional, with DO',
    peers: BOTH,
    reason:
      'Additional records beyond in-domain glue are optional (RFC 9471 §3.2); with signatures they are what makes answers large, so we leave them out.',
    resolve: ({ ours, theirs, complete, dnssecOk }) => {
      const surplus = theirs.additional.filter((line) => !complete.additional.includes(line));
      if (dnssecOk !== true || ours.tc || surplus.length === 0) return undefined;
      const additional = theirs.additional.filter((line) => complete.additional.includes(line));
      return { ours, theirs: { ...theirs, additional } };
    },
  },
  {
    rule: 'RRSIG of one set',
    peers: BOTH,
    reason:
      'All signatures of a name are much for one question; those of one set are enough (RFC 8482 §4.1).',
    resolve: ({ ours, theirs, type }) => {
      if (type !== TYPE.RRSIG || ours.answer.length === 0) return undefined;
      const isMore =
        theirs.tc || (theirs.answer.length > ours.answer.length && isPartOf(ours.answer, theirs.answer));
      // Knot gives one set's without EDNS, or more than fit: not always that of the lowest type.
      const isOther =
        theirs.answer.length > 0 && theirs.answer.every((line) => / RRSIG /.test(line)) && !theirs.tc;
      return (isMore || isOther) && !ours.tc ? { ours: theirs, theirs } : undefined;
    },
  },
  {
    rule: 'more than the NSEC3 of a wildcard that is asked for by its own name',
    peers: ['nsd'],
    reason:
      'The name is there and its record matches (RFC 5155 §7.2.3). NSD also proves that no closer name is there.',
    resolve: (seen) => {
      const { ours, theirs, complete, theirComplete } = seen;
      const their = theirComplete ?? theirs;
      const isAsked =
        isWildcard(seen.name) && seen.dnssecOk === true && isPartOf(complete.authority, their.authority);
      return isAsked && !ours.tc && their.authority.length > complete.authority.length
        ? { ours: theirs, theirs }
        : undefined;
    },
  },
  {
    rule: 'below a name that opt-out leaves out',
    peers: ['nsd'],
    reason:
      'The closest encloser must be proven, so it is a name that has an NSEC3 record (RFC 5155 §7.2.1). NSD takes one that is there and has none.',
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
      'It is there and has not the type, which the NSEC before it shows (RFC 4035 §3.1.3.4). Knot proves only that the name is not there.',
    resolve: (seen) => {
      const { complete, theirs, dnssecOk } = seen;
      const isLess =
        isPartOf(theirs.authority, complete.authority) && isSameSection(theirs.answer, complete.answer);
      return dnssecOk === true && isLess && standsForEmptyWildcard(seen)
        ? { ours: theirs, theirs }
        : undefined;
    },
  },
  {
    rule: 'the proof that a name which begins with an asterisk is not there, beside the NSEC of a wildcard',
    peers: ['knot'],
    reason:
      'Another wildcard stands for such a name as for any, so its own absence is to be proven (RFC 4035 §3.1.3.4). Knot proves only that the wildcard has not the type.',
    resolve: (seen) => {
      const { complete, theirs, zones, name, dnssecOk } = seen;
      const isThere = [...zones.values()].some(({ nodes }) => nodes.has(name));
      const surplus = complete.authority.filter((line) => !theirs.authority.includes(line));
      const isLess =
        isPartOf(theirs.authority, complete.authority) &&
        isSameSection(theirs.answer, complete.answer) &&
        surplus.every((line) => / (RRSIG )?NSEC /.test(line));
      return dnssecOk === true && isWildcard(name) && !isThere && !theirs.tc && isLess
        ? { ours: theirs, theirs }
        : undefined;
    },
  },
];

function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  return some.every((line) => all.includes(line));
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

/** A name above it is there and has no NSEC3 record: an empty non-terminal of unsigned delegations only (RFC 5155 §7.1). */
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
