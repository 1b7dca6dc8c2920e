// What NSEC and NSEC3 proofs have in common: the records of a section that may prove something, and what they prove.
// The records that a proof uses are found first, and only these are verified.

import type { Nsec, Nsec3 } from '../../dns/dnssec/denial.ts';
import type { Name } from '../../dns/name.ts';
import type { SignedSet } from './signed-sets.ts';

/** A set of one NSEC or NSEC3 record, with what it says. */
export type Denying<D extends Nsec | Nsec3> = D & { readonly set: SignedSet };

export type Proof =
  | {
      readonly kind: 'proven';
      readonly uses: readonly SignedSet[];
      /** The name has NS: it is a delegation. */
      readonly isCut: boolean;
      /** The zone leaves out unsigned delegations here, so there may be one (RFC 5155 §6). */
      readonly optOut: boolean;
    }
  /** The hashes cost too much. The zone is insecure, if it signed the record that says so (RFC 9276 §3.2). */
  | { readonly kind: 'costly'; readonly uses: readonly SignedSet[] }
  | { readonly kind: 'missing'; readonly reason: string };

/** What has to be proven of a name. `expanded`: an answer came from the wildcard below its last `labels` labels. */
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
