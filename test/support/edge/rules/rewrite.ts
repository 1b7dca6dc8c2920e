// Asks the origin for another path, or with another query, than the visitor.

import { groupsOf } from '../proxy/match-rule.ts';
import type { RuleOf, Visit } from '../proxy/visit.ts';

export function rewrittenPath(rule: RuleOf<'rewrite'>, { plainPath, query }: Visit): string {
  const groups = groupsOf(rule, plainPath);
  const path = rule.path_target.replaceAll(/\$([1-9])/g, (_, digit: string) =>
    encode(groups[Number(digit) - 1] ?? ''),
  );
  const wanted = { preserve: query, strip: '', replace: rule.query_target }[rule.query_mode];
  return wanted === '' ? path : `${path}?${wanted}`;
}

/** A group was matched with the decoded path: what was encoded there must not end the path or the line now. */
function encode(text: string): string {
  return encodeURI(text).replaceAll('?', '%3F').replaceAll('#', '%23');
}
