// Sends the visitor elsewhere.

import type { Answer, RuleOf, Visit } from '../proxy/visit.ts';

export function redirectOf(rule: RuleOf<'redirect'>, { path, query }: Visit): Answer {
  const [target = '', ownQuery = ''] = split(rule.target);
  const way = rule.preserve_path ? `${target.replace(/\/+$/, '')}/${path.replace(/^[/\\]+/, '')}` : target;
  const queries = [ownQuery, rule.preserve_query ? query : ''].filter((each) => each !== '');
  const location = queries.length === 0 ? way : `${way}?${queries.join('&')}`;
  return { status: rule.status_code, headers: { location }, body: '' };
}

function split(target: string): string[] {
  const at = target.indexOf('?');
  return at < 0 ? [target] : [target.slice(0, at), target.slice(at + 1)];
}
