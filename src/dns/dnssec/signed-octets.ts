// The octets that are signed: the signature's rdata without the signature, then the records of the set in canonical
// form and order (RFC 4034 §3.1.8.1, §6.3). Signers and validators share this code.

import { encodeName, foldCase, isWildcard, labelCount, type Name, parentOf, wildcardBelow } from '../name.ts';
import { encodeNumber } from '../record/fields.ts';
import { RRSIG } from '../record/types/dnssec.ts';
import { WireReader } from '../record/wire-reader.ts';
import { CLASS } from '../type-codes.ts';
import { canonicalRdata } from './canonical-rdata.ts';

export interface RecordSet {
  readonly owner: Name;
  readonly type: number;
  /** In any order; duplicates are ignored. */
  readonly rdata: readonly Uint8Array[];
}

export type Signature = ReturnType<typeof RRSIG.decode>;

/** @param rdata well formed */
export function readSignature(rdata: Uint8Array): Signature {
  return RRSIG.decode(new WireReader(rdata));
}

/** Returns the number of labels for a signature: without the root and a leading asterisk (RFC 4034 §3.1.3). */
export function signedLabels(owner: Name): number {
  return labelCount(owner) - (isWildcard(owner) ? 1 : 0);
}

/** Returns undefined if the signature counts more labels than the owner has (RFC 4035 §5.3.1), or the name is too long. */
export function signedOctets(
  signature: Signature,
  { owner, type, rdata }: RecordSet,
): Uint8Array | undefined {
  const name = signedOwner(foldCase(owner), signature.labels);
  if (name === undefined) return undefined;
  const head = RRSIG.encode({
    ...signature,
    signer: foldCase(signature.signer),
    signature: new Uint8Array(),
  });
  const before = Buffer.concat([
    encodeName(name),
    encodeNumber(type, 2),
    encodeNumber(CLASS.IN, 2),
    encodeNumber(signature.originalTtl, 4),
  ]);
  const sorted = rdata.map((octets) => canonicalRdata(type, octets)).sort(Buffer.compare);
  const parts: Uint8Array[] = [head];
  for (const [i, octets] of sorted.entries()) {
    const last = sorted[i - 1];
    if (last !== undefined && Buffer.compare(last, octets) === 0) continue;
    parts.push(before, encodeNumber(octets.length, 2), octets);
  }
  return Buffer.concat(parts);
}

/** Returns the owner that was signed: the wildcard if the answer was synthesized from one (RFC 4035 §5.3.2). */
function signedOwner(owner: Name, labels: number): Name | undefined {
  let left = signedLabels(owner);
  if (labels > left) return undefined;
  if (labels === left) return owner;
  let name = isWildcard(owner) ? parentOf(owner) : owner;
  for (; left > labels; left--) name = parentOf(name);
  return wildcardBelow(name);
}
