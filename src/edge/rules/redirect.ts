// Answers with a redirect.

import { z } from 'zod';
import { ruleKind } from './rule-kind.ts';
import { line } from './text-fields.ts';

const TARGET = 'expected an absolute http or https URL, or a path that begins with a single "/"';

export const redirect = ruleKind({
  type: 'redirect',
  what: 'Answers with a redirect.',
  fields: {
    target: line(2048, 1).refine(isTarget, TARGET).describe('An absolute URL, or a path.'),
    status_code: z.literal([301, 302, 307, 308]).default(302),
    preserve_query: z.boolean().default(true),
    preserve_path: z
      .boolean()
      .default(false)
      .describe('If true, the path of the request is appended to the target.'),
  },
  gate: 'rules',
  countsDryRun: true,
  toEdge: ({ target, status_code, preserve_query, preserve_path }) => ({
    type: 'redirect',
    target,
    status_code: status_code as 301,
    preserve_query,
    preserve_path,
  }),
});

/** Allows only URI characters (RFC 3986 §2). Browsers read `//` and `/\` as the start of another host. */
function isTarget(text: string): boolean {
  if (!/^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/.test(text)) return false;
  if (text.startsWith('/')) return !text.startsWith('//');
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && hostname !== '' && username === '' && password === '';
}
