// The name of the zone or node being checked. Reads its labels from untrusted octets and hashes them.

import { MAX_NAME_OCTETS } from '../../../dns/name.ts';
import { hashFactors, mixChunk } from '../hash-name.ts';
import type { Image } from '../image.ts';
import { HEADER } from '../layout.ts';
import { demand } from './demand.ts';

const MAX_LABEL_OCTETS = 63;

export class CheckedName {
  /** The full name. After MAX_NAME_OCTETS follows the apex, in which the name of every node ends. */
  readonly octets = new Uint8Array(2 * MAX_NAME_OCTETS);
  labels = 0;
  readonly #labelAt = new Uint8Array(MAX_NAME_OCTETS);
  readonly #seed: number;
  readonly #a: number;
  readonly #b: number;

  constructor({ header }: Image) {
    this.#seed = header[HEADER.HASH_SEED] as number;
    const { a, b } = hashFactors(this.#seed);
    demand(
      header[HEADER.HASH_FACTOR_A] === a && header[HEADER.HASH_FACTOR_B] === b,
      'its hash factors do not match its seed',
    );
    this.#a = a;
    this.#b = b;
  }

  /** Reads the apex of a zone. */
  readApex(bytes: Uint8Array, at: number, apexOctets: number): void {
    this.octets.set(bytes.subarray(at, at + apexOctets));
    this.#readLabels(apexOctets - 1);
    demand(apexOctets > 0 && this.octets[apexOctets - 1] === 0, 'an apex is not a name');
    this.octets.copyWithin(MAX_NAME_OCTETS, 0, apexOctets);
  }

  /** Reads the name of a node below the current apex. `octets` is its length without the apex. */
  readBelowApex(bytes: Uint8Array, at: number, octets: number, apexOctets: number): void {
    const name = this.octets;
    for (let i = 0; i < octets; i++) name[i] = bytes[at + i] as number;
    for (let i = 0; i < apexOctets; i++) name[octets + i] = name[MAX_NAME_OCTETS + i] as number;
    this.#readLabels(octets);
  }

  /** Returns the hash of the current apex. */
  apexHash(apexOctets: number): number {
    return this.hash(this.#seed, apexOctets - 1);
  }

  /** Returns the hash of the current labels, which end at `to`. `suffix` is the hash of the rest of the name. */
  hash(suffix: number, to: number): number {
    const name = this.octets;
    const a = this.#a;
    const b = this.#b;
    let hash = suffix;
    let end = to;
    for (let label = this.labels - 1; label >= 0; label--) {
      const start = this.#labelAt[label] as number;
      for (let i = start; i < end; i += 4) {
        let chunk = name[i] as number;
        for (let j = 1; j < 4 && i + j < end; j++) chunk |= (name[i + j] as number) << (8 * j);
        hash = mixChunk(hash, chunk, a, b);
      }
      end = start;
    }
    return hash;
  }

  /** Records where the labels start. They must end at `to`. */
  #readLabels(to: number): void {
    const name = this.octets;
    let labels = 0;
    let at = 0;
    while (at < to) {
      const length = name[at] as number;
      demand(length > 0 && length <= MAX_LABEL_OCTETS && at + length < to, 'a name has an invalid label');
      for (let i = at + 1; i <= at + length; i++) {
        const octet = name[i] as number;
        demand(octet < 0x41 || octet > 0x5a, 'a name is not in lower case'); // RFC 4343 §3
      }
      this.#labelAt[labels++] = at;
      at += length + 1;
    }
    demand(at === to, 'a name has an invalid label');
    this.labels = labels;
  }
}
