// Checks the nodes of an image: their names, their record sets, and the flags that follow from both.

import { MAX_NAME_OCTETS } from '../../../dns/name.ts';
import { TYPE } from '../../../dns/type-codes.ts';
import { EDGE_MARK_TYPE } from '../../../zone/zone.ts';
import type { Image } from '../image.ts';
import {
  byteOf,
  NODE,
  NODE_FLAG,
  ROOT,
  ROOT_FLAG,
  SET,
  segmentOf,
  setWordsOf,
  UNIT_BYTES,
  wordOf,
} from '../layout.ts';
import { areSoundSignatures, isSoundSet } from './check-set.ts';
import type { CheckedName } from './checked-name.ts';
import type { CheckedZone } from './checked-zone.ts';
import { demand } from './demand.ts';
import type { TakenSpace } from './taken-space.ts';

const KNOWN_FLAGS = Object.values(NODE_FLAG).reduce((all: number, flag) => all | flag, 0);
const SOA_TIMERS_OCTETS = 20; // SERIAL to MINIMUM (RFC 1035 §3.3.13)

/** Summary of the record sets of a node. */
interface CheckedSets {
  /** NODE_FLAG bits determined by the types alone. */
  flags: number;
  records: number;
  isSigned: boolean;
  /** The highest type, or -1 if there are no sets. */
  last: number;
  /** Offset after the SOA's records; 0 if there are none. */
  soaEnd: number;
  isSoaSigned: boolean;
  hasNsec: boolean;
  hasParameters: boolean;
}

const FLAG_OF_TYPE: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, NODE_FLAG.IS_CUT],
  [TYPE.DNAME, NODE_FLAG.HAS_DNAME],
  [TYPE.CNAME, NODE_FLAG.HAS_CNAME],
  [EDGE_MARK_TYPE, NODE_FLAG.EDGE],
]);

export class NodeCheck {
  readonly #image: Image;
  readonly #space: TakenSpace;
  readonly #name: CheckedName;

  constructor(image: Image, space: TakenSpace, name: CheckedName) {
    this.#image = image;
    this.#space = space;
    this.#name = name;
  }

  /** Checks a node of the zone's index, adds it to the sums and returns the hash of its name. */
  checkNamed(node: number, zone: CheckedZone): number {
    const relative = this.#take(node, zone.apexOctets);
    const words = this.#image.words[segmentOf(node)] as Int32Array;
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    const children = words[at + NODE.CHILDREN] as number;
    const isMarked = (shape & NODE_FLAG.MARKED) !== 0;
    const isApex = relative === 0;
    const { octets } = this.#name;
    const isWildcard = !isApex && octets[0] === 1 && octets[1] === 0x2a;
    if (isApex) demand(zone.word(ROOT.APEX_NODE) === node, 'the apex of a zone does not match its root');
    const sets = this.#checkSets(node, zone.apexOctets);
    const wanted =
      (isApex ? sets.flags & ~NODE_FLAG.IS_CUT : sets.flags) |
      (shape & (NODE_FLAG.HAS_WILDCARD_CHILD | NODE_FLAG.MARKED)) |
      (isWildcard ? NODE_FLAG.IS_WILDCARD : 0) |
      (sets.isSigned ? NODE_FLAG.SIGNED : 0);
    demand((shape & 0xff) === wanted && (wanted & ~KNOWN_FLAGS) === 0, 'the flags of a name are wrong');
    if (isApex) this.#checkApex(node, zone, sets, isMarked);
    demand(
      children >= 0 && (isApex || sets.last >= 0 || children > 0 || isMarked),
      'a name has neither records nor names below it',
    );
    if (sets.hasNsec) zone.denying?.add(node);
    zone.records += sets.records;
    zone.children += children;
    if ((wanted & NODE_FLAG.IS_CUT) !== 0) zone.cuts++;
    if ((wanted & NODE_FLAG.HAS_DNAME) !== 0) zone.dnames++;
    if (isWildcard) zone.wildcards++;
    if ((wanted & NODE_FLAG.HAS_WILDCARD_CHILD) !== 0) zone.wildcardParents++;
    return this.#name.hash(zone.apexHash, relative);
  }

  #checkApex(node: number, zone: CheckedZone, sets: CheckedSets, isMarked: boolean): void {
    demand(
      sets.soaEnd > 0 && this.#isSoaOf(zone, node, sets.soaEnd),
      'the SOA of a zone does not match its root',
    );
    demand(zone.has(ROOT_FLAG.APEX_ONLY) === isMarked, 'the flags of a zone are wrong');
    zone.hasApex = true;
    zone.isSigned = sets.isSoaSigned;
    zone.hasParameters = sets.hasParameters;
  }

  /** Returns true if the root has the serial and the negative TTL of the SOA whose rdata ends at `end`. */
  #isSoaOf(zone: CheckedZone, node: number, end: number): boolean {
    const bytes = this.#image.bytes[segmentOf(node)] as Uint8Array;
    const view = new DataView(bytes.buffer, bytes.byteOffset + end - SOA_TIMERS_OCTETS, SOA_TIMERS_OCTETS);
    const isNegativeTtl = zone.word(ROOT.NEGATIVE_TTL) <= view.getUint32(16);
    return view.getUint32(0) === zone.word(ROOT.SERIAL) >>> 0 && isNegativeTtl;
  }

  /** Checks a node that has only an NSEC3 set, and adds it to the sums of the zone. */
  checkHashed(node: number, zone: CheckedZone): void {
    this.#take(node, zone.apexOctets);
    const words = this.#image.words[segmentOf(node)] as Int32Array;
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    const { isSigned, last, records } = this.#checkSets(node, zone.apexOctets);
    const isBelowApex = this.#name.labels > 0;
    const isAlone =
      shape >>> 16 === 1 && last === TYPE.NSEC3 && isBelowApex && words[at + NODE.CHILDREN] === 0;
    // A hash is never a wildcard, but the owner of an idle NSEC3 may be any name.
    const flags = (isSigned ? NODE_FLAG.SIGNED : 0) | (shape & NODE_FLAG.IS_WILDCARD);
    demand(isAlone && (shape & 0xff) === flags, 'an NSEC3 set shares its node with others');
    zone.records += records;
    zone.hashed++;
  }

  /** Takes the block of a node and reads its name. Returns the length of the name without the apex. */
  #take(node: number, apexOctets: number): number {
    const space = this.#space;
    const words = space.enter(node, NODE.SETS);
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    const relative = (shape >>> 8) & 0xff;
    const setWords = setWordsOf(shape);
    const setsEnd = NODE.SETS + (shape >>> 16) * setWords;
    space.enter(node, setsEnd);
    demand(relative + apexOctets <= MAX_NAME_OCTETS, 'a name is too long');
    let length = setsEnd * 4 + relative;
    for (let word = at + NODE.SETS; word < at + setsEnd; word += setWords) {
      length += (words[word + SET.OCTETS] as number) & 0xffff;
      if (setWords > SET.SIGNATURES) length += (words[word + SET.SIGNATURES] as number) & 0xffff;
    }
    space.takeUnits(node, Math.ceil(length / UNIT_BYTES));
    const bytes = this.#image.bytes[segmentOf(node)] as Uint8Array;
    this.#name.readBelowApex(bytes, byteOf(node) + setsEnd * 4, relative, apexOctets);
    return relative;
  }

  /** Checks the sets of the node whose name was just read. */
  #checkSets(node: number, apexOctets: number): CheckedSets {
    const words = this.#image.words[segmentOf(node)] as Int32Array;
    const octets = this.#image.bytes[segmentOf(node)] as Uint8Array;
    const at = wordOf(node);
    const shape = words[at + NODE.SHAPE] as number;
    const relative = (shape >>> 8) & 0xff;
    const setWords = setWordsOf(shape);
    const setsEnd = at + NODE.SETS + (shape >>> 16) * setWords;
    const owner = this.#name.octets;
    const ownerOctets = relative + apexOctets;
    const checked: CheckedSets = {
      flags: 0,
      records: 0,
      isSigned: false,
      last: -1,
      soaEnd: 0,
      isSoaSigned: false,
      hasNsec: false,
      hasParameters: false,
    };
    let setAt = byteOf(node) + (setsEnd - at) * 4 + relative;
    for (let word = at + NODE.SETS; word < setsEnd; word += setWords) {
      const type = (words[word + SET.TYPE] as number) & 0xffff;
      const records = (words[word + SET.TYPE] as number) >>> 16;
      const second = words[word + SET.OCTETS] as number;
      const third = setWords > SET.SIGNATURES ? (words[word + SET.SIGNATURES] as number) : 0;
      demand(type > checked.last && type !== TYPE.RRSIG, 'the sets of a name are out of order');
      const place = { octets, at: setAt, type, records, second, owner, ownerOctets, apexOctets };
      demand(isSoundSet(place), 'a record set is not valid for its type');
      demand(third === 0 || areSoundSignatures(place, third), 'a signature is not valid');
      if (type === TYPE.SOA) {
        checked.soaEnd = setAt + (second & 0xffff);
        checked.isSoaSigned = third !== 0;
      }
      setAt += (second & 0xffff) + (third & 0xffff);
      checked.records += records + (third >>> 16);
      checked.isSigned ||= third !== 0;
      checked.hasNsec ||= type === TYPE.NSEC;
      checked.hasParameters ||= type === TYPE.NSEC3PARAM;
      checked.last = type;
      checked.flags |= FLAG_OF_TYPE.get(type) ?? 0;
    }
    return checked;
  }
}
