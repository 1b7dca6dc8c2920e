// Writes record sets of the image into an answer. Sets are stored in the form of an answer, so most are copied; owners and
// compression pointers (RFC 1035 §4.1.4) are adjusted to the places of those names in this answer. A set is written whole
// or not at all. Names in rdata keep their case: they do not point to a query name whose case differs from the zone's.

import { nameFields } from '../../dns/record/rdata.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import { SET_ID_OCTETS } from '../../zone/edge-sets.ts';
import type { FoldedName } from '../image/find/folded-name.ts';
import type { FoundSet } from '../image/find/found-set.ts';
import type { Image } from '../image/image.ts';
import { RECORD_HEAD_OCTETS } from '../image/layout.ts';
import { MAX_POINTER, NameWriter } from './name-writer.ts';

const MESSAGE_HEADER_OCTETS = 12;
const QUESTION_TAIL_OCTETS = 4; // type and class
/** The pointers of a set that starts at or before this offset can be moved with it (MAX_SET_POINTER of the layout). */
const MAX_MOVED_START = 0x2000;
/** Length of a stored owner, which is a pointer. */
const OWNER_OCTETS = 2;
const RDLENGTH = 10;
/** After type and class. */
const TTL_BEHIND_OWNER = 4;

/**
 * For types whose names may be compressed: the number of octets before the first name, and the number of consecutive names.
 */
const NAME_SKIP = new Uint8Array(256);
const NAMES = new Uint8Array(256);
for (const type of Object.values(TYPE)) {
  const [first, ...others] = nameFields(type);
  if (first === undefined) continue;
  if (type > 255 || others.some(({ skip }) => skip > 0))
    throw new RangeError(`unexpected rdata format of type ${type}`);
  NAME_SKIP[type] = first.skip;
  NAMES[type] = 1 + others.length;
}

export class SetWriter extends NameWriter {
  /** Places of the rdata of the last set's first record, and of that set. */
  rdataPlace = 0;
  setPlace = 0;
  /** Place of the name of the host whose addresses are written. */
  hostPlace = -1;
  /** True if sets are written with their signatures. */
  withSignatures = false;
  readonly #views: readonly DataView[];
  /** A name to be written, with its case preserved. */
  readonly #name = new Uint8Array(256);

  constructor(image: Image, names: readonly FoldedName[]) {
    super(names);
    this.#views = image.bytes.map(
      (octets) => new DataView(octets.buffer, octets.byteOffset, octets.byteLength),
    );
  }

  /** Writes the set. Returns false, and writes nothing, if it does not fit. */
  writeSet(set: FoundSet): boolean {
    const start = this.at;
    const known = this.known;
    this.setPlace = start - this.base;
    const owner = this.placeOf(set.name, set.label);
    const fits = set.isSynthesized
      ? this.#writeSynthesized(set)
      : set.isRegional
        ? this.#writeRegional(set, owner)
        : owner > MAX_POINTER || (set.hasPointers && !this.#canMove(set))
          ? this.#rewrite(set, owner)
          : this.#copy(set, owner);
    if (!fits) {
      this.at = start;
      this.known = known;
      return false;
    }
    if (set.type === TYPE.CNAME) this.namePlace[set.name + 1] = this.rdataPlace;
    return true;
  }

  /** Returns true if each pointer of the set has a target in this answer at its present distance. */
  #canMove(set: FoundSet): boolean {
    return (
      !this.question.hadUpperCase &&
      (set.name === 0 || !set.hasOwnerPointers) &&
      this.at - this.base <= MAX_MOVED_START
    );
  }

  #copy(set: FoundSet, owner: number): boolean {
    const start = this.at;
    const octets = this.withSignatures ? set.octets + set.signatureOctets : set.octets;
    if (start + octets > this.limit) return false;
    this.rdataPlace = start - this.base + RECORD_HEAD_OCTETS;
    this.copyFrom(this.#views[set.segment] as DataView, set.at, octets);
    const storedStart = MESSAGE_HEADER_OCTETS + set.ownerOctets + QUESTION_TAIL_OCTETS;
    const setShift = start - this.base - storedStart;
    const ownerShift = this.question.length - set.ownerOctets;
    if (set.hasPointers && (setShift !== 0 || ownerShift !== 0)) {
      this.#moveRecords(set, owner, storedStart, ownerShift, setShift);
      if (owner !== MESSAGE_HEADER_OCTETS)
        this.#moveOwners(start + set.octets, this.signaturesOf(set), owner);
    } else if (owner !== MESSAGE_HEADER_OCTETS)
      this.#moveOwners(start, set.records + this.signaturesOf(set), owner);
    return true;
  }

  /** Returns how many signatures of the set are written. */
  signaturesOf(set: FoundSet): number {
    return this.withSignatures ? set.signatures : 0;
  }

  /** Makes the name at a place the owner of the `records` records from `at`. Each owner is already a pointer. */
  #moveOwners(from: number, records: number, owner: number): void {
    const { out } = this;
    let at = from;
    for (let left = records; left > 0; left--) {
      out[at] = 0xc0 | (owner >> 8);
      out[at + 1] = owner;
      at += RECORD_HEAD_OCTETS + (((out[at + RDLENGTH] as number) << 8) | (out[at + RDLENGTH + 1] as number));
    }
  }

  #moveRecords(
    set: FoundSet,
    owner: number,
    storedStart: number,
    ownerShift: number,
    setShift: number,
  ): void {
    const { out } = this;
    const skip = NAME_SKIP[set.type] as number;
    const names = NAMES[set.type] as number;
    let at = this.base + this.setPlace;
    for (let left = set.records; left > 0; left--) {
      out[at] = 0xc0 | (owner >> 8);
      out[at + 1] = owner;
      const rdata = at + RECORD_HEAD_OCTETS;
      let nameAt = rdata + skip;
      for (let name = 0; name < names; name++) {
        let label = out[nameAt] as number;
        while (label !== 0 && label < 0xc0) {
          nameAt += label + 1;
          label = out[nameAt] as number;
        }
        if (label !== 0) {
          const pointer = ((label & 0x3f) << 8) | (out[nameAt + 1] as number);
          const moved = pointer + (pointer < storedStart ? ownerShift : setShift);
          out[nameAt++] = 0xc0 | (moved >> 8);
          out[nameAt] = moved;
        }
        nameAt++;
      }
      at = rdata + (((out[at + RDLENGTH] as number) << 8) | (out[at + RDLENGTH + 1] as number));
    }
  }

  /** Writes the set record by record. Each name is expanded, then compressed against the names in this answer. */
  #rewrite(set: FoundSet, owner: number): boolean {
    const source = this.#views[set.segment] as DataView;
    const skip = set.hasPointers ? (NAME_SKIP[set.type] as number) : 0;
    const names = set.hasPointers ? (NAMES[set.type] as number) : 0;
    if (set.name > 0) this.learnName(this.namePlace[set.name] as number);
    let from = set.at;
    for (let left = set.records; left > 0; left--) {
      const isFirst = left === set.records;
      const rdata = from + RECORD_HEAD_OCTETS;
      const end = rdata + source.getUint16(from + RDLENGTH);
      if (
        !this.#writeOwner(set.name, set.label, owner) ||
        this.at + RECORD_HEAD_OCTETS - OWNER_OCTETS + skip > this.limit
      )
        return false;
      this.copyFrom(source, from + OWNER_OCTETS, RECORD_HEAD_OCTETS - OWNER_OCTETS);
      const start = this.at;
      if (isFirst) this.rdataPlace = start - this.base;
      this.copyFrom(source, rdata, skip);
      let at = rdata + skip;
      for (let name = 0; name < names; name++) {
        at = this.#readName(source, at, set);
        if (!this.writeName(this.#name)) return false;
      }
      if (this.at + end - at > this.limit) return false;
      this.copyFrom(source, at, end - at);
      this.view.setUint16(start - 2, this.at - start);
      from = end;
    }
    return this.#rewriteSignatures(set, owner);
  }

  #rewriteSignatures(set: FoundSet, owner: number): boolean {
    const source = this.#views[set.segment] as DataView;
    let from = set.at + set.octets;
    for (let left = this.signaturesOf(set); left > 0; left--) {
      const octets = RECORD_HEAD_OCTETS - OWNER_OCTETS + source.getUint16(from + RDLENGTH);
      if (!this.#writeOwner(set.name, set.label, owner) || this.at + octets > this.limit) return false;
      this.copyFrom(source, from + OWNER_OCTETS, octets);
      from += OWNER_OCTETS + octets;
    }
    return true;
  }

  /** Writes the set of a region, which is stored without the TTL and apart from its signatures. */
  #writeRegional(set: FoundSet, owner: number): boolean {
    const source = this.#views[set.segment] as DataView;
    let from = set.at;
    for (let left = set.records; left > 0; left--) {
      const octets = RECORD_HEAD_OCTETS - OWNER_OCTETS + source.getUint16(from + RDLENGTH);
      if (!this.#writeOwner(set.name, set.label, owner) || this.at + octets > this.limit) return false;
      const at = this.at;
      this.copyFrom(source, from + OWNER_OCTETS, octets);
      this.view.setInt32(at + TTL_BEHIND_OWNER, set.ttl);
      from += OWNER_OCTETS + octets;
    }
    const marks = this.#views[set.signatureSegment] as DataView;
    for (let i = 0; i < this.signaturesOf(set); i++) {
      const mark = set.signaturesAt[i] as number;
      const octets = marks.getUint16(mark + RDLENGTH) - SET_ID_OCTETS;
      if (!this.#writeOwner(set.name, set.label, owner)) return false;
      const { at, view } = this;
      if (at + RECORD_HEAD_OCTETS - OWNER_OCTETS + octets > this.limit) return false;
      view.setInt32(at, (TYPE.RRSIG << 16) | CLASS.IN);
      view.setInt32(at + TTL_BEHIND_OWNER, set.ttl);
      view.setUint16(at + RDLENGTH - OWNER_OCTETS, octets);
      this.at += RECORD_HEAD_OCTETS - OWNER_OCTETS;
      this.copyFrom(marks, mark + RECORD_HEAD_OCTETS + SET_ID_OCTETS, octets);
    }
    return true;
  }

  #writeOwner(name: number, label: number, place: number): boolean {
    return place <= MAX_POINTER
      ? this.writePointer(place)
      : this.writeFolded(this.names[name] as FoldedName, label);
  }

  /** Reads the stored name at `from` into `#name`, following its pointers. Returns the offset after it. */
  #readName(source: DataView, from: number, set: FoundSet): number {
    const into = this.#name;
    const owner = this.names[set.name] as FoldedName;
    const storedStart = MESSAGE_HEADER_OCTETS + set.ownerOctets + QUESTION_TAIL_OCTETS;
    let length = 0;
    let end = -1;
    for (let at = from; ; ) {
      const label = source.getUint8(at);
      if (label >= 0xc0) {
        const pointer = ((label & 0x3f) << 8) | source.getUint8(at + 1);
        if (end < 0) end = at + 2;
        if (pointer >= storedStart) {
          at = set.at + pointer - storedStart;
          continue;
        }
        // Counted from the end, the owner in the zone and the name it was found for are equal up to here.
        const suffix = set.ownerOctets + MESSAGE_HEADER_OCTETS - pointer;
        for (let i = owner.length - suffix; i < owner.length; i++) into[length++] = owner.octets[i] as number;
        return end;
      }
      into[length++] = label;
      at++;
      if (label === 0) return end < 0 ? at : end;
      for (const next = at + label; at < next; at++) into[length++] = source.getUint8(at);
    }
  }

  /** Writes the CNAME synthesized from a DNAME (RFC 6672 §3.1), with the DNAME's TTL. */
  #writeSynthesized(set: FoundSet): boolean {
    const source = this.#views[set.segment] as DataView;
    const name = this.names[set.name] as FoldedName;
    if (!this.#writeOwner(set.name, 0, this.placeOf(set.name, 0))) return false;
    if (this.at + RECORD_HEAD_OCTETS - OWNER_OCTETS > this.limit) return false;
    this.view.setUint16(this.at, TYPE.CNAME);
    this.view.setUint16(this.at + 2, CLASS.IN);
    this.view.setInt32(this.at + 4, source.getInt32(set.at + 6));
    this.at += RECORD_HEAD_OCTETS - OWNER_OCTETS;
    const start = this.at;
    this.rdataPlace = start - this.base;
    const prefix = name.labelAt[set.label] as number;
    const target = set.octets - RECORD_HEAD_OCTETS;
    for (let i = 0; i < prefix; i++) this.#name[i] = name.octets[i] as number;
    for (let i = 0; i < target; i++)
      this.#name[prefix + i] = source.getUint8(set.at + RECORD_HEAD_OCTETS + i);
    if (!this.writeName(this.#name)) return false;
    this.view.setUint16(start - 2, this.at - start);
    return true;
  }

  /**
   * Writes a set without pointers that is owned by a host. `hostPlace` is the place of the host's name, or -1 if the
   * name is not yet in the message; then writes it and sets `hostPlace`. Returns false if the set does not fit.
   */
  writeHostSet(set: FoundSet, host: FoldedName): boolean {
    const source = this.#views[set.segment] as DataView;
    const start = this.at;
    let from = set.at;
    for (let left = set.records; left > 0; left--) {
      const octets = RECORD_HEAD_OCTETS + source.getUint16(from + RDLENGTH) - OWNER_OCTETS;
      const ownerAt = this.at;
      const isOwned = this.hostPlace < 0 ? this.writeFolded(host, 0) : this.writePointer(this.hostPlace);
      if (!isOwned || this.at + octets > this.limit) {
        this.at = start;
        return false;
      }
      if (this.hostPlace < 0 && ownerAt - this.base <= MAX_POINTER) this.hostPlace = ownerAt - this.base;
      this.copyFrom(source, from + OWNER_OCTETS, octets);
      if (set.isRegional) this.view.setInt32(this.at - octets + TTL_BEHIND_OWNER, set.ttl);
      from += OWNER_OCTETS + octets;
    }
    return true;
  }
}
