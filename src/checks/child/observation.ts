// Observation in the evidence, before a profile decides whether it is reported.

import type { Name } from '../../dns/name.ts';
import type { ChildCode } from './child-codes.ts';

/** Returns the autonomous system that announces an address. Returns undefined if it is not known. */
export type AsnOf = (address: string) => number | undefined;

export interface Observation {
  readonly code: ChildCode;
  /** Nameservers concerned. */
  readonly names: readonly Name[];
  readonly detail?: string;
}
