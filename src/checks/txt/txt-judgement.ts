// What a verification says of a challenge: its verdict, and what each server and resolver has.

import type { Name } from '../../dns/name.ts';

export const TXT_VERDICTS = [
  'verified',
  /** No server that responds has a TXT record. */
  'absent',
  /** Some servers have the value, others respond without it. */
  'partial',
  /** No server has the value, and some have other TXT records. */
  'other',
  /** Names that do not exist have the same record. */
  'wildcard',
  /** On the way to the value, servers that should give the same answer do not. */
  'disagree',
  /** Our own servers answer from a zone that is not proved: anyone could put the record there. */
  'untrusted',
  /** The evidence decides nothing: it never changes a status. */
  'unknown',
] as const;
export type TxtVerdict = (typeof TXT_VERDICTS)[number];

/** `error`: the server did not answer for the zone, or not at all. */
export type TxtFound = 'found' | 'absent' | 'other' | 'error';

export interface TxtServerJudgement {
  readonly server: Name;
  /** The address; empty for a nameserver of which no address could be found. */
  readonly address: string;
  readonly outcome: TxtFound;
  /** The TXT records that the server has, if any. */
  readonly values?: readonly Uint8Array[];
}

export interface TxtResolverJudgement {
  readonly address: string;
  readonly outcome: TxtFound;
}

export interface TxtJudgement {
  readonly verdict: TxtVerdict;
  /** How many addresses of the zone should have the value, and how many have it. */
  readonly found: number;
  readonly asked: number;
  readonly servers: readonly TxtServerJudgement[];
  /** The public resolvers, which never decide. */
  readonly resolvers: readonly TxtResolverJudgement[];
  /** One sentence for the owner. */
  readonly message: string;
}
