// Validates a single record without regard to others. Every error is a 400 that names a field.

import { isWildcard, isWithin, type Name } from '../../dns/name.ts';
import { asciiText, isWellFormed, readName } from '../name-text.ts';
import {
  type EdgeAddresses,
  ORIGIN_SCHEMES,
  type RecordSettings,
  type RecordValue,
} from './customer-record.ts';
import {
  isAddressLike,
  MAX_COMMENT_CHARACTERS,
  MAX_PORT,
  MAX_TIMEOUT_SECONDS,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
} from './customer-types.ts';
import { targetOf } from './rdata-key.ts';

interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** `given` are the values set by the caller: a limit that was introduced later does not invalidate an unchanged field. */
export function judgeRecord(
  value: RecordValue,
  given: GivenValues,
  domain: { readonly apex: Name; readonly edges: EdgeAddresses },
): readonly FieldProblem[] {
  const problems = new Problems();
  addPlaceProblems(value, domain.apex, problems);
  addProxiedProblems(value, given, domain.edges, problems);
  addRangeProblems(given, problems);
  return problems.list;
}

/** Allocates a list only if there are problems, because most records have none. */
class Problems {
  list = NO_PROBLEMS;

  add(field: string, message: string): void {
    if (this.list === NO_PROBLEMS) this.list = [{ field, message }];
    else this.list.push({ field, message });
  }
}

const NO_PROBLEMS: FieldProblem[] = [];

/** Checks whether the record may exist at its name and point to its target. */
export function judgePlace(value: PlacedValue, apex: Name): readonly FieldProblem[] {
  const problems = new Problems();
  addPlaceProblems(value, apex, problems);
  return problems.list;
}

type PlacedValue = Pick<RecordValue, 'name' | 'type' | 'rdata' | 'proxied'>;

function addPlaceProblems({ name, type, rdata, proxied }: PlacedValue, apex: Name, problems: Problems): void {
  if (name === apex) {
    if (type === 'NS') {
      problems.add('type', 'the nameservers of the domain itself are set by the service');
    } else if (type === 'DS') {
      problems.add('type', 'the DS of the domain itself belongs to the parent zone'); // RFC 4035 §2.4
    } else if (type === 'CNAME' && !proxied) {
      problems.add('type', 'the apex cannot be a CNAME; use an ANAME, or proxy the record'); // RFC 1912 §2.4
    }
  }
  if (isWildcard(name) && (type === 'NS' || type === 'DS')) {
    problems.add('name', 'a wildcard cannot be delegated'); // RFC 4592 §4.2
  }
  if (type === 'DNAME') {
    if (isWildcard(name)) problems.add('name', 'a wildcard cannot have a DNAME'); // RFC 6672 §3.3
    if (isWithin(targetOf(type, rdata) as Name, name)) {
      problems.add('destination', 'the DNAME points to its own name or below it');
    }
  }
  if ((type === 'CNAME' || type === 'ANAME') && targetOf(type, rdata) === name) {
    problems.add('destination', `the ${type} points to itself`);
  }
}

function addProxiedProblems(
  { type, proxied }: RecordValue,
  given: Partial<RecordSettings>,
  { v4, v6 }: EdgeAddresses,
  problems: Problems,
): void {
  if (proxied && !isAddressLike(type)) {
    problems.add('proxied', `a record of type ${type} cannot be proxied`);
  } else if (given.proxied === true && v4.length + v6.length === 0) {
    problems.add('proxied', 'records cannot be proxied, because this service has no edge addresses');
  }
}

export function judgeRanges(given: GivenValues): readonly FieldProblem[] {
  const problems = new Problems();
  addRangeProblems(given, problems);
  return problems.list;
}

type GivenValues = Partial<RecordSettings> & { readonly ttl?: number };

function addRangeProblems(given: GivenValues, problems: Problems): void {
  const { ttl, port, timeout, scheme, hostHeader, destCountry, comment } = given;
  if (isOutside(ttl, MIN_TTL_SECONDS, MAX_TTL_SECONDS)) {
    problems.add('ttl', `the TTL must be ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS} seconds`);
  }
  if (isOutside(port, 1, MAX_PORT)) problems.add('port', `the port must be 1 to ${MAX_PORT}`);
  if (isOutside(timeout, 1, MAX_TIMEOUT_SECONDS)) {
    problems.add('timeout', `the timeout must be 1 to ${MAX_TIMEOUT_SECONDS} seconds`);
  }
  if (scheme !== undefined && !ORIGIN_SCHEMES.includes(scheme)) {
    problems.add('scheme', `the scheme must be one of ${ORIGIN_SCHEMES.join(', ')}`);
  }
  if (hostHeader !== undefined && hostHeader !== null && !isHostName(hostHeader)) {
    problems.add('host_header', 'the host header must be a host name');
  }
  if (destCountry !== undefined && destCountry !== null && !/^[A-Z]{2}$/.test(destCountry)) {
    problems.add('dest_country', 'the country must be an ISO 3166 code of two capital letters');
  }
  if (comment !== undefined && comment !== null) {
    // characters as counted by Postgres, which does not accept NUL
    if (isLongerThan(comment, MAX_COMMENT_CHARACTERS)) {
      problems.add('comment', `the comment is longer than ${MAX_COMMENT_CHARACTERS} characters`);
    } else if (comment.includes('\0') || !isWellFormed(comment)) {
      problems.add('comment', 'the comment is not well-formed text');
    }
  }
}

/** Counts characters as people do. Does not split text that is certainly too long. */
export function isLongerThan(text: string, characters: number): boolean {
  return text.length > 2 * characters || [...text].length > characters;
}

function isOutside(value: number | undefined, min: number, max: number): boolean {
  return value !== undefined && !(Number.isInteger(value) && value >= min && value <= max);
}

function isHostName(text: string): boolean {
  if (!/^[A-Za-z0-9_.-]+$/.test(text) || text.startsWith('.')) return false;
  const ascii = asciiText(text);
  return ascii.kind === 'text' && readName(`${ascii.text}.`).kind === 'name';
}
