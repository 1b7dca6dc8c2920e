// Which DNSKEY records of another operator may stand in our DNSKEY set (RFC 8901 §2.2.2): those of our algorithm, since strict
// resolvers want every algorithm of the set everywhere (RFC 4035 §2.2), and none of ours.

import { isPublicKey } from '../../dns/dnssec/verify-signature.ts';

export interface ForeignKeyFields {
  readonly flags: number;
  readonly protocol: number;
  readonly algorithm: number;
  readonly publicKey: Uint8Array;
}

interface ForeignFault {
  readonly kind: 'algorithm' | 'invalid';
  /** Of the list. */
  readonly index: number;
  readonly message: string;
}

/** Each one makes every answer with the DNSKEY set larger. */
export const MOST_FOREIGN_KEYS = 4;

const ZONE_KEY = 256;
const ENTRY_KEY = 257;
const DNSSEC_PROTOCOL = 3; // RFC 4034 §2.1.2

/** The rdata of the DNSKEY record. */
export function foreignDnskey({ flags, protocol, algorithm, publicKey }: ForeignKeyFields): Uint8Array {
  return Uint8Array.from([flags >> 8, flags & 0xff, protocol, algorithm, ...publicKey]);
}

/** Why the list cannot stand beside our keys, whose DNSKEY rdata is `ours`; undefined: it can. */
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
        'flags are 257, for a key with a DS, or 256: a key of another purpose, or a revoked one, signs no zone',
      );
    if (key.protocol !== DNSSEC_PROTOCOL) return fault('the protocol is always 3');
    if (key.algorithm !== algorithm)
      return fault(
        `its algorithm is ${key.algorithm}, and the zone is signed here with ${algorithm}: both operators have to sign with the same one`,
        'algorithm',
      );
    if (!isPublicKey(algorithm, key.publicKey))
      return fault(`its public key is none of algorithm ${algorithm}`);
    const text = Buffer.from(foreignDnskey(key)).toString('base64');
    if (own.has(text)) return fault('it is a key of this zone already');
    if (seen.has(text)) return fault('it stands in the list twice');
    seen.add(text);
  }
  return undefined;
}
