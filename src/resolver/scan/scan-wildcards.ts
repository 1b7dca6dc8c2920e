// Detects what a wildcard answers at each level: compares the answers for random names with the answer for a name, to tell
// real names from those that only the wildcard generates (RFC 4592).

import { labelsOf, type Name, prependLabel } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ScanReply } from '../replies/read-scan-reply.ts';

type Ask = (name: Name, type: number) => Promise<ScanReply>;

const RANDOM_NAMES = 3;
const RANDOM_LABEL_LENGTH = 12;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** Maximum number of random names queried per level and type. */
const MAX_PROBES = 30;
/** How often a name is queried again if its wildcard gives a different answer each time. */
const REPEATS = 2;

/** A reply with its comparison keys, which are precomputed because a hostile zone causes many comparisons. */
interface ComparableReply {
  readonly reply: ScanReply;
  readonly plain: string;
  readonly masked: string;
  /** One key per record. */
  readonly rdata: readonly string[];
}

/** Answers for random names of one level and type, and all their records together. */
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

  /** Returns the level of the names directly below `above`, which is probed once. */
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
  /** True if nonexistent names have answers here. A server that never answers NXDOMAIN looks the same. */
  #isThere = true;

  constructor(above: Name, ask: Ask, random: () => number) {
    this.above = above;
    this.#ask = ask;
    this.#random = random;
  }

  /** Returns the answers for random names. */
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

  /** True if the wildcard gives the same answer. The query was for `type` at `at`. */
  async makes(at: Name, type: number, reply: ScanReply): Promise<boolean> {
    if (!this.#isThere) return false;
    const label = labelsOf(at)[0] as string;
    const its = comparable(label, reply);
    const probes = await this.probe(type);
    // Without answers for random names nothing can be concluded: omit the name rather than include a generated one.
    if (probes.replies.every(isUnanswered) || isMade(its, probes)) return true;
    if (!isChanging(probes)) return false;
    // The wildcard's answers vary: probe more of them, and test if the name's own answer is stable.
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
  return reply.kind === 'records' && rdata.every((each) => pool.has(each)); // a subset of the wildcard's records
}

function isChanging({ replies }: Probes): boolean {
  return new Set(replies.filter((each) => !isUnanswered(each)).map(({ masked }) => masked)).size > 1;
}

/** True if all random names have different answers, so that a name with yet another answer is not special. */
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
 * Keys that are equal for equal data. A server may put the label itself into a generated alias, in which case `masked` is
 * equal.
 */
function keysOf(
  label: string,
  reply: ScanReply,
  rdata: readonly string[],
): Pick<ComparableReply, 'plain' | 'masked'> {
  switch (reply.kind) {
    case 'records':
      // Prefixed with the length, because rdata may contain any octet.
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
