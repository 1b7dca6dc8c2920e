// Signs record sets. The keys and the times are arguments.

import { type KeyObject, sign } from 'node:crypto';
import { encodeSignature, signedLabels, signedOctets } from '../../dns/dnssec/signed-octets.ts';
import type { Name } from '../../dns/name.ts';
import type { RecordSet } from '../zone.ts';
import { SIGNING_ALGORITHM, type SigningKey } from './signing-key.ts';
import type { SignatureTimes } from './validity.ts';

export interface SetToSign {
  readonly set: RecordSet;
  readonly key: SigningKey;
}

interface SignedAs {
  readonly zone: Name;
  readonly times: SignatureTimes;
}

/** Up to this many signatures are made in the calling thread, which takes one or two milliseconds. */
const IN_PLACE = 32;
/** More are made by the threads of Node's pool, this many concurrently. */
const AT_ONCE = 8;

interface Unsigned {
  readonly octets: Uint8Array;
  readonly rdataOf: (signature: Uint8Array) => Uint8Array;
}

/** Returns the rdata of one RRSIG record for each, in the same order. */
export async function signSets(sets: readonly SetToSign[], as: SignedAs): Promise<Uint8Array[]> {
  if (sets.length <= IN_PLACE) return sets.map((one) => signSet(one, as));
  const signatures: Uint8Array[] = new Array(sets.length);
  let next = 0;
  const signNext = async () => {
    while (next < sets.length) {
      const i = next++;
      signatures[i] = await signInPool(sets[i] as SetToSign, as);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, signNext));
  return signatures;
}

export function signSet({ set, key }: SetToSign, as: SignedAs): Uint8Array {
  const { octets, rdataOf } = prepare(set, key, as);
  return rdataOf(sign(digestOf(key), octets, signer(key)));
}

function signInPool({ set, key }: SetToSign, as: SignedAs): Promise<Uint8Array> {
  const { octets, rdataOf } = prepare(set, key, as);
  return new Promise((resolve, reject) => {
    sign(digestOf(key), octets, signer(key), (error, signature) => {
      if (error === null) resolve(rdataOf(signature));
      else reject(error);
    });
  });
}

/** Ed25519 includes hashing (RFC 8032). */
function digestOf({ algorithm }: SigningKey): string | null {
  return algorithm === SIGNING_ALGORITHM.ED25519 ? null : 'sha256';
}

/** r and s are concatenated, not in ASN.1 (RFC 6605 §4). */
function signer({ privateKey }: SigningKey): { key: KeyObject; dsaEncoding: 'ieee-p1363' } {
  return { key: privateKey, dsaEncoding: 'ieee-p1363' };
}

function prepare(set: RecordSet, key: SigningKey, { zone, times }: SignedAs): Unsigned {
  const unsigned = {
    typeCovered: set.type,
    algorithm: key.algorithm,
    labels: signedLabels(set.owner),
    originalTtl: set.ttl,
    expiration: times.expiration >>> 0, // RFC 4034 §3.1.5: modulo 2^32
    inception: times.inception >>> 0,
    keyTag: key.tag,
    signer: zone,
    signature: new Uint8Array(),
  };
  const octets = signedOctets(unsigned, set) as Uint8Array; // the label count comes from the owner
  return { octets, rdataOf: (signature) => encodeSignature({ ...unsigned, signature }) };
}
