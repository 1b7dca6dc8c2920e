// Recognizes files that other services export: formats that are not zone files, and zone files in which TTLs have
// another meaning.

import { typeCode } from '../../dns/type-codes.ts';

const JSON_START = /^\ufeff?\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[[{"\]\d]|$))/;
/** Names of columns, in lower case without blanks and punctuation. */
const HEAD_WORDS: ReadonlySet<string> = new Set(
  [
    'type recordtype class ttl ttlseconds priority prio preference mxpriority',
    'name host hostname hostrecord record recordname domain domainname subdomain',
    'value values content data rdata target destination pointsto address answer',
  ].flatMap((line) => line.split(' ')),
);
const MIN_HEAD_WORDS = 3;
/** Limit for the first line of a CSV file, and for the part of a zone file in which the SOA is searched. */
const MAX_HEAD_CHARACTERS = 4000;

export function isJson(text: string): boolean {
  return JSON_START.test(text);
}

/** Returns true if the first line names columns. In a line of a zone file, the mnemonic of a type is not such a word. */
export function isCsv(text: string): boolean {
  const [head = ''] = /[^\s\ufeff][^\r\n]*/.exec(text) ?? [];
  if (head.startsWith(';') || head.length > MAX_HEAD_CHARACTERS) return false;
  return [',', ';', '\t'].some((separator) => {
    const cells = head.split(separator).map((cell) => cell.trim().replace(/^(["'])(.*)\1$/, '$2'));
    if (cells.some((cell) => typeCode(cell) !== undefined)) return false;
    const known = cells.filter((cell) => HEAD_WORDS.has(cell.toLowerCase().replace(/[\s_()-]/g, '')));
    return new Set(known).size >= MIN_HEAD_WORDS;
  });
}

/** Returns true for an export of Cloudflare, in which a TTL of 1 means that Cloudflare chooses it. */
export function isOfCloudflare(text: string): boolean {
  return /^;; Domain:/m.test(text) || text.includes('cf_tags=');
}

/** Returns the default TTL of a file of Windows DNS: the last number of the SOA. Returns undefined for other files. */
export function defaultTtlOfWindows(text: string): number | undefined {
  const head = /^;\s+Database file \S+ for \S+ zone\.?[^\r\n]*$/m.exec(text);
  if (head === null) return undefined;
  const soa = /\sSOA\s[^(;]*\(([^)]*)\)/i.exec(text.slice(head.index, head.index + MAX_HEAD_CHARACTERS));
  const last = soa?.[1]?.replace(/;.*/g, '').trim().split(/\s+/).at(-1);
  return last !== undefined && /^\d{1,9}$/.test(last) ? Number(last) : undefined;
}
