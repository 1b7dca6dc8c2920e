// Finds the answer to a question in an image, as find-answer does in zones: RFC 1034 §4.3.2 and its later updates. The
// result stands in fixed fields until the next question, so that no garbage is made.

import { RCODE } from '../../../dns/message/rcodes.ts';
import { MAX_NAME_OCTETS } from '../../../dns/name.ts';
import { TYPE } from '../../../dns/type-codes.ts';
import { isOfApex } from '../../../zone/find-answer.ts';
import { EDGE_MARK_TYPE } from '../../../zone/zone.ts';
import type { Image } from '../image.ts';
import type { AskedMarks } from './asked-marks.ts';
import type { CountryTable } from './country-table.ts';
import { NameFinder, PLACE } from './find-name.ts';
import { ProofFinder } from './find-proofs.ts';
import { RegionFinder } from './find-region.ts';
import { ZoneFinder } from './find-zone.ts';
import { FoldedName } from './folded-name.ts';
import { FIRST_RDATA, FoundSet, lowestSignedTypeAt, lowestTypeAt } from './found-set.ts';

/**
 * The kinds of find-answer, and one for a zone that is ours but not served. Kinds without a zone to answer from come
 * last.
 */
export const FOUND = {
  ANSWER: 0,
  NODATA: 1,
  NXDOMAIN: 2,
  REFERRAL: 3,
  YXDOMAIN: 4,
  REFUSED: 5,
  NOT_SERVED: 6,
  /** It cannot be proven that a name is not there. */
  FAILED: 7,
} as const;
type FoundKind = (typeof FOUND)[keyof typeof FOUND];

/** CNAMEs in one answer, as in find-answer. */
const MAX_LINKS = 16;
/** Each link may be a DNAME and the CNAME that it gives; the last is followed by the answer. */
const MAX_SETS = 2 * MAX_LINKS + 1;

export class ImageFinder {
  /** The question's name and those of the chain behind it. */
  readonly names: readonly FoldedName[];
  /** The question's name, which the caller fills in before `find`. */
  readonly question: FoldedName;

  kind: FoundKind = FOUND.REFUSED;
  rcode = 0;
  authoritative = false;
  /** The answer section: the first `answers` of these. */
  readonly answer: readonly FoundSet[];
  answers = 0;
  /** `referral`: the NS at the cut; `nodata` and `nxdomain`: the SOA, to be sent with the negative TTL. */
  readonly authority = new FoundSet();
  /** The last set of the answer is what was asked for and not an alias: its targets may have additional records. */
  isAnswered = false;
  /** What is sent has signatures, and the proofs in `proofs`: the client wants them and the zone is signed. */
  isSigned = false;
  readonly proofs: ProofFinder;
  /** Puts the set of the asker's region in place of the edge's. */
  readonly regions: RegionFinder;
  /** `referral`: `ds` is the DS set of the cut. */
  hasDs = false;
  readonly ds = new FoundSet();
  /** The length of the apex; 0 when refused. */
  apexOctets = 0;
  /** The label of the question's name where an existing name begins, and whether that is only the closest encloser. */
  #sourceLabel = 0;
  #isBelowSource = false;

  readonly #asked: AskedMarks | undefined;
  readonly #image: Image;
  readonly #bytes: readonly Uint8Array[];
  readonly #zones: ZoneFinder;
  readonly zone: NameFinder;
  /** Used to find whether the zone above delegates a name. */
  readonly #parent: NameFinder;

  /** `asked` receives the apexes of unproven zones that are asked for more than their apex. */
  constructor(image: Image, asked?: AskedMarks, countries?: CountryTable) {
    this.#asked = asked;
    this.#image = image;
    this.regions = new RegionFinder(image, countries);
    this.#bytes = image.bytes;
    this.#zones = new ZoneFinder(image);
    this.zone = new NameFinder(image);
    this.#parent = new NameFinder(image);
    this.proofs = new ProofFinder(image, this.zone);
    this.names = Array.from({ length: MAX_LINKS + 1 }, () => new FoldedName(image.header));
    this.question = this.names[0] as FoldedName;
    this.answer = Array.from({ length: MAX_SETS }, () => new FoundSet());
  }

  /** Class IN; neither AXFR nor IXFR. `dnssecOk` is DO (RFC 3225 §3). Needs the reader slot entered. */
  find(qtype: number, dnssecOk: boolean): void {
    this.answers = 0;
    this.isAnswered = false;
    this.isSigned = false;
    this.hasDs = false;
    this.regions.begin();
    const root = this.#zoneFor(0, qtype);
    if (root === 0) {
      this.#end(FOUND.REFUSED, RCODE.REFUSED, false);
      this.apexOctets = 0;
      return;
    }
    const zone = this.zone;
    zone.enter(root);
    if (zone.isSpecial && !this.#isAnswered(qtype)) {
      this.apexOctets = 0;
      return;
    }
    this.apexOctets = zone.apexOctets;
    if (dnssecOk && zone.isSigned) {
      this.isSigned = true;
      this.proofs.begin();
    }
    this.#follow(qtype);
    if (this.isSigned && this.proofs.collides) this.#end(FOUND.FAILED, RCODE.SERVFAIL, false); // RFC 5155 §7.2.9
  }

  /** Follows the chain from the question's name. */
  #follow(qtype: number): void {
    const zone = this.zone;
    for (let link = 0; ; link++) {
      const name = this.names[link] as FoldedName;
      const place = zone.walk(name, qtype);
      if (link === 0) {
        this.#sourceLabel = zone.label;
        this.#isBelowSource = zone.isWildcard || place === PLACE.DNAME;
      }
      if (place === PLACE.NODE) {
        // 3a, or 3c at a wildcard
        if (this.#match(link, qtype)) return;
      } else if (place === PLACE.DNAME) {
        if (this.#substitute(link, qtype)) return;
      } else if (place === PLACE.CUT) {
        this.#refer(link); // 3b
        return;
      } else {
        if (this.isSigned) this.proofs.noName(name, zone.label);
        this.#deny(FOUND.NXDOMAIN, RCODE.NXDOMAIN);
        return;
      }
      // A loop or a long chain stops here; a target in another zone, even one of ours, is left to the resolver.
      if (this.#isVisited(link + 1) || link + 1 === MAX_LINKS || !this.#isInZone(link + 1, qtype)) {
        this.#end(FOUND.ANSWER, RCODE.NOERROR, true);
        return;
      }
    }
  }

  /** Whether a zone that is not an ordinary one answers the question. */
  #isAnswered(qtype: number): boolean {
    const { zone } = this;
    const isAtApex = this.question.labels === zone.apexLabels;
    if (zone.isUnproven) {
      // Registries and checkers ask for these; everybody else asks for more.
      if (!isAtApex || !(isOfApex(qtype, false) || qtype === TYPE.DNSKEY)) this.#asked?.note(this.apexHash());
      return true;
    }
    if (zone.isNotServed) this.#end(FOUND.NOT_SERVED, RCODE.SERVFAIL, false);
    else if (isAtApex && isOfApex(qtype, zone.isSigned)) return true;
    else this.#end(FOUND.REFUSED, RCODE.REFUSED, false);
    return false;
  }

  /** The hash for rate limits: random names under a wildcard count as the wildcard. */
  sourceHash(): number {
    const label = this.#sourceLabel;
    return this.#isBelowSource ? this.question.wildcardHash(label) : (this.question.hashes[label] as number);
  }

  apexHash(): number {
    return this.question.hashes[this.question.labels - this.zone.apexLabels] as number;
  }

  #end(kind: FoundKind, rcode: number, authoritative: boolean): void {
    this.kind = kind;
    this.rcode = rcode;
    this.authoritative = authoritative;
  }

  /** True when the search is over; else the name behind `link` is the alias's target. */
  #match(link: number, qtype: number): boolean {
    const { node, apexOctets } = this.zone;
    const set = this.answer[this.answers] as FoundSet;
    if (this.#take(set, link, qtype)) {
      if (this.isSigned && this.zone.isWildcard) this.#proveExpanded(link);
      this.answers++;
      this.isAnswered = true;
      this.#end(FOUND.ANSWER, RCODE.NOERROR, true);
      return true;
    }
    // RRSIG and NSEC may exist beside a CNAME (RFC 4034 §3, §4): queries for them ask about the alias itself. A zone with
    // NSEC3 has no NSEC records, and validators reject a NODATA whose NSEC3 has the CNAME bit (RFC 5155 §8.5).
    const isOfAlias = qtype === TYPE.RRSIG || (qtype === TYPE.NSEC && !this.zone.isHashed);
    const isFollowed = !isOfAlias && this.zone.hasCname();
    if (!isFollowed || !set.take(this.#image, node, TYPE.CNAME, apexOctets, link, 0)) {
      if (this.isSigned) this.#proveNoType(link);
      this.#deny(FOUND.NODATA, RCODE.NOERROR);
      return true;
    }
    if (this.isSigned && this.zone.isWildcard) this.#proveExpanded(link);
    this.answers++;
    this.#readTarget(set, link);
    return false;
  }

  /** Takes the set that answers the question at the node. False: there is none. */
  #take(set: FoundSet, link: number, qtype: number): boolean {
    const { node, apexOctets, isHashed } = this.zone;
    const image = this.#image;
    // beside NSEC3 a NSEC is no part of any answer: one takes the place of the other (RFC 5155 §10.4, §10.5)
    if (qtype === TYPE.NSEC && isHashed) return false;
    if (qtype === TYPE.RRSIG) {
      const covered = lowestSignedTypeAt(image, node);
      if (covered === TYPE.NSEC && isHashed) return false;
      if (!set.take(image, node, covered, apexOctets, link, 0)) return false;
      set.takeSignatures();
      return true;
    }
    if (qtype === EDGE_MARK_TYPE) return false; // it never goes on the wire
    const type = qtype === TYPE.ANY ? lowestTypeAt(image, node) : qtype;
    if (!set.take(image, node, type, apexOctets, link, 0)) return false;
    if (set.isEdge) this.regions.replace(set, node, this.zone.isSigned);
    return true;
  }

  #proveExpanded(link: number): void {
    this.proofs.expanded(this.names[link] as FoldedName, this.zone.label);
  }

  #proveNoType(link: number): void {
    const name = this.names[link] as FoldedName;
    const { node, label, isWildcard } = this.zone;
    if (isWildcard) this.proofs.noWildcardType(name, label, node);
    else this.proofs.noType(name, 0, node);
  }

  /** The target of the CNAME at the name `link` becomes the next name. */
  #readTarget(cname: FoundSet, link: number): void {
    const owner = this.names[link] as FoldedName;
    const target = this.names[link + 1] as FoldedName;
    const stored = this.#bytes[cname.segment] as Uint8Array;
    const into = target.octets;
    let length = 0;
    for (let at = cname.at + FIRST_RDATA; ; ) {
      const label = stored[at++] as number;
      if (label >= 0xc0) {
        // Into the owner: counted from the name's end it is the same place in the name that was asked for.
        const suffix = cname.ownerOctets + 12 - (((label & 0x3f) << 8) | (stored[at] as number));
        for (let i = owner.length - suffix; i < owner.length; i++) into[length++] = owner.octets[i] as number;
        break;
      }
      into[length++] = label;
      if (label === 0) break;
      for (const end = at + label; at < end; at++) into[length++] = stored[at] as number;
    }
    target.adopt(length);
  }

  /** RFC 6672 §3.2 3C. True when the search is over. */
  #substitute(link: number, qtype: number): boolean {
    const { node, label, apexOctets } = this.zone;
    const name = this.names[link] as FoldedName;
    const dname = this.answer[this.answers] as FoundSet;
    dname.take(this.#image, node, TYPE.DNAME, apexOctets, link, label);
    if (!this.#hasDname(dname)) this.answers++;
    const prefix = name.labelAt[label] as number;
    const targetOctets = dname.octets - FIRST_RDATA;
    if (prefix + targetOctets > MAX_NAME_OCTETS) {
      this.#end(FOUND.YXDOMAIN, RCODE.YXDOMAIN, true);
      return true;
    }
    const target = this.names[link + 1] as FoldedName;
    const stored = this.#bytes[dname.segment] as Uint8Array;
    for (let i = 0; i < prefix; i++) target.octets[i] = name.octets[i] as number;
    const rdata = dname.at + FIRST_RDATA;
    for (let i = 0; i < targetOctets; i++) target.octets[prefix + i] = stored[rdata + i] as number;
    target.adopt(prefix + targetOctets);
    const cname = this.answer[this.answers++] as FoundSet;
    cname.synthesize(dname, TYPE.CNAME, link);
    if (qtype !== TYPE.CNAME) return false;
    this.#end(FOUND.ANSWER, RCODE.NOERROR, true);
    return true;
  }

  /** Whether the answer has this DNAME already: it is given only once. */
  #hasDname(dname: FoundSet): boolean {
    for (let i = 0; i < this.answers; i++) {
      const set = this.answer[i] as FoundSet;
      if (!set.isSynthesized && set.isAt(dname.segment, dname.at)) return true;
    }
    return false;
  }

  /** AA is about the first owner of the answer section (RFC 1035 §4.1.1). */
  #refer(link: number): void {
    const { node, label, apexOctets } = this.zone;
    this.authority.take(this.#image, node, TYPE.NS, apexOctets, link, label);
    if (this.isSigned) {
      this.authority.dropSignatures(); // RFC 4035 §2.2: the parent signs no NS of a cut
      this.hasDs = this.ds.take(this.#image, node, TYPE.DS, apexOctets, link, label); // RFC 4035 §3.1.4
      if (!this.hasDs) this.proofs.noType(this.names[link] as FoldedName, label, node);
    }
    this.#end(FOUND.REFERRAL, RCODE.NOERROR, this.answers > 0);
  }

  /** RFC 2308 §2; after a chain the rcode is the last name's (RFC 6604 §3). */
  #deny(kind: FoundKind, rcode: number): void {
    const { apexNode, apexOctets, apexLabels } = this.zone;
    const apexLabel = this.question.labels - apexLabels;
    this.authority.take(this.#image, apexNode, TYPE.SOA, apexOctets, 0, apexLabel);
    this.#end(kind, rcode, true);
  }

  #isVisited(link: number): boolean {
    const name = this.names[link] as FoldedName;
    for (let i = 0; i < link; i++) if (name.endsAs(0, this.names[i] as FoldedName, 0)) return true;
    return false;
  }

  /** Whether the zone for a name of the chain is the one that is searched: it may have been put anew meanwhile. */
  #isInZone(link: number, qtype: number): boolean {
    const name = this.names[link] as FoldedName;
    if (!this.isWithinZone(name)) return false;
    const apexLabel = name.labels - this.zone.apexLabels;
    if (qtype !== TYPE.DS) return this.#zones.find(name, 0, apexLabel - 1) === 0;
    return this.#zoneFor(link, qtype) !== 0 && name.labels - this.#zones.apexLabel === this.zone.apexLabels;
  }

  /** Whether a name lies at or below the apex of the zone that answered. */
  isWithinZone(name: FoldedName): boolean {
    const label = name.labels - this.zone.apexLabels;
    return label >= 0 && this.#zones.hasApex(this.zone.root, name, label);
  }

  /** The zone whose apex is nearest above a name. DS belongs to the parent's side of a cut (RFC 4035 §3.1.4.1). */
  #zoneFor(link: number, qtype: number): number {
    const name = this.names[link] as FoldedName;
    const zones = this.#zones;
    const root = zones.find(name, 0, name.labels);
    if (root === 0 || qtype !== TYPE.DS || zones.apexLabel !== 0 || name.labels === 0) return root;
    const above = zones.find(name, 1, name.labels);
    if (above !== 0) {
      // Only a zone that delegates exactly this name is its parent: NXDOMAIN from another one would deny the child.
      this.#parent.enter(above);
      if (this.#parent.isNotServed) return above; // it may or may not delegate the name
      if (this.#parent.walk(name, TYPE.NS) === PLACE.CUT && this.#parent.label === 0) return above;
    }
    zones.apexLabel = 0;
    return root;
  }

  /** Takes the set of a type at a host's node, as `findHost` gave it. */
  takeHostSet(set: FoundSet, node: number, type: number): boolean {
    if (!set.take(this.#image, node, type, this.apexOctets, 0, 0)) return false;
    if (set.isEdge) this.regions.replace(set, node, this.zone.isSigned);
    return true;
  }

  /** The node that has the addresses of a host; 0: none that we may give. An alias is not followed. */
  findHost(host: FoldedName): number {
    if (!this.isWithinZone(host)) return 0;
    const zone = this.zone;
    const node = zone.find(host, 0); // glue below a cut as it stands
    if (node !== 0) return node;
    return zone.walk(host, TYPE.A) === PLACE.NODE ? zone.node : 0; // what an answer would hold
  }
}
