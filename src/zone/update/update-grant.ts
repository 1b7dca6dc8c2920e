// The permission of a key to change records with updates.

import { isWithin, type Name } from '../../dns/name.ts';

/** `subtree` includes the owner itself. */
export const GRANT_MATCHES = ['exact', 'subtree'] as const;

export interface UpdateGrant {
  readonly match: (typeof GRANT_MATCHES)[number];
  /** Folded. */
  readonly owner: Name;
  /** Codes of record types; null for all. */
  readonly types: readonly number[] | null;
  /** True if the key reads and writes the origins of proxied names, and the addresses of ANAME names. */
  readonly editsOrigin: boolean;
}

/** Returns true if a grant applies to a name, for any type. */
export function coversName({ match, owner }: UpdateGrant, name: Name): boolean {
  return match === 'exact' ? name === owner : isWithin(name, owner);
}

export function covers(grant: UpdateGrant, name: Name, type: number): boolean {
  return coversName(grant, name) && (grant.types === null || grant.types.includes(type));
}
