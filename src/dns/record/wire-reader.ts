// Reads the octets of one rdata. Never reads beyond them, except along a compression pointer if the type allows it.

import { WireError } from '../errors.ts';
import { decodeName, type Name } from '../name.ts';

export class WireReader {
  /** The rdata field that is being read. Errors refer to it. */
  field = '';
  readonly #octets: Uint8Array;
  readonly #end: number;
  readonly #decompress: boolean;
  #at: number;

  constructor(octets: Uint8Array, at = 0, end: number = octets.length, decompress = false) {
    this.#octets = octets;
    this.#at = at;
    this.#end = end;
    this.#decompress = decompress;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  u8(): number {
    return this.#octets[this.#advance(1)] as number;
  }

  u16(): number {
    return this.u8() * 0x100 + this.u8();
  }

  u32(): number {
    return this.u16() * 0x10000 + this.u16();
  }

  /** Returns the next octets as a view, not a copy. */
  take(count: number): Uint8Array {
    const from = this.#advance(count);
    return this.#octets.subarray(from, from + count);
  }

  name(): Name {
    return this.#decompress ? this.#compressedName() : this.#plainName();
  }

  finish(): void {
    if (this.left > 0) this.fail(`${this.left} octets follow the last field`);
  }

  fail(message: string): never {
    throw new WireError(this.field === '' ? message : `${this.field}: ${message}`);
  }

  #advance(count: number): number {
    if (count > this.left) this.fail('the rdata is truncated');
    const from = this.#at;
    this.#at += count;
    return from;
  }

  #compressedName(): Name {
    if (this.left === 0) this.fail('the rdata is truncated');
    const { name, end } = decodeName(this.#octets, this.#at);
    if (end > this.#end) this.fail('the name exceeds the rdata');
    this.#at = end;
    return name;
  }

  #plainName(): Name {
    const from = this.#at;
    for (;;) {
      const length = this.u8();
      if (length > 63) this.fail('the name is compressed or has a label of an unknown type');
      this.#advance(length);
      if (this.#at - from > 255) this.fail('the name is longer than 255 octets');
      if (length === 0) break;
    }
    const { buffer, byteOffset } = this.#octets;
    return Buffer.from(buffer, byteOffset + from, this.#at - from).toString('latin1') as Name;
  }
}
