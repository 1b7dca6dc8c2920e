// A record set that was found in an image: where its octets stand, and which name owns it in the answer.

import type { Image } from './image.ts';
import { byteOf, NODE, RECORD_HEAD_OCTETS, SET, SET_FLAG, SET_WORDS, segmentOf, wordOf } from './layout.ts';

export class FoundSet {
  type = 0;
  records = 0;
  /** Where the octets stand: the segment, the first octet in it, and their number. */
  segment = 0;
  at = 0;
  octets = 0;
  hasPointers = false;
  hasOwnerPointers = false;
  /** The length of the owner's name in the zone: pointers in rdata count from there. */
  ownerOctets = 0;
  /**
   * The owner in the answer: the number of a name of the chain, 0 being the question's, and the label where it starts.
   */
  name = 0;
  label = 0;
  /**
   * The result is not the set itself but the CNAME that its DNAME gives for the name (RFC 6672 §3.1); `label` is the
   * DNAME's.
   */
  isSynthesized = false;

  /** Becomes the set of a type at a node of a zone, for an owner. False when there is none. */
  take(image: Image, node: number, type: number, apexOctets: number, name: number, label: number): boolean {
    const words = image.words[segmentOf(node)] as Int32Array;
    const shape = words[wordOf(node) + NODE.SHAPE] as number;
    const sets = shape >>> 16;
    let word = wordOf(node) + NODE.SETS;
    let before = 0;
    for (const end = word + sets * SET_WORDS; word < end; word += SET_WORDS) {
      const head = words[word + SET.TYPE] as number;
      const second = words[word + SET.OCTETS] as number;
      if ((head & 0xffff) === type) {
        const relative = (shape >>> 8) & 0xff;
        this.type = type;
        this.records = head >>> 16;
        this.segment = segmentOf(node);
        this.at = byteOf(node) + (NODE.SETS + sets * SET_WORDS) * 4 + relative + before;
        this.octets = second & 0xffff;
        this.hasPointers = (second & SET_FLAG.HAS_POINTERS) !== 0;
        this.hasOwnerPointers = (second & SET_FLAG.HAS_OWNER_POINTERS) !== 0;
        this.ownerOctets = apexOctets + relative;
        this.name = name;
        this.label = label;
        this.isSynthesized = false;
        return true;
      }
      before += second & 0xffff;
    }
    return false;
  }

  /** Becomes the CNAME that the DNAME set `dname` gives for a name of the chain. */
  synthesize(dname: FoundSet, type: number, name: number): void {
    this.type = type;
    this.records = 1;
    this.segment = dname.segment;
    this.at = dname.at;
    this.octets = dname.octets;
    this.hasPointers = false;
    this.hasOwnerPointers = false;
    this.ownerOctets = dname.ownerOctets;
    this.name = name;
    this.label = dname.label;
    this.isSynthesized = true;
  }

  isAt(segment: number, at: number): boolean {
    return this.segment === segment && this.at === at;
  }
}

/** The lowest type that a node has (RFC 8482 §4.1), or -1. */
export function lowestTypeAt(image: Image, node: number): number {
  const words = image.words[segmentOf(node)] as Int32Array;
  const at = wordOf(node);
  return (words[at + NODE.SHAPE] as number) >>> 16 === 0
    ? -1
    : (words[at + NODE.SETS + SET.TYPE] as number) & 0xffff;
}

/** Offset of the rdata of a set's first record from the set's start. */
export const FIRST_RDATA = RECORD_HEAD_OCTETS;
