// Verifies proofs by NSEC3 records (RFC 5155 §8).

import { coversHash, type Nsec3 } from '../../dns/dnssec/denial.ts';
import { isWithin, labelCount, type Name, parentOf, ROOT, wildcardBelow } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { MAX_ITERATIONS, type ValidationBudget } from './budget.ts';
import { denialFault, isAncestor } from './denied-types.ts';
import { type Claim, type Denying, missing, type Proof, proven } from './proof.ts';

type Record3 = Denying<Nsec3>;

interface Chain {
  readonly zone: Name;
  readonly records: readonly Record3[];
  readonly hash: (name: Name) => Uint8Array;
}

/** Throws OverBudget. Names are folded. */
export function proveByNsec3(
  all: readonly Record3[],
  claim: Claim,
  { zone, budget }: { readonly zone: Name; readonly budget: ValidationBudget },
): Proof {
  const [first] = all;
  if (first === undefined) return missing('there is no proof');
  const { salt, iterations } = first;
  if (iterations > MAX_ITERATIONS) return { kind: 'costly', uses: [first.set] };
  // All records of a proof have the same parameters (RFC 5155 §8.2).
  const records = all.filter((r) => r.iterations === iterations && Buffer.compare(r.salt, salt) === 0);
  const chain: Chain = { zone, records, hash: (name) => budget.hash(name, salt, iterations) };
  switch (claim.kind) {
    case 'no_type':
      return proveNoType(chain, claim.name, claim.type);
    case 'no_name':
      return proveNoName(chain, claim.name);
    case 'expanded': {
      const cover = covering(chain, ancestorWith(claim.name, claim.labels + 1));
      if (cover === undefined) return missing('no proof that the name itself does not exist');
      return proven([cover.set], cover);
    }
    default:
      return claim satisfies never;
  }
}

function proveNoType(chain: Chain, name: Name, type: number): Proof {
  const own = matching(chain, name);
  if (own !== undefined) {
    const fault = denialFault(own.types, type, name === ROOT);
    if (fault !== undefined) return missing(fault);
    return proven([own.set], { isCut: isAncestor(own.types) });
  }
  const closest = closestEncloser(chain, name);
  if (closest === undefined) return missing('no proof of the closest encloser');
  const { encloser, cover } = closest;
  const wildcard = wildcardBelow(encloser.name);
  const source = wildcard && matching(chain, wildcard);
  if (source !== undefined) {
    const fault = denialFault(source.types, type, false);
    if (fault !== undefined) return missing(fault);
    return proven([encloser.set, cover.set, source.set], cover); // RFC 5155 §9.2
  }
  // An unsigned delegation, or an empty non-terminal above one, that the zone omitted (RFC 5155 §6, §8.6).
  if (cover.optOut) return proven([encloser.set, cover.set], { optOut: true });
  return missing('no record of the proof matches or covers the name');
}

function proveNoName(chain: Chain, name: Name): Proof {
  if (matching(chain, name) !== undefined) return missing('the proof shows that the name exists');
  const closest = closestEncloser(chain, name);
  if (closest === undefined) return missing('no proof of the closest encloser');
  const { encloser, cover } = closest;
  const wildcard = wildcardBelow(encloser.name);
  const noWildcard = wildcard === undefined ? cover : covering(chain, wildcard);
  if (noWildcard === undefined) return missing('no proof that there is no wildcard');
  return proven([encloser.set, cover.set, noWildcard.set], cover); // RFC 5155 §9.2
}

interface Closest {
  readonly encloser: Record3 & { readonly name: Name };
  /** The record that covers the next closer name. */
  readonly cover: Record3;
}

/** Finds the closest encloser (RFC 5155 §8.3). */
function closestEncloser(chain: Chain, wanted: Name): Closest | undefined {
  let next = wanted;
  while (next.length > chain.zone.length) {
    const name = parentOf(next);
    const found = isWithin(name, chain.zone) ? matching(chain, name) : undefined;
    if (found !== undefined) {
      if (isAncestor(found.types) || found.types.has(TYPE.DNAME)) return undefined;
      const cover = covering(chain, next);
      return cover && { encloser: { ...found, name }, cover };
    }
    next = name;
  }
  return undefined;
}

function matching({ records, hash }: Chain, name: Name): Record3 | undefined {
  const wanted = hash(name);
  return records.find((record) => Buffer.compare(record.hash, wanted) === 0);
}

function covering({ records, hash }: Chain, name: Name): Record3 | undefined {
  const wanted = hash(name);
  return records.find((record) => coversHash(record, wanted));
}

function ancestorWith(name: Name, labels: number): Name {
  let ancestor = name;
  for (let left = labelCount(name); left > labels; left--) ancestor = parentOf(ancestor);
  return ancestor;
}
