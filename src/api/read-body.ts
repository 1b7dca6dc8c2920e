// A request's body from its octets: JSON in UTF-8, or nothing. Every way in which it can be wrong is a problem with words
// for the caller. Text that Postgres cannot hold (U+0000, half a surrogate pair) is refused here, once for all routes that
// do not judge it themselves.

import { fieldName } from './field-problems.ts';
import { badRequest, invalid, type Problem } from './problem.ts';
import type { Route } from './route.ts';

const TEXT_TYPE = /^text\/(plain|dns)\s*(;|$)/i;
const JSON_TYPE = /^application\/(json|[a-z0-9.+-]+\+json)\s*(;\s*charset="?utf-8"?\s*)?;?$/i;

/** What a body is said to be, or why it is not taken. */
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
 * Of octets that `receiveBody` has let through. An empty body is undefined, whatever its type is said to be, unless it is text.
 * `textBody`: what a body that is text is called; its octets need not be UTF-8 (a zone file has comments of any age).
 */
export function readBody(
  octets: Uint8Array,
  contentType: string | undefined,
  { textBody: textMember, judgesText }: Pick<Route, 'textBody' | 'judgesText'> = {},
): unknown {
  const type = judgeBodyType(contentType, textMember);
  if (type === 'text') return { [textMember as string]: new TextDecoder().decode(octets) };
  if (octets.length === 0) return undefined;
  if (type !== 'json') return type;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(octets);
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

/** Neither is in UTF-8 but as an escape. */
const CAN_BE_UNSTORABLE = /\\u(?:0000|[dD][89a-fA-F])/;

interface Place {
  readonly key: string | number;
  readonly inside: Place | undefined;
}

/** Names of members, and texts unless `looseText`. */
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

/** `records[2].destination`, as zod's path. */
function fieldOf(place: Place | undefined): string {
  const path: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.inside) path.unshift(at.key);
  return fieldName(path) || 'body';
}

const UNSTORABLE = 'has U+0000 or half of a surrogate pair';

export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}
