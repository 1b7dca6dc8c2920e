// Evidence of a delegation check without its interpretation: the walk to the parent zone, and the answer of each address of
// the parent.

import type { Name } from '../../dns/name.ts';

/**
 * Classification of the reply of one parent address. The first five are conclusive on their own (docs/rules.md "Delegation
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
  /** The parent is secure, but the reply does not validate with its keys: a signature or proof is wrong or missing. */
  | 'bogus'
  /** Validating the reply would exceed the work limit of a check. */
  | 'limit';

/**
 * Changes that a server may need before it answers: a query over TCP, without EDNS, or in lower case instead of random
 * case.
 */
export const NEEDS = ['tcp', 'no_edns', 'lower_case'] as const;
export type Need = (typeof NEEDS)[number];

/** Result for one address of the parent. Names are folded. Sets are in canonical order without duplicates. */
export interface ServerEvidence {
  /** Name of the nameserver in the delegation above the parent. For `database`, the name of the zone itself. */
  readonly server: Name;
  /** The address as text without a port; empty for `database`. */
  readonly address: string;
  /** Transport of the reply that counts. `database`: this fleet serves the parent, so Postgres was queried. */
  readonly transport: 'udp' | 'tcp' | 'database';
  /**
   * How the query had to be changed before the server answered it. Absent if it answered the first query. TCP for a reply
   * that is too large for UDP does not count.
   */
  readonly needed?: readonly Need[];
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** Round-trip time of the reply that counts. Undefined without one. */
  readonly rttMs: number | undefined;
  readonly outcome: ServerOutcome;
  readonly rcode: number | undefined;
  readonly aa: boolean | undefined;
  /** Names of the NS set, for `referral` and `answer`. Otherwise empty. */
  readonly ns: readonly Name[];
  /** Addresses of the NS set's names from the same reply. Absent if there are none. */
  readonly glue?: readonly { readonly name: Name; readonly address: string }[];
  /** TTL of the NS set, or of the SOA in a negative answer, in seconds. */
  readonly ttl: number | undefined;
  /** Rdata of the DS set in a referral, or in the answer to a DS query. */
  readonly ds: readonly Uint8Array[];
  /**
   * For `answer`: true if the server showed that the parent delegates the domain, by answering a DS query with the parent's
   * authority (RFC 4035 §3.1.4.1). Absent if it was not queried.
   */
  readonly showsCut?: boolean;
  /**
   * Validation result, with the parent's keys, of the DS set, alias or absence in the reply. `insecure`: opt-out or an
   * expensive hash prevents a proof. Absent if nothing was validated: the NS set itself never is (RFC 4035 §2.2).
   */
  readonly proof?: 'secure' | 'insecure';
  /** Human-readable error. Undefined if there was none. */
  readonly error: string | undefined;
}

/** One zone on the walk from the root to the parent, including both. */
export interface WalkedZone {
  readonly zone: Name;
  /** Names of its nameservers. Empty for a zone that this fleet serves. */
  readonly servers: readonly Name[];
  /** True if the zone was cached, so no query was needed. */
  readonly cached: boolean;
}

/** Why the parent was not found or not queried. `zone` is the last zone that was queried. */
export interface WalkFailure {
  readonly zone: Name;
  readonly reason: /** None of its addresses answered. */
    | 'unreachable'
    /** The servers answered, but they do not serve the zone. */
    | 'lame'
    /** The servers have no address that may be queried. */
    | 'no_address'
    /** A limit of the resolver was reached (docs/rules.md "Limits of the resolver"). */
    | 'limit'
    /** Delegations lead only to each other. */
    | 'loop'
    /** The zone's keys do not validate with the keys above it. */
    | 'bogus'
    /** Validation would exceed the work limit of a check. */
    | 'validation_limit'
    /** The check was slow, and no slot for slow checks was free. This says nothing about the parent. */
    | 'later';
  readonly message: string;
}

/**
 * Result of validating the parent's keys from the root's trust anchors. `insecure`: a zone on the path proves that the
 * chain ends there. `indeterminate`: there are no anchors, the path does not begin at the root, or the root itself fails.
 */
export type Security = 'secure' | 'insecure' | 'indeterminate';

export interface Evidence {
  readonly domain: Name;
  /** Undefined if the walk failed before it reached the parent. */
  readonly parent: Name | undefined;
  readonly walk: readonly WalkedZone[];
  /** Replies in the order of the queries. Empty if the walk failed. */
  readonly servers: readonly ServerEvidence[];
  /** Number of addresses of the parent. Those in `servers` were queried. */
  readonly parentAddresses: number;
  readonly failure: WalkFailure | undefined;
  /** Security of the parent, never of the NS set that it shows. Absent in old checks, which means `indeterminate`. */
  readonly security?: Security;
  /** The root does not validate with our anchors, which is more likely our fault than the root's. */
  readonly rootFault?: true;
  /** Number of packets sent, including retries. */
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
