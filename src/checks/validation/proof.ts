// Common parts of NSEC and NSEC3 proofs: the records of a section that may prove something, and the result. The records
// that a proof uses are selected first, and only these are verified.

import type { Nsec, Nsec3 } from '../../dns/dnssec/denial.ts';
import type { Name } from '../../dns/name.ts';
import type { SignedSet } from './signed-sets.ts';

/** A set of one NSEC or NSEC3 record with its parsed contents. */
export type Denying<D extends Nsec | Nsec3> = D & { readonly set: SignedSet };

export type Proof =
  | {
      readonly kind: 'proven';
      readonly uses: readonly SignedSet[];
      /** True if the name has NS records, which makes it a delegation. */
      readonly isCut: boolean;
      /** True if the zone omits unsigned delegations here, so there may be one (RFC 5155 §6). */
      readonly optOut: boolean;
    }
  /** The hashes are too expensive. The zone is insecure if it signed the record that requires them (RFC 9276 §3.2). */
  | { readonly kind: 'costly'; readonly uses: readonly SignedSet[] }
  | { readonly kind: 'missing'; readonly reason: string };

/** A statement to be proven about a name. `expanded`: an answer came from the wildcard below its last `labels` labels. */
export type Claim =
  | { readonly kind: 'no_type'; readonly name: Name; readonly type: number }
  | { readonly kind: 'no_name'; readonly name: Name }
  | { readonly kind: 'expanded'; readonly name: Name; readonly labels: number };

export function proven(uses: readonly SignedSet[], more: { isCut?: boolean; optOut?: boolean } = {}): Proof {
  return {
    kind: 'proven',
    uses: [...new Set(uses)],
    isCut: more.isCut ?? false,
    optOut: more.optOut ?? false,
  };
}

export function missing(reason: string): Proof {
  return { kind: 'missing', reason };
}
