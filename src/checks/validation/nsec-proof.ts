// Proofs by NSEC records (RFC 4035 §5.4).

import { coversName, type Nsec } from '../../dns/dnssec/denial.ts';
import { isWithin, labelCount, type Name, parentOf, ROOT, wildcardBelow } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { denialFault, isAncestor } from './denied-types.ts';
import { type Claim, type Denying, missing, type Proof, proven } from './proof.ts';

type Records = readonly Denying<Nsec>[];

/** Names are folded. */
export function proveByNsec(records: Records, claim: Claim): Proof {
  switch (claim.kind) {
    case 'no_type':
      return proveNoType(records, claim.name, claim.type);
    case 'no_name':
      return proveNoName(records, claim.name);
    case 'expanded': {
      // The name itself is not there; what lies between it and the wildcard's parent neither (RFC 4035 §5.3.4).
      const cover = covering(records, claim.name);
      const encloser = cover && closestEncloser(cover, claim.name);
      if (cover === undefined || encloser === undefined || labelCount(encloser) !== claim.labels)
        return missing('nothing proves that the name itself is not there');
      return proven([cover.set]);
    }
    default:
      return claim satisfies never;
  }
}

function proveNoType(records: Records, name: Name, type: number): Proof {
  const own = records.find(({ owner }) => owner === name);
  if (own !== undefined) {
    const fault = denialFault(own.types, type, name === ROOT);
    if (fault !== undefined) return missing(fault);
    return proven([own.set], { isCut: isAncestor(own.types) });
  }
  const cover = covering(records, name);
  if (cover === undefined) return missing('no record of the proof is about the name');
  if (isWithin(cover.next, name)) return proven([cover.set]); // an empty non-terminal
  const wildcard = wildcardBelow(closestEncloser(cover, name));
  const source = records.find(({ owner }) => owner === wildcard);
  if (source === undefined) return missing('nothing proves that there is no wildcard');
  const fault = denialFault(source.types, type, false);
  return fault === undefined ? proven([cover.set, source.set]) : missing(fault);
}

function proveNoName(records: Records, name: Name): Proof {
  const cover = covering(records, name);
  if (cover === undefined || isWithin(cover.next, name))
    return missing('nothing proves that the name is not there');
  const wildcard = wildcardBelow(closestEncloser(cover, name));
  if (wildcard === undefined) return proven([cover.set]);
  const noWildcard = covering(records, wildcard);
  if (noWildcard === undefined || isWithin(noWildcard.next, wildcard))
    return missing('nothing proves that there is no wildcard');
  return proven([cover.set, noWildcard.set]);
}

function covering(records: Records, name: Name): Denying<Nsec> | undefined {
  return records.find((record) => {
    if (!coversName(record, name)) return false;
    // What lies below a cut or a DNAME is not this zone's to deny (RFC 6840 §4.1).
    const isBelow = isWithin(name, record.owner);
    return !isBelow || !(isAncestor(record.types) || record.types.has(TYPE.DNAME));
  });
}

/** The longest name above `name` that the covering record shows to exist. */
function closestEncloser({ owner, next }: Nsec, name: Name): Name {
  let encloser = parentOf(name);
  while (!isWithin(owner, encloser) && !isWithin(next, encloser)) encloser = parentOf(encloser);
  return encloser;
}
