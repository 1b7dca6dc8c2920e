// Computes the owners of NSEC3 records from names (RFC 5155 §5). Hashes of existing names are cached, so that a flood
// of random names costs one hash per query: that of the name itself. Uses only fixed buffers.

import type { LabelledName } from '../../../dns/dnssec/canonical-key.ts';
import { TYPE } from '../../../dns/type-codes.ts';
import type { Image } from '../image.ts';
import type { FoldedName } from './folded-name.ts';
import { FIRST_RDATA, FoundSet } from './found-set.ts';
import { Sha1 } from './sha1.ts';

const DIGITS = Uint8Array.from(Buffer.from('0123456789abcdefghijklmnopqrstuv')); // RFC 4648 §7, folded
const LABEL_OCTETS = 32;
const DIGIT_BITS = 5;
const WORD_BITS = 32;
/** Offsets in the rdata of NSEC3PARAM (RFC 5155 §4.2). */
const FLAGS_AT = 1;
const ITERATIONS_AT = 2;
const SALT_AT = 4;

const MEMORIES = 256;
/** Hashes with longer salts are not cached: zones should not use a salt (RFC 9276 §3.1). */
const MAX_REMEMBERED_SALT = 32;
// A cache entry: the digits, the input (octets of the name, octets of the salt, iterations), the name and the salt.
const NAME_OCTETS_AT = LABEL_OCTETS;
const SALT_OCTETS_AT = LABEL_OCTETS + 1;
const REMEMBERED_ITERATIONS_AT = LABEL_OCTETS + 2;
const INPUT_AT = LABEL_OCTETS + 4;
const MEMORY_OCTETS = INPUT_AT + 256 + MAX_REMEMBERED_SALT;

export class NameHasher implements LabelledName {
  /** The owner for the last hash: one label below the apex. */
  readonly octets = new Uint8Array(1 + LABEL_OCTETS);
  readonly labelAt = new Uint8Array(2);
  labels = 0;
  readonly #image: Image;
  readonly #parameters = new FoundSet();
  readonly #sha1 = new Sha1();
  readonly #memory = new Uint8Array(MEMORIES * MEMORY_OCTETS);
  #iterations = 0;
  #saltAt = 0;
  #saltOctets = 0;

  constructor(image: Image) {
    this.#image = image;
    this.octets[0] = LABEL_OCTETS;
    this.labelAt[1] = this.octets.length;
  }

  /** Reads the parameters of the current chain from the apex of a zone. */
  begin(apexNode: number, apexLabels: number): void {
    const set = this.#parameters;
    this.labels = apexLabels + 1;
    set.take(this.#image, apexNode, TYPE.NSEC3PARAM, 0, 0, 0);
    const octets = this.#image.bytes[set.segment] as Uint8Array;
    let at = set.at + FIRST_RDATA;
    for (let left = set.records; left > 0; left--) {
      if (octets[at + FLAGS_AT] === 0) break; // RFC 5155 §4.1.2
      at += ((octets[at - 2] as number) << 8) + (octets[at - 1] as number) + FIRST_RDATA;
    }
    this.#iterations =
      ((octets[at + ITERATIONS_AT] as number) << 8) | (octets[at + ITERATIONS_AT + 1] as number);
    this.#saltOctets = octets[at + SALT_AT] as number;
    this.#saltAt = at + SALT_AT + 1;
  }

  /**
   * Sets `octets` to the owner for the name that starts at label `from` of `name`, or with `isWildcard` for the
   * wildcard below it. The hash is cached if the name exists (`isThere`), because it is likely to be used again.
   */
  hash(name: FoldedName, from: number, isWildcard: boolean, isThere: boolean): void {
    const nameOctets = this.#fillInput(name, from, isWildcard);
    if (!isThere || this.#saltOctets > MAX_REMEMBERED_SALT) {
      this.#digest(nameOctets);
      return;
    }
    const hash = isWildcard ? name.wildcardHash(from) : (name.hashes[from] as number);
    const memory = (hash >>> 24) * MEMORY_OCTETS;
    if (this.#recall(memory, nameOctets)) return;
    this.#keepInput(memory, nameOctets);
    this.#digest(nameOctets);
    for (let i = 0; i < LABEL_OCTETS; i++) this.#memory[memory + i] = this.octets[1 + i] as number;
  }

  /** Writes the name and the salt to the message. Returns the octets of the name. */
  #fillInput(name: FoldedName, from: number, isWildcard: boolean): number {
    const { message } = this.#sha1;
    let length = 0;
    if (isWildcard) {
      message[length++] = 1;
      message[length++] = 0x2a;
    }
    for (let at = name.labelAt[from] as number; at < name.length; at++)
      message[length++] = name.octets[at] as number;
    this.#addSalt(length);
    return length;
  }

  #addSalt(at: number): void {
    const { message } = this.#sha1;
    const stored = this.#image.bytes[this.#parameters.segment] as Uint8Array;
    for (let i = 0; i < this.#saltOctets; i++) message[at + i] = stored[this.#saltAt + i] as number;
  }

  #digest(nameOctets: number): void {
    const sha1 = this.#sha1;
    sha1.hash(nameOctets + this.#saltOctets);
    for (let left = this.#iterations; left > 0; left--) {
      sha1.feedBack();
      this.#addSalt(20);
      sha1.hash(20 + this.#saltOctets);
    }
    const { digest } = sha1;
    for (let digit = 0, bit = 0; digit < LABEL_OCTETS; digit++, bit += DIGIT_BITS) {
      const word = digest[bit >>> 5] as number;
      const behind = WORD_BITS - DIGIT_BITS - (bit & 31);
      const value =
        behind >= 0
          ? word >>> behind
          : (word << -behind) | ((digest[(bit >>> 5) + 1] as number) >>> (WORD_BITS + behind));
      this.octets[1 + digit] = DIGITS[value & 31] as number;
    }
  }

  #recall(memory: number, nameOctets: number): boolean {
    const remembered = this.#memory;
    const iterations =
      ((remembered[memory + REMEMBERED_ITERATIONS_AT] as number) << 8) |
      (remembered[memory + REMEMBERED_ITERATIONS_AT + 1] as number);
    if (
      remembered[memory + NAME_OCTETS_AT] !== nameOctets ||
      remembered[memory + SALT_OCTETS_AT] !== this.#saltOctets ||
      iterations !== this.#iterations
    )
      return false;
    const { message } = this.#sha1;
    const input = memory + INPUT_AT;
    for (let i = nameOctets + this.#saltOctets - 1; i >= 0; i--)
      if (remembered[input + i] !== message[i]) return false;
    for (let i = 0; i < LABEL_OCTETS; i++) this.octets[1 + i] = remembered[memory + i] as number;
    return true;
  }

  #keepInput(memory: number, nameOctets: number): void {
    const remembered = this.#memory;
    remembered[memory + NAME_OCTETS_AT] = nameOctets;
    remembered[memory + SALT_OCTETS_AT] = this.#saltOctets;
    remembered[memory + REMEMBERED_ITERATIONS_AT] = this.#iterations >>> 8;
    remembered[memory + REMEMBERED_ITERATIONS_AT + 1] = this.#iterations;
    const { message } = this.#sha1;
    const octets = nameOctets + this.#saltOctets;
    for (let i = 0; i < octets; i++) remembered[memory + INPUT_AT + i] = message[i] as number;
  }
}
