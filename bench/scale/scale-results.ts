// Results with a million small zones.

import type { Run } from '../rounds.ts';
import type { Server } from '../servers/server.ts';
import type { ZoneSet } from '../zones/zone-set.ts';
import type { DrawName } from './scale-queries.ts';
import type { StartTimes } from './start-times.ts';

/** Runs of one server with one draw. */
export interface DrawnRuns {
  readonly server: Server;
  readonly draw: DrawName;
  readonly runs: readonly Run[];
  /** The server with which the runs alternated. Zonefleet is measured together with each. */
  readonly beside: Server | undefined;
}

export interface Weight {
  readonly server: Server;
  readonly pssBytes: number;
  readonly largestBytes: number;
  /** Memory of the zones according to the server, if it reports it. */
  readonly imageBytes: number | undefined;
}

export interface ScaleResults {
  readonly set: ZoneSet;
  readonly drawn: DrawnRuns[];
  readonly weights: Weight[];
  readonly times: StartTimes;
  /** Start times of a node with few zones. Undefined unless starts are measured. */
  readonly small: { readonly zones: number; readonly times: StartTimes } | undefined;
  /** Start times of an older commit. Undefined unless starts are measured. */
  readonly before:
    | { readonly commit: string; readonly times: StartTimes; readonly small: StartTimes }
    | undefined;
  readonly peerStartMs: Map<Server, number>;
}
