// Verdicts of delegation checks.

import type { Name } from '../../dns/name.ts';
import type { NameserverSet } from './check-state.ts';
import type { Finding } from './finding.ts';

export const VERDICTS = [
  /** The parent lists exactly one accepted set. */
  'match',
  /** The parent lists some servers of one accepted set, but not all. */
  'partial',
  /** The parent lists a whole accepted set and foreign names. */
  'extra',
  /** The parent lists servers from several accepted sets. */
  'mixed',
  /** The parent lists none of the domain's servers. It may list other servers of the fleet. */
  'foreign',
  /** The name exists, without a delegation. */
  'not_delegated',
  /** The parent answers NXDOMAIN. */
  'unregistered',
  'alias',
  /** The evidence decides nothing. It never changes a status. */
  'unknown',
] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Judgement {
  readonly verdict: Verdict;
  /** The matching set, for `match`. */
  readonly matched: NameserverSet | undefined;
  /** The NS set that the parent shows. Empty if the parent shows that there is none, undefined for `unknown`. */
  readonly observed: readonly Name[] | undefined;
  /** Number of parent addresses that gave the same answer. 0 for `unknown`. */
  readonly confirmations: number;
  /** True if at least two addresses, or all that the parent has, gave the same answer. Only then may a status change. */
  readonly confirmed: boolean;
  /**
   * True if the servers also serve the domain's zone, so that the NS set is that zone's own. This is not sufficient for a
   * takeover.
   */
  readonly byAnswer: boolean;
  /** True if only one address gave this answer and every other queried address was silent or failed. */
  readonly soleWitness: boolean;
  /** True if the parent lists any server of the domain's sets. Undefined for `unknown`. */
  readonly oursShown: boolean | undefined;
  /** True if the parent lists any server of the fleet that is in none of the domain's sets. Undefined for `unknown`. */
  readonly othersShown: boolean | undefined;
  /** True if the parent has a DS record that matches none of our keys. */
  readonly staleDs: boolean;
  readonly findings: readonly Finding[];
  /** The root did not validate, so the evidence may be forged. Moves wait. */
  readonly rootFault?: true;
}
