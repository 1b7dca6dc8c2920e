// The evidence of a delegation check, without what it means: the walk to the parent zone, and what each address of the
// parent said.

import type { Name } from '../../dns/name.ts';

/**
 * What the reply of one parent address was. The first five are conclusive by themselves (docs/rules.md "Delegation
 * check").
 */
export type ServerOutcome =
  /** The reply has NS in the authority section, owner = the domain, and no answer. Some parents set AA in it. */
  | 'referral'
  /** The reply has NS in the answer section, with AA. */
  | 'answer'
  /** The reply has AA and no NS, with the parent's SOA: the name or one below it exists, but there is no delegation. */
  | 'nodata'
  /** The reply is NXDOMAIN with AA and the parent's SOA. */
  | 'nxdomain'
  /** The reply has AA and a CNAME at the name, or a DNAME at or above it, inside the parent zone. */
  | 'alias'
  /** The server does not serve the parent: no AA and no downward referral, an upward one, or another zone's SOA. */
  | 'lame'
  | 'timeout'
  | 'refused'
  | 'servfail'
  /** Another rcode, a reply that cannot be read, TC over TCP, or a refused connection. */
  | 'bad'
  /** The parent is secure, and its keys do not vouch for the reply: a signature or proof is wrong or missing. */
  | 'bogus'
  /** Whether the parent's keys vouch for it would take more work than a check may do. */
  | 'limit';

/**
 * What a server may need if it does not answer an ordinary query: a query over TCP, without EDNS, or in lower case instead of
 * random case.
 */
export const NEEDS = ['tcp', 'no_edns', 'lower_case'] as const;
export type Need = (typeof NEEDS)[number];

/** What one address of the parent said. Names are folded; sets are in canonical order without duplicates. */
export interface ServerEvidence {
  /** The nameserver's name, as the delegation above the parent gives it; the zone's own name for `database`. */
  readonly server: Name;
  /** The address as text without a port; empty for `database`. */
  readonly address: string;
  /** What carried the reply that counts. `database`: this fleet serves the parent, and Postgres was asked. */
  readonly transport: 'udp' | 'tcp' | 'database';
  /**
   * How the query had to be changed before the server answered it; absent if it answered the first query. TCP for a reply that is
   * too large for UDP does not count.
   */
  readonly needed?: readonly Need[];
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** The round trip of the reply that counts; undefined without one. */
  readonly rttMs: number | undefined;
  readonly outcome: ServerOutcome;
  readonly rcode: number | undefined;
  readonly aa: boolean | undefined;
  /** The names of the NS set, for `referral` and `answer`; else empty. */
  readonly ns: readonly Name[];
  /** The addresses beside the NS set, which lead to its names; absent where there are none. */
  readonly glue?: readonly { readonly name: Name; readonly address: string }[];
  /** The TTL of the NS set, or of the SOA of a negative answer, in seconds. */
  readonly ttl: number | undefined;
  /** The rdata of the DS set in a referral, or in the answer to a question for DS. */
  readonly ds: readonly Uint8Array[];
  /**
   * For `answer`: the server showed that the parent delegates the domain, since it answered a question for DS with the
   * parent's authority (RFC 4035 §3.1.4.1). Absent when it was not asked.
   */
  readonly showsCut?: boolean;
  /**
   * What the parent's keys say of the DS set, the alias, or the absence that the reply shows. `insecure`: opt-out or costly
   * hashes leave it open. Absent where nothing was validated: the NS set itself never is (RFC 4035 §2.2).
   */
  readonly proof?: 'secure' | 'insecure';
  /** What was wrong, in words for people; undefined if nothing was. */
  readonly error: string | undefined;
}

/** One zone on the way from the root to the parent, both included. */
export interface WalkedZone {
  readonly zone: Name;
  /** The names of its nameservers; empty for a zone that this fleet serves. */
  readonly servers: readonly Name[];
  /** The zone was known, so no question was needed. */
  readonly cached: boolean;
}

/** Why the parent was not found, or could not be asked. `zone` is the last zone that was asked. */
export interface WalkFailure {
  readonly zone: Name;
  readonly reason: /** None of its addresses answered. */
    | 'unreachable'
    /** The servers answered, but not as servers of the zone. */
    | 'lame'
    /** The servers have no address that may be asked. */
    | 'no_address'
    /** A limit of the resolver was reached (docs/rules.md "Limits of the resolver"). */
    | 'limit'
    /** Delegations lead only to each other. */
    | 'loop'
    /** The keys above the zone do not vouch for its own. */
    | 'bogus'
    /** Validation would take more than a check may do. */
    | 'validation_limit'
    /** The check waited long, and no slot for slow checks was free: it says nothing about the parent. */
    | 'later';
  readonly message: string;
}

/**
 * Whether signatures lead from the root's trust anchors to the parent's keys. `insecure`: a zone on the way proves that it
 * ends there. `indeterminate`: there are no anchors, or the way does not begin at the root, or the root itself fails.
 */
export type Security = 'secure' | 'insecure' | 'indeterminate';

export interface Evidence {
  readonly domain: Name;
  /** The parent; undefined when the walk failed before it. */
  readonly parent: Name | undefined;
  readonly walk: readonly WalkedZone[];
  /** The replies in the order of the questions; empty when the walk failed. */
  readonly servers: readonly ServerEvidence[];
  /** How many addresses the parent has, of which those in `servers` were asked. */
  readonly parentAddresses: number;
  readonly failure: WalkFailure | undefined;
  /** Of the parent, never of the NS set that it shows. Absent in checks of before: `indeterminate`. */
  readonly security?: Security;
  /** The root does not validate by our anchors, which is rather our fault than everybody's. */
  readonly rootFault?: true;
  /** How many packets were sent, repeated ones too. */
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
