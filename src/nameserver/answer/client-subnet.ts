// Validates the CLIENT-SUBNET option of a query (RFC 7871 §6): family, source prefix length, scope prefix length, address.

/** Octets before the address. */
export const SUBNET_HEAD_OCTETS = 4;

/** Address length by family. Family 0 means no address, with prefix length 0. */
const FAMILY_OCTETS = [0, 4, 16] as const;

/** Returns true if the option of `octets` octets at `at` is valid in a query (RFC 7871 §6 and §7.1.2). */
export function isSoundSubnet(input: Uint8Array, at: number, octets: number): boolean {
  if (octets < SUBNET_HEAD_OCTETS || input[at] !== 0) return false;
  const family = input[at + 1] as number;
  const prefix = input[at + 2] as number;
  if (family > 2 || prefix > 8 * (FAMILY_OCTETS[family] as number)) return false;
  if (input[at + 3] !== 0) return false; // only a response sets the scope
  if (octets - SUBNET_HEAD_OCTETS !== (prefix + 7) >> 3) return false; // no more octets than the prefix needs
  const spare = -prefix & 7;
  return spare === 0 || ((input[at + octets - 1] as number) & ((1 << spare) - 1)) === 0; // padded with zeros
}
