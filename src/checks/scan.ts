// What a scan of a zone saw: records that are there, and how far it came.

import type { Name } from '../dns/name.ts';
import type { WalkFailure } from './evidence.ts';

export interface ScannedRecord {
  /** Folded. */
  readonly name: Name;
  /** A type of the wire. */
  readonly type: number;
  /** As the zone's servers give it, or, from a resolver, what is left of it. In seconds. */
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

export interface Scan {
  readonly domain: Name;
  /** Nothing that a wildcard made: the wildcards themselves are there as `*.…`. NS below the apex are delegations. */
  readonly records: readonly ScannedRecord[];
  /** Names with a wildcard below them. */
  readonly wildcards: readonly Name[];
  /** Everything that was to be asked was asked and answered. */
  readonly complete: boolean;
  /** Why not, that the domain does not exist, and what may not be right, for people. */
  readonly shortfalls: readonly string[];
  /** Without it nobody could be asked at all. */
  readonly failure: WalkFailure | undefined;
  /** Names that were asked for, and packets that were sent. */
  readonly names: number;
  readonly queries: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}
