// What was noticed in the evidence, before a profile says whether it is told.

import type { Name } from '../../dns/name.ts';
import type { ChildCode } from './child-codes.ts';

/** The autonomous system that announces an address; undefined: not known. */
export type AsnOf = (address: string) => number | undefined;

export interface Observation {
  readonly code: ChildCode;
  /** The nameservers that it is about. */
  readonly names: readonly Name[];
  readonly detail?: string;
}
