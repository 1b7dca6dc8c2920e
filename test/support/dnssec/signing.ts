// Keys and signatures for tests, made with node:crypto. Validators read the signer's output without any knowledge of
// the signer.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { dsDigest } from '../../../src/dns/dnssec/ds-digest.ts';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { signedLabels, signedOctets } from '../../../src/dns/dnssec/signed-octets.ts';
import type { Name } from '../../../src/dns/name.ts';
import { DNSKEY, DS, RRSIG } from '../../../src/dns/record/types/dnssec.ts';

export interface SigningKey {
  readonly algorithm: number;
  readonly tag: number;
  readonly rdata: Uint8Array;
  readonly privateKey: KeyObject;
}

export const ZONE_KEY = 256;
export const KEY_SIGNING_KEY = 257;
export const REVOKED = 128;

const HASHES: Readonly<Record<number, string | null>> = {
  8: 'sha256',
  10: 'sha512',
  13: 'sha256',
  14: 'sha384',
  15: null,
};

/** `flags` is 257 by default. No validator can use a key of an unknown algorithm. */
export function makeKey(algorithm: number, flags = KEY_SIGNING_KEY): SigningKey {
  const privateKey = createPrivateKey({ key: makePrivate(algorithm), format: 'der', type: 'pkcs8' });
  return keyOf({ algorithm, flags, octets: octetsOf(createPublicKey(privateKey)), privateKey });
}

/** Returns the same key with other flags, and thus with another tag. */
export function withFlags({ algorithm, rdata, privateKey }: SigningKey, flags: number): SigningKey {
  return keyOf({ algorithm, flags, octets: rdata.subarray(4), privateKey });
}

function keyOf(made: {
  algorithm: number;
  flags: number;
  octets: Uint8Array;
  privateKey: KeyObject;
}): SigningKey {
  const { algorithm, flags, octets, privateKey } = made;
  const rdata = Uint8Array.from(DNSKEY.encode({ flags, protocol: 3, algorithm, publicKey: octets }));
  return { algorithm, tag: keyTag(rdata), rdata, privateKey };
}

const CURVES: Readonly<Record<number, string>> = { 13: 'P-256', 14: 'P-384' };

/** Returns DER. Node 20 can deadlock when a new key is exported while its generator is garbage-collected. */
function makePrivate(algorithm: number): Buffer {
  const publicKeyEncoding = { type: 'spki', format: 'der' } as const;
  const privateKeyEncoding = { type: 'pkcs8', format: 'der' } as const;
  const namedCurve = CURVES[algorithm];
  if (namedCurve !== undefined)
    return generateKeyPairSync('ec', { namedCurve, publicKeyEncoding, privateKeyEncoding }).privateKey;
  if (algorithm === 8 || algorithm === 10)
    return generateKeyPairSync('rsa', { modulusLength: 1024, publicKeyEncoding, privateKeyEncoding })
      .privateKey;
  return generateKeyPairSync('ed25519', { publicKeyEncoding, privateKeyEncoding }).privateKey;
}

function octetsOf(publicKey: KeyObject): Uint8Array {
  const { n, e = '', x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const octets = (part: string) => Buffer.from(part, 'base64url');
  if (n === undefined) return Buffer.concat([octets(x), octets(y)]);
  return Buffer.concat([Uint8Array.of(octets(e).length), octets(e), octets(n)]); // RFC 3110 §2
}

export interface SigningTime {
  /** Seconds since 1970. */
  readonly inception: number;
  readonly expiration: number;
}

interface ToSign {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: readonly Uint8Array[];
}

/** Returns the rdata of the RRSIG record. `labels` is less than the owner's for a set synthesized from a wildcard. */
export function signSet(
  set: ToSign,
  key: SigningKey,
  { zone, time, labels = signedLabels(set.owner) }: { zone: Name; time: SigningTime; labels?: number },
): Uint8Array {
  const { algorithm, tag: keyTag, privateKey } = key;
  const unsigned = {
    typeCovered: set.type,
    algorithm,
    labels,
    originalTtl: set.ttl,
    expiration: time.expiration,
    inception: time.inception,
    keyTag,
    signer: zone,
    signature: new Uint8Array(),
  };
  const data = signedOctets(unsigned, set) as Uint8Array;
  const hash = HASHES[algorithm] ?? null;
  const signature = sign(hash, data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return Uint8Array.from(RRSIG.encode({ ...unsigned, signature }));
}

export function dsOf(
  zone: Name,
  { algorithm, tag, rdata }: Pick<SigningKey, 'algorithm' | 'tag' | 'rdata'>,
  digestType = 2,
): Uint8Array {
  const digest = dsDigest(zone, rdata, digestType) ?? new Uint8Array(32);
  return Uint8Array.from(DS.encode({ keyTag: tag, algorithm, digestType, digest }));
}
