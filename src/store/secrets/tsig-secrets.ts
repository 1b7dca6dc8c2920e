// Seals the secrets of TSIG keys with TSIG_SECRETS. They are sealed without boxes (key-boxes.ts), because nodes open them,
// and must not be able to open private keys of DNSSEC.

import type { KeySecret } from './key-boxes.ts';
import { seal, unseal } from './sealing.ts';

export interface SealedTsigKey {
  /** Name of the TSIG key: folded text with the final dot. */
  readonly name: string;
  /** Name of the secret in TSIG_SECRETS that seals the key. */
  readonly wrap: string;
  readonly sealed: Uint8Array;
}

/** Seals with the first secret. Returns undefined if there is none. */
export function sealTsigKey(
  [first]: readonly KeySecret[],
  name: string,
  secret: Uint8Array,
): SealedTsigKey | undefined {
  return first && { name, wrap: first.name, sealed: seal(first.secret, secret, aboutKey(name)) };
}

/** Returns undefined if the secrets do not open the key. */
export function unsealTsigKey(
  secrets: readonly KeySecret[],
  { name, wrap, sealed }: SealedTsigKey,
): Buffer | undefined {
  const found = secrets.find((secret) => secret.name === wrap);
  return found && unseal(found.secret, sealed, aboutKey(name));
}

function aboutKey(name: string): string[] {
  return ['tsig', name];
}
