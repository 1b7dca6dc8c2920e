// What we serve: a zone as an immutable tree of names. Owners and the keys of maps are folded (RFC 4343); the case
// of names inside rdata is kept.

import type { Name } from '../dns/name.ts';

/** One record as it is stored: folded owner, type code, TTL in seconds, uncompressed rdata. */
export interface ZoneRecord {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

/**
 * The type of a mark, which says that its owner exists although nothing may be published there (RFC 4592 §2.2). It is
 * reserved (RFC 6895 §3.1): no zone file holds it, and it never goes on the wire. An apex exists in any case: a mark there
 * says that SOA and NS of the apex are answered and all else of the zone is refused.
 */
export const MARK_TYPE = 0;

export function markOf(owner: Name): ZoneRecord {
  return { owner, type: MARK_TYPE, ttl: 0, rdata: NO_OCTETS };
}

/**
 * A mark at the apex with this TTL says instead that the zone is answered whole although nothing has proved it: nodes report
 * that it is asked for (docs/rules.md "What is answered").
 */
const UNPROVEN_TTL = 1;

export function unprovenMarkOf(apex: Name): ZoneRecord {
  return { owner: apex, type: MARK_TYPE, ttl: UNPROVEN_TTL, rdata: NO_OCTETS };
}

export function isUnprovenMark(
  { owner, type, ttl }: Pick<ZoneRecord, 'owner' | 'type' | 'ttl'>,
  apex: Name,
): boolean {
  return type === MARK_TYPE && ttl === UNPROVEN_TTL && owner === apex;
}

const NO_OCTETS = new Uint8Array();

/** True for a mark of a name, which is stored with a zone's records and is none itself. */
export function isMark({ type }: Pick<ZoneRecord, 'type'>): boolean {
  return type === MARK_TYPE;
}

/**
 * The type of an edge mark: A and AAAA at its owner are the edge's, and regions may have others in their place. Rdata is empty,
 * or a signature over the set of a region: the set's id and the rdata of an RRSIG. The type is reserved (RFC 6895 §3.1): it never
 * goes on the wire, has no signature and no bit in a denial.
 */
export const EDGE_MARK_TYPE = 65535;

export function edgeMarkOf(owner: Name): ZoneRecord {
  return { owner, type: EDGE_MARK_TYPE, ttl: 0, rdata: NO_OCTETS };
}

export function isEdgeMark({ type }: Pick<ZoneRecord, 'type'>): boolean {
  return type === EDGE_MARK_TYPE;
}

/** All records of one name and type, with one TTL (RFC 2181 §5), each rdata once. */
export interface RecordSet {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: readonly Uint8Array[];
  /**
   * Rdata of the RRSIG records that cover the set; absent: it has none. Each has the TTL of the set (RFC 4034 §3). RRSIG is
   * never a set of a node.
   */
  readonly signatures?: readonly Uint8Array[];
}

/** One NSEC3 record of a zone with its place in the ring. */
export interface HashedDenial {
  /** 20 octets (RFC 5155 §5), the first label of the owner. */
  readonly hash: Uint8Array;
  /** The NSEC3 set with its signatures. Its owner is no name of the zone (RFC 5155 §7.2.8). */
  readonly set: RecordSet;
}

/** How a zone proves that something is not there. */
export type Denials =
  /** Owners of NSEC in canonical order (RFC 4034 §6.1); each has a node with the set. */
  | { readonly kind: 'nsec'; readonly owners: readonly Name[] }
  /** The chain of the NSEC3PARAM with flags 0 at the apex (RFC 5155 §4), in order of the hashes. */
  | {
      readonly kind: 'nsec3';
      readonly iterations: number;
      readonly salt: Uint8Array;
      readonly entries: readonly HashedDenial[];
    };

/** A name that exists in a zone. Without sets: a marked name, or an empty non-terminal (RFC 4592 §2.2.2). */
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
  /** The names with a mark: they exist even without records and with nothing below. */
  readonly marked: ReadonlySet<Name>;
  /** Answered whole before it is proven. */
  readonly unproven: boolean;
  /** Absent: the zone is not signed, since the SOA has no signature, and answers have neither signatures nor proofs. */
  readonly denials?: Denials;
  /**
   * NSEC3 sets that prove nothing now: of chains with other parameters, and all of them while the zone is not signed. They are
   * kept because what brings a chain in force comes last. Absent: there are none.
   */
  readonly idleDenials?: readonly RecordSet[];
  /** With signatures and NSEC3; marks do not count. */
  readonly records: number;
}

/** The zones that a node serves, by folded apex. */
export interface Zones {
  get(apex: Name): Zone | undefined;
}
