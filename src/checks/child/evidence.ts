// Evidence of a child check: the parent's delegation, the addresses of the nameservers, and the answers from each address.
// It contains no conclusions.

import type { Name } from '../../dns/name.ts';
import type { ServerOutcome } from '../delegation/evidence.ts';

/** SOA fields of a reply. */
export interface SoaFields {
  readonly mname: Name;
  readonly rname: Name;
  readonly serial: number;
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  readonly minimum: number;
}

/** Result of one query. `answer` means that the reply has the AA bit and the requested records. */
export interface ProbeReply {
  readonly outcome: ServerOutcome | 'unasked';
  readonly soa?: SoaFields;
  readonly ns?: readonly Name[];
  /** Human-readable error. */
  readonly error?: string;
}

/** `refused`: a query with EDNS gets FORMERR, NOTIMP or BADVERS. `silent`: only queries without EDNS are answered. */
export type EdnsOutcome = 'works' | 'refused' | 'silent' | 'unknown';

/** Results for one address. */
export interface AddressProbe {
  readonly address: string;
  /** Names that have this address. */
  readonly servers: readonly Name[];
  /** True if the address is not public. No query is sent there. */
  readonly isPrivate: boolean;
  readonly soa: ProbeReply;
  readonly ns: ProbeReply;
  /** The SOA over TCP. */
  readonly tcp: ProbeReply;
  readonly edns: EdnsOutcome;
}

/** Addresses of a nameserver's name, from the servers of its zone. */
export type FoundAddresses =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** The name's zone answered that it has no addresses. */
  | { readonly kind: 'none' }
  /** The name is an alias (RFC 2181 §10.3). `addresses` are those of the alias's target. */
  | { readonly kind: 'alias'; readonly addresses: readonly string[] }
  | { readonly kind: 'unknown'; readonly message: string };

export interface ChildServer {
  readonly name: Name;
  readonly isAtParent: boolean;
  /** True if one of the zone's own servers lists it. */
  readonly isInZone: boolean;
  /** Addresses in the parent's glue. */
  readonly glue: readonly string[];
  readonly found: FoundAddresses;
}

export interface ChildEvidence {
  readonly domain: Name;
  /** The delegating zone. Undefined if the delegation was entered by hand or not found. */
  readonly parent: Name | undefined;
  readonly servers: readonly ChildServer[];
  readonly addresses: readonly AddressProbe[];
  /** Why there is no delegation to check. In that case there are no servers. */
  readonly failure: string | undefined;
  /** True if every planned query was sent. False if a limit was reached first. */
  readonly isComplete: boolean;
  /** True if IPv6 addresses were queried. */
  readonly hasIpv6: boolean;
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
