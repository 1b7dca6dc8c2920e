// A validator for tests, written only from RFC 4035 §5 and RFC 5155 §8: checks whether a reply of an authoritative
// server is proven. It knows the keys but no zone. It is stricter than a resolver, because it also reports what a
// server must not send: unsigned sets, signatures without a set, and proofs that prove nothing.

import { createHash } from 'node:crypto';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { signedOctets } from '../../../src/dns/dnssec/signed-octets.ts';
import { verifySignature } from '../../../src/dns/dnssec/verify-signature.ts';
import type { Message } from '../../../src/dns/message/message.ts';
import {
  foldCase,
  isWithin,
  labelsOf,
  type Name,
  nameInRdata,
  parentOf,
  printName,
  replaceSuffix,
} from '../../../src/dns/name.ts';
import { DNSKEY, NSEC, NSEC3, RRSIG } from '../../../src/dns/record/types/dnssec.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { Bogus } from './bogus.ts';
import { groupSection, type ReadSignature, type ReplySet } from './reply-sets.ts';

type Judged = 'secure' | 'insecure';

/** Each method throws Bogus if the records do not prove it. */
interface DenialRecords {
  proveNoType(name: Name, type: number): Judged;
  proveNoName(name: Name): Judged;
  /** Proves that the name does not exist, and that the answer comes from the wildcard below its last `labels` labels. */
  proveExpanded(name: Name, labels: number): Judged;
  proveInsecureCut(cut: Name): Judged;
  /** Returns the owners of records that no proof has used. */
  unused(): Name[];
}

function readDenials(authorities: readonly ReplySet[], apex: Name): DenialRecords {
  const nsec = authorities.filter(({ type }) => type === TYPE.NSEC);
  const nsec3 = authorities.filter(({ type }) => type === TYPE.NSEC3);
  if (nsec.length > 0 && nsec3.length > 0) throw new Bogus('NSEC beside NSEC3');
  return nsec3.length > 0 ? new HashedRecords(nsec3, apex) : new NamedRecords(nsec, apex);
}

function onlyRdata(set: ReplySet): WireReader {
  if (set.rdata.length !== 1) throw new Bogus(`${printName(set.owner)}: ${set.rdata.length} denials`);
  return new WireReader(set.rdata[0] as Uint8Array);
}

/** Returns false for a record of a cut, which only applies to the name itself, and there only to DS (RFC 6840 §4.1, §4.4). */
function speaksBelow(types: readonly number[]): boolean {
  const isCut = types.includes(TYPE.NS) && !types.includes(TYPE.SOA);
  return !isCut && !types.includes(TYPE.DNAME);
}

function checkDenied(types: readonly number[], type: number, name: Name): void {
  const isCut = types.includes(TYPE.NS) && !types.includes(TYPE.SOA);
  const fault = (why: string) => new Bogus(`${printName(name)}: ${why}`);
  if (
    types.includes(type) ||
    (type === TYPE.ANY && types.some((each) => each !== TYPE.RRSIG && each !== TYPE.NSEC))
  )
    throw fault('the record shows that the type exists');
  if (types.includes(TYPE.CNAME) && type !== TYPE.RRSIG)
    throw fault('the record shows that there is an alias');
  if (isCut && type !== TYPE.DS) throw fault('the record is of a cut');
}

interface Denial {
  readonly owner: Name;
  readonly types: readonly number[];
}

/** The common part of both kinds of records. */
class Records<D extends Denial> {
  readonly #used = new Set<D>();
  readonly records: readonly D[];

  constructor(records: readonly D[]) {
    this.records = records;
  }

  unused(): Name[] {
    return this.records.filter((record) => !this.#used.has(record)).map(({ owner }) => owner);
  }

  protected use(record: D): Judged {
    this.#used.add(record);
    return 'secure';
  }

  /** Uses the record if it matches an insecure cut. */
  protected useInsecureCut(record: D, cut: Name): Judged {
    const { types } = record;
    if (!types.includes(TYPE.NS) || types.includes(TYPE.SOA) || types.includes(TYPE.DS))
      throw new Bogus(`${printName(cut)}: not the record of a cut without DS`);
    return this.use(record);
  }
}

interface Named extends Denial {
  readonly next: Name;
}

class NamedRecords extends Records<Named> implements DenialRecords {
  readonly #apex: Name;

  constructor(sets: readonly ReplySet[], apex: Name) {
    super(
      sets.map((set) => {
        const { nextName, types } = NSEC.decode(onlyRdata(set));
        return { owner: set.owner, next: foldCase(nextName), types };
      }),
    );
    this.#apex = apex;
  }

  proveNoType(name: Name, type: number): Judged {
    const own = this.#at(name);
    if (own !== undefined) {
      checkDenied(own.types, type, name);
      return this.use(own);
    }
    const cover = this.#covering(name);
    if (isWithin(cover.next, name)) return this.use(cover); // an empty non-terminal
    const wildcard = wildcardOf(this.#encloser(cover, name));
    const source = this.#at(wildcard);
    if (source !== undefined) {
      checkDenied(source.types, type, wildcard);
      this.use(source);
    } else {
      const around = this.#covering(wildcard);
      if (!isWithin(around.next, wildcard)) throw new Bogus(`${printName(wildcard)}: not shown to exist`);
      this.use(around);
    }
    return this.use(cover);
  }

  proveNoName(name: Name): Judged {
    const cover = this.#covering(name);
    if (isWithin(cover.next, name)) throw new Bogus(`${printName(name)}: the record shows that it exists`);
    this.use(cover);
    const wildcard = wildcardOf(this.#encloser(cover, name));
    if (wildcard.length > 255) return 'secure';
    const noWildcard = this.#covering(wildcard);
    if (isWithin(noWildcard.next, wildcard)) throw new Bogus(`${printName(wildcard)}: it is there`);
    return this.use(noWildcard);
  }

  proveExpanded(name: Name, labels: number): Judged {
    const cover = this.#covering(name);
    if (isWithin(cover.next, name)) throw new Bogus(`${printName(name)}: the record shows that it exists`);
    if (labelsOf(this.#encloser(cover, name)).length !== labels)
      throw new Bogus(`${printName(name)}: a closer wildcard may exist`);
    return this.use(cover);
  }

  proveInsecureCut(cut: Name): Judged {
    const own = this.#at(cut);
    if (own === undefined) throw new Bogus(`${printName(cut)}: nothing shows that it has no DS`);
    return this.useInsecureCut(own, cut);
  }

  #at(name: Name): Named | undefined {
    return this.records.find(({ owner }) => owner === name);
  }

  #covering(name: Name): Named {
    const found = this.records.find(({ owner, next, types }) => {
      const isAfter = isBefore(owner, name);
      const isCovered = isBefore(owner, next)
        ? isAfter && isBefore(name, next)
        : next === this.#apex && isAfter; // the last record points to the apex (RFC 4034 §4.1.1)
      return isCovered && (!isWithin(name, owner) || speaksBelow(types));
    });
    if (found === undefined) throw new Bogus(`${printName(name)}: no record covers it`);
    return found;
  }

  /** Returns the longest ancestor that the record shows to exist: one of its two names is at or below it. */
  #encloser({ owner, next }: Named, name: Name): Name {
    let encloser = parentOf(name);
    while (!isWithin(owner, encloser) && !isWithin(next, encloser)) encloser = parentOf(encloser);
    return encloser;
  }
}

function wildcardOf(encloser: Name): Name {
  return `\x01*${encloser}` as Name;
}

/** Compares labels from the right as octets; a missing label is first (RFC 4034 §6.1). */
function isBefore(a: Name, b: Name): boolean {
  const [left, right] = [labelsOf(a).reverse(), labelsOf(b).reverse()];
  for (let i = 0; i < left.length && i < right.length; i++) {
    const order = Buffer.compare(
      Buffer.from(left[i] as string, 'latin1'),
      Buffer.from(right[i] as string, 'latin1'),
    );
    if (order !== 0) return order < 0;
  }
  return left.length < right.length;
}

interface Hashed extends Denial {
  /** In base32hex in lower case, which sorts like the octets. */
  readonly hash: string;
  readonly next: string;
  readonly optOut: boolean;
  readonly iterations: number;
  readonly salt: Uint8Array;
}

class HashedRecords extends Records<Hashed> implements DenialRecords {
  readonly #apex: Name;

  constructor(sets: readonly ReplySet[], apex: Name) {
    super(
      sets.map(({ owner, ...set }) => {
        const { hashAlgorithm, flags, nextHashedName, ...read } = NSEC3.decode(onlyRdata({ owner, ...set }));
        if (hashAlgorithm !== 1 || flags > 1) throw new Bogus('an NSEC3 that must be ignored');
        if (parentOf(owner) !== apex) throw new Bogus('an NSEC3 that is not directly below the apex');
        const hash = owner.slice(1, 1 + owner.charCodeAt(0));
        return { ...read, owner, hash, next: base32(nextHashedName), optOut: flags === 1 };
      }),
    );
    this.#apex = apex;
    const [first] = this.records;
    for (const { iterations, salt } of this.records) {
      if (iterations !== first?.iterations || Buffer.compare(salt, first.salt) !== 0)
        throw new Bogus('NSEC3 with two kinds of parameters'); // RFC 5155 §8.2
    }
  }

  proveNoType(name: Name, type: number): Judged {
    const own = this.#at(name);
    if (own !== undefined) {
      checkDenied(own.types, type, name); // RFC 5155 §8.5, §8.6
      return this.use(own);
    }
    const { encloser, cover } = this.#proveEncloser(name);
    const source = this.#at(wildcardOf(encloser));
    if (source === undefined) {
      // Allows only what opt-out may omit: an unsigned cut, or a name above one (RFC 5155 §8.6).
      if (!cover.optOut) throw new Bogus(`${printName(name)}: not shown to exist`);
      return 'insecure';
    }
    checkDenied(source.types, type, wildcardOf(encloser)); // RFC 5155 §8.7
    this.use(source);
    return judged(cover);
  }

  proveNoName(name: Name): Judged {
    if (this.#at(name) !== undefined) throw new Bogus(`${printName(name)}: a record matches it`);
    const { encloser, cover } = this.#proveEncloser(name); // RFC 5155 §8.4
    const wildcard = wildcardOf(encloser);
    if (wildcard.length <= 255) this.use(this.#covering(wildcard));
    return judged(cover);
  }

  proveExpanded(name: Name, labels: number): Judged {
    let nextCloser = name;
    while (labelsOf(nextCloser).length > labels + 1) nextCloser = parentOf(nextCloser);
    const cover = this.#covering(nextCloser); // RFC 5155 §8.8
    this.use(cover);
    return judged(cover);
  }

  proveInsecureCut(cut: Name): Judged {
    const own = this.#at(cut);
    if (own === undefined) {
      const { cover } = this.#proveEncloser(cut); // RFC 5155 §8.9
      if (!cover.optOut) throw new Bogus(`${printName(cut)}: nothing shows that it has no DS`);
      return 'insecure';
    }
    return this.useInsecureCut(own, cut);
  }

  /** Proves the closest encloser (RFC 5155 §8.3). */
  #proveEncloser(name: Name): { encloser: Name; cover: Hashed } {
    let nextCloser = name;
    for (;;) {
      if (nextCloser === this.#apex) throw new Bogus(`${printName(name)}: no record matches a name above it`);
      const encloser = parentOf(nextCloser);
      const matching = this.#at(encloser);
      if (matching !== undefined) {
        if (!speaksBelow(matching.types))
          throw new Bogus(`${printName(encloser)}: this zone has nothing below`);
        const cover = this.#covering(nextCloser);
        this.use(matching);
        this.use(cover);
        return { encloser, cover };
      }
      nextCloser = encloser;
    }
  }

  #at(name: Name): Hashed | undefined {
    const wanted = this.#hash(name);
    return this.records.find(({ hash }) => hash === wanted);
  }

  #covering(name: Name): Hashed {
    const wanted = this.#hash(name);
    const found = this.records.find(({ hash, next }) =>
      hash < next ? hash < wanted && wanted < next : wanted !== hash && (hash < wanted || wanted < next),
    );
    if (found === undefined) throw new Bogus(`${printName(name)}: no record covers its hash`);
    return found;
  }

  #hash(name: Name): string {
    const { iterations, salt } = this.records[0] as Hashed;
    let octets: Uint8Array = Buffer.from(name, 'latin1');
    for (let i = 0; i <= iterations; i++) octets = createHash('sha1').update(octets).update(salt).digest();
    return base32(octets);
  }
}

function judged({ optOut }: Hashed): Judged {
  return optOut ? 'insecure' : 'secure';
}

function base32(octets: Uint8Array): string {
  const bits = [...octets].map((octet) => octet.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => Number.parseInt(five, 2).toString(32)).join('');
}

/** The zone data that a validator trusts. */
interface TrustedZone {
  /** Folded. */
  readonly apex: Name;
  /** Rdata of its DNSKEY records. */
  readonly keys: readonly Uint8Array[];
  /** Seconds since 1970. */
  readonly at: number;
}

interface Verified {
  readonly labels: number;
  readonly isExpanded: boolean;
}

/** Throws Bogus even if only one of several signatures is invalid: a server must not send invalid ones. */
function verifyReplySet(set: ReplySet, zone: TrustedZone): Verified {
  const what = `${printName(set.owner)} ${typeMnemonic(set.type)}`;
  if (set.signatures.length === 0) throw new Bogus(`${what}: no signature`);
  if (!isWithin(set.owner, zone.apex)) throw new Bogus(`${what}: not in the zone`);
  const ownLabels = labelsOfOwner(set.owner);
  for (const signature of set.signatures) {
    const fault = faultOf(signature, set, zone, ownLabels);
    if (fault !== undefined) throw new Bogus(`${what}: ${fault}`);
  }
  const { labels } = set.signatures[0] as ReadSignature;
  return { labels, isExpanded: labels < ownLabels };
}

/** Does the same for a set of RRSIG, which is never signed. */
function signedLabelsIn({ owner, rdata }: ReplySet): Verified {
  const { labels } = RRSIG.decode(new WireReader(rdata[0] as Uint8Array));
  return { labels, isExpanded: labels < labelsOfOwner(owner) };
}

function labelsOfOwner(owner: Name): number {
  const labels = labelsOf(owner);
  return labels[0] === '*' ? labels.length - 1 : labels.length;
}

function faultOf(
  signature: ReadSignature,
  set: ReplySet,
  { apex, keys, at }: TrustedZone,
  ownLabels: number,
): string | undefined {
  if (foldCase(signature.signer) !== apex) return 'another zone signed it';
  if (signature.labels > ownLabels) return 'the signature has too many labels';
  if (at < signature.inception || at > signature.expiration) return 'the signature is not valid now';
  if (set.ttl > signature.originalTtl) return 'the TTL is above the original one';
  const data = signedOctets(signature, set);
  const isRight = keys.some((rdata) => {
    const { algorithm, publicKey } = DNSKEY.decode(new WireReader(rdata));
    if (keyTag(rdata) !== signature.keyTag || algorithm !== signature.algorithm || data === undefined)
      return false;
    return isRightSignature(algorithm, { publicKey, data, signature: signature.signature });
  });
  return isRight ? undefined : 'the signature is wrong';
}

const verified = new Set<string>();

/** Verifies each signature only once: tests validate the same sets in many replies. */
function isRightSignature(algorithm: number, parts: Parameters<typeof verifySignature>[1]): boolean {
  const { publicKey, data, signature } = parts;
  const key = Buffer.concat([Buffer.of(algorithm), publicKey, signature, data]).toString('latin1');
  if (verified.has(key)) return true;
  const isRight = verifySignature(algorithm, parts);
  if (isRight) verified.add(key);
  return isRight;
}

export type Reply = Pick<Message, 'rcode' | 'aa' | 'answers' | 'authorities'>;

export interface AskedFor {
  /** Folded. */
  readonly name: Name;
  readonly type: number;
}

/** `insecure`: opt-out leaves the answer unproven (RFC 5155 §6). */
export type Judgement = 'secure' | 'insecure';

const NXDOMAIN = 3;
const YXDOMAIN = 6;
const MAX_NAME_OCTETS = 255;
/** Servers may stop following an alias after this many links. */
const MAX_LINKS = 16;

/** Throws Bogus. */
export function judgeSignedReply(reply: Reply, asked: AskedFor, zone: TrustedZone): Judgement {
  const { rcode } = reply;
  const answers = groupSection(reply.answers, asked.type === TYPE.RRSIG);
  const authorities = groupSection(reply.authorities);
  const denials = readDenials(authorities, zone.apex);
  let isOpen = false;

  function verifyAuthority(set: ReplySet): void {
    const isDelegation = set.type === TYPE.NS && set.owner !== zone.apex;
    if (isDelegation) {
      if (set.signatures.length > 0) throw new Bogus(`${describe(set)}: NS of a cut are not signed`);
      return;
    }
    if (verifyReplySet(set, zone).isExpanded)
      throw new Bogus(`${describe(set)}: synthesized from a wildcard`);
  }

  /** Returns the name about which the authority section must prove something. Returns undefined if there is none. */
  function followAnswer({ name: asked, type }: AskedFor): Name | undefined {
    const visited = new Set<Name>();
    let name = asked;
    let dname: ReplySet | undefined;
    for (const [i, set] of answers.entries()) {
      const isLast = i === answers.length - 1;
      if (set.type === TYPE.DNAME && set.owner !== name) {
        verifyPositive(set);
        dname = set;
        continue;
      }
      if (set.owner !== name) throw new Bogus(`${describe(set)}: not the name ${printName(name)}`);
      visited.add(name);
      const isMade = set.type === TYPE.CNAME && isSynthesized(set, dname);
      if (!isMade) verifyPositive(set);
      if (set.type === type || (type === TYPE.ANY && !isMade)) {
        if (!isLast) throw new Bogus(`${describe(set)}: the answer continues`);
        return undefined;
      }
      if (set.type !== TYPE.CNAME) throw new Bogus(`${describe(set)}: not requested`);
      name = foldCase(nameInRdata(set.rdata[0] as Uint8Array));
      const isEnd = visited.has(name) || visited.size === MAX_LINKS || !isWithin(name, zone.apex);
      if (isEnd && !isLast) throw new Bogus(`${describe(set)}: the chain continues`);
      if (isEnd && rcode === 0 && !hasEnd()) return undefined;
    }
    if (rcode !== YXDOMAIN) return name;
    if (dname === undefined || !isTooLong(name, dname))
      throw new Bogus('no DNAME yields a name that is too long');
    return undefined;
  }

  function hasEnd(): boolean {
    return authorities.some(({ type }) => type === TYPE.SOA || type === TYPE.NS);
  }

  /** A CNAME synthesized from a DNAME has no signature (RFC 6672 §5.3.1). */
  function isSynthesized(cname: ReplySet, dname: ReplySet | undefined): boolean {
    const isBelow = dname !== undefined && cname.owner !== dname.owner && isWithin(cname.owner, dname.owner);
    if (!isBelow) return false;
    const target = replaceSuffix(cname.owner, dname.owner, nameInRdata(dname.rdata[0] as Uint8Array));
    const given = nameInRdata(cname.rdata[0] as Uint8Array);
    if (target === undefined || foldCase(target) !== foldCase(given) || cname.signatures.length > 0)
      throw new Bogus(`${describe(cname)}: not the name that the DNAME yields`);
    return true;
  }

  function verifyPositive(set: ReplySet): void {
    // Signatures queried directly are not proven, but they contain their owner's label count.
    const { isExpanded, labels } = set.type === TYPE.RRSIG ? signedLabelsIn(set) : verifyReplySet(set, zone);
    if (isExpanded) open(denials.proveExpanded(set.owner, labels));
  }

  function judgeEnd(name: Name, type: number): void {
    const cut = authorities.find((set) => set.type === TYPE.NS);
    if (cut !== undefined) {
      judgeReferral(cut, name);
      return;
    }
    if (!authorities.some((set) => set.type === TYPE.SOA && set.owner === zone.apex))
      throw new Bogus('a negative answer without the SOA');
    if (rcode === NXDOMAIN) open(denials.proveNoName(name));
    else if (rcode === 0) open(denials.proveNoType(name, type));
    else throw new Bogus(`the response code is ${rcode}`);
  }

  function judgeReferral(cut: ReplySet, name: Name): void {
    if (!isWithin(name, cut.owner) || cut.owner === zone.apex || !isWithin(cut.owner, zone.apex))
      throw new Bogus(`${describe(cut)}: not a cut above ${printName(name)}`);
    const ds = authorities.find((set) => set.type === TYPE.DS);
    if (ds === undefined) open(denials.proveInsecureCut(cut.owner));
    else if (ds.owner !== cut.owner) throw new Bogus(`${describe(ds)}: of another cut`);
  }

  function open(judged: Judgement): void {
    if (judged === 'insecure') isOpen = true;
  }

  for (const set of authorities) verifyAuthority(set);
  const last = followAnswer(asked);
  if (last !== undefined) judgeEnd(last, asked.type);
  const unused = denials.unused();
  if (unused.length > 0) throw new Bogus(`proves nothing: ${unused.map(printName).join(' ')}`);
  return isOpen ? 'insecure' : 'secure';
}

function isTooLong(name: Name, dname: ReplySet): boolean {
  if (name === dname.owner || !isWithin(name, dname.owner)) return false;
  const target = nameInRdata(dname.rdata[0] as Uint8Array);
  return name.length - dname.owner.length + target.length > MAX_NAME_OCTETS;
}

export function describe({ owner, type }: Pick<ReplySet, 'owner' | 'type'>): string {
  return `${printName(owner)} ${typeMnemonic(type)}`;
}
