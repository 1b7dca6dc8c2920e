// Signing keys as values: a new key in the parts that are stored, and a stored key ready to sign.

import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { keyTag } from '../../dns/dnssec/key-tag.ts';
import { DNSKEY } from '../../dns/record/types/dnssec.ts';

export interface SigningKey {
  readonly algorithm: number;
  readonly tag: number;
  readonly privateKey: KeyObject;
}

/** The keys that sign each kind of set. A key may be in both lists. */
export interface ZoneKeys {
  /** Keys for the DNSKEY set, and for the sets that the parent zone must be able to trust like keys (RFC 7344 §4.1). */
  readonly entry: readonly SigningKey[];
  /** Keys for all other sets. */
  readonly data: readonly SigningKey[];
}

/** The supported algorithms for signing: ECDSA P-256 with SHA-256 (RFC 6605) and Ed25519 (RFC 8080). */
export const SIGNING_ALGORITHM = { ECDSAP256SHA256: 13, ED25519: 15 } as const;
export type SigningAlgorithm = (typeof SIGNING_ALGORITHM)[keyof typeof SIGNING_ALGORITHM];

/** The flags of a DNSKEY record: Zone Key, or Zone Key and Secure Entry Point (RFC 4034 §2.1.1). */
export const KEY_FLAGS = { ZONE: 256, ENTRY: 257 } as const;

/** Returns the flags in the rdata of a DNSKEY record. */
export function flagsOf(dnskey: Uint8Array): number {
  return ((dnskey[0] as number) << 8) | (dnskey[1] as number);
}

/** The secret part of a key: the octets of a P-256 scalar or an Ed25519 seed, as in a JWK. */
export interface MadeKey {
  readonly algorithm: SigningAlgorithm;
  readonly tag: number;
  /** Rdata of the DNSKEY record. */
  readonly dnskey: Uint8Array;
  /** 32 octets. */
  readonly secret: Uint8Array;
}

export function makeKey(algorithm: SigningAlgorithm, flags: number): MadeKey {
  const { secret, publicKey } = partsOf(generate(algorithm));
  const dnskey = Uint8Array.from(DNSKEY.encode({ flags, protocol: 3, algorithm, publicKey }));
  return { algorithm, tag: keyTag(dnskey), dnskey, secret };
}

/** Exports as JWK directly: Node 20 can deadlock when a new key is exported while its generator is garbage-collected. */
function generate(algorithm: SigningAlgorithm): JsonWebKey {
  const publicKeyEncoding = { format: 'jwk' } as const;
  const privateKeyEncoding = { format: 'jwk' } as const;
  const encodings = { publicKeyEncoding, privateKeyEncoding } as never; // missing in the types of Node 20
  const pair: unknown =
    algorithm === SIGNING_ALGORITHM.ED25519
      ? generateKeyPairSync('ed25519', encodings)
      : generateKeyPairSync('ec', { namedCurve: 'P-256', ...(encodings as object) } as never);
  return (pair as { privateKey: JsonWebKey }).privateKey;
}

function partsOf({ d, x, y }: JsonWebKey): { secret: Uint8Array; publicKey: Uint8Array } {
  const publicKey = Buffer.concat([octetsOf(x), ...(y === undefined ? [] : [octetsOf(y)])]);
  return { secret: octetsOf(d), publicKey };
}

/** Returns a key ready to sign. JWK parts are read three times as fast as PKCS#8. */
export function readSigningKey(dnskey: Uint8Array, secret: Uint8Array): SigningKey {
  const algorithm = dnskey[3] as number;
  const publicKey = dnskey.subarray(4);
  const d = textOf(secret);
  const key: JsonWebKey =
    algorithm === SIGNING_ALGORITHM.ED25519
      ? { kty: 'OKP', crv: 'Ed25519', x: textOf(publicKey), d }
      : {
          kty: 'EC',
          crv: 'P-256',
          x: textOf(publicKey.subarray(0, 32)),
          y: textOf(publicKey.subarray(32)),
          d,
        };
  return { algorithm, tag: keyTag(dnskey), privateKey: createPrivateKey({ key, format: 'jwk' }) };
}

function octetsOf(text: string | undefined): Uint8Array {
  return Buffer.from(text ?? '', 'base64url');
}

function textOf(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('base64url');
}
