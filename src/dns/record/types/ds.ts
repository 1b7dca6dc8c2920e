// The digest of a child zone's key (RFC 4034 §5).

import { TYPE } from '../../type-codes.ts';
import { hex, u8, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';
import { securityAlgorithm } from '../security-algorithm.ts';

/** CDS has the same rdata (RFC 7344 §3.1). */
export const delegationDigest = { keyTag: u16, algorithm: securityAlgorithm, digestType: u8, digest: hex };

/** SHA-1, SHA-256 (RFC 4509), GOST (RFC 5933), SHA-384 (RFC 6605). */
const DIGEST_OCTETS: Readonly<Record<number, number>> = { 1: 20, 2: 32, 3: 32, 4: 48 };

export function checkDigest(ds: { digestType: number; digest: Uint8Array }) {
  if (ds.digestType === 0) return { field: 'digestType', message: 'digest type 0 is reserved' }; // RFC 3658 §2.4
  const octets = DIGEST_OCTETS[ds.digestType];
  if (octets === undefined || octets === ds.digest.length) return undefined;
  const message = `digest type ${ds.digestType} has ${octets} octets, here are ${ds.digest.length}`;
  return { field: 'digest', message };
}

export const DS = recordType(TYPE.DS, delegationDigest, { check: checkDigest });
