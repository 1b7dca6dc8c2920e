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

/** True for a mark, which is stored with a zone's records and is none itself. */
export function isMark({ type }: Pick<ZoneRecord, 'type'>): boolean {
  return type === MARK_TYPE;
}

/** All records of one name and type, with one TTL (RFC 2181 §5), each rdata once. */
export interface RecordSet {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: readonly Uint8Array[];
}

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
  /** Marks do not count. */
  readonly records: number;
}

/** The zones that a node serves, by folded apex. */
export interface Zones {
  get(apex: Name): Zone | undefined;
}
