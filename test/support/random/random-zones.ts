// Random zones and queries from a seed, with difficult cases for DNS servers: wildcards, empty non-terminals, nested cuts,
// glue, chains and loops of CNAME and DNAME, occluded names, unusual labels, mixed case, and sets that exceed a packet.

import {
  foldCase,
  isWithin,
  type Name,
  parentOf,
  parseName,
  prependLabel,
  printName,
  ROOT,
} from '../../../src/dns/name.ts';
import { parseRdata, printRdata } from '../../../src/dns/record/rdata.ts';
import type { Token } from '../../../src/dns/record/token.ts';
import { TYPE, typeCode, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import type { ZoneText } from '../peers/peers.ts';
import { recordsOf } from '../zone/zone-text.ts';

export type Random = () => number;

/** mulberry32: yields the same numbers for the same seed everywhere. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T;
}

const LABELS = ['a', 'b', 'c', 'd', 'e', 'www', 'ns', 'mx', '*', '_tcp', 'x\0y', 'p.q', 'z'.repeat(63)];
const TYPES = typesOf(
  `A A A AAAA TXT MX SRV CAA PTR HTTPS SVCB CNAME CNAME CNAME DNAME NS NS DS NAPTR TYPE65280`,
);

function typesOf(text: string): number[] {
  return text.split(' ').map((mnemonic) => typeCode(mnemonic) as number);
}

export interface RandomZone extends ZoneText {
  readonly zone: Zone;
}

/** Returns a zone of about `size` record sets at `apex`. Its records may point into the zones `others`. */
export function randomZone(
  random: Random,
  apexText: string,
  size: number,
  others: readonly string[],
): RandomZone {
  const apex = parseName(apexText);
  const draft = new ZoneDraft(
    random,
    apex,
    others.map((other) => parseName(other)),
  );
  for (let i = 0; i < size; i++) draft.addSet();
  const { records } = draft;
  const built = buildZone(apex, records);
  if (built.kind === 'refused') throw new Error(`a random zone is refused: ${built.problems[0]?.message}`);
  return {
    apex: apexText,
    zone: built.zone,
    get text() {
      return records.map(lineOf).join('\n');
    },
  };
}

function lineOf({ owner, ttl, type, rdata }: ZoneRecord): string {
  return `${printName(owner)} ${ttl} IN ${typeMnemonic(type)} ${printRdata(type, rdata)}`;
}

class ZoneDraft {
  readonly records: ZoneRecord[];
  readonly #random: Random;
  readonly #apex: Name;
  readonly #others: readonly Name[];
  readonly #names: Name[];

  constructor(random: Random, apex: Name, others: readonly Name[]) {
    this.#random = random;
    this.#apex = apex;
    this.#others = others;
    this.#names = [apex];
    const soa = `@ ${pick(random, [60, 3600])} SOA ns host 1 10000 2400 604800 ${pick(random, [30, 7200])}`;
    this.records = recordsOf(`${soa}\n@ 300 NS ns.outside.invalid.`, printName(apex));
  }

  /** Adds a random record set if the zone stays valid. A set of nameservers often gets glue. */
  addSet(): void {
    const random = this.#random;
    const owner = random() < 0.08 ? this.#apex : this.#newName();
    const type = pick(random, TYPES);
    const count = random() < 0.06 ? 8 + Math.floor(random() * 12) : 1 + Math.floor(random() * 2);
    const targets = Array.from({ length: count }, () => this.#target(owner));
    const isBinding = type === TYPE.HTTPS || type === TYPE.SVCB;
    const isAliasMode = isBinding && random() < 0.3; // alone in its set (RFC 9460 §2.4.1)
    const isAlias = type === TYPE.CNAME || type === TYPE.DNAME || isAliasMode;
    const lines = targets
      .slice(0, isAlias ? 1 : count)
      .map((target, index) => rdataText(random, type, target, isAliasMode ? -1 : index));
    if (!this.#tryAdd(owner, type, lines)) return;
    if (type !== TYPE.NS && type !== TYPE.MX && type !== TYPE.SRV) return;
    for (const target of targets) {
      if (!isWithin(target, this.#apex) || random() < 0.25) continue;
      if (random() < 0.8) this.#tryAdd(target, TYPE.A, [rdataText(random, TYPE.A, target, 0)]);
      if (random() < 0.5) this.#tryAdd(target, TYPE.AAAA, [rdataText(random, TYPE.AAAA, target, 0)]);
    }
  }

  #tryAdd(owner: Name, type: number, rdataLines: readonly string[]): boolean {
    if (this.records.some((record) => record.owner === owner && record.type === type)) return false;
    if (type === TYPE.DNAME && this.#isSharedWithOthers(owner)) return false;
    const ttl = pick(this.#random, [0, 60, 300, 86400]);
    const folded = foldCase(owner);
    const added = [...new Set(rdataLines)].map((text) => {
      return { owner: folded, type, ttl, rdata: parseRdata(type, tokensOf(text), undefined) };
    });
    const deciding = this.records.filter((record) => this.#decides(record, folded, type));
    if (buildZone(this.#apex, [...deciding, ...added]).kind === 'refused') return false;
    this.records.push(...added);
    this.#names.push(owner);
    return true;
  }

  /** Returns true if a new set may be refused because of the record. A DNAME affects all names below it. */
  #decides(record: ZoneRecord, owner: Name, type: number): boolean {
    if (record.owner === owner || record.owner === this.#apex || record.type === TYPE.DNAME) return true;
    return type === TYPE.DNAME && isWithin(record.owner, owner);
  }

  /** NSD stores all zones in one tree and refuses a DNAME above names of any of them. */
  #isSharedWithOthers(owner: Name): boolean {
    return this.#others.some((other) => isWithin(other, owner) || isWithin(owner, other));
  }

  /** Returns a name below an existing one or an empty non-terminal, up to six labels deep. */
  #newName(): Name {
    let name = pick(this.#random, this.#names);
    while (name !== this.#apex && this.#random() < 0.4) name = parentOf(name);
    const depth = 1 + Math.floor(this.#random() * 2.4);
    for (let i = 0; i < depth; i++) name = prependLabel(pick(this.#random, LABELS), name) ?? name;
    return name;
  }

  #target(owner: Name): Name {
    const random = this.#random;
    const roll = random();
    const below = (name: Name) => prependLabel(pick(random, LABELS), name) ?? name;
    if (roll < 0.35) return pick(random, this.#names);
    if (roll < 0.5) return below(owner);
    if (roll < 0.7) return this.#newName();
    if (roll < 0.8) return below(pick(random, this.#names));
    if (roll < 0.9 && this.#others.length > 0) return below(pick(random, this.#others));
    if (roll < 0.93) return mixCase(random, pick(random, this.#names));
    if (roll < 0.96) return pick(random, this.#others) ?? this.#apex;
    return pick(random, [
      parseName('www.outside.invalid.'),
      parseName(`${'y'.repeat(60)}.${'v'.repeat(60)}.invalid.`),
    ]);
  }
}

/** Parsing whole lines would take most of the time of tests with many zones. */
const tokensOf = (text: string): Token[] =>
  text.split(' ').map((word) => {
    const quoted = word.startsWith('"');
    return { text: quoted ? word.slice(1, -1) : word, quoted, line: 1, column: 1 };
  });

function rdataText(random: Random, type: number, target: Name, index: number): string {
  const name = printName(target);
  const number = Math.floor(random() * 4);
  switch (type) {
    case TYPE.A:
      return `192.0.2.${index * 4 + number}`;
    case TYPE.AAAA:
      return `2001:db8::${index.toString(16)}:${number}`;
    case TYPE.TXT:
      return `"t${index}" "${'x'.repeat(number * 50)}"`;
    case TYPE.MX:
      return `${number} ${name}`;
    case TYPE.SRV:
      return `${number} 1 ${index + 1} ${name}`;
    case TYPE.CAA:
      return `0 issue "ca${index}.example"`;
    case TYPE.DS:
      return `${index + 1} 13 2 ${'ab'.repeat(32)}`;
    case TYPE.NAPTR:
      return `${index} 1 "u" "" "" ${name}`;
    case TYPE.HTTPS:
    case TYPE.SVCB:
      return index < 0 ? `0 ${name}` : `${index + 1} ${number === 1 ? '.' : name} port=${number}`;
    case 65280:
      return `\\# 2 00${index.toString(16).padStart(2, '0')}`;
    default:
      return name;
  }
}

export function mixCase(random: Random, name: Name): Name {
  return name.replace(/[a-z]/g, (letter) => (random() < 0.5 ? letter.toUpperCase() : letter)) as Name;
}

export interface RandomQuestion {
  readonly name: Name;
  readonly type: number;
  /** UDP payload size of the OPT record. Undefined if there is no EDNS. */
  readonly udpPayloadSize: number | undefined;
}

const ASKED_TYPES = typesOf(
  'A A A AAAA MX NS SOA TXT SRV CNAME DNAME DS ANY RRSIG DNSKEY NSEC HTTPS SVCB PTR TYPE65281',
);
const SIZES = [undefined, undefined, 512, 600, 800, 1232, 1232, 4096];

/** Returns a query close to the zone's content: its names, names above, below and next to them, and names in its rdata. */
export function randomQuestion(random: Random, zone: Zone, nodeNames: readonly Name[]): RandomQuestion {
  let name = pick(random, nodeNames);
  const node = zone.nodes.get(name);
  let types: readonly number[] = ASKED_TYPES;
  const roll = random();
  if (roll < 0.35) {
    if (node !== undefined && node.sets.size > 0) types = [...node.sets.keys()];
  } else if (roll < 0.75) {
    while (name !== zone.apex && random() < 0.3) name = parentOf(name);
    const depth = Math.floor(random() * 3);
    for (let i = 0; i < depth; i++) name = prependLabel(pick(random, LABELS), name) ?? name;
  } else if (roll < 0.8) {
    name = prependLabel('nope', name === ROOT ? name : parentOf(name)) ?? name;
  }
  const asked = random() < 0.3 ? mixCase(random, name) : foldCase(name);
  return { name: asked, type: pick(random, types), udpPayloadSize: pick(random, SIZES) };
}
