// Result of a scan: the records found, and whether the scan is complete.

import type { Name } from '../../dns/name.ts';
import type { WalkFailure } from '../delegation/evidence.ts';

export interface ScannedRecord {
  /** Folded name. */
  readonly name: Name;
  /** Numeric type code. */
  readonly type: number;
  /** TTL in seconds from the zone's servers, or the remaining time if it comes from a resolver. */
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

export interface Scan {
  readonly domain: Name;
  /**
   * Records, without those that a wildcard generated. The wildcards themselves are included as `*.…`. NS below the apex are
   * delegations.
   */
  readonly records: readonly ScannedRecord[];
  /** Names with a wildcard below them. */
  readonly wildcards: readonly Name[];
  /** True if every query of the scan was sent and answered, and the zone's own servers answered at least one. */
  readonly complete: boolean;
  /** Human-readable reasons why the scan is incomplete, that the domain does not exist, or what may be wrong. */
  readonly shortfalls: readonly string[];
  /** Set if no server could be queried at all. */
  readonly failure: WalkFailure | undefined;
  /** Number of queried names and of sent packets. */
  readonly names: number;
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
