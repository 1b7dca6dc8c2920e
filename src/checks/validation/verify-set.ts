// Checks if a record set has a valid signature of its zone (RFC 4035 §5.3).

import { secondsBetween, timeFault } from '../../dns/dnssec/signature-time.ts';
import { type Signature, signedLabels, signedOctets } from '../../dns/dnssec/signed-octets.ts';
import { isKnownAlgorithm } from '../../dns/dnssec/verify-signature.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import { MAX_KEYS, MAX_SIGNATURES, OverBudget, type ValidationBudget } from './budget.ts';
import type { SignedSet } from './signed-sets.ts';

/** The parts of a key needed for verification. */
interface VerifyingKey {
  readonly tag: number;
  readonly algorithm: number;
  readonly publicKey: Uint8Array;
}

interface Verifying {
  readonly zone: Name;
  readonly keys: readonly VerifyingKey[];
  /** Seconds since 1970. */
  readonly at: number;
  readonly budget: ValidationBudget;
}

type SetResult =
  | {
      readonly kind: 'valid';
      /** When the set expires, in seconds since 1970 (RFC 4035 §5.3.3). */
      readonly until: number;
      /** Number of labels in the signature (RFC 4034 §3.1.3). */
      readonly labels: number;
      /** True if the set was generated from a wildcard, because the owner has more labels (RFC 4035 §5.3.4). */
      readonly isExpanded: boolean;
    }
  | { readonly kind: 'bogus'; readonly reason: string };

/** Tolerated clock error: a tenth of the signature's lifetime, within these limits in seconds. */
const SKEW_SHARE = 0.1;
const MIN_SKEW_SECONDS = 3600;
const MAX_SKEW_SECONDS = 86_400;

/** Throws OverBudget. `zone` is folded. */
export function verifySet(set: SignedSet, { zone, keys, at, budget }: Verifying): SetResult {
  const usable = set.signatures.filter((signature) => mayCount(signature, set, zone));
  let reason = set.signatures.length === 0 ? 'there is no signature' : 'no signature was made by the zone';
  for (const signature of usable.slice(0, MAX_SIGNATURES)) {
    const fault = timeFault(signature, at, skewOf);
    if (fault !== undefined) {
      reason = fault;
      continue;
    }
    const candidates = keys.filter(
      ({ tag, algorithm }) => tag === signature.keyTag && algorithm === signature.algorithm,
    );
    if (candidates.length === 0) {
      reason = 'no signature matches a key of the zone';
      continue;
    }
    const data = signedOctets(signature, set) as Uint8Array; // mayCount checked the number of labels
    const isValid = candidates
      .slice(0, MAX_KEYS)
      .some(({ algorithm, publicKey }) =>
        budget.verify(algorithm, { publicKey, data, signature: signature.signature }),
      );
    if (isValid) {
      const { labels } = signature;
      const isExpanded = labels < signedLabels(set.owner);
      return { kind: 'valid', until: endOf(set, signature, at), labels, isExpanded };
    }
    if (candidates.length > MAX_KEYS)
      throw new OverBudget(`${candidates.length} keys with tag ${signature.keyTag}`);
    reason = 'a signature is invalid';
  }
  if (usable.length > MAX_SIGNATURES) throw new OverBudget(`${usable.length} signatures of one set`);
  return { kind: 'bogus', reason };
}

function mayCount(signature: Signature, { owner }: SignedSet, zone: Name): boolean {
  return (
    foldCase(signature.signer) === zone &&
    signature.labels <= signedLabels(owner) &&
    isKnownAlgorithm(signature.algorithm)
  );
}

function skewOf(life: number): number {
  return Math.min(MAX_SKEW_SECONDS, Math.max(MIN_SKEW_SECONDS, life * SKEW_SHARE));
}

function endOf({ ttl }: SignedSet, { originalTtl, expiration }: Signature, at: number): number {
  return at + Math.max(0, Math.min(ttl, originalTtl, secondsBetween(at, expiration)));
}
