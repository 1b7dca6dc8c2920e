// Public part of a key of the key machine.

export type KeyId = string;

/** A CSK signs everything. A KSK signs the DNSKEY set, and a ZSK all other sets. */
export type KeyRole = 'csk' | 'ksk' | 'zsk';

/** Created by the key store, with a key tag that is unique in the zone. */
export interface MachineKey {
  readonly id: KeyId;
  readonly role: KeyRole;
  readonly algorithm: number;
  readonly keyTag: number;
  /** Its DS in every supported digest type (1, 2, 4), in the format of `dsText`. Empty for a ZSK. */
  readonly ds: readonly string[];
  /** Another operator signs with it elsewhere (RFC 8901 §2.2.2). We publish it but never sign with it. */
  readonly isForeign?: true;
  /**
   * Set if another operator also has the private key and may sign the same zone with it. The last import or export counts,
   * but an export before the domain has moved here does not change `imported`.
   */
  readonly shared?: 'imported' | 'exported';
}

/** True for keys with flags 257, which have a DS at the parent. */
export function isSep({ role }: MachineKey): boolean {
  return role !== 'zsk';
}

/** Returns the keys whose DS are in the set. */
export function ownersOf(ds: readonly string[], keys: readonly MachineKey[]): readonly KeyId[] {
  return keys.filter((key) => key.ds.some((text) => ds.includes(text))).map(({ id }) => id);
}
