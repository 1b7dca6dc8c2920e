// Reads members and names in requests. Where PowerDNS has the same problem, its text is used.

import { Problem } from '../../api/answers/problem.ts';
import type { Name } from '../../dns/name.ts';
import { readFullName } from '../../zone/name-text.ts';

/** Version that clients see. octoDNS requires three numbers. EXTEND and PRUNE exist since 4.9.12. */
export const VERSION = '4.9.12-zonefleet';

export type JsonObject = Readonly<Record<string, unknown>>;

export function refuse(text: string): Problem {
  return new Problem(422, text);
}

/** Returns the members of an object. Any other value has none. */
export function membersOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function textIn(members: JsonObject, key: string): string | Problem {
  const value = members[key];
  return typeof value === 'string' ? value : refuse(`Key '${key}' not present or not a String`);
}

/** Reads a list of strings, without duplicates. Returns undefined if it is absent. */
export function textsIn(
  members: JsonObject,
  key: string,
  most: number,
): readonly string[] | Problem | undefined {
  const value = members[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    return refuse(`Key '${key}' is not a list of Strings`);
  const texts = [...new Set(value)];
  return texts.length > most ? refuse(`${key}: expected at most ${most}`) : texts;
}

/** Returns a problem if a member has another type. Absent members and null are allowed. */
export function judgeTypes(
  members: JsonObject,
  type: 'String' | 'Bool' | 'List',
  keys: readonly string[],
): Problem | undefined {
  const wrong = keys.find((key) => {
    const value = members[key] ?? undefined;
    return value !== undefined && !IS_OF_TYPE[type](value);
  });
  return wrong === undefined ? undefined : refuse(`Key '${wrong}' is not a ${type}`);
}

const IS_OF_TYPE = {
  String: (value: unknown) => typeof value === 'string',
  Bool: (value: unknown) => typeof value === 'boolean',
  List: Array.isArray,
} as const;

/** Reads a full name, which must have its final dot. */
export function readCanonical(text: string): Name | Problem {
  if (!text.endsWith('.')) return refuse(`DNS Name '${text.slice(0, 255)}' is not canonical`);
  const read = readFullName(text);
  return read.kind === 'name' ? read.name : refuse(`Unable to parse DNS Name: ${read.message}`);
}

/** Reads the members of a body. Like PowerDNS, responds 400 if it is absent or is not JSON, and accepts any other value. */
export function readBody(body: unknown): JsonObject | Problem {
  return body === undefined || body === null ? new Problem(400, 'Bad Request') : membersOf(body);
}

export type ZoneKind = 'Native' | 'Master' | 'Slave';

const KINDS: ReadonlyMap<string, ZoneKind> = new Map([
  ['native', 'Native'],
  ['master', 'Master'],
  ['primary', 'Master'],
  ['slave', 'Slave'],
  ['secondary', 'Slave'],
]);

export function readKind(text: string): ZoneKind | Problem {
  return (
    KINDS.get(text.toLowerCase()) ??
    refuse(`kind: expected Native, Master or Slave, not "${text.slice(0, 20)}"`)
  );
}

/** Maximum number of results of a search. */
const MAX_RESULTS = 1000;
const DEFAULT_RESULTS = 100;
const OBJECT_TYPES = ['all', 'zone', 'record', 'comment'] as const;
const MAX_PATTERN_CHARACTERS = 255;

export interface Search {
  /** Pattern for LIKE in lower case, with `!` as the escape character. */
  readonly pattern: string;
  readonly most: number;
  readonly type: (typeof OBJECT_TYPES)[number];
}

interface SearchText {
  readonly q?: string | undefined;
  readonly max?: string | undefined;
  readonly object_type?: string | undefined;
}

/** Reads a search. `*` matches any text, and `?` one character. A final dot is ignored, as in names and contents. */
export function readSearch({ q = '', max, object_type: type = 'all' }: SearchText): Search | Problem {
  if (q === '') return refuse("Query q can't be blank");
  if (q.length > MAX_PATTERN_CHARACTERS)
    return refuse(`Query q has more than ${MAX_PATTERN_CHARACTERS} characters`);
  const most = max === undefined ? DEFAULT_RESULTS : Number(max);
  if (!Number.isInteger(most)) return refuse('Maximum entries must be a number');
  if (most < 1) return refuse('Maximum entries must be larger than 0');
  const known = OBJECT_TYPES.find((each) => each === type);
  if (known === undefined)
    return refuse(`object_type must be one of the following options: ${OBJECT_TYPES.join(', ')}`);
  const pattern = q
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/[!%_]/g, '!$&')
    .replaceAll('*', '%')
    .replaceAll('?', '_');
  return { pattern, most: Math.min(most, MAX_RESULTS), type: known };
}
