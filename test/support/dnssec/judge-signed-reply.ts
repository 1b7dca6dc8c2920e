// A validator for tests, written from RFC 4035 §5 and RFC 5155 §8 alone: whether a reply of an authoritative server proves
// what it says. It knows no zone, only the keys; and it is stricter than a resolver, since it also says what a server must not
// send: unsigned sets, signatures of nothing, proofs that prove nothing.

import type { Message } from '../../../src/dns/message/message.ts';
import {
  foldCase,
  isWithin,
  type Name,
  nameInRdata,
  printName,
  replaceSuffix,
} from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { Bogus } from './bogus.ts';
import { type DenialRecords, readDenials } from './denial-records.ts';
import { groupSection, type ReplySet } from './reply-sets.ts';
import { signedLabelsIn, type TrustedZone, verifyReplySet } from './verify-reply-set.ts';

export type Reply = Pick<Message, 'rcode' | 'aa' | 'answers' | 'authorities'>;

export interface AskedFor {
  /** Folded. */
  readonly name: Name;
  readonly type: number;
}

/** `insecure`: opt-out leaves it open (RFC 5155 §6). */
export type Judgement = 'secure' | 'insecure';

const NXDOMAIN = 3;
const YXDOMAIN = 6;
const MAX_NAME_OCTETS = 255;
/** An alias may lead further than a server follows. */
const MAX_LINKS = 16;

/** Throws Bogus. */
export function judgeSignedReply(reply: Reply, asked: AskedFor, zone: TrustedZone): Judgement {
  const answers = groupSection(reply.answers, asked.type === TYPE.RRSIG);
  const authorities = groupSection(reply.authorities);
  const judge = new Judge(reply.rcode, { answers, authorities }, zone);
  return judge.judge(asked);
}

class Judge {
  readonly #rcode: number;
  readonly #answers: readonly ReplySet[];
  readonly #authorities: readonly ReplySet[];
  readonly #zone: TrustedZone;
  readonly #denials: DenialRecords;
  #isOpen = false;

  constructor(
    rcode: number,
    sections: { answers: readonly ReplySet[]; authorities: readonly ReplySet[] },
    zone: TrustedZone,
  ) {
    this.#rcode = rcode;
    this.#answers = sections.answers;
    this.#authorities = sections.authorities;
    this.#zone = zone;
    this.#denials = readDenials(sections.authorities, zone.apex);
  }

  judge(asked: AskedFor): Judgement {
    for (const set of this.#authorities) this.#verifyAuthority(set);
    const last = this.#followAnswer(asked);
    if (last !== undefined) this.#judgeEnd(last, asked.type);
    const unused = this.#denials.unused();
    if (unused.length > 0) throw new Bogus(`proves nothing: ${unused.map(printName).join(' ')}`);
    return this.#isOpen ? 'insecure' : 'secure';
  }

  #verifyAuthority(set: ReplySet): void {
    const isDelegation = set.type === TYPE.NS && set.owner !== this.#zone.apex;
    if (isDelegation) {
      if (set.signatures.length > 0) throw new Bogus(`${describe(set)}: NS of a cut are not signed`);
      return;
    }
    if (verifyReplySet(set, this.#zone).isExpanded) throw new Bogus(`${describe(set)}: made from a wildcard`);
  }

  /** The name that the authority section has to speak of; undefined when nothing more is to prove. */
  #followAnswer({ name: asked, type }: AskedFor): Name | undefined {
    const visited = new Set<Name>();
    let name = asked;
    let dname: ReplySet | undefined;
    for (const [i, set] of this.#answers.entries()) {
      const isLast = i === this.#answers.length - 1;
      if (set.type === TYPE.DNAME && set.owner !== name) {
        this.#verifyPositive(set);
        dname = set;
        continue;
      }
      if (set.owner !== name) throw new Bogus(`${describe(set)}: not the name ${printName(name)}`);
      visited.add(name);
      const isMade = set.type === TYPE.CNAME && this.#isMade(set, dname);
      if (!isMade) this.#verifyPositive(set);
      if (set.type === type || (type === TYPE.ANY && !isMade)) {
        if (!isLast) throw new Bogus(`${describe(set)}: the answer goes on`);
        return undefined;
      }
      if (set.type !== TYPE.CNAME) throw new Bogus(`${describe(set)}: not asked for`);
      name = foldCase(nameInRdata(set.rdata[0] as Uint8Array));
      const isEnd = visited.has(name) || visited.size === MAX_LINKS || !isWithin(name, this.#zone.apex);
      if (isEnd && !isLast) throw new Bogus(`${describe(set)}: the chain goes on`);
      if (isEnd && this.#rcode === 0 && !this.#hasEnd()) return undefined;
    }
    if (this.#rcode !== YXDOMAIN) return name;
    if (dname === undefined || !isTooLong(name, dname)) throw new Bogus('no DNAME makes the name too long');
    return undefined;
  }

  #hasEnd(): boolean {
    return this.#authorities.some(({ type }) => type === TYPE.SOA || type === TYPE.NS);
  }

  /** A CNAME that a DNAME makes has no signature (RFC 6672 §5.3.1). */
  #isMade(cname: ReplySet, dname: ReplySet | undefined): boolean {
    const isBelow = dname !== undefined && cname.owner !== dname.owner && isWithin(cname.owner, dname.owner);
    if (!isBelow) return false;
    const target = replaceSuffix(cname.owner, dname.owner, nameInRdata(dname.rdata[0] as Uint8Array));
    const given = nameInRdata(cname.rdata[0] as Uint8Array);
    if (target === undefined || foldCase(target) !== foldCase(given) || cname.signatures.length > 0)
      throw new Bogus(`${describe(cname)}: not what the DNAME makes`);
    return true;
  }

  #verifyPositive(set: ReplySet): void {
    // Nothing vouches for signatures asked for by themselves, but they say themselves where they come from.
    const { isExpanded, labels } =
      set.type === TYPE.RRSIG ? signedLabelsIn(set) : verifyReplySet(set, this.#zone);
    if (isExpanded) this.#open(this.#denials.proveExpanded(set.owner, labels));
  }

  #judgeEnd(name: Name, type: number): void {
    const cut = this.#authorities.find((set) => set.type === TYPE.NS);
    if (cut !== undefined) {
      this.#judgeReferral(cut, name);
      return;
    }
    if (!this.#authorities.some((set) => set.type === TYPE.SOA && set.owner === this.#zone.apex))
      throw new Bogus('a negative answer without the SOA');
    if (this.#rcode === NXDOMAIN) this.#open(this.#denials.proveNoName(name));
    else if (this.#rcode === 0) this.#open(this.#denials.proveNoType(name, type));
    else throw new Bogus(`the response code is ${this.#rcode}`);
  }

  #judgeReferral(cut: ReplySet, name: Name): void {
    if (!isWithin(name, cut.owner) || cut.owner === this.#zone.apex || !isWithin(cut.owner, this.#zone.apex))
      throw new Bogus(`${describe(cut)}: not a cut above ${printName(name)}`);
    const ds = this.#authorities.find((set) => set.type === TYPE.DS);
    if (ds === undefined) this.#open(this.#denials.proveInsecureCut(cut.owner));
    else if (ds.owner !== cut.owner) throw new Bogus(`${describe(ds)}: of another cut`);
  }

  #open(judged: Judgement): void {
    if (judged === 'insecure') this.#isOpen = true;
  }
}

function isTooLong(name: Name, dname: ReplySet): boolean {
  if (name === dname.owner || !isWithin(name, dname.owner)) return false;
  const target = nameInRdata(dname.rdata[0] as Uint8Array);
  return name.length - dname.owner.length + target.length > MAX_NAME_OCTETS;
}

export function describe({ owner, type }: Pick<ReplySet, 'owner' | 'type'>): string {
  return `${printName(owner)} ${typeMnemonic(type)}`;
}
