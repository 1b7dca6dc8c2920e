// Reads the expect.txt of a small internet: what must be concluded in it, check by check. See fixtures/worlds/README.md.

import type { CheckedStatus, NameserverSet } from '../../../src/checks/delegation/check-state.ts';
import type { Name } from '../../../src/dns/name.ts';
import { type Block, canonicalAddress, nameOf, parseBlocks } from './read-world.ts';

export interface ExpectedFinding {
  readonly code: string;
  /** Undefined: any or none. */
  readonly names: readonly Name[] | undefined;
  /** It depends on chance, such as which addresses are asked first. */
  readonly optional: boolean;
}

export interface ExpectedCheck {
  readonly at: number;
  readonly before: readonly { kind: 'serve' | 'down' | 'up'; words: readonly string[] }[];
  readonly held: readonly Name[];
  readonly frozen: boolean;
  readonly verdict: string;
  readonly parent: Name | undefined;
  readonly matched: number | undefined;
  readonly ns: readonly Name[] | undefined;
  readonly findings: readonly ExpectedFinding[];
  readonly failure: { reason: string; zone: Name } | undefined;
  /** `address outcome`, and ` tcp` where the reply came so; undefined: not compared. */
  readonly servers: readonly string[] | undefined;
  readonly serverCount: number | undefined;
  readonly packets: number;
  readonly asked: readonly { address: string; max: number }[];
  readonly status: string | undefined;
  readonly misses: number | undefined;
  /** The numbers of the sets that the domain has lost. */
  readonly spent: readonly number[] | undefined;
}

export interface Expectations {
  readonly domain: Name;
  readonly sets: readonly NameserverSet[];
  /** Undefined: not known. */
  readonly ourAddresses: readonly string[] | undefined;
  readonly state:
    | {
        status: CheckedStatus;
        /** No conclusive check was made yet. */
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
  if (stranger !== undefined) throw new Error(`line ${stranger.at}: "${stranger.line}" means nothing`);
  const only = (keyword: string) => blocks.find(({ words }) => words[0] === keyword);
  const checks = blocks.filter(({ words }) => words[0] === 'check').map(readCheck);
  if (checks.length === 0) throw new Error('there is no check');
  const state = only('state');
  if (checks.some(({ status }) => (status === undefined) !== (state === undefined)))
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

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function readCheck({ words: [, at], body, at: line }: Block): ExpectedCheck {
  const check: Mutable<ExpectedCheck> & { before: Mutable<ExpectedCheck['before'][number]>[] } = {
    at: millisecondsOf(at ?? '0'),
    before: [],
    held: [],
    frozen: false,
    verdict: '',
    parent: undefined,
    matched: undefined,
    ns: undefined,
    findings: [],
    failure: undefined,
    servers: undefined,
    serverCount: undefined,
    packets: MAX_PACKETS,
    asked: [],
    status: undefined,
    misses: undefined,
    spent: undefined,
  };
  let saysParent = false;
  for (const block of body) {
    const [keyword, ...words] = block.words;
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
      case 'verdict':
        check.verdict = words[0] ?? '';
        break;
      case 'parent':
        saysParent = true;
        check.parent = words[0] === 'none' ? undefined : nameOf(words[0]);
        break;
      case 'matched':
        check.matched = Number(words[0]);
        break;
      case 'ns':
        check.ns = words.map(nameOf);
        break;
      case 'findings':
        check.findings = words.map(findingOf);
        break;
      case 'failure':
        check.failure = { reason: words[0] ?? '', zone: nameOf(words[1]) };
        break;
      case 'server':
        check.servers = [...(check.servers ?? []), serverLine(words)];
        break;
      case 'servers':
        check.serverCount = Number(words[0]);
        break;
      case 'packets':
        check.packets = Number(words[0]);
        break;
      case 'asked':
        check.asked = [...check.asked, { address: canonicalAddress(words[0] ?? ''), max: Number(words[1]) }];
        break;
      case 'status':
        check.status = words[0];
        break;
      case 'misses':
        check.misses = Number(words[0]);
        break;
      case 'spent':
        check.spent = words[0] === 'none' ? [] : words.map(Number);
        break;
      default:
        throw new Error(`line ${block.at}: "${block.line}" means nothing`);
    }
  }
  if (check.verdict === '' || !saysParent)
    throw new Error(`line ${line}: a check has no verdict or no parent`);
  return check;
}

function serverLine([where = '', ...outcome]: readonly string[]): string {
  return [where === 'database' ? where : canonicalAddress(where), ...outcome].join(' ');
}

function findingOf(text: string): ExpectedFinding {
  const [, code = '', names, mark] = /^([A-Z_]+)(?:\(([^)]*)\))?(\?)?$/.exec(text) ?? [];
  if (code === '') throw new Error(`"${text}" is no finding`);
  return {
    code,
    names: names === undefined ? undefined : names.split(',').map(nameOf),
    optional: mark !== undefined,
  };
}

/** `-2h` as milliseconds; without a unit seconds. */
export function millisecondsOf(text: string | undefined): number {
  const [, number, unit = ''] = /^(-?[0-9.]+)([smhd]?)$/.exec(text ?? '') ?? [];
  if (number === undefined) throw new Error(`"${text}" is no time`);
  return Number(number) * (UNITS[unit] as number);
}
