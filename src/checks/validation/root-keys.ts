// Reads the root's DNSKEY set for trust anchor rollovers (RFC 5011 §2): the keys validated by its anchors, and the keys
// that revoke themselves.

import { keyTag } from '../../dns/dnssec/key-tag.ts';
import { isKnownAlgorithm } from '../../dns/dnssec/verify-signature.ts';
import { DNSKEY } from '../../dns/record/types/dnssec.ts';
import { WireReader } from '../../dns/record/wire-reader.ts';
import { type ValidationBudget, withinBudget } from './budget.ts';
import type { SignedSet } from './signed-sets.ts';
import { verifySet } from './verify-set.ts';
import { usableDs, validateKeys } from './zone-keys.ts';

export interface RootKeys {
  /** Rdata of the keys that may become anchors. Undefined if no anchor validates the set. */
  readonly present: readonly Uint8Array[] | undefined;
  /**
   * Rdata, without the REVOKE bit, of keys that revoke themselves. Their own signature is sufficient for that (RFC 5011
   * §2.1).
   */
  readonly revoked: readonly Uint8Array[];
}

const ENTRY_POINT = 0x0001;
const REVOKE = 0x0080;
const ZONE_KEY = 0x0100;

/** `anchors`: rdata of DS records. */
export function readRootKeys(
  set: SignedSet,
  anchors: readonly Uint8Array[],
  validating: { readonly at: number; readonly budget: ValidationBudget },
): RootKeys {
  const usable = usableDs(anchors);
  const isSecure = usable.length > 0 && validateKeys(set, usable, validating).kind === 'secure';
  const entries = set.rdata.filter((rdata) => isEntry(rdata));
  const revoked = entries.filter((rdata) => isRevoked(rdata) && signsItself(rdata, set, validating));
  return {
    present: isSecure ? entries.filter((rdata) => !isRevoked(rdata)) : undefined,
    revoked: revoked.map(withoutRevoke),
  };
}

function isEntry(rdata: Uint8Array): boolean {
  const { flags, algorithm } = DNSKEY.decode(new WireReader(rdata));
  return (flags & ZONE_KEY) !== 0 && (flags & ENTRY_POINT) !== 0 && isKnownAlgorithm(algorithm);
}

function isRevoked(rdata: Uint8Array): boolean {
  return ((rdata[1] as number) & REVOKE) !== 0;
}

function signsItself(
  rdata: Uint8Array,
  set: SignedSet,
  validating: { readonly at: number; readonly budget: ValidationBudget },
): boolean {
  const { algorithm, publicKey } = DNSKEY.decode(new WireReader(rdata));
  const keys = [{ tag: keyTag(rdata), algorithm, publicKey }];
  return withinBudget(() => verifySet(set, { zone: set.owner, keys, ...validating })).kind === 'valid';
}

function withoutRevoke(rdata: Uint8Array): Uint8Array {
  const plain = Uint8Array.from(rdata);
  plain[1] = (plain[1] as number) & ~REVOKE;
  return plain;
}
