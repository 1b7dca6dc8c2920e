// Limits the cost of validation in one check. Zone owners choose how many keys share a tag and how many signatures a set
// has (KeyTrap, CVE-2023-50387), and how often their names are hashed (CVE-2023-50868), so every amount is bounded.

import { createHash } from 'node:crypto';
import { nsec3Hash } from '../../dns/dnssec/nsec3-hash.ts';
import { verifySignature } from '../../dns/dnssec/verify-signature.ts';
import type { Name } from '../../dns/name.ts';

/** Maximum number of keys with the same tag that are tried for one signature or DS. */
export const MAX_KEYS = 4;
/** Maximum number of signatures of one set that are tried. */
export const MAX_SIGNATURES = 8;
/** Maximum number of DS records of one zone that are compared with keys. */
export const MAX_DS = 16;
/** Maximum number of signatures that one check verifies. */
const MAX_VALIDATIONS = 16;
/** A zone with more iterations counts as insecure (RFC 9276 §3.2). */
export const MAX_ITERATIONS = 100;
/** Maximum number of names that one check hashes for NSEC3. */
const MAX_HASHES = 48;

/** Thrown if one more step would exceed a limit: nothing can be concluded. */
export class OverBudget extends Error {
  override readonly name = 'OverBudget';
}

interface LimitReached {
  readonly kind: 'limit';
  readonly reason: string;
}

/** Returns the result, or reports that a limit was reached. */
export function withinBudget<R>(validate: () => R): R | LimitReached {
  try {
    return validate();
  } catch (error) {
    if (error instanceof OverBudget) return { kind: 'limit', reason: error.message };
    throw error;
  }
}

export class ValidationBudget {
  #validations = 0;
  #hashes = 0;
  /** Several servers send the same records, which are verified only once. */
  readonly #verified = new Map<string, boolean>();
  readonly #hashed = new Map<string, Uint8Array>();

  /** Number of verified signatures. */
  get validations(): number {
    return this.#validations;
  }

  /** Throws OverBudget. */
  verify(
    algorithm: number,
    parts: Readonly<Record<'publicKey' | 'data' | 'signature', Uint8Array>>,
  ): boolean {
    const { publicKey, data, signature } = parts;
    const hash = createHash('sha256').update(data).digest('base64');
    const key = `${algorithm} ${latin1(publicKey)} ${latin1(signature)} ${hash}`;
    const known = this.#verified.get(key);
    if (known !== undefined) return known;
    if (this.#validations >= MAX_VALIDATIONS) throw new OverBudget('too many signatures to verify');
    this.#validations++;
    const isValid = verifySignature(algorithm, parts);
    this.#verified.set(key, isValid);
    return isValid;
  }

  /** Throws OverBudget. `iterations` is at most MAX_ITERATIONS. */
  hash(name: Name, salt: Uint8Array, iterations: number): Uint8Array {
    const key = `${iterations} ${latin1(salt)} ${name}`;
    const known = this.#hashed.get(key);
    if (known !== undefined) return known;
    if (this.#hashes >= MAX_HASHES) throw new OverBudget('too many names to hash');
    this.#hashes++;
    const hash = nsec3Hash(name, salt, iterations);
    this.#hashed.set(key, hash);
    return hash;
  }
}

function latin1(octets: Uint8Array): string {
  return Buffer.from(octets).toString('latin1');
}
