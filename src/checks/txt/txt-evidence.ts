// Evidence of a verification without its interpretation: each link from the challenge's name to its values, the answers of
// all servers of each link, and the records of sibling names.

import type { Name } from '../../dns/name.ts';
import type { ServerOutcome, WalkFailure } from '../delegation/evidence.ts';

export type TxtOutcome =
  /** The reply has AA and TXT records. */
  | 'answer'
  /** The reply has AA, and a CNAME at the name or a DNAME above it. */
  | 'alias'
  /** A referral to a zone at the name, or between this zone and the name. */
  | 'referral'
  | 'nodata'
  | 'nxdomain'
  /** The server does not serve the zone, as in `ServerOutcome`. */
  | 'lame'
  | 'timeout'
  | 'refused'
  | 'servfail'
  | 'bad';

/** One reply from one address of a zone's servers. */
export interface TxtServerEvidence {
  readonly server: Name;
  /** Address as text without a port. Empty for a nameserver whose address was not found. */
  readonly address: string;
  readonly transport: 'udp' | 'tcp';
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  readonly rttMs: number | undefined;
  readonly outcome: TxtOutcome;
  /** Values of an `answer`. The character-strings of each record are joined (as in RFC 7208 §3.3). */
  readonly values: readonly Uint8Array[];
  /** Target of an `alias`, if it can be determined, or the zone of a `referral`. */
  readonly target: Name | undefined;
  /** Human-readable error. */
  readonly error: string | undefined;
}

/** Reply of one address of the parent zone about a delegation. */
export interface TxtDelegationReply {
  readonly server: Name;
  readonly address: string;
  readonly outcome: ServerOutcome;
  /** NS names of a `referral` or `answer`. Empty if a referral leads to another zone. */
  readonly ns: readonly Name[];
}

/** A zone on the path, and the replies of its parent's servers about the delegation. */
export interface TxtDelegation {
  readonly zone: Name;
  readonly nameservers: readonly Name[];
  /** Replies of all servers of the parent zone, or of some if the parent is the root or a top-level domain. */
  readonly servers: readonly TxtDelegationReply[];
}

/** A link: the challenge's name, or a target of its aliases. */
export interface TxtLink {
  readonly host: Name;
  /** The zone that contains `host`. */
  readonly zone: Name;
  /** Every nameserver in the zone's delegation. */
  readonly nameservers: readonly Name[];
  /**
   * Delegations of the zone and its ancestors, from the outermost one, without those of an earlier link. See
   * find-txt-zone.ts.
   */
  readonly delegations: readonly TxtDelegation[];
  /** Replies of every address of the nameservers. All are queried. */
  readonly servers: readonly TxtServerEvidence[];
  /** Replies to repeated queries of servers that had answered. */
  readonly again: readonly TxtServerEvidence[];
  /** Primaries (MNAME) in the SOA records of the zone and its ancestors. */
  readonly primaries: readonly Name[];
}

/** A random sibling of the challenge's name. Records there come from a wildcard. */
export interface TxtSibling {
  readonly name: Name;
  /** The queried address. */
  readonly address: string;
  readonly outcome: TxtOutcome;
  /** Names in its alias chain. */
  readonly targets: readonly Name[];
  /** Values at the end of its aliases, or at the name itself. */
  readonly values: readonly Uint8Array[];
}

/** Answer of one public resolver. */
export interface TxtResolverEvidence {
  readonly address: string;
  /** Undefined if there was no usable answer. */
  readonly values: readonly Uint8Array[] | undefined;
  readonly error: string | undefined;
}

export interface TxtEvidence {
  readonly host: Name;
  /** Links in the order of the aliases. The last one has the values, unless `failure` says why it was not reached. */
  readonly links: readonly TxtLink[];
  /** Empty if the challenge's name has no values, because no wildcard must be excluded then. */
  readonly siblings: readonly TxtSibling[];
  readonly resolvers: readonly TxtResolverEvidence[];
  /** Why the walk failed, including too many aliases or a loop. */
  readonly failure: WalkFailure | undefined;
  /** Number of packets sent. */
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
