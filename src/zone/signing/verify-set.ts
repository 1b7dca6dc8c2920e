// Whether a stored set is signed as a validator that takes nothing on trust wants it: by each algorithm of the zone's keys
// (RFC 4035 §2.2), and each signature of a published key is good.

import { timeFault } from '../../dns/dnssec/signature-time.ts';
import { readSignature, type Signature, signedLabels, signedOctets } from '../../dns/dnssec/signed-octets.ts';
import { isKnownAlgorithm, verifySignature } from '../../dns/dnssec/verify-signature.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import type { RecordSet } from '../zone.ts';

/** A published key of the zone. */
export interface PublishedKey {
  readonly tag: number;
  readonly algorithm: number;
  readonly publicKey: Uint8Array;
}

interface VerifyingZone {
  readonly zone: Name;
  readonly keys: readonly PublishedKey[];
  /** Seconds since 1970. */
  readonly at: number;
}

/** What is wrong, in words; undefined: nothing. */
export function verifySet(set: RecordSet, { zone, keys, at }: VerifyingZone): string | undefined {
  const missing = new Set(keys.map(({ algorithm }) => algorithm).filter(isKnownAlgorithm));
  if (missing.size === 0) return 'no key is published whose algorithm is known';
  for (const rdata of set.signatures ?? []) {
    const signature = readSignature(rdata);
    const fault = formFault(signature, set, zone) ?? timeFault(signature, at, () => 0);
    if (fault !== undefined) return fault;
    const ofTag = keys.filter(
      ({ tag, algorithm }) => tag === signature.keyTag && algorithm === signature.algorithm,
    );
    if (ofTag.length === 0) continue; // made before its key is published, or after (RFC 6781 §4.1.4)
    const data = signedOctets(signature, set) as Uint8Array; // it counts the owner's labels
    const isGood = ofTag.some(({ algorithm, publicKey }) =>
      verifySignature(algorithm, { publicKey, data, signature: signature.signature }),
    );
    if (!isGood && isKnownAlgorithm(signature.algorithm))
      return `the signature of key ${signature.keyTag} is wrong`;
    missing.delete(signature.algorithm);
  }
  if (missing.size === 0) return undefined;
  return `there is no signature of a published key with algorithm ${[...missing].join(' and ')}`;
}

function formFault(signature: Signature, set: RecordSet, zone: Name): string | undefined {
  if (foldCase(signature.signer) !== zone) return 'a signature is of another zone';
  // Fewer labels are an answer made from a wildcard, which no zone holds (RFC 4034 §3.1.3).
  if (signature.labels !== signedLabels(set.owner)) return `a signature counts ${signature.labels} labels`;
  return signature.originalTtl === set.ttl
    ? undefined
    : `a signature is over the TTL ${signature.originalTtl}`;
}
