// Finds the keys that sign a zone, from its DS records or from trust anchors (RFC 4035 §5.2).

import { DIGEST, dsDigest, isKnownDigest } from '../../dns/dnssec/ds-digest.ts';
import { keyTag } from '../../dns/dnssec/key-tag.ts';
import { isKnownAlgorithm } from '../../dns/dnssec/verify-signature.ts';
import type { Name } from '../../dns/name.ts';
import { DNSKEY, DS } from '../../dns/record/types/dnssec.ts';
import { WireReader } from '../../dns/record/wire-reader.ts';
import { MAX_DS, MAX_KEYS, OverBudget, type ValidationBudget, withinBudget } from './budget.ts';
import type { SignedSet } from './signed-sets.ts';
import { verifySet } from './verify-set.ts';

export interface ZoneKey {
  readonly tag: number;
  readonly algorithm: number;
  readonly publicKey: Uint8Array;
  /** Complete rdata of the DNSKEY record. */
  readonly rdata: Uint8Array;
}

/** Parsed rdata of a DS record. */
type KeyDigest = ReturnType<typeof DS.decode>;

/** `until`: when a signature or TTL ends, in seconds since 1970. */
export type KeysResult =
  | { readonly kind: 'secure'; readonly keys: readonly ZoneKey[]; readonly until: number }
  | { readonly kind: 'bogus' | 'limit'; readonly reason: string };

const ZONE_KEY = 0x0100;
const REVOKED = 0x0080;

/**
 * Returns the DS records that count. If there are none, the zone is insecure because its algorithms or digests are unknown
 * (RFC 4035 §5.2, RFC 6840 §5.2). SHA-1 counts only if there is no better digest (RFC 4509 §3).
 */
export function usableDs(ds: readonly Uint8Array[]): readonly KeyDigest[] {
  const usable = ds
    .map((rdata) => DS.decode(new WireReader(rdata)))
    .filter(({ algorithm, digestType }) => isKnownAlgorithm(algorithm) && isKnownDigest(digestType));
  const strong = usable.filter(({ digestType }) => digestType !== DIGEST.SHA1);
  return strong.length > 0 ? strong : usable;
}

/** `set` is the zone's DNSKEY set. `ds` contains at least one usable record. */
export function validateKeys(
  set: SignedSet,
  ds: readonly KeyDigest[],
  { at, budget }: { readonly at: number; readonly budget: ValidationBudget },
): KeysResult {
  return withinBudget((): KeysResult => {
    const keys = set.rdata.flatMap(readKey);
    const entries = [...new Set(ds.slice(0, MAX_DS).flatMap((each) => keysOf(each, set.owner, keys)))];
    if (entries.length === 0) {
      if (ds.length > MAX_DS) throw new OverBudget(`${ds.length} DS records`);
      return { kind: 'bogus', reason: 'no key matches its DS records' };
    }
    const verified = verifySet(set, { zone: set.owner, keys: entries, at, budget });
    if (verified.kind === 'bogus') return verified;
    return { kind: 'secure', keys, until: verified.until };
  });
}

/** Ignores keys without the zone flag (RFC 4034 §2.1.1) and revoked keys (RFC 5011 §2.1). */
function readKey(rdata: Uint8Array): ZoneKey[] {
  const { flags, algorithm, publicKey } = DNSKEY.decode(new WireReader(rdata));
  if ((flags & ZONE_KEY) === 0 || (flags & REVOKED) !== 0 || !isKnownAlgorithm(algorithm)) return [];
  return [{ tag: keyTag(rdata), algorithm, publicKey, rdata }];
}

function keysOf(ds: KeyDigest, zone: Name, keys: readonly ZoneKey[]): readonly ZoneKey[] {
  const candidates = keys.filter(({ tag, algorithm }) => tag === ds.keyTag && algorithm === ds.algorithm);
  const found = candidates.slice(0, MAX_KEYS).filter(({ rdata }) => {
    const digest = dsDigest(zone, rdata, ds.digestType);
    return digest !== undefined && Buffer.compare(digest, ds.digest) === 0;
  });
  if (found.length === 0 && candidates.length > MAX_KEYS)
    throw new OverBudget(`${candidates.length} keys with tag ${ds.keyTag}`);
  return found;
}
