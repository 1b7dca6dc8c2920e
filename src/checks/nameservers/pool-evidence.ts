// What a check of our own nameservers saw: the addresses of each name, the glue above, and who answers at each address.

import type { Name } from '../../dns/name.ts';

/** A name, as the servers of its own zone say. */
export interface HostEvidence {
  readonly name: Name;
  /** Addresses of both families, as answers print them. */
  readonly addresses: readonly string[];
  /** The name is an alias: its addresses were not looked for. */
  readonly isAlias: boolean;
  /** Why the addresses are not known, in words; undefined if they are. */
  readonly failure: string | undefined;
}

/** The addresses that a referral gave for a name. */
export interface GlueEvidence {
  readonly name: Name;
  /** The zone that refers. */
  readonly parent: Name;
  readonly addresses: readonly string[];
  /** The name lies inside the zone that it serves: without glue nobody finds it. */
  readonly isNeeded: boolean;
}

export interface PoolEvidence {
  readonly hosts: readonly HostEvidence[];
  readonly glue: readonly GlueEvidence[];
  /** The zones of which the referral could not be seen, and why. */
  readonly unseen: readonly { readonly zone: Name; readonly failure: string }[];
  /** Each address: whether an authoritative answer came from there, or why it was not asked. */
  readonly addresses: readonly AddressEvidence[];
}

export interface AddressEvidence {
  readonly address: string;
  readonly outcome: 'answers' | 'fails' | 'skipped';
  /** Why, in words; undefined if it answers. */
  readonly reason: string | undefined;
}
