// The evidence of a verification, without what it means: each link from the challenge's name to its values, what every
// server of each link said, and what siblings of the name have.

import type { Name } from '../../dns/name.ts';
import type { ServerOutcome, WalkFailure } from '../delegation/evidence.ts';

export type TxtOutcome =
  /** The reply has AA and TXT records. */
  | 'answer'
  /** The reply has AA, and a CNAME at the name or a DNAME above it. */
  | 'alias'
  /** A referral to a zone between this one and the name, or at the name. */
  | 'referral'
  | 'nodata'
  | 'nxdomain'
  /** The server does not answer for the zone, as in `ServerOutcome`. */
  | 'lame'
  | 'timeout'
  | 'refused'
  | 'servfail'
  | 'bad';

/** What one address of a zone's servers said in one reply. */
export interface TxtServerEvidence {
  readonly server: Name;
  /** The address as text without a port; empty for a nameserver of which no address could be found. */
  readonly address: string;
  readonly transport: 'udp' | 'tcp';
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  readonly rttMs: number | undefined;
  readonly outcome: TxtOutcome;
  /** The values of an `answer`: each record with its character-strings joined (as in RFC 7208 §3.3). */
  readonly values: readonly Uint8Array[];
  /** The target of an `alias`, if it can be told; the zone that a `referral` leads to. */
  readonly target: Name | undefined;
  /** What was wrong, in words for people. */
  readonly error: string | undefined;
}

/** What one address of the zone above says of a delegation. */
export interface TxtDelegationReply {
  readonly server: Name;
  readonly address: string;
  readonly outcome: ServerOutcome;
  /** The NS of a `referral` or `answer`; empty when a referral leads to another zone. */
  readonly ns: readonly Name[];
}

/** A zone on the way, and whether the servers of the zone above agree on its delegation. */
export interface TxtDelegation {
  readonly zone: Name;
  readonly nameservers: readonly Name[];
  /** The replies of all servers of the zone above, or of some if that is the root or a top-level domain. */
  readonly servers: readonly TxtDelegationReply[];
}

/** A link: the challenge's name, or a name that its aliases lead to. */
export interface TxtLink {
  readonly host: Name;
  /** The zone that holds `host`. */
  readonly zone: Name;
  /** Every nameserver that the zone's delegation names. */
  readonly nameservers: readonly Name[];
  /**
   * The delegations of the zone and those above it, from the outside in, without those of an earlier link; see
   * find-txt-zone.ts.
   */
  readonly delegations: readonly TxtDelegation[];
  /** The replies of every address of the nameservers: all are asked. */
  readonly servers: readonly TxtServerEvidence[];
  /** What the servers that had answered said when they were asked again, perhaps several times. */
  readonly again: readonly TxtServerEvidence[];
  /** The primaries (MNAME) that the SOA of the zone, and of those above it, name. */
  readonly primaries: readonly Name[];
}

/** A random name beside the challenge's name: if it has records, a wildcard makes them. */
export interface TxtSibling {
  readonly name: Name;
  /** The address that was asked for it. */
  readonly address: string;
  readonly outcome: TxtOutcome;
  /** The names that it leads to, to the end of its aliases. */
  readonly targets: readonly Name[];
  /** The values at the end of its aliases, or at the name itself. */
  readonly values: readonly Uint8Array[];
}

/** What one public resolver answered. */
export interface TxtResolverEvidence {
  readonly address: string;
  /** Undefined: there was no usable answer. */
  readonly values: readonly Uint8Array[] | undefined;
  readonly error: string | undefined;
}

export interface TxtEvidence {
  readonly host: Name;
  /**
   * The links in the order of the aliases; the last one has the values, unless `failure` says why it was not reached.
   */
  readonly links: readonly TxtLink[];
  /** Empty if the challenge's name has no values, since no wildcard has to be excluded then. */
  readonly siblings: readonly TxtSibling[];
  readonly resolvers: readonly TxtResolverEvidence[];
  /** Why the walk failed; also too many aliases, or aliases in a loop. */
  readonly failure: WalkFailure | undefined;
  /** How many packets were sent. */
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
