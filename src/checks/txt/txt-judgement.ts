// Result of verifying a challenge: its verdict, and the values at each server and resolver.

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
  /** Servers on the path to the value give different answers. */
  'disagree',
  /** The answer comes from our own servers and an unproven zone, where any account could have added the record. */
  'untrusted',
  /** The evidence decides nothing: it never changes a status. */
  'unknown',
] as const;
export type TxtVerdict = (typeof TXT_VERDICTS)[number];

/** `error`: the server does not serve the zone or did not answer. */
export type TxtFound = 'found' | 'absent' | 'other' | 'error';

export interface TxtServerJudgement {
  readonly server: Name;
  /** Address. Empty for a nameserver whose address was not found. */
  readonly address: string;
  readonly outcome: TxtFound;
  /** TXT records of the server, if any. */
  readonly values?: readonly Uint8Array[];
}

export interface TxtResolverJudgement {
  readonly address: string;
  readonly outcome: TxtFound;
}

export interface TxtJudgement {
  readonly verdict: TxtVerdict;
  /** Number of addresses of the zone that have the value, and that were queried. */
  readonly found: number;
  readonly asked: number;
  readonly servers: readonly TxtServerJudgement[];
  /** Public resolvers. They never decide. */
  readonly resolvers: readonly TxtResolverJudgement[];
  /** One sentence for the owner. */
  readonly message: string;
}
