// A served zone as an immutable tree of names. Owners and the keys of maps are folded (RFC 4343). The case of names
// inside rdata is preserved.

import type { Name } from '../dns/name.ts';
import { TYPE } from '../dns/type-codes.ts';

/** A stored record: folded owner, type code, TTL in seconds, uncompressed rdata. */
export interface ZoneRecord {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

/**
 * The type of a mark: its owner exists although it may publish nothing (RFC 4592 §2.2). The type is reserved (RFC 6895
 * §3.1): it is never in a zone file, and is never sent. An apex always exists; with a mark at the apex, only its SOA
 * and NS are answered, and all other queries for the zone are refused.
 */
export const MARK_TYPE = 0;

export function markOf(owner: Name): ZoneRecord {
  return { owner, type: MARK_TYPE, ttl: 0, rdata: NO_OCTETS };
}

/**
 * With a mark of this TTL at the apex, the whole zone is answered although it is unproven, and nodes report that it
 * receives queries (docs/rules.md "What is answered").
 */
const UNPROVEN_TTL = 1;

export function unprovenMarkOf(apex: Name): ZoneRecord {
  return { owner: apex, type: MARK_TYPE, ttl: UNPROVEN_TTL, rdata: NO_OCTETS };
}

/** With a mark of this TTL at the apex, the copy of a primary's zone has expired: its queries get SERVFAIL. */
const EXPIRED_TTL = 2;

export function expiredMarkOf(apex: Name): ZoneRecord {
  return { owner: apex, type: MARK_TYPE, ttl: EXPIRED_TTL, rdata: NO_OCTETS };
}

/**
 * With a mark of this TTL at the apex, only peers may read the zone: other queries for its names are refused. Catalogs
 * have this mark (RFC 9432 §6).
 */
const PRIVATE_TTL = 3;

export function privateMarkOf(apex: Name): ZoneRecord {
  return { owner: apex, type: MARK_TYPE, ttl: PRIVATE_TTL, rdata: NO_OCTETS };
}

type MarkedRecord = Pick<ZoneRecord, 'owner' | 'type' | 'ttl'>;

export function isUnprovenMark({ owner, type, ttl }: MarkedRecord, apex: Name): boolean {
  return type === MARK_TYPE && ttl === UNPROVEN_TTL && owner === apex;
}

export function isExpiredMark({ owner, type, ttl }: MarkedRecord, apex: Name): boolean {
  return type === MARK_TYPE && ttl === EXPIRED_TTL && owner === apex;
}

export function isPrivateMark({ owner, type, ttl }: MarkedRecord, apex: Name): boolean {
  return type === MARK_TYPE && ttl === PRIVATE_TTL && owner === apex;
}

const NO_OCTETS = new Uint8Array();

/** Returns true for the mark of a name. It is stored with the records of a zone, but is not a record. */
export function isMark({ type }: Pick<ZoneRecord, 'type'>): boolean {
  return type === MARK_TYPE;
}

/**
 * Returns true if a zone with a mark at its apex answers this type there. Registries query these types before they
 * delegate a zone, and DNSKEY only if the zone is signed.
 */
export function isOfApex(qtype: number, isSigned: boolean): boolean {
  return qtype === TYPE.SOA || qtype === TYPE.NS || (isSigned && qtype === TYPE.DNSKEY);
}

/**
 * The type of an edge mark: A and AAAA at its owner are the edge's, and regions may replace them. Rdata is empty, or
 * contains a signature over the set of a region: the set's id and the rdata of an RRSIG. The type is reserved (RFC 6895
 * §3.1): it is never sent or signed, and is not listed in a denial.
 */
export const EDGE_MARK_TYPE = 65535;

export function edgeMarkOf(owner: Name): ZoneRecord {
  return { owner, type: EDGE_MARK_TYPE, ttl: 0, rdata: NO_OCTETS };
}

export function isEdgeMark({ type }: Pick<ZoneRecord, 'type'>): boolean {
  return type === EDGE_MARK_TYPE;
}

/** All records of one name and type, with one TTL and without duplicates (RFC 2181 §5). */
export interface RecordSet {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: readonly Uint8Array[];
  /**
   * Rdata of the RRSIG records that cover the set; absent if there are none. Each has the TTL of the set (RFC 4034 §3).
   * RRSIG is never a set of a node.
   */
  readonly signatures?: readonly Uint8Array[];
}

/** One NSEC3 record of a zone and its position in the ring. */
export interface HashedDenial {
  /** 20 octets (RFC 5155 §5), the first label of the owner. */
  readonly hash: Uint8Array;
  /** The NSEC3 set with its signatures. Its owner is not a name of the zone (RFC 5155 §7.2.8). */
  readonly set: RecordSet;
}

/** How a zone proves that a name or type does not exist. */
export type Denials =
  /** Owners of NSEC in canonical order (RFC 4034 §6.1). Each has a node with the set. */
  | { readonly kind: 'nsec'; readonly owners: readonly Name[] }
  /** The chain of the NSEC3PARAM with flags 0 at the apex (RFC 5155 §4), sorted by hash. */
  | {
      readonly kind: 'nsec3';
      readonly iterations: number;
      readonly salt: Uint8Array;
      readonly entries: readonly HashedDenial[];
    };

/** An existing name. A node without sets is a marked name or an empty non-terminal (RFC 4592 §2.2.2). */
export interface ZoneNode {
  readonly name: Name;
  readonly sets: ReadonlyMap<number, RecordSet>;
}

export interface Zone {
  readonly apex: Name;
  readonly soa: RecordSet;
  /** TTL of the SOA in negative answers: min(SOA TTL, MINIMUM), RFC 2308 §5. */
  readonly negativeTtl: number;
  readonly serial: number;
  readonly nodes: ReadonlyMap<Name, ZoneNode>;
  /** Marked names. They exist even without records and without names below them. */
  readonly marked: ReadonlySet<Name>;
  /** True if the whole zone is answered before it is proven. */
  readonly unproven: boolean;
  /** True if the zone is an expired copy of a primary's. */
  readonly expired: boolean;
  /** True if only peers may read the zone. */
  readonly isPrivate: boolean;
  /** Absent if the SOA is not signed: answers then have neither signatures nor proofs. */
  readonly denials?: Denials;
  /**
   * NSEC3 sets that currently prove nothing: those of chains with other parameters, and all of them if the zone is not
   * signed. They are kept because the records that activate a chain are added last. Absent if there are none.
   */
  readonly idleDenials?: readonly RecordSet[];
  /** Number of records, including signatures and NSEC3 but not marks. */
  readonly records: number;
}

/** The zones that a node serves; `apex` is folded. */
export interface Zones {
  get(apex: Name): Zone | undefined;
}
