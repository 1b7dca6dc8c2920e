// Finds the answer to a query in an image: RFC 1034 §4.3.2 and its later updates. Tests compare it with the simple
// implementation in test/support/reference. The result is kept in fields until the next query, so that no objects are
// allocated.

import { RCODE } from '../../../dns/message/rcodes.ts';
import { TYPE } from '../../../dns/type-codes.ts';
import { EDGE_MARK_TYPE, isOfApex } from '../../../zone/zone.ts';
import type { Image } from '../image.ts';
import type { AskedMarks } from './asked-marks.ts';
import { ZoneChooser } from './choose-zone.ts';
import type { CountryTable } from './country-table.ts';
import { NameFinder, PLACE } from './find-name.ts';
import { ProofFinder } from './find-proofs.ts';
import { RegionFinder } from './find-region.ts';
import { FoldedName } from './folded-name.ts';
import { FOUND, type FoundKind } from './found-kinds.ts';
import { FoundSet, lowestSignedTypeAt, lowestTypeAt } from './found-set.ts';
import { readCnameTarget, readDnameTarget } from './read-target.ts';

/** Maximum number of CNAMEs in one answer. RFC 1034 sets no limit; other servers follow from 5 (Knot) to any number (NSD). */
const MAX_LINKS = 16;
/** Each link may be a DNAME and the CNAME synthesized from it. The answer follows the last link. */
const MAX_SETS = 2 * MAX_LINKS + 1;

export class ImageFinder {
  /** The query name, which the caller sets before `find`, followed by the names of the alias chain. */
  readonly names: FoldedName[];

  kind: FoundKind = FOUND.REFUSED;
  rcode = 0;
  authoritative = false;
  /** The answer section: the first `answers` sets are valid. */
  readonly answer: readonly FoundSet[];
  answers = 0;
  /** For `REFERRAL`, the NS set at the cut. For `NODATA` and `NXDOMAIN`, the SOA, to be sent with the negative TTL. */
  readonly authority = new FoundSet();
  /** True if the last set of the answer has the query type and is not an alias: its targets may have additional records. */
  isAnswered = false;
  /** True if the response has signatures, and the proofs in `proofs`: the client set DO and the zone is signed. */
  isSigned = false;
  readonly proofs: ProofFinder;
  /** Replaces the edge's address sets with those of the client's region. */
  readonly regions: RegionFinder;
  /** True if `ds` is the DS set of the cut, for `REFERRAL`. */
  hasDs = false;
  readonly ds = new FoundSet();
  /** Length of the apex; 0 if the query is refused. */
  apexOctets = 0;
  /** The label of the query name at which an existing name begins, and whether that name is only the closest encloser. */
  #sourceLabel = 0;
  #isBelowSource = false;

  readonly #asked: AskedMarks | undefined;
  readonly #image: Image;
  readonly #bytes: readonly Uint8Array[];
  readonly #zones: ZoneChooser;
  readonly zone: NameFinder;

  /** @param asked receives the apexes of unproven zones that receive queries below their apex */
  constructor(image: Image, asked?: AskedMarks, countries?: CountryTable) {
    this.#asked = asked;
    this.#image = image;
    this.regions = new RegionFinder(image, countries);
    this.#bytes = image.bytes;
    this.#zones = new ZoneChooser(image);
    this.zone = new NameFinder(image);
    this.proofs = new ProofFinder(image, this.zone);
    this.names = Array.from({ length: MAX_LINKS + 1 }, () => new FoldedName(image.header));
    this.answer = Array.from({ length: MAX_SETS }, () => new FoundSet());
  }

  get question(): FoldedName {
    return this.names[0] as FoldedName;
  }

  /**
   * Finds the answer for class IN; `qtype` is neither AXFR nor IXFR. `dnssecOk` is DO (RFC 3225 §3). The caller must
   * have entered its reader slot.
   */
  find(qtype: number, dnssecOk: boolean): void {
    this.answers = 0;
    this.isAnswered = false;
    this.isSigned = false;
    this.hasDs = false;
    this.regions.begin();
    const root = this.#zones.choose(this.question, qtype);
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

  /** Follows the alias chain from the query name. */
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
        // step 3a, or 3c at a wildcard
        if (this.#match(link, qtype)) return;
      } else if (place === PLACE.DNAME) {
        if (this.#substitute(link, qtype)) return;
      } else if (place === PLACE.CUT) {
        this.#refer(link); // step 3b
        return;
      } else {
        if (this.isSigned) this.proofs.noName(name, zone.label);
        this.#deny(FOUND.NXDOMAIN, RCODE.NXDOMAIN);
        return;
      }
      // A loop or a long chain ends here. The resolver follows a target in another zone, even one served here.
      const target = this.names[link + 1] as FoldedName;
      const isLast = this.#isVisited(link + 1) || link + 1 === MAX_LINKS;
      if (isLast || !this.#zones.leadsTo(zone, target, qtype)) {
        this.#end(FOUND.ANSWER, RCODE.NOERROR, true);
        return;
      }
    }
  }

  /** Returns true if the query is answered because of a special flag of the zone. */
  #isAnswered(qtype: number): boolean {
    const { zone } = this;
    const isAtApex = this.question.labels === zone.apexLabels;
    if (zone.isUnproven) {
      // Registries and delegation checkers send only these queries.
      if (!isAtApex || !(isOfApex(qtype, false) || qtype === TYPE.DNSKEY)) this.#asked?.note(this.apexHash());
      return true;
    }
    if (zone.isNotServed) this.#end(FOUND.NOT_SERVED, RCODE.SERVFAIL, false);
    else if (zone.isExpired) this.#end(FOUND.EXPIRED, RCODE.SERVFAIL, false);
    else if (zone.isPrivate) this.#end(FOUND.PRIVATE, RCODE.REFUSED, false);
    else if (isAtApex && isOfApex(qtype, zone.isSigned)) return true;
    else this.#end(FOUND.REFUSED, RCODE.REFUSED, false);
    return false;
  }

  /** Returns the hash for rate limits. Random names below a wildcard count as the wildcard. */
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

  /** Returns true if the search ends. Otherwise the name after `link` is the target of the alias. */
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
    // RRSIG and NSEC may exist at the owner of a CNAME (RFC 4034 §3, §4), so queries for them are about the alias itself.
    // A zone with NSEC3 has no NSEC records, and validators reject a NODATA whose NSEC3 has the CNAME bit (RFC 5155 §8.5).
    const isOfAlias = qtype === TYPE.RRSIG || (qtype === TYPE.NSEC && !this.zone.isHashed);
    const isFollowed = !isOfAlias && this.zone.hasCname();
    if (!isFollowed || !set.take(this.#image, node, TYPE.CNAME, apexOctets, link, 0)) {
      if (this.isSigned) this.#proveNoType(link);
      this.#deny(FOUND.NODATA, RCODE.NOERROR);
      return true;
    }
    if (this.isSigned && this.zone.isWildcard) this.#proveExpanded(link);
    this.answers++;
    const stored = this.#bytes[set.segment] as Uint8Array;
    readCnameTarget(stored, set, this.names[link] as FoldedName, this.names[link + 1] as FoldedName);
    return false;
  }

  /** Sets `set` to the set at the node that answers the query. Returns false if there is none. */
  #take(set: FoundSet, link: number, qtype: number): boolean {
    const { node, apexOctets, isHashed } = this.zone;
    const image = this.#image;
    // with NSEC3, no answer contains NSEC: one chain replaces the other (RFC 5155 §10.4, §10.5)
    if (qtype === TYPE.NSEC && isHashed) return false;
    if (qtype === TYPE.RRSIG) {
      const covered = lowestSignedTypeAt(image, node);
      if (covered === TYPE.NSEC && isHashed) return false;
      if (!set.take(image, node, covered, apexOctets, link, 0)) return false;
      set.takeSignatures();
      return true;
    }
    if (qtype === EDGE_MARK_TYPE) return false; // this type is never sent
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

  /** Follows a DNAME (RFC 6672 §3.2 3C). Returns true if the search ends. */
  #substitute(link: number, qtype: number): boolean {
    const { node, label, apexOctets } = this.zone;
    const name = this.names[link] as FoldedName;
    const dname = this.answer[this.answers] as FoundSet;
    dname.take(this.#image, node, TYPE.DNAME, apexOctets, link, label);
    if (!this.#hasDname(dname)) this.answers++;
    const prefix = name.labelAt[label] as number;
    const stored = this.#bytes[dname.segment] as Uint8Array;
    if (!readDnameTarget(stored, dname, name, prefix, this.names[link + 1] as FoldedName)) {
      this.#end(FOUND.YXDOMAIN, RCODE.YXDOMAIN, true);
      return true;
    }
    const cname = this.answer[this.answers++] as FoundSet;
    cname.synthesize(dname, TYPE.CNAME, link);
    if (qtype !== TYPE.CNAME) return false;
    this.#end(FOUND.ANSWER, RCODE.NOERROR, true);
    return true;
  }

  /** Returns true if the answer already has this DNAME, which is included only once. */
  #hasDname(dname: FoundSet): boolean {
    for (let i = 0; i < this.answers; i++) {
      const set = this.answer[i] as FoundSet;
      if (!set.isSynthesized && set.isAt(dname.segment, dname.at)) return true;
    }
    return false;
  }

  /** AA refers to the first owner in the answer section (RFC 1035 §4.1.1). */
  #refer(link: number): void {
    const { node, label, apexOctets } = this.zone;
    this.authority.take(this.#image, node, TYPE.NS, apexOctets, link, label);
    if (this.isSigned) {
      this.authority.dropSignatures(); // the parent does not sign the NS set of a cut (RFC 4035 §2.2)
      this.hasDs = this.ds.take(this.#image, node, TYPE.DS, apexOctets, link, label); // RFC 4035 §3.1.4
      if (!this.hasDs) this.proofs.noType(this.names[link] as FoldedName, label, node);
    }
    this.#end(FOUND.REFERRAL, RCODE.NOERROR, this.answers > 0);
  }

  /** Negative answer (RFC 2308 §2). After a chain, the rcode is that of the last name (RFC 6604 §3). */
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

  /** Returns true if a name is at or below the apex of the zone that answered. */
  isWithinZone(name: FoldedName): boolean {
    return this.#zones.isWithin(this.zone, name);
  }

  /** Sets `set` to the set of a type at a host's node, as returned by `findHost`. */
  takeHostSet(set: FoundSet, node: number, type: number): boolean {
    if (!set.take(this.#image, node, type, this.apexOctets, 0, 0)) return false;
    if (set.isEdge) this.regions.replace(set, node, this.zone.isSigned);
    return true;
  }

  /** Returns the node with the addresses of a host, or 0 if there are none to include. Aliases are not followed. */
  findHost(host: FoldedName): number {
    if (!this.isWithinZone(host)) return 0;
    const zone = this.zone;
    const node = zone.find(host, 0); // glue below a cut, as stored
    if (node !== 0) return node;
    return zone.walk(host, TYPE.A) === PLACE.NODE ? zone.node : 0; // the addresses that a query would get
  }
}
