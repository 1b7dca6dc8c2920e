// What the NSEC and NSEC3 records of a reply prove (RFC 4035 §5.4, RFC 5155 §8), from their octets and nothing else.

import { createHash } from 'node:crypto';
import { foldCase, isWithin, labelsOf, type Name, parentOf, printName } from '../../../src/dns/name.ts';
import { NSEC } from '../../../src/dns/record/types/nsec.ts';
import { NSEC3 } from '../../../src/dns/record/types/nsec3.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { Bogus } from './bogus.ts';
import type { ReplySet } from './reply-sets.ts';

type Judged = 'secure' | 'insecure';

/** Every method throws Bogus when the records do not prove it. */
export interface DenialRecords {
  proveNoType(name: Name, type: number): Judged;
  proveNoName(name: Name): Judged;
  /** The name is not there; the answer came from the wildcard below its last `labels` labels. */
  proveExpanded(name: Name, labels: number): Judged;
  proveInsecureCut(cut: Name): Judged;
  /** Owners of records that no proof has used. */
  unused(): Name[];
}

export function readDenials(authorities: readonly ReplySet[], apex: Name): DenialRecords {
  const nsec = authorities.filter(({ type }) => type === TYPE.NSEC);
  const nsec3 = authorities.filter(({ type }) => type === TYPE.NSEC3);
  if (nsec.length > 0 && nsec3.length > 0) throw new Bogus('NSEC beside NSEC3');
  return nsec3.length > 0 ? new HashedRecords(nsec3, apex) : new NamedRecords(nsec, apex);
}

function onlyRdata(set: ReplySet): WireReader {
  if (set.rdata.length !== 1) throw new Bogus(`${printName(set.owner)}: ${set.rdata.length} denials`);
  return new WireReader(set.rdata[0] as Uint8Array);
}

/** A record of a cut speaks for the name itself only, and there only of DS (RFC 6840 §4.1, §4.4). */
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
    throw fault('the record says that the type is there');
  if (types.includes(TYPE.CNAME) && type !== TYPE.RRSIG)
    throw fault('the record says that there is an alias');
  if (isCut && type !== TYPE.DS) throw fault('the record is of a cut');
}

interface Denial {
  readonly owner: Name;
  readonly types: readonly number[];
}

/** What both kinds of records have in common. */
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

  /** The record matches a cut. */
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
      if (!isWithin(around.next, wildcard)) throw new Bogus(`${printName(wildcard)}: not shown to be there`);
      this.use(around);
    }
    return this.use(cover);
  }

  proveNoName(name: Name): Judged {
    const cover = this.#covering(name);
    if (isWithin(cover.next, name)) throw new Bogus(`${printName(name)}: the record says that it is there`);
    this.use(cover);
    const wildcard = wildcardOf(this.#encloser(cover, name));
    if (wildcard.length > 255) return 'secure';
    const noWildcard = this.#covering(wildcard);
    if (isWithin(noWildcard.next, wildcard)) throw new Bogus(`${printName(wildcard)}: it is there`);
    return this.use(noWildcard);
  }

  proveExpanded(name: Name, labels: number): Judged {
    const cover = this.#covering(name);
    if (isWithin(cover.next, name)) throw new Bogus(`${printName(name)}: the record says that it is there`);
    if (labelsOf(this.#encloser(cover, name)).length !== labels)
      throw new Bogus(`${printName(name)}: a closer wildcard could be meant`);
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

  /** The longest ancestor that the record shows to be there: one of its two names lies at or below it. */
  #encloser({ owner, next }: Named, name: Name): Name {
    let encloser = parentOf(name);
    while (!isWithin(owner, encloser) && !isWithin(next, encloser)) encloser = parentOf(encloser);
    return encloser;
  }
}

function wildcardOf(encloser: Name): Name {
  return `\x01*${encloser}` as Name;
}

/** RFC 4034 §6.1: labels from the right, as octets, a missing one first. */
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
  /** In base32 with the extended alphabet, lower case, which sorts as the octets do. */
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
        if (hashAlgorithm !== 1 || flags > 1) throw new Bogus('an NSEC3 that is to be ignored');
        if (parentOf(owner) !== apex) throw new Bogus('an NSEC3 that is not right below the apex');
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
      // Only what opt-out may leave out: an unsigned cut, or what stands above one (RFC 5155 §8.6).
      if (!cover.optOut) throw new Bogus(`${printName(name)}: not shown to be there`);
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

  /** RFC 5155 §8.3. */
  #proveEncloser(name: Name): { encloser: Name; cover: Hashed } {
    let nextCloser = name;
    for (;;) {
      if (nextCloser === this.#apex) throw new Bogus(`${printName(name)}: no record matches a name above it`);
      const encloser = parentOf(nextCloser);
      const matching = this.#at(encloser);
      if (matching !== undefined) {
        if (!speaksBelow(matching.types))
          throw new Bogus(`${printName(encloser)}: nothing of this zone is below`);
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
