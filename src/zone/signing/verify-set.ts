// Checks that a stored set is signed as a strict validator requires: by each algorithm of the zone's keys (RFC 4035
// §2.2), and with only valid signatures of published keys.

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

/** Returns an error message, or undefined if the set is signed correctly. */
export function verifySet(set: RecordSet, { zone, keys, at }: VerifyingZone): string | undefined {
  const missing = new Set(keys.map(({ algorithm }) => algorithm).filter(isKnownAlgorithm));
  if (missing.size === 0) return 'no published key has a known algorithm';
  for (const rdata of set.signatures ?? []) {
    const signature = readSignature(rdata);
    const fault = formFault(signature, set, zone) ?? timeFault(signature, at, () => 0);
    if (fault !== undefined) return fault;
    const ofTag = keys.filter(
      ({ tag, algorithm }) => tag === signature.keyTag && algorithm === signature.algorithm,
    );
    if (ofTag.length === 0) continue; // made before its key was published, or after its removal (RFC 6781 §4.1.4)
    const data = signedOctets(signature, set) as Uint8Array; // the label count comes from the owner
    const isGood = ofTag.some(({ algorithm, publicKey }) =>
      verifySignature(algorithm, { publicKey, data, signature: signature.signature }),
    );
    if (!isGood && isKnownAlgorithm(signature.algorithm))
      return `the signature of key ${signature.keyTag} is not valid`;
    missing.delete(signature.algorithm);
  }
  if (missing.size === 0) return undefined;
  return `there is no signature of a published key with algorithm ${[...missing].join(' and ')}`;
}

function formFault(signature: Signature, set: RecordSet, zone: Name): string | undefined {
  if (foldCase(signature.signer) !== zone) return 'a signature belongs to another zone';
  // A signature with fewer labels belongs to an answer from a wildcard, which is never stored (RFC 4034 §3.1.3).
  if (signature.labels !== signedLabels(set.owner))
    return `a signature has the label count ${signature.labels}`;
  return signature.originalTtl === set.ttl
    ? undefined
    : `a signature was made for the TTL ${signature.originalTtl}`;
}
