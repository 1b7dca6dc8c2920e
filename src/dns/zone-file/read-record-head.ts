// Reads the part between owner and rdata: TTL and class in either order, both optional, then the type (RFC 1035 §5.1).

import { TextError } from '../errors.ts';
import type { Token } from '../record/token.ts';
import { parseTtl } from '../ttl.ts';
import { CLASS, classCode, TYPE, typeCode } from '../type-codes.ts';
import type { ZoneFileProblems } from './zone-file-problems.ts';

export interface RecordHead {
  readonly ttl: number | undefined;
  /** True if the head has an invalid TTL. */
  readonly ttlFailed: boolean;
  readonly type: number;
  /** Index of the first token of the rdata. */
  readonly next: number;
}

export const MAX_TTL_SECONDS = 2 ** 31 - 1; // RFC 2181 §8
/** The timestamp of a record that a client registered, as written by Windows DNS and dnscmd. */
const AGE = /^\[(?:age|aging):[0-9]+\]$/i;
const ZERO = 48;
const NINE = 57;

/** Reads from `tokens[from]`. Returns undefined after a problem that leaves the type unknown. `typeOf` resolves mnemonics. */
export function readRecordHead(
  tokens: readonly Token[],
  from: number,
  problems: ZoneFileProblems,
  typeOf: (mnemonic: string) => number | undefined = typeCode,
): RecordHead | undefined {
  let ttl: number | undefined;
  let ttlSeen = false;
  let classSeen = false;
  for (let i = from; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    if (!ttlSeen && startsWithDigit(token)) {
      ttlSeen = true;
      ttl = problems.attempt(token, 'ttl', () => readTtl(token));
      continue;
    }
    if (!token.quoted && AGE.test(token.text)) continue;
    const type = token.quoted ? undefined : typeOf(token.text);
    if (type !== undefined) {
      const ttlFailed = ttlSeen && ttl === undefined;
      return checkType(type, token, problems) ? { ttl, ttlFailed, type, next: i + 1 } : undefined;
    }
    const recordClass = token.quoted || classSeen ? undefined : classCode(token.text);
    classSeen = true;
    if (recordClass === CLASS.IN) continue;
    if (recordClass === undefined) problems.add(token, unknownType(token), 'type');
    else problems.add(token, `class ${token.text} is not served, only IN`, 'class');
    return undefined;
  }
  problems.add(tokens.at(-1) as Token, 'the line ends before a record type', 'type');
  return undefined;
}

/** Parses seconds or a TTL with units. Throws TextError. */
export function readTtl(token: Token): number {
  const seconds = token.quoted ? undefined : parseTtl(token.text);
  if (seconds === undefined) throw new TextError(`"${token.text}" is not a TTL such as 3600 or 1h30m`);
  if (seconds > MAX_TTL_SECONDS) throw new TextError(`the TTL ${token.text} is more than ${MAX_TTL_SECONDS}`);
  return seconds;
}

function startsWithDigit({ text, quoted }: Token): boolean {
  const code = text.charCodeAt(0);
  return !quoted && code >= ZERO && code <= NINE;
}

function unknownType({ text }: Token): string {
  return `"${text}" is not a known record type (any can be written as TYPEnnn with \\# and its octets)`;
}

/** Type 0 is reserved, 128 to 255 are for queries, and OPT is for messages (RFC 6895 §3.1). */
function checkType(type: number, token: Token, problems: ZoneFileProblems): boolean {
  if (type !== 0 && type !== TYPE.OPT && (type < 128 || type > 255)) return true;
  problems.add(token, `a zone cannot hold records of type ${token.text}`, 'type');
  return false;
}
