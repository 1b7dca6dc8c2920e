// What an observation of a delegation saw, and nothing of what it means: the walk to the parent zone, and what each
// address of the parent said.

import type { Name } from '../dns/name.ts';

/** What the reply of one parent address was; the first five are conclusive by themselves (spec §6). */
export type ServerOutcome =
  /** NS in the authority section, owner = the domain, AA=0. */
  | 'referral'
  /** NS in the answer section with AA. */
  | 'answer'
  /** AA and no NS, with the parent's SOA: the name is there, or below it something is, but no delegation. */
  | 'nodata'
  /** AA NXDOMAIN with the parent's SOA. */
  | 'nxdomain'
  /** AA CNAME at the name, or DNAME at or above it, inside the parent zone. */
  | 'alias'
  /** It does not serve the parent: no AA and no downward referral, an upward one, another zone's SOA. */
  | 'lame'
  | 'timeout'
  | 'refused'
  | 'servfail'
  /** Another rcode, a reply that cannot be read, TC over TCP, a connection that was refused. */
  | 'bad';

/** One address of the parent. Names are folded; sets are in canonical order without doubles. */
export interface ServerEvidence {
  /** The nameserver's name, as the delegation above the parent gives it; the zone's own name for `database`. */
  readonly server: Name;
  /** Text without a port; empty for `database`. */
  readonly address: string;
  /** What brought the reply that counts. `database`: this fleet serves the parent, and Postgres was asked. */
  readonly transport: 'udp' | 'tcp' | 'database';
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** Of the reply that counts; undefined without one. */
  readonly rttMs: number | undefined;
  readonly outcome: ServerOutcome;
  readonly rcode: number | undefined;
  readonly aa: boolean | undefined;
  /** The names of the NS set, for `referral` and `answer`; else empty. */
  readonly ns: readonly Name[];
  /** Of the NS set, or of the SOA of a negative answer, in seconds. */
  readonly ttl: number | undefined;
  /** Rdata of the DS set beside a referral. */
  readonly ds: readonly Uint8Array[];
  /** What was wrong, for people; undefined where nothing was. */
  readonly error: string | undefined;
}

/** One zone on the way from the root to the parent, both included. */
export interface WalkedZone {
  readonly zone: Name;
  /** The names of its nameservers; empty for a zone that this fleet serves. */
  readonly servers: readonly Name[];
  /** No question was needed. */
  readonly cached: boolean;
}

/** Why the parent was not found, or could not be asked. `zone` is the last one that was. */
export interface WalkFailure {
  readonly zone: Name;
  readonly reason: /** None of its addresses answered. */
    | 'unreachable'
    /** They answered, but not as servers of the zone. */
    | 'lame'
    /** Its servers have no address that may be asked. */
    | 'no_address'
    /** One of the limits of spec §7. */
    | 'limit'
    /** Delegations that lead nowhere but to themselves. */
    | 'loop';
  readonly message: string;
}

export interface Evidence {
  readonly domain: Name;
  /** Undefined when the walk failed before it. */
  readonly parent: Name | undefined;
  readonly walk: readonly WalkedZone[];
  /** In the order in which they were asked; empty when the walk failed. */
  readonly servers: readonly ServerEvidence[];
  /** The addresses that the parent has, of which those in `servers` were asked. */
  readonly parentAddresses: number;
  readonly failure: WalkFailure | undefined;
  /** Packets sent, repeated ones too. */
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
