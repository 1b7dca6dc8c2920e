// Time-based one-time passwords (RFC 6238) and recovery codes. Pure functions, except for the random secrets.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_MS = 30_000;
const DIGITS = 6;
/** RFC 6238 §5.2: one step before and after, for clock differences and transmission delays. */
const STEPS_AROUND = [0, -1, 1];
const SECRET_OCTETS = 20; // RFC 4226 §4, R6
const RECOVERY_CODES = 10;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'; // RFC 4648 §6

export function makeTotpSecret(): Buffer {
  return randomBytes(SECRET_OCTETS);
}

/** Encodes without padding, as authenticator apps expect it. */
export function base32(octets: Uint8Array): string {
  const bits = [...octets].map((octet) => octet.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

/** Returns the URI with which an authenticator app imports the secret. */
export function totpUri(secret: Uint8Array, email: string): string {
  const label = `${encodeURIComponent('Zonefleet')}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=Zonefleet&algorithm=SHA1&digits=6&period=30`;
}

function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac[19] as number) & 0x0f; // RFC 4226 §5.3
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Returns the step of the code, or undefined if it belongs to none that is later than the last used one. */
export function findStep(
  secret: Uint8Array,
  code: string,
  nowMs: number,
  lastStep: number,
): number | undefined {
  if (!/^[0-9]{6}$/.test(code)) return undefined;
  const now = Math.floor(nowMs / STEP_MS);
  const fits = STEPS_AROUND.map((around) => now + around).filter((step) =>
    timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(code)),
  );
  return fits.find((step) => step > lastStep);
}

/** Returns ten codes of 80 bits each: `abcd-efgh-ijkl-mnop`. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    (base32(randomBytes(10)).toLowerCase().match(/.{4}/g) as string[]).join('-'),
  );
}

export function isRecoveryCode(text: string): boolean {
  return /^[a-z2-7]{16}$/.test(plain(text));
}

export function hashRecoveryCode(text: string): Buffer {
  return createHash('sha256').update(plain(text)).digest();
}

function plain(code: string): string {
  return code.replaceAll(/[\s-]/g, '').toLowerCase();
}
