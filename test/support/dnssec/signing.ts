// Keys and signatures for tests, made with node:crypto: what a signer makes is then read by validators that know nothing
// of it.

import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { dsDigest } from '../../../src/dns/dnssec/ds-digest.ts';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { signedLabels, signedOctets } from '../../../src/dns/dnssec/signed-octets.ts';
import type { Name } from '../../../src/dns/name.ts';
import { DNSKEY } from '../../../src/dns/record/types/dnskey.ts';
import { DS } from '../../../src/dns/record/types/ds.ts';
import { RRSIG } from '../../../src/dns/record/types/rrsig.ts';

export interface SigningKey {
  readonly algorithm: number;
  readonly tag: number;
  /** The rdata of the DNSKEY record. */
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

/** `flags` is 257 unless told. With an algorithm that nobody knows, the key is one that nobody can use. */
export function makeKey(algorithm: number, flags = KEY_SIGNING_KEY): SigningKey {
  const { publicKey, privateKey } = pairFor(algorithm);
  const made = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
  return keyOf({ algorithm, flags, octets: octetsOf(publicKey, algorithm), privateKey: made });
}

/** The same key with other flags: another tag. */
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

/**
 * As DER. Node 20 can lock itself for good when a key that was just made is exported while its making is garbage collected.
 */
function pairFor(algorithm: number): { publicKey: Buffer; privateKey: Buffer } {
  const privateKeyEncoding = { type: 'pkcs8', format: 'der' } as const;
  const publicKeyEncoding = { type: 'spki', format: 'der' } as const;
  switch (algorithm) {
    case 8:
    case 10:
      return generateKeyPairSync('rsa', {
        modulusLength: 1024,
        publicKeyEncoding: { type: 'pkcs1', format: 'der' },
        privateKeyEncoding,
      });
    case 13:
      return generateKeyPairSync('ec', { namedCurve: 'P-256', publicKeyEncoding, privateKeyEncoding });
    case 14:
      return generateKeyPairSync('ec', { namedCurve: 'P-384', publicKeyEncoding, privateKeyEncoding });
    default:
      return generateKeyPairSync('ed25519', { publicKeyEncoding, privateKeyEncoding });
  }
}

const POINT_OCTETS: Readonly<Record<number, number>> = { 13: 64, 14: 96 };

/** The point is the end of the encoding. */
function octetsOf(publicKey: Buffer, algorithm: number): Uint8Array {
  if (algorithm !== 8 && algorithm !== 10) return publicKey.subarray(-(POINT_OCTETS[algorithm] ?? 32));
  const modulus = integerAt(publicKey, contentOf(publicKey, 0).start);
  const exponent = integerAt(publicKey, modulus.end);
  return Buffer.concat([Uint8Array.of(exponent.octets.length), exponent.octets, modulus.octets]); // RFC 3110 §2
}

function integerAt(der: Buffer, at: number): { octets: Uint8Array; end: number } {
  const { start, end } = contentOf(der, at);
  return { octets: der.subarray(der[start] === 0 ? start + 1 : start, end), end };
}

/** Where the content of a DER value begins and ends. */
function contentOf(der: Buffer, at: number): { start: number; end: number } {
  const first = der[at + 1] as number;
  if (first < 0x80) return { start: at + 2, end: at + 2 + first };
  const octets = first & 0x7f;
  const start = at + 2 + octets;
  return { start, end: start + der.readUIntBE(at + 2, octets) };
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

/** The rdata of the RRSIG record. `labels`: fewer than the owner's for a set that stands for a wildcard's. */
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

/** The rdata of a DS record for a key of a zone. */
export function dsOf(
  zone: Name,
  { algorithm, tag, rdata }: Pick<SigningKey, 'algorithm' | 'tag' | 'rdata'>,
  digestType = 2,
): Uint8Array {
  const digest = dsDigest(zone, rdata, digestType) ?? new Uint8Array(32);
  return Uint8Array.from(DS.encode({ keyTag: tag, algorithm, digestType, digest }));
}
