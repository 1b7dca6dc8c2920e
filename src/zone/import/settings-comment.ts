// The settings of a record that a zone file cannot express, as a comment after it that an import can read: `; zonefleet
// proxied=true port=8443 comment="for \"people\""`. The names are the API's, and the values are JSON.

import type { ContentText } from '../edit/parse-edit.ts';
import { DEFAULT_SETTINGS, ORIGIN_SCHEMES, type RecordSettings } from '../records/customer-record.ts';

const MARK = 'zonefleet';

/** The settings and their names in the API. */
const FIELDS: readonly (readonly [field: keyof ContentText, setting: keyof RecordSettings])[] = [
  ['proxied', 'proxied'],
  ['captcha', 'captcha'],
  ['scheme', 'scheme'],
  ['port', 'port'],
  ['host_header', 'hostHeader'],
  ['monitor', 'monitor'],
  ['dest_country', 'destCountry'],
  ['timeout', 'timeout'],
  ['comment', 'comment'],
];

/** Returns the comment with its `;`. Returns '' if all settings are the defaults. */
export function printSettingsComment(settings: RecordSettings): string {
  const words = FIELDS.filter(([, setting]) => settings[setting] !== DEFAULT_SETTINGS[setting]).map(
    ([field, setting]) => `${field}=${JSON.stringify(settings[setting])}`,
  );
  return words.length === 0 ? '' : `; ${MARK} ${words.join(' ')}`;
}

export type ParsedComment =
  | { readonly kind: 'settings'; readonly settings: Partial<ContentText> }
  | { readonly kind: 'problem'; readonly message: string };

const MARKED = new RegExp(`^${MARK}(?:\\s|$)`);
const WORD = /\s+(\w+)=("(?:[^"\\]|\\.)*"|[^\s"]+)/y;

/** Reads the text after the `;`. Comments without the `zonefleet` mark are ignored; those with it must be valid. */
export function parseSettingsComment(comment: string): ParsedComment {
  const text = comment.trim();
  if (!MARKED.test(text)) return { kind: 'settings', settings: proxiedElsewhere(text) };
  const settings: Record<string, unknown> = {};
  WORD.lastIndex = MARK.length;
  while (WORD.lastIndex < text.length) {
    const at = WORD.lastIndex;
    const match = WORD.exec(text);
    if (match === null) return unreadable(text.slice(at).trim());
    const [word, field = '', value = ''] = match;
    const setting = FIELDS.find(([name]) => name === field)?.[1];
    const read = setting === undefined ? undefined : readValue(value, setting);
    if (read === undefined || field in settings) return unreadable(word.trim());
    settings[field] = read;
  }
  return { kind: 'settings', settings };
}

function unreadable(text: string): ParsedComment {
  return { kind: 'problem', message: `the comment "; ${MARK}" does not allow ${text}` };
}

/** Returns undefined for a value of the wrong type. */
function readValue(text: string, setting: keyof RecordSettings): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== typeof (DEFAULT_SETTINGS[setting] ?? '')) return undefined;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  return setting === 'scheme' ? ORIGIN_SCHEMES.find((scheme) => scheme === value) : value;
}

/** Reads Cloudflare's mark in its exports. */
function proxiedElsewhere(text: string): Partial<ContentText> {
  const isProxied = (word: string) =>
    word.startsWith('cf_tags=') && word.slice('cf_tags='.length).split(',').includes('cf-proxied:true');
  return text.split(/\s/).some(isProxied) ? { proxied: true } : {};
}
