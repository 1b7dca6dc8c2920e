// Server cookies that are valid on every node of a fleet (RFC 7873, RFC 9018). They have version 1, are signed with the
// first secret and accepted under each, so that secrets can be rolled over without interruption.

import type { Client } from './client.ts';
import { sipHash } from './sip-hash.ts';

/**
 * What the COOKIE option of a query proves. `fresh`: a valid server cookie that can be returned unchanged. `renew`:
 * valid, but old or not signed with the first secret.
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

/** Number of verified cookies that are remembered. A resolver sends the same cookie for half an hour. */
const MEMORIES = 1024;
/** Words of an entry: those of the client and server cookie, those of the address, its length, the index of the secret. */
const MEMORY = { ADDRESS: 6, OCTETS: 10, SECRET: 11 } as const;
const MEMORY_WORDS = 12;

/** Times are seconds modulo 2^32. */
export class Cookies {
  /** The first secret signs new cookies; all of them are accepted. */
  readonly #secrets: readonly DataView[];
  /** Hash input: client cookie, version, reserved octets, timestamp, client address (RFC 9018 §4.4). */
  readonly #input = new DataView(new ArrayBuffer(32));
  readonly #hash = new DataView(new ArrayBuffer(8));
  /** The last verified cookie for each value of the low bits of its hash. */
  readonly #memory = new Int32Array(MEMORIES * MEMORY_WORDS);

  constructor(secrets: readonly Uint8Array[]) {
    if (secrets.length === 0 || secrets.some((secret) => secret.length !== SECRET_OCTETS)) {
      throw new RangeError('cookies require secrets of 16 octets');
    }
    this.#secrets = secrets.map((secret) => new DataView(Uint8Array.from(secret).buffer));
  }

  /** Checks the option value of `octets` octets (8, or 16 to 40) at `at`. */
  judge(option: DataView, at: number, octets: number, client: Client, nowSeconds: number): CookieVerdict {
    if (octets === CLIENT_COOKIE_OCTETS) return 'client-only';
    const server = at + CLIENT_COOKIE_OCTETS;
    if (octets !== CLIENT_COOKIE_OCTETS + SERVER_COOKIE_OCTETS || option.getUint8(server) !== VERSION)
      return 'invalid';
    // Serial number arithmetic: the timestamp has 32 bits and wraps (RFC 9018 §4.3).
    const age = (nowSeconds - option.getInt32(server + 4)) | 0;
    if (age > MAX_AGE_SECONDS || age < -MAX_FUTURE_SECONDS) return 'invalid';
    const memory = (option.getInt32(server + 12) & (MEMORIES - 1)) * MEMORY_WORDS;
    if (this.#remembers(memory, option, at, client))
      return this.#verdict(this.#memory[memory + MEMORY.SECRET] as number, age);
    // The reserved octets are hashed as received.
    for (let i = 0; i < 16; i += 4) this.#input.setInt32(i, option.getInt32(at + i));
    const secrets = this.#secrets;
    for (let i = 0; i < secrets.length; i++) {
      this.#hashInput(secrets[i] as DataView, client);
      if (!this.#isHash(option, server + 8)) continue;
      this.#remember(memory, option, at, client, i);
      return this.#verdict(i, age);
    }
    return 'invalid';
  }

  #verdict(secret: number, age: number): CookieVerdict {
    return secret === 0 && age <= RENEW_AGE_SECONDS ? 'fresh' : 'renew';
  }

  #remembers(memory: number, option: DataView, at: number, { address, at: from, octets }: Client): boolean {
    const words = this.#memory;
    if (words[memory + MEMORY.OCTETS] !== octets) return false;
    for (let i = 0; i < MEMORY.ADDRESS; i++)
      if (words[memory + i] !== option.getInt32(at + 4 * i)) return false;
    for (let i = 0; i < octets; i += 4)
      if (words[memory + MEMORY.ADDRESS + (i >> 2)] !== wordAt(address, from + i)) return false;
    return true;
  }

  #remember(memory: number, option: DataView, at: number, client: Client, secret: number): void {
    const { address, at: from, octets } = client;
    const words = this.#memory;
    for (let i = 0; i < MEMORY.ADDRESS; i++) words[memory + i] = option.getInt32(at + 4 * i);
    for (let i = 0; i < octets; i += 4) words[memory + MEMORY.ADDRESS + (i >> 2)] = wordAt(address, from + i);
    words[memory + MEMORY.OCTETS] = octets;
    words[memory + MEMORY.SECRET] = secret;
  }

  /** Writes a new 16-octet server cookie for the client cookie at `at`. */
  sign(option: DataView, at: number, client: Client, nowSeconds: number, out: DataView, outAt: number): void {
    const input = this.#input;
    input.setInt32(0, option.getInt32(at));
    input.setInt32(4, option.getInt32(at + 4));
    input.setInt32(8, VERSION << 24);
    input.setInt32(12, nowSeconds);
    this.#hashInput(this.#secrets[0] as DataView, client);
    out.setInt32(outAt, VERSION << 24);
    out.setInt32(outAt + 4, nowSeconds);
    out.setInt32(outAt + 8, this.#hash.getInt32(0));
    out.setInt32(outAt + 12, this.#hash.getInt32(4));
  }

  #hashInput(secret: DataView, { address, at, octets }: Client): void {
    for (let i = 0; i < octets; i++) this.#input.setUint8(16 + i, address[at + i] as number);
    sipHash(secret, this.#input, 16 + octets, this.#hash, 0);
  }

  #isHash(option: DataView, at: number): boolean {
    const hash = this.#hash;
    return ((option.getInt32(at) ^ hash.getInt32(0)) | (option.getInt32(at + 4) ^ hash.getInt32(4))) === 0;
  }
}

function wordAt(octets: Uint8Array, at: number): number {
  return (
    ((octets[at] as number) << 24) |
    ((octets[at + 1] as number) << 16) |
    ((octets[at + 2] as number) << 8) |
    (octets[at + 3] as number)
  );
}
