// Whether every signature of a set of a reply is one of the zone (RFC 4035 §5.3).

import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { signedOctets } from '../../../src/dns/dnssec/signed-octets.ts';
import { verifySignature } from '../../../src/dns/dnssec/verify-signature.ts';
import { foldCase, isWithin, labelsOf, type Name, printName } from '../../../src/dns/name.ts';
import { DNSKEY } from '../../../src/dns/record/types/dnskey.ts';
import { RRSIG } from '../../../src/dns/record/types/rrsig.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { Bogus } from './bogus.ts';
import type { ReadSignature, ReplySet } from './reply-sets.ts';

/** What a validator knows beforehand. */
export interface TrustedZone {
  /** Folded. */
  readonly apex: Name;
  /** Rdata of its DNSKEY records. */
  readonly keys: readonly Uint8Array[];
  /** Seconds since 1970. */
  readonly at: number;
}

interface Verified {
  /** The labels that were signed. */
  readonly labels: number;
  /** The set was made from a wildcard. */
  readonly isExpanded: boolean;
}

/** Throws Bogus, also when only one of several signatures is wrong: a server sends no wrong ones. */
export function verifyReplySet(set: ReplySet, zone: TrustedZone): Verified {
  const what = `${printName(set.owner)} ${typeMnemonic(set.type)}`;
  if (set.signatures.length === 0) throw new Bogus(`${what}: no signature`);
  if (!isWithin(set.owner, zone.apex)) throw new Bogus(`${what}: not in the zone`);
  const ownLabels = labelsOfOwner(set.owner);
  for (const signature of set.signatures) {
    const fault = faultOf(signature, set, zone, ownLabels);
    if (fault !== undefined) throw new Bogus(`${what}: ${fault}`);
  }
  const { labels } = set.signatures[0] as ReadSignature;
  return { labels, isExpanded: labels < ownLabels };
}

/** The same of a set of RRSIG, which nobody signs. */
export function signedLabelsIn({ owner, rdata }: ReplySet): Verified {
  const { labels } = RRSIG.decode(new WireReader(rdata[0] as Uint8Array));
  return { labels, isExpanded: labels < labelsOfOwner(owner) };
}

function labelsOfOwner(owner: Name): number {
  const labels = labelsOf(owner);
  return labels[0] === '*' ? labels.length - 1 : labels.length;
}

function faultOf(
  signature: ReadSignature,
  set: ReplySet,
  { apex, keys, at }: TrustedZone,
  ownLabels: number,
): string | undefined {
  if (foldCase(signature.signer) !== apex) return 'another zone signed it';
  if (signature.labels > ownLabels) return 'the signature has too many labels';
  if (at < signature.inception || at > signature.expiration) return 'the signature is not valid now';
  if (set.ttl > signature.originalTtl) return 'the TTL is above the original one';
  const data = signedOctets(signature, set);
  const isRight = keys.some((rdata) => {
    const { algorithm, publicKey } = DNSKEY.decode(new WireReader(rdata));
    if (keyTag(rdata) !== signature.keyTag || algorithm !== signature.algorithm || data === undefined)
      return false;
    return isRightSignature(algorithm, { publicKey, data, signature: signature.signature });
  });
  return isRight ? undefined : 'the signature is wrong';
}

const verified = new Set<string>();

/** Computes each signature once: tests validate the same sets in many replies. */
function isRightSignature(algorithm: number, parts: Parameters<typeof verifySignature>[1]): boolean {
  const { publicKey, data, signature } = parts;
  const key = Buffer.concat([Buffer.of(algorithm), publicKey, signature, data]).toString('latin1');
  if (verified.has(key)) return true;
  const isRight = verifySignature(algorithm, parts);
  if (isRight) verified.add(key);
  return isRight;
}
