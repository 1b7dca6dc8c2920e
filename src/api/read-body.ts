// A request's body from its octets: JSON in UTF-8, or nothing. Every way in which it can be wrong is a problem with words
// for the caller. Text that Postgres cannot hold (U+0000, half a surrogate pair) is refused here, once for all routes that
// do not judge it themselves.

import { badRequest, invalid, type Problem } from './problem.ts';
import type { Route } from './route.ts';

const TEXT_TYPE = /^text\/(plain|dns)\s*(;|$)/i;
const JSON_TYPE = /^application\/(json|[a-z0-9.+-]+\+json)\s*(;\s*charset="?utf-8"?\s*)?;?$/i;
const MAX_DEPTH = 64;

/**
 * An empty body is undefined, whatever its type is said to be, unless it is text. `textBody`: what a body that is text is
 * called; its octets need not be UTF-8 (a zone file has comments of any age).
 */
export function readBody(
  octets: Uint8Array,
  contentType: string | undefined,
  { textBody: textMember, judgesText }: Pick<Route, 'textBody' | 'judgesText'> = {},
): unknown {
  const isText = textMember !== undefined && TEXT_TYPE.test(contentType?.trim() ?? '');
  if (octets.length === 0 && !isText) return undefined;
  if (isText) return { [textMember]: new TextDecoder().decode(octets) };
  if (contentType !== undefined && !JSON_TYPE.test(contentType.trim())) {
    if (textMember === undefined)
      return badRequest('the body must be JSON: send Content-Type: application/json');
    return badRequest('the body must be text or JSON: send Content-Type: text/plain or application/json');
  }
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
  const isPlain = !text.includes('\\u') && octets.length < MAX_DEPTH;
  return (isPlain ? undefined : judgeValue(body, judgesText === true)) ?? body;
}

/** Without recursion: the body may be nested as deep as it is long. */
function judgeValue(body: unknown, looseText: boolean): Problem | undefined {
  const open: { value: unknown; field: string; depth: number }[] = [{ value: body, field: '', depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, field, depth } = next;
    if (typeof value === 'string') {
      if (!looseText && !isStorable(value)) return invalid([{ field: field || 'body', error: UNSTORABLE }]);
      continue;
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) return badRequest(`the body is nested deeper than ${MAX_DEPTH} levels`);
    for (const [key, member] of Object.entries(value)) {
      if (!isStorable(key)) return invalid([{ field: field || 'body', error: UNSTORABLE }]);
      const place = Array.isArray(value) ? `${field}[${key}]` : field === '' ? key : `${field}.${key}`;
      open.push({ value: member, field: place, depth: depth + 1 });
    }
  }
  return undefined;
}

const UNSTORABLE = 'has U+0000 or half of a surrogate pair';

export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}
