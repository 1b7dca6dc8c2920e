// Writes the NSEC or NSEC3 sets that prove a denial, with their signatures (RFC 4035 §3.1.3, RFC 5155 §7.2). Writes
// only the part of the owner name that is not a suffix of the query name, and only once.

import type { ImageFinder } from '../image/find/find-in-image.ts';
import { FoundSet } from '../image/find/found-set.ts';
import type { Image } from '../image/image.ts';
import { byteOf, NODE, RECORD_HEAD_OCTETS, segmentOf, setWordsOf, wordOf } from '../image/layout.ts';
import { MAX_POINTER, type NameWriter } from './name-writer.ts';

const MESSAGE_HEADER_OCTETS = 12;
/** Length of a stored owner, which is a pointer. */
const OWNER_OCTETS = 2;
const RDLENGTH = 10;
const MAX_LABELS = 128;

export class ProofWriter {
  /** Number of records that the last call wrote. */
  records = 0;
  readonly #image: Image;
  readonly #found: ImageFinder;
  readonly #message: NameWriter;
  readonly #views: readonly DataView[];
  readonly #set = new FoundSet();
  /** The owner name of the set: its position in the image, its labels, and the number of octets to write. */
  #owner = 0;
  readonly #labelAt = new Uint8Array(MAX_LABELS);
  #written = 0;
  /** Place in the question of the suffix that is not written. */
  #suffixPlace = 0;

  constructor(image: Image, found: ImageFinder, message: NameWriter) {
    this.#image = image;
    this.#found = found;
    this.#message = message;
    this.#views = image.bytes.map(
      (octets) => new DataView(octets.buffer, octets.byteOffset, octets.byteLength),
    );
  }

  /** Writes all proofs that were found. Returns false if one does not fit; the proofs written before it remain. */
  writeAll(): boolean {
    const { proofs } = this.#found;
    this.records = 0;
    for (let i = 0; i < proofs.count; i++)
      if (!this.#write(proofs.nodes[i] as number, proofs.type)) return false;
    return true;
  }

  #write(node: number, type: number): boolean {
    const set = this.#set;
    const message = this.#message;
    if (!set.take(this.#image, node, type, this.#found.apexOctets, 0, 0)) return true;
    this.#readOwner(node);
    const place = message.at - message.base;
    const written = this.#written;
    const records = set.records + set.signatures;
    // Beyond the reach of pointers, every record needs its owner in full.
    const isReached = written === 0 || place <= MAX_POINTER;
    const owners = isReached ? written : written * records;
    if (message.at + set.octets + set.signatureOctets + owners > message.limit) return false;
    const source = this.#views[set.segment] as DataView;
    let from = set.at;
    for (let i = 0; i < records; i++) {
      if (i === 0 || !isReached) message.copyFrom(source, this.#owner, written);
      message.writePointer(i === 0 || !isReached || written === 0 ? this.#suffixPlace : place);
      const octets = RECORD_HEAD_OCTETS - OWNER_OCTETS + source.getUint16(from + RDLENGTH);
      message.copyFrom(source, from + OWNER_OCTETS, octets);
      from += OWNER_OCTETS + octets;
    }
    this.records += records;
    return true;
  }

  /** Determines how much of a node's owner is a suffix of the query name; at least the apex is. */
  #readOwner(node: number): void {
    const shape = (this.#image.words[segmentOf(node)] as Int32Array)[wordOf(node) + NODE.SHAPE] as number;
    const octets = this.#image.bytes[segmentOf(node)] as Uint8Array;
    const owner = byteOf(node) + (NODE.SETS + (shape >>> 16) * setWordsOf(shape)) * 4;
    const end = owner + ((shape >>> 8) & 0xff);
    let label = 0;
    for (let at = owner; at < end; at += (octets[at] as number) + 1) this.#labelAt[label++] = at - owner;
    const { question, zone } = this.#found;
    let written = end - owner;
    let asked = question.labels - zone.apexLabels;
    while (label > 0 && asked > 0) {
      const at = owner + (this.#labelAt[label - 1] as number);
      if (!isSameLabel(octets, at, question.octets, question.labelAt[asked - 1] as number)) break;
      asked--;
      written = this.#labelAt[--label] as number;
    }
    this.#owner = owner;
    this.#written = written;
    this.#suffixPlace = MESSAGE_HEADER_OCTETS + (question.labelAt[asked] as number);
  }
}

function isSameLabel(one: Uint8Array, oneAt: number, other: Uint8Array, otherAt: number): boolean {
  for (let i = one[oneAt] as number; i >= 0; i--) if (one[oneAt + i] !== other[otherAt + i]) return false;
  return true;
}
