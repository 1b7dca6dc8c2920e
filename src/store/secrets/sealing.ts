// Seals stored secrets with AES-256-GCM and a random nonce. Kind and owner of the secret are authenticated, so a sealed
// text that is moved to another row cannot be opened.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
export const KEY_OCTETS = 32;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;

/** Returns nonce, tag and ciphertext. `unseal` requires the same `about`. */
export function seal(key: Uint8Array, plain: Uint8Array, about: readonly string[]): Buffer {
  const nonce = randomBytes(NONCE_OCTETS);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bound(about));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

/** Returns undefined if the text was sealed with another key or `about`, or was changed. */
export function unseal(key: Uint8Array, sealed: Uint8Array, about: readonly string[]): Buffer | undefined {
  if (sealed.length < NONCE_OCTETS + TAG_OCTETS) return undefined;
  const nonce = sealed.subarray(0, NONCE_OCTETS);
  const tag = sealed.subarray(NONCE_OCTETS, NONCE_OCTETS + TAG_OCTETS);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_OCTETS });
  decipher.setAAD(bound(about)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_OCTETS + TAG_OCTETS)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Derives a separate key for each secret (RFC 5869), so that no key seals many texts. */
export function deriveKey(key: Uint8Array, about: readonly string[]): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), bound(about), KEY_OCTETS));
}

/** Encodes the parts unambiguously as octets. */
function bound(parts: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(parts));
}
