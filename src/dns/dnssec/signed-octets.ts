// The octets that are signed: the signature's rdata without the signature, then the records of the set in canonical
// form and order (RFC 4034 §3.1.8.1, §6.3). Signers and validators share this code.

import { foldCase, isWildcard, labelCount, type Name, parentOf, wildcardBelow } from '../name.ts';
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

/** Reads the fields of RRSIG rdata that determine how long it can be kept, without decoding the others. */
export function readKeeping(
  rdata: Uint8Array,
): Pick<Signature, 'algorithm' | 'originalTtl' | 'expiration' | 'keyTag'> {
  const view = new DataView(rdata.buffer, rdata.byteOffset);
  return {
    algorithm: view.getUint8(2),
    originalTtl: view.getUint32(4),
    expiration: view.getUint32(8),
    keyTag: view.getUint16(16),
  };
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
  const head = signatureHead(signature, foldCase(signature.signer));
  const before = recordHead(name, type, signature.originalTtl);
  const sorted = rdata.map((octets) => canonicalRdata(type, octets)).sort(Buffer.compare);
  const parts: Uint8Array[] = [head];
  for (const [i, octets] of sorted.entries()) {
    const last = sorted[i - 1];
    if (last !== undefined && Buffer.compare(last, octets) === 0) continue;
    parts.push(before, Uint8Array.of(octets.length >> 8, octets.length & 0xff), octets);
  }
  return Buffer.concat(parts);
}

/** Number of octets before the signer's name in RRSIG rdata (RFC 4034 §3.1). */
const NUMBERS_OCTETS = 18;

/** Returns RRSIG rdata. Signers call it for each signature, so it does not use the general encoder. */
export function encodeSignature(signature: Signature): Uint8Array {
  const head = signatureHead(signature, signature.signer);
  const rdata = new Uint8Array(head.length + signature.signature.length);
  rdata.set(head);
  rdata.set(signature.signature, head.length);
  return rdata;
}

function signatureHead(
  { typeCovered, algorithm, labels, originalTtl, expiration, inception, keyTag }: Signature,
  signer: Name,
): Uint8Array {
  const head = Buffer.allocUnsafe(NUMBERS_OCTETS + signer.length);
  head.writeUInt16BE(typeCovered, 0);
  head[2] = algorithm;
  head[3] = labels;
  head.writeUInt32BE(originalTtl, 4);
  head.writeUInt32BE(expiration, 8);
  head.writeUInt32BE(inception, 12);
  head.writeUInt16BE(keyTag, 16);
  head.write(signer, NUMBERS_OCTETS, 'latin1');
  return head;
}

function recordHead(owner: Name, type: number, ttl: number): Uint8Array {
  const head = Buffer.allocUnsafe(owner.length + 8);
  head.write(owner, 0, 'latin1');
  head.writeUInt16BE(type, owner.length);
  head.writeUInt16BE(CLASS.IN, owner.length + 2);
  head.writeUInt32BE(ttl, owner.length + 4);
  return head;
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
