// Sends the visitor elsewhere.

import type { Answer, RuleOf, Visit } from '../proxy/visit.ts';

export function redirectOf(rule: RuleOf<'redirect'>, { path, query }: Visit): Answer {
  const [, target = '', ownQuery = '', fragment = ''] =
    /^([^?#]*)(?:\?([^#]*))?(#.*)?$/.exec(rule.target) ?? [];
  const way = rule.preserve_path ? `${target.replace(/\/+$/, '')}/${path.replace(/^[/\\]+/, '')}` : target;
  const queries = [ownQuery, rule.preserve_query ? query : ''].filter((each) => each !== '');
  const location = `${queries.length === 0 ? way : `${way}?${queries.join('&')}`}${fragment}`;
  return { status: rule.status_code, headers: { location }, body: '' };
}
