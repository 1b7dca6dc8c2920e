// Recognizes text that the importer reads: a zone file, or Route 53 JSON.

import { TYPES } from './typed.ts';

/** Number of lines that are examined. */
const MOST_LINES = 1000;
/** `www 300 IN A …`, `  IN MX …`, `@ IN SOA …`, `$TTL 300`. Types are in capitals, because `this a word` is prose. */
const RECORD = /^\s*(?:\S+\s+)?(?:\d+[smhdw]?\s+)?(?:IN\s+)?(?:\d+[smhdw]?\s+)?([A-Z]+\d*)\s+(\S)/;
const WITH_CLASS = /\sIN\s+([a-z]+\d*)\s+\S/i;
const DIRECTIVE = /^\$(?:ORIGIN|TTL)\s+\S/i;
const KNOWN = new Set<string>([...TYPES, 'SOA', 'SPF', 'ALIAS', 'RRSIG', 'DNSKEY', 'CDS', 'CDNSKEY']);

export function isZoneText(text: string): boolean {
  if (/^\ufeff?\s*[[{]/.test(text)) return text.includes('"ResourceRecordSets"');
  return text.split('\n', MOST_LINES).some((line) => {
    const [, type, value = ''] = RECORD.exec(line) ?? [];
    if (type === 'A') return /\d/.test(value); // “A” is also a word
    return KNOWN.has(type ?? WITH_CLASS.exec(line)?.[1]?.toUpperCase() ?? '') || DIRECTIVE.test(line);
  });
}

/** Longer than any record, whose value has at most 65,535 octets, each written as `\DDD`. */
const LONGEST_LINE = 300_000;

/** True if the text is more than one record: it has several lines, is JSON, or is too long for a record. */
export function isMoreThanLine(text: string): boolean {
  const trimmed = text.trim();
  return (
    /[\n\r]/.test(trimmed) || trimmed.length > LONGEST_LINE || (trimmed.startsWith('{') && isZoneText(text))
  );
}
