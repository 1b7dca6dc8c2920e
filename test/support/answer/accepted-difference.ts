// What a rule about a difference between our answer and another server's sees, and says.

import type { Name } from '../../../src/dns/name.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import type { PeerName } from '../peers/peers.ts';
import type { Observed } from './observed-answer.ts';

export interface Compared {
  readonly peer: PeerName;
  readonly zones: ReadonlyMap<Name, Zone>;
  /** Folded. */
  readonly name: Name;
  readonly type: number;
  /** DO; false unless told. */
  readonly dnssecOk?: boolean;
  /** The octets that an answer may have. */
  readonly limit: number;
  readonly ours: Observed;
  readonly theirs: Observed;
  /** Our answer over TCP: nothing is left out for want of room. */
  readonly complete: Observed;
  /** Theirs over TCP, where only one of the two has TC. */
  readonly theirComplete?: Observed;
}

export interface AcceptedDifference {
  readonly rule: string;
  readonly peers: readonly PeerName[];
  readonly reason: string;
  /** The two answers without this difference; undefined: it is not there. */
  resolve(seen: Compared): Pick<Compared, 'ours' | 'theirs'> | undefined;
}

export const BOTH: readonly PeerName[] = ['nsd', 'knot'];
