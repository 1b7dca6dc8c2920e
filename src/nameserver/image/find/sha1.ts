// SHA-1 (RFC 3174) on fixed buffers. node:crypto allocates objects for every hash, and NSEC3 needs a hash for every
// nonexistent name.

const BLOCK_OCTETS = 64;
/** Maximum octets of a message: a name and a salt, or a digest and a salt. */
const MAX_MESSAGE_OCTETS = 512;

export class Sha1 {
  /** The message, which the caller writes from the start, with space for the padding after it. */
  readonly message = new Uint8Array(MAX_MESSAGE_OCTETS + 2 * BLOCK_OCTETS);
  /** The five words of the last digest. */
  readonly digest = new Int32Array(5);
  readonly #view = new DataView(this.message.buffer);
  readonly #schedule = new Int32Array(80);

  /** Hashes the first `octets` octets of `message`. */
  hash(octets: number): void {
    const { digest, message } = this;
    digest[0] = 0x67452301;
    digest[1] = 0xefcdab89;
    digest[2] = 0x98badcfe;
    digest[3] = 0x10325476;
    digest[4] = 0xc3d2e1f0;
    const end = (((octets + 8) >>> 6) + 1) * BLOCK_OCTETS;
    message[octets] = 0x80;
    message.fill(0, octets + 1, end);
    this.#view.setInt32(end - 4, octets << 3);
    for (let at = 0; at < end; at += BLOCK_OCTETS) this.#mix(at);
  }

  /** Writes the digest at the start of the message, to be hashed again (RFC 5155 §5). */
  feedBack(): void {
    for (let i = 0; i < 5; i++) this.#view.setInt32(i << 2, this.digest[i] as number);
  }

  #mix(at: number): void {
    const schedule = this.#schedule;
    const digest = this.digest;
    for (let i = 0; i < 16; i++) schedule[i] = this.#view.getInt32(at + (i << 2));
    for (let i = 16; i < 80; i++) {
      const word =
        (schedule[i - 3] as number) ^
        (schedule[i - 8] as number) ^
        (schedule[i - 14] as number) ^
        (schedule[i - 16] as number);
      schedule[i] = (word << 1) | (word >>> 31);
    }
    let a = digest[0] as number;
    let b = digest[1] as number;
    let c = digest[2] as number;
    let d = digest[3] as number;
    let e = digest[4] as number;
    for (let i = 0; i < 20; i++) {
      const next =
        (((a << 5) | (a >>> 27)) + (d ^ (b & (c ^ d))) + e + 0x5a827999 + (schedule[i] as number)) | 0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = next;
    }
    for (let i = 20; i < 40; i++) {
      const next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0x6ed9eba1 + (schedule[i] as number)) | 0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = next;
    }
    for (let i = 40; i < 60; i++) {
      const chosen = (b & c) | (d & (b | c));
      const next = (((a << 5) | (a >>> 27)) + chosen + e + (0x8f1bbcdc | 0) + (schedule[i] as number)) | 0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = next;
    }
    for (let i = 60; i < 80; i++) {
      const next =
        (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + (0xca62c1d6 | 0) + (schedule[i] as number)) | 0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = next;
    }
    digest[0] = (digest[0] as number) + a;
    digest[1] = (digest[1] as number) + b;
    digest[2] = (digest[2] as number) + c;
    digest[3] = (digest[3] as number) + d;
    digest[4] = (digest[4] as number) + e;
  }
}
