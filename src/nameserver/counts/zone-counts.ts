// Answers of one thread since the last `take`, by zone, type and rcode, and samples of query names. Uses shared memory
// of a fixed size. One thread counts and one takes, at any time and without a lock: only the first writes counts, which
// never decrease, and only the second writes how much of each it has taken. A slot keeps its key until all is taken.

import { randomBytes } from 'node:crypto';
import { MAX_NAME_OCTETS, type Name } from '../../dns/name.ts';
import { countedType } from './counted-types.ts';

const HEADER = {
  SEED: 0,
  /** Answers that found no slot. */ OTHER: 1,
  WRITTEN: 2,
  READ: 3,
  /** Total number of slots ever put into use. */ USED: 4,
} as const;
const HEADER_WORDS = 16; // a cache line

const LOG2_SLOTS = 15;
const SLOTS = 2 ** LOG2_SLOTS;
/** Four words, so that a slot never spans two cache lines: the id as the two words of a Float64, type and rcode, count. */
const SLOT = { ID_LOW: 0, ID_HIGH: 1, KIND: 2, COUNT: 3 } as const;
const SLOT_WORDS = 4;
/** Number of used slots at which the table is emptied early. The remaining slots suffice until the next check. */
const FILLING = (SLOTS * 3) / 8;
/**
 * Maximum slots per search. With a quarter of the slots used, a search rarely visits more than two; but in one of ten
 * tables with 12,000 keys, some key needs more than 16.
 */
const SEARCHED = 32;

/** A ring of samples: the zone id, the length of the name, its octets. */
const SAMPLES = 512;
const SAMPLE = { ID_LOW: 0, ID_HIGH: 1, OCTETS: 2, NAME: 3 } as const;
const SAMPLE_WORDS = 68;
/** For each slot, the part of its count that was taken. Counts are modulo 2^32. */
const FIRST_TAKEN = HEADER_WORDS + SLOTS * SLOT_WORDS;
const FIRST_SAMPLE = FIRST_TAKEN + SLOTS;
/** One of this many answers is sampled. */
export const SAMPLED = 256;

export const ZONE_COUNTS_BYTES = (FIRST_SAMPLE + SAMPLES * SAMPLE_WORDS) * 4;

/** Receives the counts. */
export interface CountSink {
  add(zoneId: number, type: number, rcode: number, count: number): void;
  addOther(count: number): void;
  addName(zoneId: number, name: Name): void;
}

export class ZoneCounts {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #numbers: Float64Array;
  readonly #octets: Uint8Array;
  #turn = 0;
  /** Used by the taking thread: value of USED when it last emptied the table. */
  #usedBefore = 0;

  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(ZONE_COUNTS_BYTES);
    this.#words = new Int32Array(this.buffer);
    this.#numbers = new Float64Array(this.buffer);
    this.#octets = new Uint8Array(this.buffer);
    // a random seed, so that an attacker cannot choose zones that share a slot
    Atomics.compareExchange(this.#words, HEADER.SEED, 0, randomBytes(4).readInt32LE(0) | 1);
  }

  /**
   * Counts an answer from the zone whose id has these words as a Float64. A number that large would be allocated on the heap.
   */
  count(low: number, high: number, type: number, rcode: number): void {
    const words = this.#words;
    const kind = (countedType(type) << 8) | rcode;
    let hash = Math.imul(low ^ (words[HEADER.SEED] as number), 0x85ebca6b) ^ high;
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35) ^ kind;
    hash = Math.imul(hash ^ (hash >>> 13), 0x9e3779b1);
    let slot = hash >>> (32 - LOG2_SLOTS);
    for (let searched = 0; searched < SEARCHED; searched++) {
      const at = HEADER_WORDS + slot * SLOT_WORDS;
      const count = words[at + SLOT.COUNT] as number;
      const next = (count + 1) | 0;
      if (words[FIRST_TAKEN + slot] === count) {
        // The slot is free, regardless of its key. The same key may have another slot.
        words[at + SLOT.ID_LOW] = low;
        words[at + SLOT.ID_HIGH] = high;
        words[at + SLOT.KIND] = kind;
        words[HEADER.USED] = ((words[HEADER.USED] as number) + 1) | 0;
        Atomics.store(words, at + SLOT.COUNT, next); // publishes the key
        return;
      }
      if (
        words[at + SLOT.ID_LOW] === low &&
        words[at + SLOT.ID_HIGH] === high &&
        words[at + SLOT.KIND] === kind
      ) {
        words[at + SLOT.COUNT] = next; // a plain store: atomic ones take as long as the rest of this function
        return;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    Atomics.add(words, HEADER.OTHER, 1);
  }

  /** Returns true for one of SAMPLED calls. */
  isSampled(): boolean {
    this.#turn = (this.#turn + 1) & (SAMPLED - 1);
    return this.#turn === 0;
  }

  /** Records a folded query name of a zone. If the ring is full, the sample is dropped. */
  sample(low: number, high: number, name: Uint8Array, octets: number): void {
    const words = this.#words;
    const written = words[HEADER.WRITTEN] as number;
    if (((written - Atomics.load(words, HEADER.READ)) | 0) >= SAMPLES) return;
    const at = FIRST_SAMPLE + (written & (SAMPLES - 1)) * SAMPLE_WORDS;
    words[at + SAMPLE.ID_LOW] = low;
    words[at + SAMPLE.ID_HIGH] = high;
    words[at + SAMPLE.OCTETS] = octets;
    const into = (at + SAMPLE.NAME) * 4;
    for (let i = 0; i < octets; i++) this.#octets[into + i] = name[i] as number;
    Atomics.store(words, HEADER.WRITTEN, (written + 1) | 0);
  }

  /** Takes the samples, and also the counts if the table is filling up. Usually reads only a few words. */
  takeEarly(sink: CountSink): void {
    const used = (Atomics.load(this.#words, HEADER.USED) - this.#usedBefore) | 0;
    if (used > FILLING) this.take(sink);
    else this.#takeSamples(sink);
  }

  /** Takes all counts since the last call. Only one thread may take. */
  take(sink: CountSink): void {
    const words = this.#words;
    this.#usedBefore = Atomics.load(words, HEADER.USED);
    for (let slot = 0; slot < SLOTS; slot++) {
      const at = HEADER_WORDS + slot * SLOT_WORDS;
      const taken = words[FIRST_TAKEN + slot] as number;
      if (words[at + SLOT.COUNT] === taken) continue;
      const count = Atomics.load(words, at + SLOT.COUNT);
      const id = this.#numbers[at >> 1] as number;
      const kind = words[at + SLOT.KIND] as number;
      Atomics.store(words, FIRST_TAKEN + slot, count); // releases the key, which was read
      sink.add(id, kind >>> 8, kind & 0xff, (count - taken) >>> 0);
    }
    const other = Atomics.exchange(words, HEADER.OTHER, 0) >>> 0;
    if (other > 0) sink.addOther(other);
    this.#takeSamples(sink);
  }

  #takeSamples(sink: CountSink): void {
    const words = this.#words;
    const written = Atomics.load(words, HEADER.WRITTEN);
    let read = words[HEADER.READ] as number;
    for (; read !== written; read = (read + 1) | 0) {
      const at = FIRST_SAMPLE + (read & (SAMPLES - 1)) * SAMPLE_WORDS;
      const octets = Math.min(words[at + SAMPLE.OCTETS] as number, MAX_NAME_OCTETS);
      const from = (at + SAMPLE.NAME) * 4;
      let name = '';
      for (let i = 0; i < octets; i++) name += String.fromCharCode(this.#octets[from + i] as number);
      sink.addName(this.#numbers[at >> 1] as number, name as Name);
    }
    Atomics.store(words, HEADER.READ, read);
  }
}
