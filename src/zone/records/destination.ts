// The `destination` of a record, by type (API documentation): text ⇄ rdata. Hosts are absolute with or without the
// final dot, except for single labels, which require it; `@` is the apex. TXT is plain text, unless only zone-file
// strings can express it. Printing is the exact inverse.

import { TextError } from '../../dns/errors.ts';
import {
  encodeName,
  labelCount,
  labelsOf,
  type Name,
  nameInRdata,
  parseName,
  printName,
  ROOT,
} from '../../dns/name.ts';
import { printIpv4, readIpv4 } from '../../dns/record/ip-address.ts';
import { parseRdata, printRdata } from '../../dns/record/rdata.ts';
import type { Token } from '../../dns/record/token.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { hostWordOf } from '../../dns/zone-file/host-word.ts';
import {
  explainTypographicQuote,
  typographicQuoteIn,
  ZoneFileLexer,
} from '../../dns/zone-file/zone-file-lexer.ts';
import {
  asciiText,
  isWellFormed,
  MAX_NAME_CHARACTERS,
  printWithoutDot,
  type ReadName,
  readName,
} from '../name-text.ts';
import {
  type ApiType,
  isGenericType,
  MAX_MX_PRIORITY,
  type WireType,
  wireTypeCode,
} from './customer-types.ts';

interface DestinationProblem {
  readonly kind: 'problem';
  readonly field: 'destination' | 'mx_priority';
  readonly message: string;
}

type ParsedDestination = { readonly kind: 'rdata'; readonly rdata: Uint8Array } | DestinationProblem;

const MAX_STRING_OCTETS = 255;
/** All octets of a message, each written as \DDD. */
const MAX_CHARACTERS = 300_000;
const MAX_MESSAGE_CHARACTERS = 300;
/** A record set must fit into one message (RFC 1035 §4.2.2), with question, owner and OPT. */
export const MAX_SET_OCTETS = 65_000;

export function parseDestination(
  type: ApiType,
  text: string,
  mxPriority: number | undefined,
  apex: Name,
): ParsedDestination {
  if (type === 'MX' && /^\s*\d{1,5}\s+\S+\s*$/.test(text))
    return problem(`put the priority into mx_priority and the host alone into destination, not "${text}"`);
  const priority = judgeMxPriority(type, mxPriority);
  if (priority !== undefined) return { kind: 'problem', field: 'mx_priority', message: priority };
  if (text === '') return problem('the destination is empty');
  if (text.length > MAX_CHARACTERS)
    return problem(`the destination has more than ${MAX_CHARACTERS} characters`);
  if (!isWellFormed(text)) return problem('the text is not well-formed Unicode');
  const parsed = parseByType(type, text, mxPriority ?? 0, apex);
  if (parsed.kind === 'rdata' && parsed.rdata.length > MAX_SET_OCTETS) {
    return problem(`the record has ${parsed.rdata.length} octets, too many for a DNS message`);
  }
  return parsed;
}

function judgeMxPriority(type: ApiType, mxPriority: number | undefined): string | undefined {
  if (type !== 'MX') return mxPriority === undefined ? undefined : `a record of type ${type} has no priority`;
  if (mxPriority === undefined) return 'an MX record requires a priority';
  const isValid = Number.isInteger(mxPriority) && mxPriority >= 0 && mxPriority <= MAX_MX_PRIORITY;
  return isValid ? undefined : `the priority must be 0 to ${MAX_MX_PRIORITY}`;
}

function parseByType(type: ApiType, text: string, mxPriority: number, apex: Name): ParsedDestination {
  switch (type) {
    case 'A':
    case 'AAAA':
      return parseAddress(type, text);
    case 'MX': {
      const host = parseHost(text, apex, { root: true, wildcard: false }); // null MX (RFC 7505)
      if (host.kind === 'problem') return problem(host.message);
      return rdata(Buffer.concat([Buffer.of(mxPriority >> 8, mxPriority & 0xff), encodeName(host.name)]));
    }
    case 'CNAME':
    case 'PTR':
    case 'ANAME':
    case 'NS':
    case 'DNAME': {
      const host = parseHost(text, apex, { root: false, wildcard: type === 'CNAME' || type === 'PTR' });
      return host.kind === 'problem' ? problem(host.message) : rdata(encodeName(host.name));
    }
    case 'TXT':
      return text.startsWith('"') ? parseZoneFileText('TXT', text, apex) : bareText(text);
    case 'SRV':
    case 'CAA':
    case 'TLSA':
    case 'SSHFP':
    case 'URI':
    case 'HTTPS':
    case 'SVCB':
    case 'DS':
    case 'NAPTR':
    case 'LOC':
    case 'SMIMEA':
    case 'OPENPGPKEY':
    case 'CERT':
    case 'HINFO':
    case 'DHCID':
      return parseZoneFileText(type, text, apex);
    default:
      return parseZoneFileText(type satisfies `TYPE${number}`, text, apex);
  }
}

function problem(message: string): DestinationProblem {
  const isLong = message.length > MAX_MESSAGE_CHARACTERS; // the message quotes the text
  const shortened = isLong
    ? `${message.slice(0, MAX_MESSAGE_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`
    : message;
  return { kind: 'problem', field: 'destination', message: shortened };
}

function rdata(octets: Uint8Array): ParsedDestination {
  return { kind: 'rdata', rdata: new Uint8Array(octets) };
}

function parseAddress(type: 'A' | 'AAAA', text: string): ParsedDestination {
  const octets = type === 'A' ? readIpv4(text) : undefined; // the usual case
  if (octets !== undefined) return { kind: 'rdata', rdata: octets };
  return parseTokens(type, [{ text, quoted: false, line: 1, column: 1 }]);
}

function parseTokens(type: WireType, tokens: readonly Token[]): ParsedDestination {
  try {
    return { kind: 'rdata', rdata: parseRdata(wireTypeCode(type), tokens, ROOT) };
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    return problem(error.field === undefined ? error.message : `${error.field}: ${error.message}`);
  }
}

const IPV4 = /^[0-9]{1,3}(?:\.[0-9]{1,3}){3}\.?$/;
const IPV6 = /^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]+$/;

/** Parses a host name: absolute, with an optional final dot. The most common mistake is an address instead of a name. */
function parseHost(text: string, apex: Name, allow: { root: boolean; wildcard: boolean }): ReadName {
  const fault = (message: string): ReadName => ({ kind: 'problem', message });
  if (text === '@') return { kind: 'name', name: apex };
  if (text === '.') return allow.root ? { kind: 'name', name: ROOT } : fault('the root is not a destination');
  if (text.length > MAX_NAME_CHARACTERS) return fault('a name is longer than 255 octets');
  if (IPV4.test(text) || IPV6.test(text))
    return fault(`"${text}" is an address; a host name is required here`);
  const ascii = asciiText(text);
  if (ascii.kind === 'problem') return ascii;
  const read = readName(`${ascii.text}.`);
  if (read.kind === 'name' && !ascii.absolute && labelCount(read.name) === 1) {
    return fault(bothReadings(text, apex));
  }
  if (
    read.kind === 'name' &&
    !allow.wildcard &&
    read.name.includes('*') &&
    labelsOf(read.name).includes('*')
  ) {
    return fault('a host name cannot contain a wildcard');
  }
  return read;
}

/** Zone files and control panels interpret a label without a dot differently, so it is refused rather than guessed. */
function bothReadings(label: string, apex: Name): string {
  const own = `${label}.${printWithoutDot(apex)}`;
  return `"${label}" has no dot, so it would be the top-level name "${label}."; write "${own}" for the name in this domain, or "${label}." for the top-level one`;
}

/** Prints a host for `parseHost`: a single label keeps its final dot. */
function printHost(host: Name): string {
  const text = printWithoutDot(host);
  return labelCount(host) === 1 ? `${text}.` : text;
}

function parseZoneFileText(type: WireType, text: string, apex: Name): ParsedDestination {
  const words = cut(text);
  if (words.kind === 'problem') return words;
  const tokens = [...words.tokens];
  const isGeneric = tokens[0]?.text === '\\#' && !tokens[0].quoted; // RFC 3597 §5
  // these hosts follow the rules for hosts, not those for relative names in zone files
  const at = isGeneric ? undefined : hostWordOf(wireTypeCode(type));
  const word = at === undefined ? undefined : tokens[at];
  if (at !== undefined && word !== undefined && !word.quoted) {
    const host = parseHost(word.text, apex, { root: true, wildcard: false });
    if (host.kind === 'problem') return problem(host.message);
    tokens[at] = { ...word, text: printName(host.name) };
  }
  const parsed = parseTokens(type, tokens);
  // generic rdata is well formed, but must also be valid in the text form of its type
  if (parsed.kind === 'problem' || !isGeneric || isGenericType(type)) return parsed;
  return parseZoneFileText(type, printDestination(type, parsed.rdata).destination, apex);
}

function cut(text: string): { kind: 'tokens'; tokens: readonly Token[] } | DestinationProblem {
  let fault: string | undefined;
  const lexer = new ZoneFileLexer(text, (_line, column, message) => {
    fault ??= `${message} (column ${column})`;
  });
  const entry = lexer.next();
  const more = lexer.next();
  if (fault !== undefined) return problem(fault);
  if (entry === undefined) return problem('the destination is empty');
  if (more !== undefined) return problem('the destination has more than one line');
  return { kind: 'tokens', tokens: entry.tokens };
}

function bareText(text: string): ParsedDestination {
  const quote = typographicQuoteIn(text.charAt(0));
  if (quote !== undefined) return problem(explainTypographicQuote(quote));
  return rdata(cutStrings(Buffer.from(text, 'utf8')));
}

/** Splits octets into character-strings, of which all but the last are full (RFC 1035 §3.3.14). */
function cutStrings(octets: Uint8Array): Uint8Array {
  if (octets.length > 0 && octets.length <= MAX_STRING_OCTETS) {
    const string = new Uint8Array(1 + octets.length);
    string[0] = octets.length;
    string.set(octets, 1);
    return string;
  }
  const strings: Uint8Array[] = [];
  for (let at = 0; at < octets.length; at += MAX_STRING_OCTETS) {
    const string = octets.subarray(at, at + MAX_STRING_OCTETS);
    strings.push(Uint8Array.of(string.length), string);
  }
  return Buffer.concat(strings);
}

/** Returns true if the destination is zone-file text, as printed by `printRdata`. */
export function isZoneFileText(type: ApiType): boolean {
  return ZONE_FILE_TEXT.has(type) || isGenericType(type);
}

const ZONE_FILE_TEXT: ReadonlySet<ApiType> = new Set([
  'A',
  'AAAA',
  'CAA',
  'TLSA',
  'SSHFP',
  'URI',
  'DS',
  'LOC',
  'SMIMEA',
  'OPENPGPKEY',
  'CERT',
  'HINFO',
  'DHCID',
] as const);

/** Returns the text that `parseDestination` converts to the same rdata. */
export function printDestination(
  type: ApiType,
  rdata: Uint8Array,
): { destination: string; mxPriority?: number } {
  switch (type) {
    case 'CNAME':
    case 'PTR':
    case 'ANAME':
    case 'NS':
    case 'DNAME':
      return { destination: printHost(nameInRdata(rdata)) };
    case 'MX': {
      const mxPriority = ((rdata[0] as number) << 8) | (rdata[1] as number);
      return { destination: printHost(nameInRdata(rdata, 2)), mxPriority };
    }
    case 'SRV': {
      const text = printRdata(TYPE.SRV, rdata);
      return {
        destination: `${text.slice(0, text.lastIndexOf(' '))} ${printHost(nameInRdata(rdata, 6))}`,
      };
    }
    case 'HTTPS':
    case 'SVCB':
    case 'NAPTR':
      return { destination: withHostsWord(type, printRdata(wireTypeCode(type), rdata)) };
    case 'A':
      return { destination: printIpv4(rdata) };
    case 'TXT':
      return { destination: bareTextOf(rdata) ?? printRdata(TYPE.TXT, rdata) };
    default:
      return { destination: printRdata(wireTypeCode(type), rdata) };
  }
}

/** Returns zone-file text with the escapes of `parseHost` in its host, before which no word has unquoted spaces. */
function withHostsWord(type: 'HTTPS' | 'SVCB' | 'NAPTR', text: string): string {
  const place = type === 'NAPTR' ? /^(.* )(\S+)()$/ : /^(\S+ )(\S+)(.*)$/;
  return text.replace(place, (_, before: string, host: string, after: string) => {
    const name = parseName(host);
    return before + (name === ROOT ? '.' : `${printWithoutDot(name)}.`) + after;
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Printable ASCII that does not look like zone-file strings. */
const PLAIN_TEXT = /^[ !#-~][ -~]*$/;

/** Returns the plain text. Returns undefined if it would be interpreted differently. */
function bareTextOf(rdata: Uint8Array): string | undefined {
  if (rdata[0] === rdata.length - 1) {
    const text = Buffer.from(rdata.buffer, rdata.byteOffset + 1, rdata.length - 1).toString('latin1');
    if (PLAIN_TEXT.test(text)) return text;
  }
  const parts: Uint8Array[] = [];
  for (let at = 0; at < rdata.length; at += 1 + (rdata[at] as number)) {
    parts.push(rdata.subarray(at + 1, at + 1 + (rdata[at] as number)));
  }
  const octets = Buffer.concat(parts);
  if (octets.length === 0 || octets[0] === 0x22 || octets.includes(0)) return undefined; // API text cannot contain U+0000
  if (Buffer.compare(cutStrings(octets), rdata) !== 0) return undefined;
  try {
    const text = utf8.decode(octets);
    if (typographicQuoteIn(text.charAt(0)) === undefined) return text;
    return octets.length > MAX_STRING_OCTETS ? undefined : `"${text.replace(/["\\]/g, '\\$&')}"`;
  } catch {
    return undefined;
  }
}
