// Verifies signatures of the common algorithms: RSA with SHA-256 and SHA-512 (RFC 5702), ECDSA P-256 and P-384 (RFC
// 6605), Ed25519 (RFC 8080). SHA-1 signatures are no longer accepted (RFC 9905).

import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';

const ALGORITHM = {
  RSASHA256: 8,
  RSASHA512: 10,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
} as const;

interface Scheme {
  readonly hash: string | null;
  readonly keyOf: (octets: Uint8Array) => JsonWebKey | undefined;
  /** Length of a signature, if it is fixed. */
  readonly signatureOctets?: number;
}

/** RFC 5702 §2: 512 to 4096 bits. A longer modulus or exponent would only waste time. */
const MAX_MODULUS_OCTETS = 512;
const MIN_MODULUS_OCTETS = 64;
const MAX_EXPONENT_OCTETS = 8;

const SCHEMES: ReadonlyMap<number, Scheme> = new Map<number, Scheme>([
  [ALGORITHM.RSASHA256, { hash: 'sha256', keyOf: rsaKey }],
  [ALGORITHM.RSASHA512, { hash: 'sha512', keyOf: rsaKey }],
  [ALGORITHM.ECDSAP256SHA256, { hash: 'sha256', keyOf: curveKey('P-256', 32), signatureOctets: 64 }],
  [ALGORITHM.ECDSAP384SHA384, { hash: 'sha384', keyOf: curveKey('P-384', 48), signatureOctets: 96 }],
  [ALGORITHM.ED25519, { hash: null, keyOf: edwardsKey, signatureOctets: 64 }],
]);

export function isKnownAlgorithm(algorithm: number): boolean {
  return SCHEMES.has(algorithm);
}

/** Returns true if the octets, the last field of a DNSKEY record, are a public key of the algorithm. */
export function isPublicKey(algorithm: number, octets: Uint8Array): boolean {
  return createKey(SCHEMES.get(algorithm)?.keyOf(octets)) !== undefined;
}

interface ReadKey {
  readonly algorithm: number;
  /** Undefined if the octets are not a key of the algorithm. */
  readonly key: KeyObject | undefined;
}

/** Cache of keys: reading a key takes as long as verifying with it, and a zone uses one for all of its signatures. */
const readKeys = new WeakMap<Uint8Array, ReadKey>();

function readKey(algorithm: number, octets: Uint8Array, { keyOf }: Scheme): KeyObject | undefined {
  const known = readKeys.get(octets);
  if (known?.algorithm === algorithm) return known.key;
  const key = createKey(keyOf(octets));
  readKeys.set(octets, { algorithm, key });
  return key;
}

/** Also returns undefined for a point that is not on its curve, and for a modulus that OpenSSL rejects. */
function createKey(jwk: JsonWebKey | undefined): KeyObject | undefined {
  if (jwk === undefined) return undefined;
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/**
 * Verifies a signature. Never throws, for any octets. `publicKey` is the last field of a DNSKEY record. Its octets are
 * read once, and must not be changed afterwards.
 */
export function verifySignature(
  algorithm: number,
  { publicKey, data, signature }: Readonly<Record<'publicKey' | 'data' | 'signature', Uint8Array>>,
): boolean {
  const scheme = SCHEMES.get(algorithm);
  if (scheme === undefined) return false;
  const { hash, signatureOctets } = scheme;
  if (signatureOctets !== undefined && signature.length !== signatureOctets) return false;
  const key = readKey(algorithm, publicKey, scheme);
  if (key === undefined) return false;
  try {
    return verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature);
  } catch {
    return false; // OpenSSL rejects the signature
  }
}

/** RFC 3110 §2. */
function rsaKey(octets: Uint8Array): JsonWebKey | undefined {
  const isLong = octets[0] === 0;
  const length = isLong ? ((octets[1] ?? 0) << 8) | (octets[2] ?? 0) : (octets[0] ?? 0);
  const start = isLong ? 3 : 1;
  const exponent = octets.subarray(start, start + length);
  const modulus = octets.subarray(start + length);
  if (length === 0 || length > MAX_EXPONENT_OCTETS) return undefined;
  if (modulus.length < MIN_MODULUS_OCTETS || modulus.length > MAX_MODULUS_OCTETS) return undefined;
  return { kty: 'RSA', n: base64url(modulus), e: base64url(exponent) };
}

function curveKey(crv: string, octetsEach: number): (octets: Uint8Array) => JsonWebKey | undefined {
  return (octets) => {
    if (octets.length !== 2 * octetsEach) return undefined;
    const [x, y] = [octets.subarray(0, octetsEach), octets.subarray(octetsEach)];
    return { kty: 'EC', crv, x: base64url(x), y: base64url(y) };
  };
}

function edwardsKey(octets: Uint8Array): JsonWebKey | undefined {
  return octets.length === 32 ? { kty: 'OKP', crv: 'Ed25519', x: base64url(octets) } : undefined;
}

function base64url(octets: Uint8Array): string {
  return Buffer.from(octets).toString('base64url');
}
