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

/** All records of one name and type, with one TTL (RFC 2181 §5), each rdata once. */
export interface RecordSet {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: readonly Uint8Array[];
}

/** A name that exists in a zone. An empty non-terminal has no sets (RFC 4592 §2.2.2). */
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
  readonly records: number;
}

/** The zones that a node serves, by folded apex. */
export interface Zones {
  get(apex: Name): Zone | undefined;
}
