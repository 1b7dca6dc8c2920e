// Reads the body of a request: JSON in UTF-8, or nothing. Every error is a problem with a text for the caller. Text
// that PostgreSQL cannot store (U+0000, half of a surrogate pair) is rejected here, except for routes that check it
// themselves.

import { decodeText } from '../../dns/zone-file/decode-text.ts';
import { badRequest, invalid, type Problem } from '../answers/problem.ts';
import type { Route } from '../calls/route.ts';
import { fieldName } from './field-problems.ts';

const TEXT_TYPE = /^text\/(plain|dns)\s*(;|$)/i;
const JSON_TYPE = /^application\/(json|[a-z0-9.+-]+\+json)\s*(;\s*charset="?utf-8"?\s*)?;?$/i;

/** Returns the declared type of the body, or the problem that refuses it. */
export function judgeBodyType(
  contentType: string | undefined,
  textMember: string | undefined,
): 'json' | 'text' | Problem {
  const type = contentType?.trim();
  if (textMember !== undefined && type !== undefined && TEXT_TYPE.test(type)) return 'text';
  if (type === undefined || JSON_TYPE.test(type)) return 'json';
  if (textMember === undefined)
    return badRequest('the body must be JSON: send Content-Type: application/json');
  return badRequest('the body must be text or JSON: send Content-Type: text/plain or application/json');
}

/**
 * Reads bytes that `receiveBody` has accepted. An empty body is undefined for any declared type except text.
 * `textBody` is the member that receives a text body, which is a zone file. It need not be UTF-8: it may be UTF-16 or
 * have comments in old encodings.
 */
export function readBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  { textBody: textMember, judgesText }: Pick<Route, 'textBody' | 'judgesText'> = {},
): unknown {
  const type = judgeBodyType(contentType, textMember);
  if (type === 'text') return { [textMember as string]: decodeText(bytes) };
  if (bytes.length === 0) return undefined;
  if (type !== 'json') return type;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return badRequest('the body is not UTF-8');
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return badRequest('the body is not valid JSON');
  }
  return (CAN_BE_UNSTORABLE.test(text) ? judgeTexts(body, judgesText === true) : undefined) ?? body;
}

/** Matches JSON escapes of such text, which cannot occur unescaped in valid UTF-8. */
const CAN_BE_UNSTORABLE = /\\u(?:0000|[dD][89a-fA-F])/;

interface Place {
  readonly key: string | number;
  readonly inside: Place | undefined;
}

/** Checks the names of members, and also texts unless `looseText` is true. */
function judgeTexts(body: unknown, looseText: boolean): Problem | undefined {
  const open: { value: unknown; place: Place | undefined }[] = [{ value: body, place: undefined }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, place } = next;
    if (typeof value === 'string') {
      if (!looseText && !isStorable(value)) return invalid([{ field: fieldOf(place), error: UNSTORABLE }]);
    } else if (Array.isArray(value)) {
      for (const [key, item] of value.entries()) open.push({ value: item, place: { key, inside: place } });
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        if (!isStorable(key)) return invalid([{ field: fieldOf(place), error: UNSTORABLE }]);
        open.push({ value: member, place: { key, inside: place } });
      }
    }
  }
  return undefined;
}

/** Returns the path as `records[2].destination`, in the format of zod paths. */
function fieldOf(place: Place | undefined): string {
  const path: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.inside) path.unshift(at.key);
  return fieldName(path) || 'body';
}

const UNSTORABLE = 'has U+0000 or half of a surrogate pair';

export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}
