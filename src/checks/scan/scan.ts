// The result of a scan: the records that exist, and how complete it is.

import type { Name } from '../../dns/name.ts';
import type { WalkFailure } from '../delegation/evidence.ts';

export interface ScannedRecord {
  /** The name, folded. */
  readonly name: Name;
  /** A type code as on the wire. */
  readonly type: number;
  /** The TTL in seconds, as the zone's servers give it; from a resolver, the remaining time. */
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

export interface Scan {
  readonly domain: Name;
  /**
   * The records, without those that a wildcard made: the wildcards themselves are there as `*.…`. NS below the apex are
   * delegations.
   */
  readonly records: readonly ScannedRecord[];
  /** Names with a wildcard below them. */
  readonly wildcards: readonly Name[];
  /** All questions of the scan were asked and answered. */
  readonly complete: boolean;
  /** Why the scan is incomplete, that the domain does not exist, and what may be wrong, in words for people. */
  readonly shortfalls: readonly string[];
  /** Set when no server could be asked at all. */
  readonly failure: WalkFailure | undefined;
  /** How many names were asked for, and how many packets were sent. */
  readonly names: number;
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
