// The digests of DS records: SHA-1 (RFC 4034 §5.1.4), SHA-256 (RFC 4509) and SHA-384 (RFC 6605). GOST is not supported
// (RFC 8624 §3.3).

import { createHash } from 'node:crypto';
import { encodeName, foldCase, type Name } from '../name.ts';

export const DIGEST = { SHA1: 1, SHA256: 2, SHA384: 4 } as const;

const HASHES: ReadonlyMap<number, string> = new Map<number, string>([
  [DIGEST.SHA1, 'sha1'],
  [DIGEST.SHA256, 'sha256'],
  [DIGEST.SHA384, 'sha384'],
]);

export function isKnownDigest(digestType: number): boolean {
  return HASHES.has(digestType);
}

/** Returns undefined for an unknown digest type. `dnskey` is the rdata. */
export function dsDigest(owner: Name, dnskey: Uint8Array, digestType: number): Uint8Array | undefined {
  const hash = HASHES.get(digestType);
  if (hash === undefined) return undefined;
  return createHash(hash)
    .update(encodeName(foldCase(owner)))
    .update(dnskey)
    .digest();
}
