// Writes the sections of an answer in whole record sets, as far as they fit. A required set that does not fit sets TC (RFC
// 2181 §9); additional records are omitted silently. Also looks up the host addresses that save the client another query.

import { TYPE } from '../../dns/type-codes.ts';
import type { ImageFinder } from '../image/find/find-in-image.ts';
import { FoldedName } from '../image/find/folded-name.ts';
import { FOUND } from '../image/find/found-kinds.ts';
import { FoundSet } from '../image/find/found-set.ts';
import type { Image } from '../image/image.ts';
import { RECORD_HEAD_OCTETS } from '../image/layout.ts';
import { MAX_POINTER } from './name-writer.ts';
import { ProofWriter } from './proof-writer.ts';
import { SetWriter } from './set-writer.ts';

/** More than the number of records that fit into a message. */
const MAX_TARGETS = 5000;
const MAX_TYPE = 255;
const NO_TARGET = 255;

/** Number of octets in the rdata before the host name, by type: RFC 1035 §3.3 (NS, MX), RFC 2782 (SRV), RFC 9460 §4.1. */
const TARGET_SKIP = new Uint8Array(MAX_TYPE + 1).fill(NO_TARGET);
TARGET_SKIP[TYPE.NS] = 0;
TARGET_SKIP[TYPE.MX] = 2;
TARGET_SKIP[TYPE.SRV] = 6;
TARGET_SKIP[TYPE.SVCB] = 2;
TARGET_SKIP[TYPE.HTTPS] = 2;

/** Offset of the TTL in a record whose owner is a pointer. */
const TTL = 6;
const OWNER_OCTETS = 2;

export class SectionWriter {
  readonly message: SetWriter;
  /** Number of records in the answer, authority and additional section. */
  answers = 0;
  authorities = 0;
  additionals = 0;
  readonly #found: ImageFinder;
  readonly #proofs: ProofWriter;
  readonly #host: FoldedName;
  readonly #hostSet = new FoundSet();
  /** Hosts already looked up for this set: hashes and offsets of their names. */
  readonly #seenHashes = new Int32Array(MAX_TARGETS);
  readonly #seenPlaces = new Int32Array(MAX_TARGETS);
  #seen = 0;
  /** Places of the hosts whose addresses a referral may omit. */
  readonly #elsewhere = new Int32Array(MAX_TARGETS);

  constructor(image: Image, found: ImageFinder) {
    this.#found = found;
    this.message = new SetWriter(image, found.names);
    this.#proofs = new ProofWriter(image, found, this.message);
    this.#host = new FoldedName(image.header);
  }

  begin(): void {
    this.answers = 0;
    this.authorities = 0;
    this.additionals = 0;
  }

  /** Writes the answer that was found. Returns false if a required set did not fit; the sections written before it remain. */
  writeFound(qtype: number): boolean {
    const found = this.#found;
    const { message } = this;
    message.withSignatures = found.isSigned;
    for (let i = 0; i < found.answers; i++) {
      const set = found.answer[i] as FoundSet;
      if (!message.writeSet(set)) return false;
      this.answers += set.records + message.signaturesOf(set);
    }
    const { kind } = found;
    if (kind === FOUND.NXDOMAIN || kind === FOUND.NODATA) return this.#writeSoa();
    if (kind === FOUND.REFERRAL) return this.#writeReferral();
    // Signed answers get no optional records, to keep them small.
    if (found.isSigned) return this.#writeProofs();
    if (found.isAnswered && qtype <= MAX_TYPE && TARGET_SKIP[qtype] !== NO_TARGET) {
      this.#writeHosts(found.answer[found.answers - 1] as FoundSet, message.setPlace, false);
    }
    return true;
  }

  /** Writes `record` with the query name as its owner. Returns false if it does not fit. */
  writeRecord(record: DataView): boolean {
    const { message } = this;
    if (message.at + record.byteLength > message.limit) return false;
    message.copyFrom(record, 0, record.byteLength);
    this.answers++;
    return true;
  }

  /** Writes the SOA and the proofs. The TTL of the SOA and its signatures limits negative caching (RFC 2308 §5). */
  #writeSoa(): boolean {
    const { message } = this;
    const { authority, zone, isSigned } = this.#found;
    let at = message.at;
    if (!message.writeSet(authority)) return false;
    this.authorities = authority.records + message.signaturesOf(authority);
    for (let left = this.authorities; left > 0; left--) {
      message.view.setInt32(at + TTL, zone.negativeTtl); // each owner is a pointer to the query name
      at += RECORD_HEAD_OCTETS + message.view.getUint16(at + RECORD_HEAD_OCTETS - 2);
    }
    return !isSigned || this.#writeProofs();
  }

  #writeReferral(): boolean {
    const { message } = this;
    const { authority: ns, ds, hasDs, isSigned } = this.#found;
    if (!message.writeSet(ns)) return false;
    const place = message.setPlace;
    this.authorities = ns.records;
    if (hasDs) {
      if (!message.writeSet(ds)) return false;
      this.authorities += ds.records + ds.signatures;
    }
    if (isSigned && !this.#writeProofs()) return false;
    return this.#writeHosts(ns, place, true);
  }

  #writeProofs(): boolean {
    const isWhole = this.#proofs.writeAll();
    this.authorities += this.#proofs.records;
    return isWhole;
  }

  /**
   * Writes the addresses of the hosts that the set at an offset names. In a referral, hosts at or below the zone cut come
   * first. Returns false if one of these does not fit (RFC 9471 §3.1).
   */
  #writeHosts(set: FoundSet, setPlace: number, isReferral: boolean): boolean {
    const { out, base } = this.message;
    const skip = TARGET_SKIP[set.type] as number;
    const isBinding = set.type === TYPE.SVCB || set.type === TYPE.HTTPS;
    let elsewhere = 0;
    this.#seen = 0;
    for (let place = setPlace, left = set.records; left > 0; left--) {
      const rdata = this.#behindName(place) + RECORD_HEAD_OCTETS - OWNER_OCTETS;
      // The root stands for the owner (RFC 9460 §2.5.2).
      const target = isBinding && out[base + rdata + skip] === 0 ? place : rdata + skip;
      this.#readName(target);
      if (this.#isSeen(target)) {
        // already written
      } else if (isReferral && !this.#isBelowCut(set)) this.#elsewhere[elsewhere++] = target;
      else if (!this.#writeHost(set, target)) return false;
      place = rdata + (((out[base + rdata - 2] as number) << 8) | (out[base + rdata - 1] as number));
    }
    if (this.#found.isSigned) return true;
    // Sibling glue (RFC 9471 §3.2).
    for (let i = 0; i < elsewhere; i++) {
      this.#readName(this.#elsewhere[i] as number);
      if (!this.#writeHost(set, this.#elsewhere[i] as number)) break;
    }
    return true;
  }

  /** Writes the addresses of the host whose name is at `target` in the message. */
  #writeHost(set: FoundSet, target: number): boolean {
    const node = this.#found.findHost(this.#host);
    if (node === 0) return true;
    const isBinding = set.type === TYPE.SVCB || set.type === TYPE.HTTPS;
    const hostPlace = this.message.resolve(target);
    // Pointers are only set into types whose names may be compressed (RFC 3597 §4).
    const isReached = hostPlace <= MAX_POINTER && !isBinding && set.type !== TYPE.SRV;
    this.message.hostPlace = isReached ? hostPlace : -1;
    const owner = this.#found.names[set.name] as FoldedName;
    if (isBinding && !this.#host.endsAs(0, owner, set.label) && !this.#writeHostSet(node, set.type)) {
      return false;
    }
    return this.#writeHostSet(node, TYPE.A) && this.#writeHostSet(node, TYPE.AAAA);
  }

  #writeHostSet(node: number, type: number): boolean {
    const set = this.#hostSet;
    if (!this.#found.takeHostSet(set, node, type)) return true;
    if (!this.message.writeHostSet(set, this.#host)) return false;
    this.additionals += set.records;
    return true;
  }

  /** Returns true if the host is the name of the cut or a subdomain of it (RFC 9471 §2.1). */
  #isBelowCut(cut: FoundSet): boolean {
    const owner = this.#found.names[cut.name] as FoldedName;
    const label = this.#host.labels - (owner.labels - cut.label);
    return label >= 0 && this.#host.endsAs(label, owner, cut.label);
  }

  /** Returns true if the host was already looked up. A host that several records name is looked up once. */
  #isSeen(place: number): boolean {
    const hash = this.#host.hashes[0] as number;
    for (let i = 0; i < this.#seen; i++) {
      if (this.#seenHashes[i] === hash && this.#isHostAt(this.#seenPlaces[i] as number)) return true;
    }
    if (this.#seen < MAX_TARGETS) {
      this.#seenHashes[this.#seen] = hash;
      this.#seenPlaces[this.#seen++] = place;
    }
    return false;
  }

  #isHostAt(from: number): boolean {
    const { message } = this;
    const { out, base } = message;
    const { octets } = this.#host;
    let place = message.resolve(from);
    for (let i = 0; ; ) {
      const label = out[base + place] as number;
      if (octets[i] !== label) return false;
      if (label === 0) return true;
      for (let left = label; left > 0; left--) {
        const octet = out[base + ++place] as number;
        if (((octet - 0x41) >>> 0 < 26 ? octet | 0x20 : octet) !== octets[++i]) return false;
      }
      i++;
      place = message.resolve(place + 1);
    }
  }

  /** Reads the name at a place in the message into `#host`. */
  #readName(from: number): void {
    const { message } = this;
    const { out, base } = message;
    const { octets } = this.#host;
    let length = 0;
    for (let place = message.resolve(from); ; place = message.resolve(place)) {
      const label = out[base + place++] as number;
      octets[length++] = label;
      if (label === 0) break;
      for (let left = label; left > 0; left--) octets[length++] = out[base + place++] as number;
    }
    this.#host.adopt(length);
  }

  /** Returns the offset after the owner name at the given offset. */
  #behindName(from: number): number {
    const { out, base } = this.message;
    let place = from;
    for (;;) {
      const label = out[base + place] as number;
      if (label >= 0xc0) return place + 2;
      place += label + 1;
      if (label === 0) return place;
    }
  }
}
