// Validates another operator's DNSKEY records for our DNSKEY set (RFC 8901 §2.2.2). They must use our algorithm, since
// strict resolvers require every algorithm of the set everywhere (RFC 4035 §2.2), and must not be our own keys.

import { isPublicKey } from '../../dns/dnssec/verify-signature.ts';

export interface ForeignKeyFields {
  readonly flags: number;
  readonly protocol: number;
  readonly algorithm: number;
  readonly publicKey: Uint8Array;
}

interface ForeignFault {
  readonly kind: 'algorithm' | 'invalid';
  /** Index in the list. */
  readonly index: number;
  readonly message: string;
}

/** Each key makes every answer with the DNSKEY set larger. */
export const MOST_FOREIGN_KEYS = 4;

const ZONE_KEY = 256;
const ENTRY_KEY = 257;
const DNSSEC_PROTOCOL = 3; // RFC 4034 §2.1.2

/** Returns the rdata of the DNSKEY record. */
export function foreignDnskey({ flags, protocol, algorithm, publicKey }: ForeignKeyFields): Uint8Array {
  return Uint8Array.from([flags >> 8, flags & 0xff, protocol, algorithm, ...publicKey]);
}

/** Returns why the list is not allowed next to our keys, whose DNSKEY rdata is `ours`. Returns undefined if it is allowed. */
export function judgeForeignKeys(
  keys: readonly ForeignKeyFields[],
  { algorithm, ours }: { readonly algorithm: number; readonly ours: readonly Uint8Array[] },
): ForeignFault | undefined {
  if (keys.length > MOST_FOREIGN_KEYS)
    return {
      kind: 'invalid',
      index: MOST_FOREIGN_KEYS,
      message: `there are more than ${MOST_FOREIGN_KEYS} keys`,
    };
  const seen = new Set<string>();
  const own = new Set(ours.map((rdata) => Buffer.from(rdata).toString('base64')));
  for (const [index, key] of keys.entries()) {
    const fault = (message: string, kind: ForeignFault['kind'] = 'invalid') => ({ kind, index, message });
    if (key.flags !== ZONE_KEY && key.flags !== ENTRY_KEY)
      return fault(
        'flags must be 257, for a key with a DS, or 256: revoked keys and keys with other flags do not sign zones',
      );
    if (key.protocol !== DNSSEC_PROTOCOL) return fault('protocol must be 3');
    if (key.algorithm !== algorithm)
      return fault(
        `its algorithm is ${key.algorithm}, but this zone is signed with ${algorithm}: both operators must use the same algorithm`,
        'algorithm',
      );
    if (!isPublicKey(algorithm, key.publicKey))
      return fault(`its public key is not valid for algorithm ${algorithm}`);
    const text = Buffer.from(foreignDnskey(key)).toString('base64');
    if (own.has(text)) return fault('it is already a key of this zone');
    if (seen.has(text)) return fault('it is listed twice');
    seen.add(text);
  }
  return undefined;
}
