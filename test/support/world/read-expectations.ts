// Parses the expect.txt of a small internet: the expected conclusions of each check. See fixtures/worlds/README.md.

import type { CheckedStatus, NameserverSet } from '../../../src/checks/delegation/check-state.ts';
import { type Name, printName } from '../../../src/dns/name.ts';
import { type Block, canonicalAddress, nameOf, parseBlocks } from './read-world.ts';

/** Result of a check as plain text values. */
export type Outcome = Record<string, unknown>;

export interface ExpectedCheck {
  readonly at: number;
  readonly before: { readonly kind: 'serve' | 'down' | 'up'; readonly words: readonly string[] }[];
  held: readonly Name[];
  frozen: boolean;
  packets: number;
  readonly asked: { readonly address: string; readonly max: number }[];
  /** Fields that are not in expect.txt are absent and not compared. */
  readonly wanted: Outcome & { findings: readonly string[] };
  /** Codes that depend on chance, such as which addresses are queried first. */
  optional: readonly string[];
}

export interface Expectations {
  readonly domain: Name;
  readonly sets: readonly NameserverSet[];
  /** Undefined if not known. */
  readonly ourAddresses: readonly string[] | undefined;
  readonly state:
    | {
        status: CheckedStatus;
        /** True if no conclusive check was made yet. */
        fresh: boolean;
        spent: readonly number[];
        misses: { count: number; firstAt: number; lastAt: number } | undefined;
      }
    | undefined;
  readonly checks: readonly ExpectedCheck[];
}

const DEFAULT_SETS = 'ana.fleet.net. ben.fleet.net. ; cleo.fleet.net. dora.fleet.net.';
const MAX_PACKETS = 60; // docs/rules.md "Limits of the resolver"
const UNITS: Record<string, number> = { '': 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function parseExpectations(text: string, what = 'expect.txt'): Expectations {
  try {
    return expectationsOf(parseBlocks(text));
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`);
  }
}

function expectationsOf(blocks: readonly Block[]): Expectations {
  const allowed = ['domain', 'sets', 'ours', 'state', 'check'];
  const stranger = blocks.find(({ words }) => !allowed.includes(words[0] ?? ''));
  if (stranger !== undefined) throw new Error(`line ${stranger.at}: "${stranger.line}" is not a known line`);
  const only = (keyword: string) => blocks.find(({ words }) => words[0] === keyword);
  const checks = blocks.filter(({ words }) => words[0] === 'check').map(readCheck);
  if (checks.length === 0) throw new Error('there is no check');
  const state = only('state');
  if (checks.some(({ wanted }) => 'status' in wanted !== (state !== undefined)))
    throw new Error('either there is a state, and a status in each check, or neither');
  return {
    domain: nameOf(only('domain')?.words[1]),
    sets: (only('sets')?.line.slice('sets '.length) ?? DEFAULT_SETS)
      .split(';')
      .map((set) => set.trim().split(/\s+/).map(nameOf)),
    ourAddresses: only('ours')?.words.slice(1).map(canonicalAddress),
    state: state === undefined ? undefined : readState(state),
    checks,
  };
}

function readState({ words, body }: Block): NonNullable<Expectations['state']> {
  const spent = body.find((line) => line.words[0] === 'spent')?.words.slice(1) ?? [];
  const misses = body.find((line) => line.words[0] === 'misses')?.words.slice(1);
  return {
    status: words[1] as CheckedStatus,
    fresh: body.some((line) => line.words[0] === 'fresh'),
    spent: spent.map(Number),
    misses:
      misses === undefined
        ? undefined
        : { count: Number(misses[0]), firstAt: millisecondsOf(misses[1]), lastAt: millisecondsOf(misses[2]) },
  };
}

function readCheck({ words: [, at], body, at: line }: Block): ExpectedCheck {
  const wanted: ExpectedCheck['wanted'] = { matched: undefined, findings: [], violations: [] };
  const check: ExpectedCheck = {
    at: millisecondsOf(at ?? '0'),
    before: [],
    held: [],
    frozen: false,
    packets: MAX_PACKETS,
    asked: [],
    wanted,
    optional: [],
  };
  const servers: string[] = [];
  for (const block of body) {
    const [keyword, ...words] = block.words;
    const [first = ''] = words;
    switch (keyword) {
      case 'serve':
      case 'down':
      case 'up':
        check.before.push({ kind: keyword, words });
        break;
      case 'held':
        check.held = words.map(nameOf);
        break;
      case 'frozen':
        check.frozen = true;
        break;
      case 'packets':
        check.packets = Number(first);
        break;
      case 'asked':
        check.asked.push({ address: canonicalAddress(first), max: Number(words[1]) });
        break;
      case 'verdict':
      case 'status':
        wanted[keyword] = first;
        break;
      case 'matched':
      case 'misses':
        wanted[keyword] = Number(first);
        break;
      case 'servers':
        wanted.serverCount = Number(first);
        break;
      case 'parent':
        wanted.parent = first === 'none' ? undefined : printName(nameOf(first));
        break;
      case 'ns':
        wanted.ns = printAll(words.map(nameOf));
        break;
      case 'findings':
        check.optional = words.filter((word) => word.endsWith('?')).map((word) => word.replace(/\W.*$/, ''));
        wanted.findings = words
          .filter((word) => !word.endsWith('?'))
          .map(findingOf)
          .sort();
        break;
      case 'failure':
        wanted.failure = `${first} ${printName(nameOf(words[1]))}`;
        break;
      case 'server':
        servers.push(serverLine(words));
        wanted.servers = servers.sort();
        break;
      case 'spent':
        wanted.spent = first === 'none' ? [] : words.map(Number);
        break;
      default:
        throw new Error(`line ${block.at}: "${block.line}" is not a known line`);
    }
  }
  if (wanted.verdict === undefined || !('parent' in wanted))
    throw new Error(`line ${line}: a check has no verdict or no parent`);
  return check;
}

export function printAll(names: readonly Name[]): string[] {
  return names.map(printName).sort();
}

function serverLine([where = '', ...outcome]: readonly string[]): string {
  return [where === 'database' ? where : canonicalAddress(where), ...outcome].join(' ');
}

function findingOf(text: string): string {
  const [, code, names] = /^([A-Z0-9_]+)(?:\(([^)]*)\))?$/.exec(text) ?? [];
  if (code === undefined) throw new Error(`"${text}" is not a finding`);
  return names === undefined ? code : `${code}(${printAll(names.split(',').map(nameOf)).join()})`;
}

/** Parses `-2h` as milliseconds. Without a unit, the number is in seconds. */
function millisecondsOf(text: string | undefined): number {
  const [, number, unit = ''] = /^(-?[0-9.]+)([smhd]?)$/.exec(text ?? '') ?? [];
  if (number === undefined) throw new Error(`"${text}" is not a time`);
  return Number(number) * (UNITS[unit] as number);
}
