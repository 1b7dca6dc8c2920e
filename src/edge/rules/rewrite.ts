// Requests another path or query from the origin.

import { z } from 'zod';
import { judgeRegex } from '../judge-regex.ts';
import { ruleKind } from './rule-kind.ts';
import { line } from './text-fields.ts';

const PATH = /^(?:[A-Za-z0-9\-._~:/@!$&'()*+,;=[\]]|%[0-9A-Fa-f]{2})+$/;
const QUERY = /^(?:[A-Za-z0-9\-._~:/?@!$&'()*+,;=[\]]|%[0-9A-Fa-f]{2})*$/;

export const rewrite = ruleKind({
  type: 'rewrite',
  what: 'Requests another path or query from the origin.',
  fields: {
    path_target: line(1024, 1)
      .refine(
        (text) => PATH.test(text),
        'expected a path without query and fragment, with other characters as %XX',
      )
      .describe(
        'Path requested from the origin. With regular expressions, `$1` to `$9` are groups of the matching include.',
      ),
    query_mode: z.enum(['preserve', 'replace', 'strip']).default('preserve'),
    query_target: line(1024)
      .refine(
        (text) => QUERY.test(text) && !text.startsWith('?'),
        'expected a query without the leading "?", with other characters as %XX',
      )
      .default('')
      .describe('The query with `query_mode: replace`.'),
  },
  judge({ path_target: target, path_match_type: type, path_includes: includes }, add) {
    const references =
      type === 'regex' ? [...target.matchAll(/\$([1-9])/g)].map(([, group]) => Number(group)) : [];
    if (!target.startsWith('/') && !(type === 'regex' && /^\$[1-9]/.test(target)))
      add(['path_target'], 'expected a path that begins with "/"');
    const most = Math.max(0, ...references);
    for (const include of most === 0 ? [] : includes) {
      const judged = judgeRegex(include);
      if (judged.kind === 'regex' && judged.groups < most) {
        add(['path_target'], `"$${most}": an entry of path_includes has only ${judged.groups} groups`);
        return;
      }
    }
  },
  gate: 'rules',
  countsDryRun: false,
  toEdge: ({ path_target, query_mode, query_target }) => ({
    type: 'rewrite',
    path_target,
    query_mode,
    query_target,
  }),
});
