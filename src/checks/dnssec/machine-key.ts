// The public side of a key of the machine.

export type KeyId = string;

/** A CSK signs everything; a KSK the DNSKEY set, a ZSK all other sets. */
export type KeyRole = 'csk' | 'ksk' | 'zsk';

/** Whoever stores keys makes them, with a key tag that is unique in the zone. */
export interface MachineKey {
  readonly id: KeyId;
  readonly role: KeyRole;
  readonly algorithm: number;
  readonly keyTag: number;
  /** Its DS in every digest type that we recognise (1, 2, 4), as `dsText` prints them; empty for a ZSK. */
  readonly ds: readonly string[];
  /** Another operator signs with it elsewhere (RFC 8901 §2.2.2): we publish it, and sign nothing with it. */
  readonly isForeign?: true;
  /**
   * Set if another operator also has the private key and may sign the same zone with it. The last import or export counts, but
   * an export before the domain has moved here leaves `imported`.
   */
  readonly shared?: 'imported' | 'exported';
}

/** Keys with flags 257, which have a DS at the parent. */
export function isSep({ role }: MachineKey): boolean {
  return role !== 'zsk';
}

/** Those of these keys whose DS are in the set. */
export function ownersOf(ds: readonly string[], keys: readonly MachineKey[]): readonly KeyId[] {
  return keys.filter((key) => key.ds.some((text) => ds.includes(text))).map(({ id }) => id);
}
