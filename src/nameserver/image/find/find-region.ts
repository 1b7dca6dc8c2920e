// Replaces the edge's set in an answer with the set of the client's region. Allocates nothing, and looks up the region
// only when an answer has such a set.

import { TYPE } from '../../../dns/type-codes.ts';
import { SET_ID_OCTETS } from '../../../zone/edge-sets.ts';
import { EDGE_MARK_TYPE } from '../../../zone/zone.ts';
import type { Image } from '../image.ts';
import {
  byteOf,
  EDGE_REGIONS_AT,
  EDGE_SET,
  EDGE_SET_WORDS,
  EDGE_SETS,
  HEADER,
  NODE,
  RECORD_HEAD_OCTETS,
  SET,
  SETS_OF_REGION,
  segmentOf,
  setWordsOf,
  wordOf,
} from '../layout.ts';
import type { CountryTable } from './country-table.ts';
import { type FoundSet, MOST_REGIONAL_SIGNATURES } from './found-set.ts';

const UNKNOWN = -1;
const NO_REGION = 0;
const TTL = 6;
const RDLENGTH = 10;
/** Offsets in the rdata of an RRSIG (RFC 4034 §3.1). */
const RRSIG = { ALGORITHM: 2, ORIGINAL_TTL: 4, EXPIRATION: 8, KEY_TAG: 16, OCTETS: 19 } as const;

export class RegionFinder {
  /** The time, set by the caller before each query. */
  nowMs = 0;
  /** Number of bits of the client's address that the answer depends on; 0 if it is the same for all clients. */
  scope = 0;
  readonly #image: Image;
  readonly #countries: CountryTable | undefined;
  #address: Uint8Array = new Uint8Array(4);
  #at = 0;
  #octets = 0;
  #isV6 = false;
  #region = UNKNOWN;
  #block = 0;

  constructor(image: Image, countries: CountryTable | undefined) {
    this.#image = image;
    this.#countries = countries;
  }

  /** True if any region has edge sets of its own. */
  get isOn(): boolean {
    return Atomics.load(this.#image.header, HEADER.EDGE_SETS) !== 0;
  }

  /** Sets the upper `octets` octets of the client's address. The others count as 0. */
  setAsker(address: Uint8Array, at: number, octets: number, isV6: boolean): void {
    this.#address = address;
    this.#at = at;
    this.#octets = octets;
    this.#isV6 = isV6;
  }

  /** Resets the state for a new query. */
  begin(): void {
    this.#region = UNKNOWN;
    this.scope = 0;
  }

  /** Replaces `set`, the edge's set at the node, unless the region has no set of its type or none that is equally signed. */
  replace(set: FoundSet, node: number, isSigned: boolean): void {
    if (this.#region === UNKNOWN) this.#find();
    if (this.#region === NO_REGION) return;
    const first = (this.#region - 1) * SETS_OF_REGION + (set.type === TYPE.A ? 0 : 2);
    if (this.#take(set, node, isSigned, first)) return;
    if (isSigned) this.#take(set, node, isSigned, first + 1);
  }

  #find(): void {
    this.#region = NO_REGION;
    this.#block = Atomics.load(this.#image.header, HEADER.EDGE_SETS);
    const countries = this.#countries;
    if (this.#block === 0 || countries === undefined || !countries.isReady) return;
    if (this.#isV6) countries.find6(this.#wordAt(0), this.#wordAt(4));
    else countries.find4(this.#wordAt(0));
    this.scope = countries.bits;
    const bytes = this.#image.bytes[segmentOf(this.#block)] as Uint8Array;
    this.#region = bytes[byteOf(this.#block) + 4 * EDGE_SETS.COUNTRIES + countries.country] as number;
  }

  #wordAt(offset: number): number {
    let word = 0;
    for (let i = offset; i < offset + 4; i++)
      word = (word << 8) | (i < this.#octets ? (this.#address[this.#at + i] as number) : 0);
    return word;
  }

  /**
   * Returns false, and leaves `set` unchanged, if there is no such set, or a key that signs the edge's set has not signed it.
   */
  #take(set: FoundSet, node: number, isSigned: boolean, number: number): boolean {
    const words = this.#image.words[segmentOf(this.#block)] as Int32Array;
    const entry = wordOf(this.#block) + EDGE_REGIONS_AT + number * EDGE_SET_WORDS;
    const second = words[entry + EDGE_SET.OCTETS] as number;
    if (second === 0) return false;
    const stored = this.#image.bytes[set.segment] as Uint8Array;
    const ttl = word32(stored, set.at + TTL);
    let octets = 0;
    if (isSigned) {
      octets = this.#findSignatures(
        set,
        node,
        ttl,
        words[entry + EDGE_SET.ID] as number,
        words[entry + EDGE_SET.ID + 1] as number,
      );
      if (octets === 0) return false;
    }
    set.signatureOctets = octets;
    set.signatureSegment = segmentOf(node);
    set.segment = segmentOf(this.#block);
    set.at = byteOf(this.#block) + (words[entry + EDGE_SET.AT] as number);
    set.octets = second & 0xffff;
    set.records = second >>> 16;
    set.ttl = ttl;
    set.isRegional = true;
    return true;
  }

  /**
   * Finds one signature over the set with this id for each signature over the edge's set, by the same key. The answer thus
   * has one of each algorithm (RFC 4035 §2.2), and none of a removed key. Returns their octets, or 0 if one is missing.
   */
  #findSignatures(set: FoundSet, node: number, ttl: number, idHigh: number, idLow: number): number {
    if (set.signatures === 0 || set.signatures > MOST_REGIONAL_SIGNATURES) return 0;
    const words = this.#image.words[segmentOf(node)] as Int32Array;
    const bytes = this.#image.bytes[segmentOf(node)] as Uint8Array;
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    const setWords = setWordsOf(shape);
    const setsEnd = at + NODE.SETS + (shape >>> 16) * setWords;
    // marks have the highest type, so they are the last set, and are not signed
    if (((words[setsEnd - setWords + SET.TYPE] as number) & 0xffff) !== EDGE_MARK_TYPE) return 0;
    const marks = (words[setsEnd - setWords + SET.TYPE] as number) >>> 16;
    let marksAt = byteOf(node) + (setsEnd - at) * 4 + ((shape >>> 8) & 0xff);
    for (let word = at + NODE.SETS; word < setsEnd - setWords; word += setWords) {
      marksAt += (words[word + SET.OCTETS] as number) & 0xffff;
      if (setWords > SET.SIGNATURES) marksAt += (words[word + SET.SIGNATURES] as number) & 0xffff;
    }
    const now = Math.floor(this.nowMs / 1000) | 0;
    let octets = 0;
    let own = set.at + set.octets;
    for (let i = 0; i < set.signatures; i++) {
      const key = own + RECORD_HEAD_OCTETS;
      const found = findMark(bytes, marksAt, marks, key, ttl, now, idHigh, idLow);
      if (found < 0) return 0;
      set.signaturesAt[i] = found;
      octets += RECORD_HEAD_OCTETS + word16(bytes, found + RDLENGTH) - SET_ID_OCTETS;
      own = key + word16(bytes, own + RDLENGTH);
    }
    return octets;
  }
}

/**
 * Returns the position of a mark whose signature is valid now and made by the key of the signature with rdata at `key`, or -1.
 */
function findMark(
  bytes: Uint8Array,
  from: number,
  marks: number,
  key: number,
  ttl: number,
  now: number,
  idHigh: number,
  idLow: number,
): number {
  let mark = from;
  for (let left = marks; left > 0; left--) {
    const rdata = mark + RECORD_HEAD_OCTETS;
    const length = word16(bytes, mark + RDLENGTH);
    if (length > SET_ID_OCTETS + RRSIG.OCTETS) {
      const signature = rdata + SET_ID_OCTETS;
      const isIt =
        word32(bytes, rdata) === idHigh &&
        word32(bytes, rdata + 4) === idLow &&
        bytes[signature + RRSIG.ALGORITHM] === bytes[key + RRSIG.ALGORITHM] &&
        word16(bytes, signature + RRSIG.KEY_TAG) === word16(bytes, key + RRSIG.KEY_TAG) &&
        word32(bytes, signature + RRSIG.ORIGINAL_TTL) === ttl &&
        ((word32(bytes, signature + RRSIG.EXPIRATION) - now) | 0) > 0; // RFC 4034 §3.1.5
      if (isIt) return mark;
    }
    mark = rdata + length;
  }
  return -1;
}

function word16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

function word32(bytes: Uint8Array, at: number): number {
  return (word16(bytes, at) << 16) | word16(bytes, at + 2);
}
