// What an observation of a challenge's TXT record saw, and nothing of what it means: each link from the challenge's name to
// where its values are, what every server of each said, and what siblings of the name have.

import type { Name } from '../dns/name.ts';
import type { ServerOutcome, WalkFailure } from './evidence.ts';

export type TxtOutcome =
  /** AA, and TXT records. */
  | 'answer'
  /** AA, and a CNAME at the name or a DNAME above it. */
  | 'alias'
  /** To a zone between this one and the name, or at the name. */
  | 'referral'
  | 'nodata'
  | 'nxdomain'
  /** No word of the zone's: as in `ServerOutcome`. */
  | 'lame'
  | 'timeout'
  | 'refused'
  | 'servfail'
  | 'bad';

/** What one address of a zone's servers said once. */
export interface TxtServerEvidence {
  readonly server: Name;
  /** Text without a port; empty for a nameserver of which no address could be found. */
  readonly address: string;
  readonly transport: 'udp' | 'tcp';
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  readonly rttMs: number | undefined;
  readonly outcome: TxtOutcome;
  /** Of `answer`: each record, its character-strings joined (RFC 7208 §3.3 has the same rule). */
  readonly values: readonly Uint8Array[];
  /** Of `alias`, where it can be told; of `referral`, the zone that it leads to. */
  readonly target: Name | undefined;
  /** What was wrong, for people. */
  readonly error: string | undefined;
}

/** What one address of the zone above says of a delegation. */
export interface TxtDelegationWord {
  readonly server: Name;
  readonly address: string;
  readonly outcome: ServerOutcome;
  /** Of `referral` and `answer`; empty where a referral leads to another zone. */
  readonly ns: readonly Name[];
}

/** A zone on the way, and whether the servers of the zone above are of one mind about it. */
export interface TxtDelegation {
  readonly zone: Name;
  readonly nameservers: readonly Name[];
  /** Of all of them, or of some where those are the root's or a top-level domain's. */
  readonly servers: readonly TxtDelegationWord[];
}

/** The challenge's name, or one that it is an alias of. */
export interface TxtLink {
  readonly host: Name;
  /** The zone that holds `host`. */
  readonly zone: Name;
  /** Every nameserver of the zone that its delegation names. */
  readonly nameservers: readonly Name[];
  /** Of the zone and those above it, from the outside in, but for those that an earlier link has; see find-txt-zone.ts. */
  readonly delegations: readonly TxtDelegation[];
  /** Every address of them: all are asked. */
  readonly servers: readonly TxtServerEvidence[];
  /** What those that had said something said when they were asked once more, perhaps several times. */
  readonly again: readonly TxtServerEvidence[];
  /** What the SOA of the zone, and of those above it, name as their primary (MNAME). */
  readonly primaries: readonly Name[];
}

/** A random name beside the challenge's: what is there too comes from a wildcard. */
export interface TxtSibling {
  readonly name: Name;
  /** That was asked for it. */
  readonly address: string;
  readonly outcome: TxtOutcome;
  /** What it is an alias of, and on to the end of the aliases. */
  readonly targets: readonly Name[];
  /** At the end of its aliases, or at the name itself. */
  readonly values: readonly Uint8Array[];
}

/** A resolver of others. */
export interface TxtResolverEvidence {
  readonly address: string;
  /** Undefined: no answer that can be used. */
  readonly values: readonly Uint8Array[] | undefined;
  readonly error: string | undefined;
}

export interface TxtEvidence {
  readonly host: Name;
  /** In the order of the aliases; the last one has the values, unless `failure` says why it was not come to. */
  readonly links: readonly TxtLink[];
  /** None where the challenge's name has no values, since nothing has to be told from a wildcard then. */
  readonly siblings: readonly TxtSibling[];
  readonly resolvers: readonly TxtResolverEvidence[];
  /** Also: too many aliases, or such that lead to themselves. */
  readonly failure: WalkFailure | undefined;
  /** Packets sent. */
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
