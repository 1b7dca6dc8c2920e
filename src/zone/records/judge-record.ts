// Validates a single record without regard to others. Every error is a 400 that names a field.

import { isWildcard, isWithin, type Name } from '../../dns/name.ts';
import { asciiText, readName } from '../name-text.ts';
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
  given: Partial<RecordSettings> & { readonly ttl?: number },
  domain: { readonly apex: Name; readonly edges: EdgeAddresses },
): FieldProblem[] {
  const problems: FieldProblem[] = []; // nearly always empty
  for (const problem of judgePlace(value, domain.apex)) problems.push(problem);
  for (const problem of judgeProxied(value, given, domain.edges)) problems.push(problem);
  for (const problem of judgeRanges(given)) problems.push(problem);
  return problems;
}

/** Checks whether the record may exist at its name and point to its target. */
export function* judgePlace(
  { name, type, rdata, proxied }: Pick<RecordValue, 'name' | 'type' | 'rdata' | 'proxied'>,
  apex: Name,
): Generator<FieldProblem> {
  if (name === apex) {
    if (type === 'NS') {
      yield { field: 'type', message: 'the nameservers of the domain itself are set by the service' };
    } else if (type === 'DS') {
      yield { field: 'type', message: 'the DS of the domain itself belongs to the parent zone' }; // RFC 4035 §2.4
    } else if (type === 'CNAME' && !proxied) {
      const message = 'the apex cannot be a CNAME; use an ANAME, or proxy the record'; // RFC 1912 §2.4
      yield { field: 'type', message };
    }
  }
  if (isWildcard(name) && (type === 'NS' || type === 'DS')) {
    yield { field: 'name', message: 'a wildcard cannot be delegated' }; // RFC 4592 §4.2
  }
  if (type === 'DNAME') {
    if (isWildcard(name)) yield { field: 'name', message: 'a wildcard cannot have a DNAME' }; // RFC 6672 §3.3
    if (isWithin(targetOf(type, rdata) as Name, name)) {
      yield { field: 'destination', message: 'the DNAME points to its own name or below it' };
    }
  }
  if ((type === 'CNAME' || type === 'ANAME') && targetOf(type, rdata) === name) {
    yield { field: 'destination', message: `the ${type} points to itself` };
  }
}

function* judgeProxied(
  { type, proxied }: RecordValue,
  given: Partial<RecordSettings>,
  { v4, v6 }: EdgeAddresses,
): Generator<FieldProblem> {
  if (proxied && !isAddressLike(type)) {
    yield { field: 'proxied', message: `a record of type ${type} cannot be proxied` };
  } else if (given.proxied === true && v4.length + v6.length === 0) {
    yield {
      field: 'proxied',
      message: 'records cannot be proxied, because this service has no edge addresses',
    };
  }
}

export function* judgeRanges(
  given: Partial<RecordSettings> & { readonly ttl?: number },
): Generator<FieldProblem> {
  const { ttl, port, timeout, scheme, hostHeader, destCountry, comment } = given;
  if (isOutside(ttl, MIN_TTL_SECONDS, MAX_TTL_SECONDS)) {
    yield { field: 'ttl', message: `the TTL must be ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS} seconds` };
  }
  if (isOutside(port, 1, MAX_PORT)) yield { field: 'port', message: `the port must be 1 to ${MAX_PORT}` };
  if (isOutside(timeout, 1, MAX_TIMEOUT_SECONDS)) {
    yield { field: 'timeout', message: `the timeout must be 1 to ${MAX_TIMEOUT_SECONDS} seconds` };
  }
  if (scheme !== undefined && !ORIGIN_SCHEMES.includes(scheme)) {
    yield { field: 'scheme', message: `the scheme must be one of ${ORIGIN_SCHEMES.join(', ')}` };
  }
  if (hostHeader !== undefined && hostHeader !== null && !isHostName(hostHeader)) {
    yield { field: 'host_header', message: 'the host header must be a host name' };
  }
  if (destCountry !== undefined && destCountry !== null && !/^[A-Z]{2}$/.test(destCountry)) {
    yield { field: 'dest_country', message: 'the country must be an ISO 3166 code of two capital letters' };
  }
  if (comment !== undefined && comment !== null) {
    // characters as counted by Postgres, which does not accept NUL
    if (isLongerThan(comment, MAX_COMMENT_CHARACTERS)) {
      yield { field: 'comment', message: `the comment is longer than ${MAX_COMMENT_CHARACTERS} characters` };
    } else if (comment.includes('\0') || /\p{Surrogate}/u.test(comment)) {
      yield { field: 'comment', message: 'the comment is not well-formed text' };
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
