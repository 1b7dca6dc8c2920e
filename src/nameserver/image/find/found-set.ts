// A record set found in an image: the position of its octets, and its owner in the answer.

import { TYPE } from '../../../dns/type-codes.ts';
import { EDGE_MARK_TYPE } from '../../../zone/zone.ts';
import type { Image } from '../image.ts';
import {
  byteOf,
  NODE,
  NODE_FLAG,
  RECORD_HEAD_OCTETS,
  SET,
  SET_FLAG,
  segmentOf,
  setWordsOf,
  wordOf,
} from '../layout.ts';

/**
 * Maximum number of keys that sign a set while algorithms change (RFC 6781 §4.1.4). With more, the region's set is not signed.
 */
export const MOST_REGIONAL_SIGNATURES = 4;

export class FoundSet {
  type = 0;
  records = 0;
  /** Position of the octets: the segment, the first octet in it, and their number. */
  segment = 0;
  at = 0;
  octets = 0;
  /** The signatures, which follow these octets: their number and their octets. */
  signatures = 0;
  signatureOctets = 0;
  hasPointers = false;
  hasOwnerPointers = false;
  /** Length of the owner's name in the zone. Pointers in rdata are relative to it. */
  ownerOctets = 0;
  /** The owner in the answer: the number of a chain name (0 is the query name), and the label at which it starts. */
  name = 0;
  label = 0;
  /**
   * True if the result is not the set itself but the CNAME synthesized from its DNAME (RFC 6672 §3.1). `label` is the DNAME's.
   */
  isSynthesized = false;
  /** True for addresses of the edge, which regions may replace. */
  isEdge = false;
  /**
   * True if a region's set replaces the edge's. Its records have this TTL, and its signatures are at these positions of
   * another segment, each an edge mark.
   */
  isRegional = false;
  ttl = 0;
  signatureSegment = 0;
  readonly signaturesAt = new Int32Array(MOST_REGIONAL_SIGNATURES);

  /** Sets this object to the set of a type at a node of a zone, for an owner. Returns false if there is none. */
  take(image: Image, node: number, type: number, apexOctets: number, name: number, label: number): boolean {
    const words = image.words[segmentOf(node)] as Int32Array;
    const shape = words[wordOf(node) + NODE.SHAPE] as number;
    const setWords = setWordsOf(shape);
    const setsEnd = wordOf(node) + NODE.SETS + (shape >>> 16) * setWords;
    let before = 0;
    for (let word = wordOf(node) + NODE.SETS; word < setsEnd; word += setWords) {
      const head = words[word + SET.TYPE] as number;
      const second = words[word + SET.OCTETS] as number;
      const third = setWords > SET.SIGNATURES ? (words[word + SET.SIGNATURES] as number) : 0;
      if ((head & 0xffff) === type) {
        const relative = (shape >>> 8) & 0xff;
        this.type = type;
        this.records = head >>> 16;
        this.segment = segmentOf(node);
        this.at = byteOf(node) + (setsEnd - wordOf(node)) * 4 + relative + before;
        this.octets = second & 0xffff;
        this.signatures = third >>> 16;
        this.signatureOctets = third & 0xffff;
        this.hasPointers = (second & SET_FLAG.HAS_POINTERS) !== 0;
        this.hasOwnerPointers = (second & SET_FLAG.HAS_OWNER_POINTERS) !== 0;
        this.ownerOctets = apexOctets + relative;
        this.name = name;
        this.label = label;
        this.isSynthesized = false;
        this.isEdge = (shape & NODE_FLAG.EDGE) !== 0 && (type === TYPE.A || type === TYPE.AAAA);
        this.isRegional = false;
        return true;
      }
      before += (second & 0xffff) + (third & 0xffff);
    }
    return false;
  }

  /** Turns a set into the RRSIG set of its signatures (RFC 4035 §2.2). */
  takeSignatures(): void {
    this.type = TYPE.RRSIG;
    this.records = this.signatures;
    this.at += this.octets;
    this.octets = this.signatureOctets;
    this.dropSignatures();
    this.hasPointers = false; // RFC 4034 §3.1.7
    this.hasOwnerPointers = false;
  }

  /** Drops the signatures: only the records are sent. */
  dropSignatures(): void {
    this.signatures = 0;
    this.signatureOctets = 0;
  }

  /** Sets this object to the CNAME that the DNAME set `dname` yields for a name of the chain. */
  synthesize(dname: FoundSet, type: number, name: number): void {
    this.type = type;
    this.records = 1;
    this.segment = dname.segment;
    this.at = dname.at;
    this.octets = dname.octets;
    this.dropSignatures(); // only records in the zone are signed (RFC 4035 §2.2)
    this.hasPointers = false;
    this.hasOwnerPointers = false;
    this.ownerOctets = dname.ownerOctets;
    this.name = name;
    this.label = dname.label;
    this.isSynthesized = true;
    this.isEdge = false;
    this.isRegional = false;
  }

  isAt(segment: number, at: number): boolean {
    return this.segment === segment && this.at === at;
  }
}

/**
 * Returns the lowest type of a node, without NSEC, or -1: the answer to ANY (RFC 8482 §4.1). NSEC would be the answer
 * at a marked name, where nothing may be published.
 */
export function lowestTypeAt(image: Image, node: number): number {
  const words = image.words[segmentOf(node)] as Int32Array;
  const at = wordOf(node);
  const shape = words[at + NODE.SHAPE] as number;
  const sets = shape >>> 16;
  if (sets === 0) return -1;
  const lowest = (words[at + NODE.SETS + SET.TYPE] as number) & 0xffff;
  if (lowest !== TYPE.NSEC) return lowest === EDGE_MARK_TYPE ? -1 : lowest;
  if (sets === 1) return -1;
  const second = (words[at + NODE.SETS + setWordsOf(shape) + SET.TYPE] as number) & 0xffff;
  return second === EDGE_MARK_TYPE ? -1 : second;
}

/**
 * Returns the lowest type with signatures, NSEC last, or -1. A query for RRSIG gets those of one set, because all of
 * them would serve amplification (RFC 8482 §4.1).
 */
export function lowestSignedTypeAt(image: Image, node: number): number {
  const words = image.words[segmentOf(node)] as Int32Array;
  const shape = words[wordOf(node) + NODE.SHAPE] as number;
  const setWords = setWordsOf(shape);
  if (setWords <= SET.SIGNATURES) return -1;
  let lowest = -1;
  for (let word = wordOf(node) + NODE.SETS, left = shape >>> 16; left > 0; left--, word += setWords) {
    if (words[word + SET.SIGNATURES] === 0) continue;
    const type = (words[word + SET.TYPE] as number) & 0xffff;
    if (type !== TYPE.NSEC) return type;
    lowest = type;
  }
  return lowest;
}

/** Offset of the first record's rdata from the start of the set. */
export const FIRST_RDATA = RECORD_HEAD_OCTETS;
