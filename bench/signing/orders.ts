// Messages to and from the processes of this part.

import type { EdgeSets } from '../../src/zone/edge-sets.ts';

export type Order =
  /** Signs a domain's zone in pieces, and reports when its keys are served. */
  | { readonly kind: 'sign'; readonly domainId: number; readonly denial: 'nsec' | 'nsec3' }
  /** Unsigns the zone, so that the next order finds its first state. */
  | { readonly kind: 'unsign'; readonly domainId: number }
  /** Signs the sets of regions for all names of the domain once, during edits. The number of signatures is fixed. */
  | {
      readonly kind: 'regions';
      readonly domainId: number;
      readonly sets: EdgeSets;
      readonly signatures: number;
    }
  /** Sets the goal of all these domains, and takes the steps that are due until each is signed. */
  | { readonly kind: 'enable'; readonly domainIds: readonly number[] }
  /** Makes edits until `stop`: alternately creates a name and changes an address. */
  | { readonly kind: 'edit'; readonly domainIds: readonly number[]; readonly perSecond: number }
  | { readonly kind: 'stop' }
  /** Creates this many records, and removes them again. */
  | { readonly kind: 'batch'; readonly domainId: number; readonly records: number };

export interface Done {
  readonly seconds: number;
  /** Event loop delay in milliseconds. */
  readonly lateMs: { readonly worst: number; readonly p99: number };
  readonly cpuSeconds: number;
  /** Durations of edits in milliseconds. */
  readonly millis: readonly number[];
}

/** The zone of these names, and the domain that it belongs to. */
export const LARGE_NAME = 'large.signing.';
export const smallName = (i: number) => `d${i}.signing.`;
