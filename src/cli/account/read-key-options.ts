// Reads what a new API key is narrowed to from an operator's options. A key that could do nothing is refused.

import { foldCase, isWithin, type Name } from '../../dns/name.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { asciiText, printWithoutDot, readName } from '../../zone/name-text.ts';
import { API_TYPES, isApiType } from '../../zone/records/customer-types.ts';
import { Failure } from '../terminal/failure.ts';

export interface KeyOptions {
  readonly name: string;
  readonly readOnly?: true;
  readonly expires?: string;
  readonly domains?: string;
  readonly names?: string;
  readonly types?: string;
}

/** Names as keys store them: lower-case A-labels without the final dot. Null: not narrowed. */
interface WantedKey {
  readonly name: string;
  readonly readOnly: boolean;
  readonly expiresAt: Date | null;
  readonly domains: string[] | null;
  readonly names: string[] | null;
  readonly types: string[] | null;
}

export function readKeyOptions(options: KeyOptions, now: Date): WantedKey {
  const domains = listOf(options.domains, '--domains')?.map(readDomain);
  const names = listOf(options.names, '--names')?.map(readFullName);
  for (const name of domains === undefined ? [] : (names ?? [])) {
    if (domains?.some((domain) => isWithin(name, domain))) continue;
    throw new Failure('usage', `--names: ${printWithoutDot(name)} lies in none of --domains`);
  }
  return {
    name: options.name,
    readOnly: options.readOnly ?? false,
    expiresAt: options.expires === undefined ? null : readMoment(options.expires, now),
    domains: distinct(domains?.map(printWithoutDot)),
    names: distinct(names?.map(printWithoutDot)),
    types: distinct(listOf(options.types, '--types')?.map(readType)),
  };
}

function listOf(text: string | undefined, option: string): string[] | undefined {
  const items = text?.split(',').map((item) => item.trim());
  if (items?.includes('')) throw new Failure('usage', `${option}: expected a comma list`);
  return items;
}

function distinct(items: readonly string[] | undefined): string[] | null {
  return items === undefined ? null : [...new Set(items)];
}

function readDomain(text: string): Name {
  const parsed = parseDomainName(text);
  if (parsed.kind === 'problem') throw new Failure('usage', `--domains: ${parsed.message}`);
  return parsed.name;
}

function readFullName(text: string): Name {
  const ascii = asciiText(text);
  const read = ascii.kind === 'problem' ? ascii : readName(`${ascii.text}.`);
  if (read.kind === 'problem') throw new Failure('usage', `--names: ${read.message}`);
  return foldCase(read.name);
}

function readType(text: string): string {
  const type = text.toUpperCase();
  if (!isApiType(type)) {
    throw new Failure('usage', `--types: expected ${API_TYPES.join(', ')}, not "${text}"`);
  }
  return type;
}

const UNIT_MS = { h: 3_600_000, d: 86_400_000 } as const;
const MAX_YEARS = 1000;

/** Reads `90d`, `12h`, or a time in ISO 8601; a day alone means its beginning in UTC. */
function readMoment(text: string, now: Date): Date {
  const [, count, unit] = /^([1-9]\d{0,5})([hd])$/.exec(text) ?? [];
  const isMoment = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const ms =
    count !== undefined
      ? now.getTime() + Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
      : isMoment
        ? Date.parse(text)
        : Number.NaN;
  if (Number.isNaN(ms) || ms > now.getTime() + MAX_YEARS * 366 * UNIT_MS.d) {
    throw new Failure(
      'usage',
      `--expires: expected 90d, 12h, 2030-01-31 or 2030-01-31T12:00:00Z, not "${text}"`,
    );
  }
  if (ms <= now.getTime()) throw new Failure('usage', `--expires: ${text} is over already`);
  return new Date(ms);
}
