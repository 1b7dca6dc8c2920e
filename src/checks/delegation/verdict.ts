// The verdict on an observation.

import type { Name } from '../../dns/name.ts';
import type { NameserverSet } from './check-state.ts';
import type { Finding } from './finding.ts';

export const VERDICTS = [
  /** The parent names exactly one accepted set. */
  'match',
  /** The parent names servers of one accepted set, but not the whole set. */
  'partial',
  /** The parent names a whole accepted set, and foreign names. */
  'extra',
  /** The parent names servers that no one accepted set has together. */
  'mixed',
  /** The parent names no server of the domain's sets; it may name others of ours. */
  'foreign',
  /** The name exists, without a delegation. */
  'not_delegated',
  /** The parent answers NXDOMAIN. */
  'unregistered',
  'alias',
  /** The evidence decides nothing: it never changes a status. */
  'unknown',
] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Judgement {
  readonly verdict: Verdict;
  /** The set of a `match`. */
  readonly matched: NameserverSet | undefined;
  /** The NS set that the parent shows; empty where it shows that there is none; undefined for `unknown`. */
  readonly observed: readonly Name[] | undefined;
  /** How many parent addresses said the same; 0 for `unknown`. */
  readonly confirmations: number;
  /** At least two addresses said so, or all that the parent has: only then a status may change. */
  readonly confirmed: boolean;
  /** The servers hold the domain's own zone, and the NS set is that zone's: enough for no takeover. */
  readonly byAnswer: boolean;
  /** One address said so, and every other one that was asked is silent or fails. */
  readonly soleWitness: boolean;
  /** The parent names any server of the domain's sets; undefined for `unknown`. */
  readonly oursShown: boolean | undefined;
  /** The parent names any server of ours that is in none of the domain's sets; undefined for `unknown`. */
  readonly othersShown: boolean | undefined;
  /** There is a DS at the parent that no key of ours matches. */
  readonly staleDs: boolean;
  readonly findings: readonly Finding[];
  /** The root did not validate, so the evidence may be forged where a signed root would not let it: moves wait. */
  readonly rootFault?: true;
}
