// The evidence of a check of the delegated zone itself: what the parent delegates to, where its nameservers are, and what
// each of their addresses answers. It says nothing of what that means.

import type { Name } from '../../dns/name.ts';
import type { ServerOutcome } from '../delegation/evidence.ts';

/** The SOA of a reply. */
export interface SoaFields {
  readonly mname: Name;
  readonly rname: Name;
  readonly serial: number;
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  readonly minimum: number;
}

/** What came of one question. `answer`: with AA, and with the records that were asked for. */
export interface ProbeReply {
  readonly outcome: ServerOutcome | 'unasked';
  readonly soa?: SoaFields;
  readonly ns?: readonly Name[];
  /** What was wrong, in words for people. */
  readonly error?: string;
}

/** `refused`: FORMERR, NOTIMP or BADVERS to a question with EDNS; `silent`: it answers only questions without EDNS. */
export type EdnsOutcome = 'works' | 'refused' | 'silent' | 'unknown';

/** What one address answered. */
export interface AddressProbe {
  readonly address: string;
  /** Names that have the address. */
  readonly servers: readonly Name[];
  /** The address is not public: no question may be sent there. */
  readonly isPrivate: boolean;
  readonly soa: ProbeReply;
  readonly ns: ProbeReply;
  /** The SOA over TCP. */
  readonly tcp: ProbeReply;
  readonly edns: EdnsOutcome;
}

/** The addresses of a nameserver's name, from the servers of its zone. */
export type FoundAddresses =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** Its zone says that it has none. */
  | { readonly kind: 'none' }
  /** The name is an alias (RFC 2181 §10.3). `addresses` are those that it leads to. */
  | { readonly kind: 'alias'; readonly addresses: readonly string[] }
  | { readonly kind: 'unknown'; readonly message: string };

export interface ChildServer {
  readonly name: Name;
  readonly isAtParent: boolean;
  /** One of the zone's own servers names it. */
  readonly isInZone: boolean;
  /** The addresses that the parent gives for it. */
  readonly glue: readonly string[];
  readonly found: FoundAddresses;
}

export interface ChildEvidence {
  readonly domain: Name;
  /** The zone that delegates it; undefined when the delegation was given by hand, or was not found. */
  readonly parent: Name | undefined;
  readonly servers: readonly ChildServer[];
  readonly addresses: readonly AddressProbe[];
  /** Why there is no delegation to look at; then there are no servers. */
  readonly failure: string | undefined;
  /** Everything that should be asked was asked: no limit came first. */
  readonly isComplete: boolean;
  /** Addresses of IPv6 were asked. */
  readonly hasIpv6: boolean;
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
