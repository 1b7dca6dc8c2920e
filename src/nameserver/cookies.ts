// Server cookies that every node of a fleet understands (RFC 7873, RFC 9018): version 1, signed with the first secret,
// accepted under each of them, so that secrets can be rolled over without a gap.

import { sipHash } from './sip-hash.ts';

/**
 * What the COOKIE option of a query proves. `fresh`: a valid server cookie that may be sent back as it is; `renew`:
 * valid, but old or signed with another secret than the first.
 */
export type CookieVerdict = 'client-only' | 'invalid' | 'fresh' | 'renew';

export const CLIENT_COOKIE_OCTETS = 8;
export const SERVER_COOKIE_OCTETS = 16;

const SECRET_OCTETS = 16;
const VERSION = 1;
// RFC 9018 §4.3
const MAX_AGE_SECONDS = 3600;
const MAX_FUTURE_SECONDS = 300;
const RENEW_AGE_SECONDS = 1800;

/** 32 hexadecimal digits as the 16 octets of a secret, undefined for anything else. */
export function parseCookieSecret(hex: string): Uint8Array | undefined {
  return /^[0-9a-fA-F]{32}$/.test(hex) ? Uint8Array.from(Buffer.from(hex, 'hex')) : undefined;
}

/** Times are seconds modulo 2^32, the client's address has 4 or 16 octets at `fromAt`. */
export class Cookies {
  readonly #secrets: readonly [Uint8Array, ...Uint8Array[]];
  /** Client cookie, version, reserved, timestamp, client address: what is hashed (RFC 9018 §4.4). */
  readonly #input = new Uint8Array(32);
  readonly #hash = new Uint8Array(8);

  constructor(secrets: readonly Uint8Array[]) {
    const [first, ...others] = secrets;
    if (first === undefined || secrets.some((secret) => secret.length !== SECRET_OCTETS)) {
      throw new RangeError('cookies need at least one secret of 16 octets');
    }
    this.#secrets = [first, ...others];
  }

  /** Judges the option value of `octets` (8, or 16 to 40) at `at`. */
  judge(
    option: Uint8Array,
    at: number,
    octets: number,
    from: Uint8Array,
    fromAt: number,
    fromOctets: number,
    nowSeconds: number,
  ): CookieVerdict {
    if (octets === CLIENT_COOKIE_OCTETS) return 'client-only';
    const server = at + CLIENT_COOKIE_OCTETS;
    if (octets !== CLIENT_COOKIE_OCTETS + SERVER_COOKIE_OCTETS || option[server] !== VERSION)
      return 'invalid';
    // Serial number arithmetic: the timestamp has 32 bits and wraps (RFC 9018 §4.3).
    const age = (nowSeconds - read32(option, server + 4)) | 0;
    if (age > MAX_AGE_SECONDS || age < -MAX_FUTURE_SECONDS) return 'invalid';
    // The reserved octets are hashed as they came.
    for (let i = 0; i < 16; i++) this.#input[i] = option[at + i] as number;
    const secrets = this.#secrets;
    for (let i = 0; i < secrets.length; i++) {
      this.#hashInput(secrets[i] as Uint8Array, from, fromAt, fromOctets);
      if (this.#isHash(option, server + 8)) return i === 0 && age <= RENEW_AGE_SECONDS ? 'fresh' : 'renew';
    }
    return 'invalid';
  }

  /** Writes a new server cookie, 16 octets, for the client cookie at `at`. */
  sign(
    option: Uint8Array,
    at: number,
    from: Uint8Array,
    fromAt: number,
    fromOctets: number,
    nowSeconds: number,
    out: Uint8Array,
    outAt: number,
  ): void {
    const input = this.#input;
    for (let i = 0; i < CLIENT_COOKIE_OCTETS; i++) input[i] = option[at + i] as number;
    input[8] = VERSION;
    input[9] = input[10] = input[11] = 0;
    input[12] = nowSeconds >>> 24;
    input[13] = nowSeconds >>> 16;
    input[14] = nowSeconds >>> 8;
    input[15] = nowSeconds;
    this.#hashInput(this.#secrets[0], from, fromAt, fromOctets);
    for (let i = 0; i < 8; i++) {
      out[outAt + i] = input[8 + i] as number;
      out[outAt + 8 + i] = this.#hash[i] as number;
    }
  }

  #hashInput(secret: Uint8Array, from: Uint8Array, fromAt: number, fromOctets: number): void {
    for (let i = 0; i < fromOctets; i++) this.#input[16 + i] = from[fromAt + i] as number;
    sipHash(secret, this.#input, 16 + fromOctets, this.#hash, 0);
  }

  #isHash(option: Uint8Array, at: number): boolean {
    let difference = 0;
    for (let i = 0; i < 8; i++) difference |= (option[at + i] as number) ^ (this.#hash[i] as number);
    return difference === 0;
  }
}

function read32(octets: Uint8Array, at: number): number {
  return (
    ((octets[at] as number) << 24) |
    ((octets[at + 1] as number) << 16) |
    ((octets[at + 2] as number) << 8) |
    (octets[at + 3] as number)
  );
}
