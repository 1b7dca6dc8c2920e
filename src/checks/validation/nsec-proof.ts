// Verifies proofs by NSEC records (RFC 4035 §5.4).

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
      // Neither the name itself nor a name between it and the wildcard's parent may exist (RFC 4035 §5.3.4).
      const cover = covering(records, claim.name);
      const encloser = cover && closestEncloser(cover, claim.name);
      if (cover === undefined || encloser === undefined || labelCount(encloser) !== claim.labels)
        return missing('no proof that the name itself does not exist');
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
  if (cover === undefined) return missing('no record of the proof matches or covers the name');
  if (isWithin(cover.next, name)) return proven([cover.set]); // an empty non-terminal
  const wildcard = wildcardBelow(closestEncloser(cover, name));
  const source = records.find(({ owner }) => owner === wildcard);
  if (source === undefined) return missing('no proof that there is no wildcard');
  const fault = denialFault(source.types, type, false);
  return fault === undefined ? proven([cover.set, source.set]) : missing(fault);
}

function proveNoName(records: Records, name: Name): Proof {
  const cover = covering(records, name);
  if (cover === undefined || isWithin(cover.next, name))
    return missing('no proof that the name does not exist');
  const wildcard = wildcardBelow(closestEncloser(cover, name));
  if (wildcard === undefined) return proven([cover.set]);
  const noWildcard = covering(records, wildcard);
  if (noWildcard === undefined || isWithin(noWildcard.next, wildcard))
    return missing('no proof that there is no wildcard');
  return proven([cover.set, noWildcard.set]);
}

function covering(records: Records, name: Name): Denying<Nsec> | undefined {
  return records.find((record) => {
    if (!coversName(record, name)) return false;
    // A zone cannot deny names below a zone cut or DNAME (RFC 6840 §4.1).
    const isBelow = isWithin(name, record.owner);
    return !isBelow || !(isAncestor(record.types) || record.types.has(TYPE.DNAME));
  });
}

/** Returns the longest ancestor of `name` whose existence the covering record proves. */
function closestEncloser({ owner, next }: Nsec, name: Name): Name {
  let encloser = parentOf(name);
  while (!isWithin(owner, encloser) && !isWithin(next, encloser)) encloser = parentOf(encloser);
  return encloser;
}
