// Secrets that people and programs present: a prefix that tells what it is, and random base62 characters. Only the hash is
// stored.

import { createHash, randomInt } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 256 random bits. */
const CHARACTERS = 43;

type SecretPrefix = 'ses_' | 'lnk_' | 'dev_' | 'inv_' | 'edge_';

export function makeSecretText(prefix: SecretPrefix): string {
  return prefix + randomBase62(CHARACTERS);
}

export function isSecretText(prefix: SecretPrefix, text: string): boolean {
  return text.startsWith(prefix) && /^[0-9A-Za-z]{43}$/.test(text.slice(prefix.length));
}

export function randomBase62(characters: number): string {
  let text = '';
  for (let i = 0; i < characters; i++) text += BASE62[randomInt(BASE62.length)];
  return text;
}

/** The texts are random and long: no salt and no slow hash are needed. */
export function hashSecret(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
