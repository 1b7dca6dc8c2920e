// What a wildcard makes of the names beside it, level by level: what random names have there is compared with what a name has,
// so that a name which only the wildcard makes is told from one that is there (RFC 4592).

import { labelsOf, type Name, prependLabel } from '../dns/name.ts';
import { TYPE } from '../dns/type-codes.ts';
import type { ScanReply } from './read-scan-reply.ts';

export type Ask = (name: Name, type: number) => Promise<ScanReply>;

const RANDOM_NAMES = 3;
const RANDOM_LABEL_LENGTH = 12;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** Of one level and type. */
const MAX_PROBES = 30;
/** Of a name whose wildcard gives another answer each time. */
const REPEATS = 2;

interface Probe {
  readonly label: string;
  readonly reply: ScanReply;
}

export class Wildcards {
  readonly #ask: Ask;
  readonly #random: () => number;
  readonly #levels = new Map<Name, Promise<WildcardLevel>>();

  constructor(ask: Ask, random: () => number) {
    this.#ask = ask;
    this.#random = random;
  }

  /** Of the names directly below `above`. Asked for once. */
  at(above: Name): Promise<WildcardLevel> {
    const known = this.#levels.get(above);
    if (known !== undefined) return known;
    const level = new WildcardLevel(above, this.#ask, this.#random);
    const probed = level.probe(TYPE.A).then(() => level);
    this.#levels.set(above, probed);
    return probed;
  }
}

export class WildcardLevel {
  readonly above: Name;
  readonly #ask: Ask;
  readonly #random: () => number;
  readonly #probes = new Map<number, Promise<Probe[]>>();
  #isThere = true;

  constructor(above: Name, ask: Ask, random: () => number) {
    this.above = above;
    this.#ask = ask;
    this.#random = random;
  }

  /** Names that nobody has made exist here. A server that denies nothing by NXDOMAIN looks the same. */
  get isThere(): boolean {
    return this.#isThere;
  }

  /** What random names say. */
  probe(type: number): Promise<Probe[]> {
    const known = this.#probes.get(type);
    if (known !== undefined) return known;
    const probes = this.#probeNames(type).then((replies) => {
      if (type === TYPE.A) {
        this.#isThere = replies.every(isUnanswered) || replies.some((each) => isSomething(each.reply));
      }
      return replies;
    });
    this.#probes.set(type, probes);
    return probes;
  }

  /** Whether the wildcard says the same; of `at` the type was asked for. */
  async makes(at: Name, type: number, reply: ScanReply): Promise<boolean> {
    if (!this.#isThere) return false;
    const label = labelsOf(at)[0] as string;
    const probes = await this.probe(type);
    // Where random names cannot be asked for, nothing can be told: better a name too few.
    if (probes.every(isUnanswered) || isMade(label, reply, probes)) return true;
    if (!isChanging(probes)) return false;
    // It gives now this and now that: more of it is looked at, and whether the name's own answer stays.
    if (probes.length < MAX_PROBES) probes.push(...(await this.#probeNames(type)));
    if (isMade(label, reply, probes) || isOtherForEach(reply, probes)) return true;
    for (let i = 0; i < REPEATS; i++) {
      const again = await this.#ask(at, type);
      if (keysOf(label, again).plain !== keysOf(label, reply).plain) return true;
    }
    return false;
  }

  #probeNames(type: number): Promise<Probe[]> {
    const labels = Array.from({ length: RANDOM_NAMES }, () => randomLabel(this.#random));
    return Promise.all(
      labels.map(async (label) => {
        const name = prependLabel(label, this.above);
        return { label, reply: name === undefined ? UNANSWERED : await this.#ask(name, type) };
      }),
    );
  }
}

const UNANSWERED: ScanReply = { kind: 'unanswered' };

function isUnanswered({ reply }: Probe): boolean {
  return reply.kind === 'unanswered';
}

function isSomething({ kind }: ScanReply): boolean {
  return kind !== 'nxdomain' && kind !== 'unanswered';
}

function isMade(label: string, reply: ScanReply, probes: readonly Probe[]): boolean {
  const { plain, masked } = keysOf(label, reply);
  const isSame = (probe: Probe) => {
    const other = keysOf(probe.label, probe.reply);
    return other.plain === plain || other.masked === masked;
  };
  if (probes.some(isSame)) return true;
  if (reply.kind !== 'records') return false;
  // a part of a pool
  const pool = new Set(
    probes.flatMap((probe) => (probe.reply.kind === 'records' ? hexOf(probe.reply.rdata) : [])),
  );
  return hexOf(reply.rdata).every((hex) => pool.has(hex));
}

function isChanging(probes: readonly Probe[]): boolean {
  const said = probes.filter((probe) => !isUnanswered(probe));
  return new Set(said.map(({ label, reply }) => keysOf(label, reply).masked)).size > 1;
}

/** No two random names have the same: then a name that has something else again is nothing special. */
function isOtherForEach(reply: ScanReply, probes: readonly Probe[]): boolean {
  const ofKind = probes.filter((probe) => probe.reply.kind === reply.kind);
  const keys = new Set(ofKind.map((probe) => keysOf(probe.label, probe.reply).masked));
  return ofKind.length > RANDOM_NAMES && keys.size === ofKind.length;
}

/** Equal for equal data. A server may put the label itself into the alias that it makes up: `masked` is the same then. */
function keysOf(label: string, reply: ScanReply): { readonly plain: string; readonly masked: string } {
  switch (reply.kind) {
    case 'records':
      return sameKeys(`records ${hexOf(reply.rdata).sort().join(' ')}`);
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
      return sameKeys(reply.kind);
    default:
      return reply satisfies never;
  }
}

function sameKeys(key: string): { readonly plain: string; readonly masked: string } {
  return { plain: key, masked: key };
}

function hexOf(rdata: readonly Uint8Array[]): string[] {
  return rdata.map((octets) => Buffer.from(octets).toString('hex'));
}

function randomLabel(random: () => number): string {
  return Array.from({ length: RANDOM_LABEL_LENGTH }, () => LETTERS[Math.floor(random() * 26)]).join('');
}
