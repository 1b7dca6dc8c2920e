// Result of a check of our own nameservers: the addresses of each name, the glue at the parent, and the node that answers
// at each address.

import type { Name } from '../../dns/name.ts';

/** A name, according to the servers of its own zone. */
export interface HostEvidence {
  readonly name: Name;
  /** Addresses of both families, in the format of answers. */
  readonly addresses: readonly string[];
  /** True if the name is an alias. Its addresses were not looked up then. */
  readonly isAlias: boolean;
  /** Human-readable reason why the addresses are not known. Undefined if they are. */
  readonly failure: string | undefined;
}

/** The addresses that a referral gave for a name. */
export interface GlueEvidence {
  readonly name: Name;
  /** The referring zone. */
  readonly parent: Name;
  readonly addresses: readonly string[];
  /** True if the name is inside the zone that it serves, so that resolvers cannot find it without glue. */
  readonly isNeeded: boolean;
}

export interface PoolEvidence {
  readonly hosts: readonly HostEvidence[];
  readonly glue: readonly GlueEvidence[];
  /** Zones without a usable referral, and why. */
  readonly unseen: readonly { readonly zone: Name; readonly failure: string }[];
  /** Tells for each address if an authoritative answer came from there, or why it was not queried. */
  readonly addresses: readonly AddressEvidence[];
}

export interface AddressEvidence {
  readonly address: string;
  readonly outcome: 'answers' | 'fails' | 'skipped';
  /** Human-readable reason. Undefined if it answers. */
  readonly reason: string | undefined;
}
