// The address to which a rule redirects, and the path that a rule requests from the origin.

import type { Schemas } from '../../api/client.ts';
import type { TestedUrl } from './read-url.ts';

type Asked = Pick<TestedUrl, 'rawPath' | 'query'>;

/** Returns the Location header. */
export function locationOf(
  { target, preserve_path, preserve_query }: Schemas['RedirectRule'],
  { rawPath, query }: Asked,
): string {
  const [, way = '', ownQuery = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/.exec(target) ?? [];
  // A single slash, so that no "//" leads to another host.
  const path = preserve_path ? `${way.replace(/\/+$/, '')}/${rawPath.replace(/^[/\\]+/, '')}` : way;
  const queries = [ownQuery, preserve_query ? query : ''].filter((each) => each !== '');
  return path + (queries.length === 0 ? '' : `?${queries.join('&')}`) + fragment;
}

/** Returns path and query. `groups` are those of the path that matched. */
export function rewrittenPath(
  { path_target, path_match_type, query_mode, query_target }: Schemas['RewriteRule'],
  groups: readonly string[],
  { query }: Pick<Asked, 'query'>,
): string {
  const path =
    path_match_type === 'regex'
      ? path_target.replaceAll(/\$([1-9])/g, (_, group: string) => encoded(groups[Number(group)] ?? ''))
      : path_target;
  const sent = { preserve: query, strip: '', replace: query_target }[query_mode];
  return path + (sent === '' ? '' : `?${sent}`);
}

/** Encodes the characters that cannot occur in a path. */
function encoded(text: string): string {
  return encodeURI(text)
    .replaceAll(/[?#]/g, encodeURIComponent)
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']');
}
