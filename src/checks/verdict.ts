// What an observation means.

import type { Name } from '../dns/name.ts';
import type { NameserverSet } from './check-state.ts';
import type { Finding } from './findings.ts';

export const VERDICTS = [
  /** Exactly one accepted set. */
  'match',
  /** Names of one set of ours, but no accepted set whole: a part of one, or a set that was taken off the domain. */
  'partial',
  /** An accepted set whole, and foreign names. */
  'extra',
  /** Names of ours that no one set has together. */
  'mixed',
  /** None of our names. */
  'foreign',
  /** The name is there, without a delegation. */
  'not_delegated',
  /** NXDOMAIN. */
  'unregistered',
  'alias',
  /** Nothing that decides anything: it never changes a status. */
  'unknown',
] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Judgement {
  readonly verdict: Verdict;
  /** For `match`. */
  readonly matched: NameserverSet | undefined;
  /** The NS set that the parent shows; empty where it shows that there is none; undefined for `unknown`. */
  readonly observed: readonly Name[] | undefined;
  /** Parent addresses that said the same; 0 for `unknown`. */
  readonly confirmations: number;
  /** At least two said so, or all that the parent has: nothing less changes a status. */
  readonly confirmed: boolean;
  /** The parent names any of our servers; undefined for `unknown`. */
  readonly oursShown: boolean | undefined;
  /** A DS at the parent that no key of ours matches. */
  readonly staleDs: boolean;
  readonly findings: readonly Finding[];
}
