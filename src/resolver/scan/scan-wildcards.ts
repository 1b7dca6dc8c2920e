// Finds what a wildcard answers, level by level: the answers for random names are compared with the answer for a name,
// so that a name which only the wildcard makes is told from a real one (RFC 4592).

import { labelsOf, type Name, prependLabel } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ScanReply } from '../replies/read-scan-reply.ts';

type Ask = (name: Name, type: number) => Promise<ScanReply>;

const RANDOM_NAMES = 3;
const RANDOM_LABEL_LENGTH = 12;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** How many random names are asked for at one level and type. */
const MAX_PROBES = 30;
/** How often a name is asked for again when its wildcard gives another answer each time. */
const REPEATS = 2;

/** A reply with the keys that it is compared by: in a hostile zone it is compared often. */
interface ComparableReply {
  readonly reply: ScanReply;
  readonly plain: string;
  readonly masked: string;
  /** One key for each of its records. */
  readonly rdata: readonly string[];
}

/** The answers for random names of one level and type, and all their records together. */
interface Probes {
  readonly replies: ComparableReply[];
  readonly pool: Set<string>;
}

export class Wildcards {
  readonly #ask: Ask;
  readonly #random: () => number;
  readonly #levels = new Map<Name, Promise<WildcardLevel>>();

  constructor(ask: Ask, random: () => number) {
    this.#ask = ask;
    this.#random = random;
  }

  /** The level of the names directly below `above`, asked for once. */
  at(above: Name): Promise<WildcardLevel> {
    const known = this.#levels.get(above);
    if (known !== undefined) return known;
    const level = new WildcardLevel(above, this.#ask, this.#random);
    const probed = level.probe(TYPE.A).then(() => level);
    this.#levels.set(above, probed);
    return probed;
  }
}

class WildcardLevel {
  readonly above: Name;
  readonly #ask: Ask;
  readonly #random: () => number;
  readonly #probes = new Map<number, Promise<Probes>>();
  /** Names that do not exist have answers here. A server that never answers NXDOMAIN looks the same. */
  #isThere = true;

  constructor(above: Name, ask: Ask, random: () => number) {
    this.above = above;
    this.#ask = ask;
    this.#random = random;
  }

  /** The answers for random names. */
  probe(type: number): Promise<Probes> {
    const known = this.#probes.get(type);
    if (known !== undefined) return known;
    const probes = this.#probeMore(type, { replies: [], pool: new Set() }).then((first) => {
      const { replies } = first;
      if (type === TYPE.A) this.#isThere = replies.every(isUnanswered) || replies.some(isSomething);
      return first;
    });
    this.#probes.set(type, probes);
    return probes;
  }

  /** Whether the wildcard answers the same; `type` was asked for `at` this name. */
  async makes(at: Name, type: number, reply: ScanReply): Promise<boolean> {
    if (!this.#isThere) return false;
    const label = labelsOf(at)[0] as string;
    const its = comparable(label, reply);
    const probes = await this.probe(type);
    // Where random names cannot be asked for, nothing can be told: better a name too few.
    if (probes.replies.every(isUnanswered) || isMade(its, probes)) return true;
    if (!isChanging(probes)) return false;
    // It gives now this and now that: more of it is looked at, and whether the name's own answer stays.
    if (probes.replies.length < MAX_PROBES) await this.#probeMore(type, probes);
    if (isMade(its, probes) || isOtherForEach(its, probes)) return true;
    for (let i = 0; i < REPEATS; i++) {
      const again = await this.#ask(at, type);
      if (comparable(label, again).plain !== its.plain) return true;
    }
    return false;
  }

  async #probeMore(type: number, probes: Probes): Promise<Probes> {
    const labels = Array.from({ length: RANDOM_NAMES }, () => randomLabel(this.#random));
    const more = await Promise.all(
      labels.map(async (label) => {
        const name = prependLabel(label, this.above);
        return comparable(label, name === undefined ? UNANSWERED : await this.#ask(name, type));
      }),
    );
    probes.replies.push(...more);
    for (const each of more) for (const rdata of each.rdata) probes.pool.add(rdata);
    return probes;
  }
}

const UNANSWERED: ScanReply = { kind: 'unanswered' };

function isUnanswered({ reply }: ComparableReply): boolean {
  return reply.kind === 'unanswered';
}

function isSomething({ reply: { kind } }: ComparableReply): boolean {
  return kind !== 'nxdomain' && kind !== 'unanswered';
}

function isMade({ reply, plain, masked, rdata }: ComparableReply, { replies, pool }: Probes): boolean {
  if (replies.some((other) => other.plain === plain || other.masked === masked)) return true;
  return reply.kind === 'records' && rdata.every((each) => pool.has(each)); // a part of a pool
}

function isChanging({ replies }: Probes): boolean {
  return new Set(replies.filter((each) => !isUnanswered(each)).map(({ masked }) => masked)).size > 1;
}

/** No two random names have the same answer, so a name with yet another answer is nothing special. */
function isOtherForEach({ reply }: ComparableReply, { replies }: Probes): boolean {
  const ofKind = replies.filter((each) => each.reply.kind === reply.kind);
  const keys = new Set(ofKind.map(({ masked }) => masked));
  return ofKind.length > RANDOM_NAMES && keys.size === ofKind.length;
}

function comparable(label: string, reply: ScanReply): ComparableReply {
  const rdata =
    reply.kind === 'records' ? reply.rdata.map((octets) => Buffer.from(octets).toString('latin1')) : [];
  return { reply, ...keysOf(label, reply, rdata), rdata };
}

/**
 * Keys that are equal for equal data. A server may put the label itself into the alias that it makes up: then `masked`
 * is equal.
 */
function keysOf(
  label: string,
  reply: ScanReply,
  rdata: readonly string[],
): Pick<ComparableReply, 'plain' | 'masked'> {
  switch (reply.kind) {
    case 'records':
      // Lengths before them: rdata may have any octet.
      return sameKeys(`records ${[...rdata].sort().map((each) => `${each.length} ${each}`)}`);
    case 'alias': {
      const labels = labelsOf(reply.target);
      const masked = labels.map((each) => (each === label ? '*' : each));
      return { plain: `alias ${labels.join('.')}`, masked: `alias ${masked.join('.')}` };
    }
    case 'dname':
      return sameKeys(`dname ${reply.owner}`);
    case 'referral':
      return sameKeys(`referral ${reply.cut}`);
    case 'nodata':
    case 'nxdomain':
    case 'unanswered':
    case 'excessive':
      return sameKeys(reply.kind);
    default:
      return reply satisfies never;
  }
}

function sameKeys(key: string): Pick<ComparableReply, 'plain' | 'masked'> {
  return { plain: key, masked: key };
}

function randomLabel(random: () => number): string {
  return Array.from({ length: RANDOM_LABEL_LENGTH }, () => LETTERS[Math.floor(random() * 26)]).join('');
}
