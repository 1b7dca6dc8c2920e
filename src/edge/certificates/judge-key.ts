// Which public keys a certificate may have: those that every browser takes, of a size whose arithmetic is bounded.

import type { KeyObject } from 'node:crypto';

const CURVES: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1'];
/** P-521 with its point; a key that spells out its curve has more (RFC 5480 §2.1.1 forbids it). */
const NAMED_OCTETS = 160;
const RSA_BITS = { least: 2048, most: 8192 };

/** What is wrong with it; undefined: nothing. */
export function judgeKey(key: KeyObject): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa') {
    const bits = details?.modulusLength ?? 0;
    if (bits >= RSA_BITS.least && bits <= RSA_BITS.most) return undefined;
    return `an RSA key has ${RSA_BITS.least} to ${RSA_BITS.most} bits here, and this one has ${bits}`;
  }
  if (type === 'ec') {
    const curve = details?.namedCurve;
    const isNamed = key.export({ type: 'spki', format: 'der' }).length <= NAMED_OCTETS;
    if (curve !== undefined && CURVES.includes(curve) && isNamed) return undefined;
    if (curve !== undefined && !isNamed)
      return `an EC key names one of the curves P-256, P-384 and P-521, and this one spells its curve out`;
    return `an EC key is one of the curves P-256, P-384 and P-521, and this one is of ${curve ?? 'another'}`;
  }
  return `browsers do not accept keys of the kind ${type ?? 'unknown'}: use RSA or EC`;
}
