// Parses the small internets of fixtures/worlds and fixtures/txt-worlds. The README there describes the text format. The
// first comment of a world is its description, and an indented line belongs to the line above it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TextError } from '../../../src/dns/errors.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { foldCase, type Name, parseName, printName, ROOT } from '../../../src/dns/name.ts';
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from '../../../src/dns/record/ip-address.ts';
import { TYPE, typeCode } from '../../../src/dns/type-codes.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { recordsOf } from '../zone/zone-text.ts';

/** Faults of a server, or of one reply with `first`. Those with a value: `slow MS`, `rcode MNEMONIC`. */
const FAULTS = [
  'silent',
  'slow',
  'rcode',
  'lame',
  'upward-referral',
  'formerr-on-edns',
  'formerr-header',
  'silent-on-edns',
  'silent-on-case',
  'refused-on-case',
  'ignores-edns',
  'no-aa',
  'nxdomain-for-ent',
  'truncate',
  'half',
  'half-always',
  'no-tcp',
  'silent-udp',
  'silent-tcp',
  'lame-tcp',
  'lower-case',
  'wrong-id',
  'wrong-question',
  'wrong-source',
  'forged-id',
  'forged-question',
  'forged-case',
  'garbage',
  'garbage-on-edns',
  'loop-pointer',
  'short',
  'huge',
  'twice',
  'closed',
] as const;
export type FaultKind = (typeof FAULTS)[number];
const WITH_VALUE: readonly FaultKind[] = ['slow', 'rcode'];

export interface Fault {
  readonly kind: FaultKind;
  readonly value: number;
  /** Applies to queries about this name or below it. Undefined: all queries. */
  readonly on: Name | undefined;
  /** Applies to this many queries at the address. */
  readonly first: number;
}

type Section = 'answer' | 'authority' | 'additional';
const SECTIONS: readonly string[] = ['answer', 'authority', 'additional'];

/** A complete reply to one query, which replaces the zones' data. */
export interface Script {
  readonly name: Name;
  readonly type: number;
  readonly aa: boolean;
  readonly rcode: number;
  readonly sections: Record<Section, ZoneRecord[]>;
}

export interface ServerScript {
  readonly name: Name;
  readonly address: string;
  /** With several variants, each in turn for queries of one type. Without any, the world's current one. */
  readonly serves: { apex: Name; variants: readonly string[] }[];
  readonly faults: Fault[];
  /** Records added to each reply, for one name or all. */
  readonly adds: { section: Section; record: ZoneRecord }[];
  readonly scripts: Script[];
  /** Names that must not be queried here, including names below them. */
  readonly never: Name[];
  /** True for a public resolver: queried with RD, and its zones are its cached data. */
  recursive: boolean;
}

export interface World {
  readonly title: string;
  readonly servers: ReadonlyMap<string, ServerScript>;
  /** By apex and variant. The name of the first variant is ''. */
  readonly zones: ReadonlyMap<Name, ReadonlyMap<string, Zone>>;
  /** Zones that this fleet serves, as in Postgres. */
  readonly held: ReadonlyMap<Name, Zone>;
  readonly hasIpv6: boolean;
  /** Activates another variant after this many queries about a name. */
  readonly flips: readonly { apex: Name; variant: string; after: number; name: Name }[];
}

type WorldKind = 'worlds' | 'txt-worlds' | 'child-worlds';
const FIXTURES = join(import.meta.dirname, '../../../fixtures');

export function worldFolders(kind: WorldKind = 'worlds'): string[] {
  const entries = readdirSync(join(FIXTURES, kind), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

export function readWorldFile(folder: string, file: string, kind: WorldKind = 'worlds'): string {
  return readFileSync(join(FIXTURES, kind, folder, file), 'utf8');
}

export function readWorld(folder: string, kind: WorldKind = 'worlds'): World {
  return parseWorld(readWorldFile(folder, 'world.txt', kind), `fixtures/${kind}/${folder}/world.txt`);
}

/** A line with the indented lines below it. */
export interface Block {
  readonly line: string;
  readonly words: readonly string[];
  readonly body: Block[];
  /** The lines below, without the block's indentation. */
  readonly text: string;
  readonly at: number;
}

/** `#` at the start of a line begins a comment. Zone text has its own comments. */
export function parseBlocks(text: string, firstLine = 1): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    if (line.trim() === '' || line.startsWith('#')) continue;
    const at = firstLine + i;
    if (line.startsWith(' ')) throw new Error(`line ${at}: it has no line above to belong to`);
    const below: string[] = [];
    while (i + 1 < lines.length && /^( {2}|\s*$)/.test(lines[i + 1] as string)) {
      below.push((lines[++i] as string).slice(2));
    }
    const body = below.join('\n');
    const isZone = /^(zone|held) /.test(line);
    blocks.push({
      line,
      words: line.trim().split(/\s+/),
      body: isZone ? [] : parseBlocks(body, at + 1),
      text: body,
      at,
    });
  }
  return blocks;
}

/** Parses the text of a world. `what` identifies it in errors. */
export function parseWorld(text: string, what = 'the world'): World {
  const reader = new WorldReader();
  try {
    for (const block of parseBlocks(text)) reader.read(block, false);
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`);
  }
  return reader.finish(/^# (.*)$/m.exec(text)?.[1] ?? '', what);
}

class WorldReader {
  readonly #servers = new Map<string, ServerScript>();
  /** Records that every variant of a zone starts with, from an included file. */
  readonly #stems = new Map<Name, string>();
  readonly #texts = new Map<Name, Map<string, string>>();
  readonly #held = new Map<Name, string>();
  readonly #flips: World['flips'][number][] = [];
  #hasIpv6 = true;

  read(block: Block, isIncluded: boolean): void {
    const [keyword, ...words] = block.words;
    try {
      switch (keyword) {
        case 'include':
          for (const inner of parseBlocks(readWorldFile('.', `${words[0]}.txt`))) this.read(inner, true);
          return;
        case 'server':
          this.#readServer(words, block.body);
          return;
        case 'zone':
          this.#readZone(nameOf(words[0]), words[1] ?? '', block.text, isIncluded);
          return;
        case 'held':
          this.#held.set(nameOf(words[0]), block.text);
          return;
        case 'flip': // flip APEX VARIANT after COUNT NAME
          this.#flips.push({
            apex: nameOf(words[0]),
            variant: words[1] ?? '',
            after: Number(words[3]),
            name: nameOf(words[4]),
          });
          return;
        case 'no':
          if (words.join(' ') !== 'ipv6') break;
          this.#hasIpv6 = false;
          return;
      }
      throw new Error(`"${block.line}" means nothing`);
    } catch (error) {
      throw /^line /.test((error as Error).message)
        ? error
        : new Error(`line ${block.at}: ${(error as Error).message}`);
    }
  }

  #readServer([nameText, ...addresses]: readonly string[], body: readonly Block[]): void {
    const name = nameOf(nameText);
    if (addresses.length === 0) throw new Error('a server has no address');
    for (const text of addresses) {
      const address = canonicalAddress(text);
      const script: ServerScript = this.#servers.get(address) ?? {
        name,
        address,
        serves: [],
        faults: [],
        adds: [],
        scripts: [],
        never: [],
        recursive: false,
      };
      if (script.name !== name) throw new Error(`${address} is the address of ${printName(script.name)}`);
      this.#servers.set(address, script);
      for (const block of body) readConduct(script, block);
    }
  }

  #readZone(apex: Name, variant: string, text: string, isIncluded: boolean): void {
    if (isIncluded) {
      this.#stems.set(apex, `${this.#stems.get(apex) ?? ''}${text}\n`);
      if (!this.#texts.has(apex)) this.#texts.set(apex, new Map());
      return;
    }
    const texts = this.#texts.get(apex) ?? new Map<string, string>();
    texts.set(variant, `${texts.get(variant) ?? ''}${text}\n`);
    this.#texts.set(apex, texts);
  }

  finish(title: string, what: string): World {
    const zones = new Map<Name, Map<string, Zone>>();
    for (const [apex, texts] of this.#texts) {
      if (!texts.has('')) texts.set('', '');
      const stem = this.#stems.get(apex) ?? '';
      zones.set(
        apex,
        new Map([...texts].map(([variant, text]) => [variant, readZone(apex, stem + text, what)])),
      );
    }
    for (const { address, serves } of this.#servers.values()) {
      const unknown = serves.find(({ apex, variants }) =>
        (variants.length === 0 ? [''] : variants).some((variant) => !zones.get(apex)?.has(variant)),
      );
      if (unknown !== undefined)
        throw new Error(`${what}: ${address} serves ${printName(unknown.apex)}, which does not exist`);
    }
    for (const { apex, variant } of this.#flips) {
      if (!zones.get(apex)?.has(variant))
        throw new Error(`${what}: there is no variant "${variant}" to flip to`);
    }
    const held = new Map([...this.#held].map(([apex, text]) => [apex, readZone(apex, text, what)]));
    return { title, servers: this.#servers, zones, held, hasIpv6: this.#hasIpv6, flips: this.#flips };
  }
}

/** Parses a zone. Adds an SOA if it has none and, for a zone that is held, NS records at the apex. */
export function readZone(apex: Name, text: string, what: string): Zone {
  const origin = printName(apex);
  try {
    const records = recordsOf(text, origin);
    const has = (type: number) => records.some((record) => record.type === type && record.owner === apex);
    if (!has(TYPE.SOA)) {
      records.push(...recordsOf(`@ 3600 SOA . hostmaster.invalid. 1 7200 900 1209600 300`, origin));
    }
    if (!has(TYPE.NS)) records.push(...recordsOf('@ 3600 NS ns.invalid.', origin));
    const built = buildZone(apex, records);
    if (built.kind === 'built') return built.zone;
    throw new Error(built.problems.map((problem) => problem.message).join('; '));
  } catch (error) {
    throw new Error(`${what}: zone ${origin}: ${(error as Error).message}`);
  }
}

function readConduct(script: ServerScript, block: Block): void {
  const [keyword, ...words] = block.words;
  switch (keyword) {
    case 'serves':
      for (const word of words) {
        const [apex, variants] = word.split('/');
        script.serves.push({ apex: nameOf(apex), variants: variants?.split('|') ?? [] });
      }
      return;
    case 'never':
      script.never.push(...words.map(nameOf));
      return;
    case 'recursive':
      script.recursive = true;
      return;
    case 'adds':
      script.adds.push(readAddition(block.line.slice('adds '.length)));
      return;
    case 'script':
      script.scripts.push(readScript(words, block.body));
      return;
  }
  script.faults.push(readFault(block.words));
}

function readAddition(text: string): { section: Section; record: ZoneRecord } {
  const [, section, rest] = /^(\w+) (.*)$/.exec(text) ?? [];
  if (section === undefined || !SECTIONS.includes(section)) throw new Error(`"${text}" is not a section`);
  return { section: section as Section, record: recordsOf(rest as string)[0] as ZoneRecord };
}

function readScript([name, type, ...flags]: readonly string[], body: readonly Block[]): Script {
  const code = typeCode(type ?? '');
  if (code === undefined) throw new Error('a script has no type');
  const rcode = flags.find((flag) => flag !== 'aa');
  const sections: Script['sections'] = { answer: [], authority: [], additional: [] };
  for (const { line } of body) {
    const { section, record } = readAddition(line);
    sections[section].push(record);
  }
  return {
    name: nameOf(name),
    type: code,
    aa: flags.includes('aa'),
    rcode: rcode === undefined ? RCODE.NOERROR : rcodeOf(rcode),
    sections,
  };
}

function readFault(words: readonly string[]): Fault {
  const rest = [...words];
  const kind = rest.shift() as FaultKind;
  if (!FAULTS.includes(kind)) throw new Error(`there is no fault "${kind}"`);
  let value = 0;
  if (WITH_VALUE.includes(kind)) {
    const text = rest.shift() ?? '';
    value = kind === 'rcode' ? rcodeOf(text) : Number(text);
  }
  let on: Name | undefined;
  let first = Number.POSITIVE_INFINITY;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === 'on') on = nameOf(rest.shift());
    else if (word === 'first') first = Number(rest.shift());
    else throw new Error(`"${word}" is not valid in a fault`);
  }
  if (Number.isNaN(value) || Number.isNaN(first)) throw new Error('a number is missing');
  return { kind, value, on, first };
}

function rcodeOf(mnemonic: string): number {
  const code = (RCODE as Record<string, number>)[mnemonic];
  if (code === undefined) throw new Error(`there is no rcode "${mnemonic}"`);
  return code;
}

/** Returns a folded name. `.` is the root. */
export function nameOf(text: string | undefined): Name {
  if (text === undefined) throw new Error('a name is missing');
  return foldCase(parseName(text === '@' ? '.' : text, ROOT));
}

/** Formats the rdata of an A or AAAA record. */
export function printAddress(octets: Uint8Array): string {
  return octets.length === 4 ? printIpv4(octets) : printIpv6(octets);
}

export function canonicalAddress(text: string): string {
  try {
    return text.includes(':') ? printIpv6(parseIpv6(text)) : printIpv4(parseIpv4(text));
  } catch (error) {
    if (error instanceof TextError) throw new Error(error.message);
    throw error;
  }
}
