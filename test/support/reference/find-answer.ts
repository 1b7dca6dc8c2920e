// Finds the answer to a query in the served zones: RFC 1034 §4.3.2 and its later updates, with signatures and proofs for
// clients that request them (RFC 4035 §3.1). Deliberately simple and slow: tests compare the answers from the image with it.

import { RCODE } from '../../../src/dns/message/rcodes.ts';
import {
  encodeName,
  foldCase,
  isWithin,
  labelCount,
  labelsOf,
  type Name,
  nameInRdata,
  parentOf,
  prependLabel,
  ROOT,
  replaceSuffix,
  wildcardBelow,
} from '../../../src/dns/name.ts';
import { rdataNames } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import {
  EDGE_MARK_TYPE,
  isOfApex,
  type RecordSet,
  type Zone,
  type ZoneNode,
  type Zones,
} from '../../../src/zone/zone.ts';
import { NO_PROOF, type Proof, proofOf } from './find-proof.ts';
import { type Asker, regionalSet } from './regional-set.ts';

/**
 * `kind` is the result of the last link of a chain. An alias that leads out of the zone is an `answer`. Each set is sent with its
 * signatures, directly after it and with its TTL (RFC 4034 §3). A set and its signatures are sent together or not at all
 * (RFC 4035 §3.1.1).
 */
export interface Answer {
  readonly kind: 'answer' | 'nodata' | 'nxdomain' | 'referral' | 'yxdomain' | 'refused' | 'failed';
  readonly rcode: number;
  /** AA. True for a referral after a chain: the bit is about the first owner (RFC 1035 §4.1.1). */
  readonly authoritative: boolean;
  /**
   * The answer section, in order of the chain. TC is set if it does not fit. A record from a wildcard has the query
   * name as owner (RFC 4592 §3.3.1).
   */
  readonly answer: readonly RecordSet[];
  /**
   * The SOA of a negative answer with its negative TTL, or the NS and DS of a referral, then the proofs, each set once. TC is set
   * if they do not fit.
   */
  readonly authority: readonly RecordSet[];
  /** Addresses of nameservers below the cut, never signed. TC is set if they do not fit (RFC 9471 §3.1). */
  readonly glue: readonly RecordSet[];
  /**
   * Addresses that save the client another query, and sibling glue (RFC 9471 §3.2). Omitted if they do not fit, and in
   * signed responses, to keep these small.
   */
  readonly additional: readonly RecordSet[];
  /** The zone that answered. Undefined if the query was refused. */
  readonly zone?: Zone;
}

interface Asking {
  /** DO (RFC 3225 §3): the client requests signatures and proofs. */
  readonly dnssecOk?: boolean;
  /** The sets of the client's region, and the time in seconds since 1970. */
  readonly asker?: Asker;
}

/** Maximum number of CNAMEs in one answer. RFC 1034 sets no limit; other servers follow from 5 (Knot) to any number (NSD). */
const MAX_LINKS = 16;

/** Finds the answer for class IN. `qname` must be folded. */
export function findAnswer(
  zones: Zones,
  qname: Name,
  qtype: number,
  { dnssecOk = false, asker }: Asking = {},
): Answer {
  const zone = zoneFor(zones, qname, qtype);
  if (zone === undefined || qtype === TYPE.AXFR || qtype === TYPE.IXFR) return REFUSED;
  if (zone.expired) return { ...REFUSED, kind: 'failed', rcode: RCODE.SERVFAIL };
  if (zone.isPrivate) return REFUSED;
  const isSigned = zone.denials !== undefined;
  const answersAll = !zone.marked.has(zone.apex) || (qname === zone.apex && isOfApex(qtype, isSigned));
  if (!answersAll) return REFUSED;

  const proof = dnssecOk ? proofOf(zone) : NO_PROOF;
  const found = follow(zones, zone, { qname, qtype, proof, asker });
  if (proof.collides) return { ...REFUSED, kind: 'failed', rcode: RCODE.SERVFAIL, zone };
  if (!dnssecOk || !isSigned) return withoutSignatures(found);
  const authority = [...found.authority, ...proof.sets];
  return { ...found, authority, glue: found.glue.map(withoutSignature), additional: [] };
}

interface Question {
  readonly qname: Name;
  readonly qtype: number;
  /** Collects the proofs for the parts of the answer. */
  readonly proof: Proof;
  readonly asker: Asker | undefined;
}

function follow(zones: Zones, zone: Zone, { qname, qtype, proof, asker }: Question): Answer {
  const chain: RecordSet[] = [];
  const visited = new Set<Name>();
  let name = qname;
  for (;;) {
    visited.add(name);
    const place = descend(zone, name, qtype);
    let target: Name;
    switch (place.kind) {
      case 'cut': // step 3b
        return referral(zone, place.node, chain, proof, asker);
      case 'dname': {
        const dname = setOf(place.node, TYPE.DNAME) as RecordSet;
        if (!chain.includes(dname)) chain.push(dname);
        const substituted = replaceSuffix(name, dname.owner, targetOf(dname));
        if (substituted === undefined) return yxdomain(zone, chain); // RFC 6672 §3.2 3C
        chain.push(synthesizedCname(name, dname, substituted));
        if (qtype === TYPE.CNAME) return found(zone, qtype, chain, asker);
        target = foldCase(substituted);
        break;
      }
      case 'node': {
        // step 3a, or 3c at a wildcard
        const { node, encloser } = place;
        const set = matching(zone, node, qtype);
        const isAlias = set === undefined && !mayExistBesideCname(zone, qtype);
        const given = set ?? (isAlias ? setOf(node, TYPE.CNAME) : undefined);
        if (given === undefined) {
          if (encloser === undefined) proof.noType(node);
          else proof.noWildcardType(name, encloser, node);
          return negative(zone, 'nodata', chain);
        }
        if (encloser !== undefined) proof.expanded(name, encloser);
        chain.push(ownedBy(name, regionalSet(zone, node, given, asker)));
        if (!isAlias) return found(zone, qtype, chain, asker);
        target = foldCase(targetOf(given));
        break;
      }
      case 'nothing':
        proof.noName(name, place.encloser);
        return negative(zone, 'nxdomain', chain);
      default:
        return place satisfies never;
    }
    // A loop or a long chain ends here. The resolver follows a target in another zone, even one served here.
    const isEnd = visited.has(target) || visited.size === MAX_LINKS || zoneFor(zones, target, qtype) !== zone;
    if (isEnd) return found(zone, qtype, chain, asker);
    name = target;
  }
}

/**
 * Returns true if the type may exist at the owner of a CNAME (RFC 4034 §3, §4): a query for it is about the alias itself.
 * A zone with NSEC3 has no NSEC records, and validators reject a NODATA whose NSEC3 has the CNAME bit (RFC 5155 §8.5).
 */
function mayExistBesideCname({ denials }: Zone, qtype: number): boolean {
  return qtype === TYPE.RRSIG || (qtype === TYPE.NSEC && denials?.kind !== 'nsec3');
}

/** Returns the nearest zone above the name. DS belongs to the parent's side of a cut (RFC 4035 §3.1.4.1). */
function zoneFor(zones: Zones, name: Name, qtype: number): Zone | undefined {
  const zone = nearestZone(zones, name);
  if (zone === undefined || qtype !== TYPE.DS || zone.apex !== name || name === ROOT) return zone;
  const above = nearestZone(zones, parentOf(name));
  if (above === undefined || above.isPrivate) return zone;
  // Only a zone that delegates exactly this name is its parent. NXDOMAIN from another zone would deny the child.
  const place = descend(above, name, TYPE.NS);
  return place.kind === 'cut' && place.node.name === name ? above : zone;
}

function nearestZone(zones: Zones, name: Name): Zone | undefined {
  for (let apex = name; ; apex = parentOf(apex)) {
    const zone = zones.get(apex);
    if (zone !== undefined || apex === ROOT) return zone;
  }
}

type Place =
  /** `encloser` is the closest encloser if the node is a wildcard that matches the name. */
  | { readonly kind: 'node'; readonly node: ZoneNode; readonly encloser?: Name }
  | { readonly kind: 'cut'; readonly node: ZoneNode }
  | { readonly kind: 'dname'; readonly node: ZoneNode }
  | { readonly kind: 'nothing'; readonly encloser: Name };

/** Matches down from the apex, label by label, so that the topmost cut or DNAME decides (RFC 1034 §4.3.2 step 3). */
function descend(zone: Zone, name: Name, qtype: number): Place {
  let node = zone.nodes.get(zone.apex) as ZoneNode;
  const labels = labelsOf(name);
  for (let left = labels.length - labelCount(zone.apex) - 1; left >= 0; left--) {
    if (node.sets.has(TYPE.DNAME)) return { kind: 'dname', node }; // applies to names below, not to its owner (RFC 6672 §2.3)
    const next = zone.nodes.get(prependLabel(labels[left] as string, node.name) as Name);
    if (next === undefined) return atWildcard(zone, node);
    node = next;
    const isDsOfCut = left === 0 && qtype === TYPE.DS;
    if (node.sets.has(TYPE.NS) && !isDsOfCut) return { kind: 'cut', node };
  }
  return { kind: 'node', node };
}

/** Step 3c: only the wildcard at the closest encloser is a source of synthesis (RFC 4592 §3.3.1). */
function atWildcard(zone: Zone, closestEncloser: ZoneNode): Place {
  const name = wildcardBelow(closestEncloser.name);
  const node = name === undefined ? undefined : zone.nodes.get(name);
  const encloser = closestEncloser.name;
  return node === undefined ? { kind: 'nothing', encloser } : { kind: 'node', node, encloser };
}

/**
 * Returns the set that answers the query at this node. ANY gets the set of the lowest type other than NSEC, and RRSIG
 * the signatures of one set: more would help amplification (RFC 8482 §4.1). In a zone with NSEC3, no answer contains
 * NSEC: one chain replaces the other (RFC 5155 §10.4, §10.5), and no NSEC3 lists its type.
 */
function matching(zone: Zone, node: ZoneNode, qtype: number): RecordSet | undefined {
  const isNsecIdle = zone.denials?.kind === 'nsec3';
  if (isNsecIdle && qtype === TYPE.NSEC) return undefined;
  if (qtype === EDGE_MARK_TYPE) return undefined; // this type is never sent
  if (qtype === TYPE.ANY) return lowest(node, ({ type }) => type !== TYPE.NSEC && type !== EDGE_MARK_TYPE);
  if (qtype !== TYPE.RRSIG) return setOf(node, qtype);
  const isSigned = ({ signatures }: RecordSet) => signatures !== undefined;
  const own = lowest(node, (set) => isSigned(set) && set.type !== TYPE.NSEC);
  const covered = own ?? (isNsecIdle ? undefined : lowest(node, isSigned));
  const { owner, ttl, signatures } = covered ?? {};
  if (owner === undefined || ttl === undefined || signatures === undefined) return undefined;
  return { owner, type: TYPE.RRSIG, ttl, rdata: signatures };
}

function lowest(node: ZoneNode, counts: (set: RecordSet) => boolean): RecordSet | undefined {
  return [...node.sets.values()].filter(counts).sort((a, b) => a.type - b.type)[0];
}

function setOf(node: ZoneNode, type: number): RecordSet | undefined {
  return node.sets.get(type);
}

function withoutSignature(set: RecordSet): RecordSet {
  if (set.signatures === undefined) return set;
  const { signatures, ...bare } = set;
  return bare;
}

function withoutSignatures(answer: Answer): Answer {
  return {
    ...answer,
    answer: answer.answer.map(withoutSignature),
    authority: answer.authority.map(withoutSignature),
    glue: answer.glue.map(withoutSignature),
    additional: answer.additional.map(withoutSignature),
  };
}

function ownedBy(owner: Name, set: RecordSet): RecordSet {
  return set.owner === owner ? set : { ...set, owner };
}

/** Returns the only name in the rdata of a CNAME or DNAME. */
function targetOf(set: RecordSet): Name {
  return nameInRdata(set.rdata[0] as Uint8Array);
}

function synthesizedCname(owner: Name, dname: RecordSet, target: Name): RecordSet {
  return { owner, type: TYPE.CNAME, ttl: dname.ttl, rdata: [encodeName(target)] }; // with the DNAME's TTL (RFC 6672 §3.1)
}

const REFUSED: Answer = {
  kind: 'refused',
  rcode: RCODE.REFUSED,
  authoritative: false,
  answer: [],
  authority: [],
  glue: [],
  additional: [],
};

function found(zone: Zone, qtype: number, answer: readonly RecordSet[], asker: Asker | undefined): Answer {
  const last = answer[answer.length - 1] as RecordSet;
  const additional = last.type === qtype ? additionalFor(zone, last, answer, asker) : [];
  return {
    kind: 'answer',
    rcode: RCODE.NOERROR,
    authoritative: true,
    answer,
    authority: [],
    glue: [],
    additional,
    zone,
  };
}

/**
 * Returns a negative answer. The SOA's TTL limits how long it is cached (RFC 2308 §2). After a chain the rcode is that of the
 * last name (RFC 6604 §3).
 */
function negative(zone: Zone, kind: 'nodata' | 'nxdomain', answer: readonly RecordSet[]): Answer {
  return {
    kind,
    rcode: kind === 'nxdomain' ? RCODE.NXDOMAIN : RCODE.NOERROR,
    authoritative: true,
    answer,
    authority: [{ ...zone.soa, ttl: zone.negativeTtl }],
    glue: [],
    additional: [],
    zone,
  };
}

function yxdomain(zone: Zone, answer: readonly RecordSet[]): Answer {
  return {
    kind: 'yxdomain',
    rcode: RCODE.YXDOMAIN,
    authoritative: true,
    answer,
    authority: [],
    glue: [],
    additional: [],
    zone,
  };
}

/**
 * The NS records of a cut belong to the child, so the parent does not sign them (RFC 4035 §2.2). A referral with signatures has
 * DS, or the proof that there is none.
 */
function referral(
  zone: Zone,
  cut: ZoneNode,
  answer: readonly RecordSet[],
  proof: Proof,
  asker: Asker | undefined,
): Answer {
  const ns = withoutSignature(setOf(cut, TYPE.NS) as RecordSet);
  const ds = proof === NO_PROOF ? undefined : setOf(cut, TYPE.DS); // RFC 4035 §3.1.4
  if (ds === undefined) proof.noType(cut);
  const glue: RecordSet[] = [];
  const additional: RecordSet[] = [];
  for (const target of distinctTargets(ns)) {
    const into = isWithin(target, cut.name) ? glue : additional; // RFC 9471 §2.1 in-domain, §2.2 sibling
    into.push(...addressesAt(zone, target, asker));
  }
  return {
    kind: 'referral',
    rcode: RCODE.NOERROR,
    authoritative: answer.length > 0,
    answer,
    authority: ds === undefined ? [ns] : [ns, ds],
    glue,
    additional,
    zone,
  };
}

/** Returns records that save the next query: RFC 1035 §3.3 (NS, MX), RFC 2782 (SRV), RFC 9460 §4.1 (SVCB, HTTPS). */
function additionalFor(
  zone: Zone,
  set: RecordSet,
  answer: readonly RecordSet[],
  asker: Asker | undefined,
): RecordSet[] {
  const sets: RecordSet[] = [];
  switch (set.type) {
    case TYPE.NS:
    case TYPE.MX:
    case TYPE.SRV:
      for (const target of distinctTargets(set)) sets.push(...addressesAt(zone, target, asker));
      break;
    case TYPE.SVCB:
    case TYPE.HTTPS: {
      const names = distinctTargets(set).map((target) => (target === ROOT ? set.owner : target)); // RFC 9460 §2.5.2
      for (const name of new Set(names))
        sets.push(...setsAt(zone, name, [set.type, TYPE.A, TYPE.AAAA], asker));
      break;
    }
  }
  return sets.filter(
    (found) => !answer.some((other) => other.owner === found.owner && other.type === found.type),
  );
}

function distinctTargets(set: RecordSet): Name[] {
  const targets = new Set<Name>();
  for (const rdata of set.rdata) for (const name of rdataNames(set.type, rdata)) targets.add(foldCase(name));
  return [...targets];
}

function addressesAt(zone: Zone, name: Name, asker: Asker | undefined): RecordSet[] {
  return setsAt(zone, name, [TYPE.A, TYPE.AAAA], asker);
}

/** Returns sets of a name: glue below a cut as stored, otherwise those of a normal answer. Aliases are not followed. */
function setsAt(zone: Zone, name: Name, types: readonly number[], asker: Asker | undefined): RecordSet[] {
  let node = zone.nodes.get(name);
  if (node === undefined && isWithin(name, zone.apex)) {
    const place = descend(zone, name, TYPE.A);
    if (place.kind === 'node') node = place.node;
  }
  if (node === undefined) return [];
  const sets: RecordSet[] = [];
  for (const type of types) {
    const set = setOf(node, type);
    if (set !== undefined) sets.push(ownedBy(name, regionalSet(zone, node, set, asker)));
  }
  return sets;
}
