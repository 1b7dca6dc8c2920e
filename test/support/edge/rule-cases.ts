// Requests and the expected effects of rules. The edge for nginx and the console's test of a URL must both agree with them.

import { madeRule } from './made-config.ts';

const wildcard = (include: string, ...excludes: string[]) => ({
  path: { type: 'wildcard', includes: [include], excludes } as const,
});
const regex = (include: string) => ({ path: { type: 'regex', includes: [include], excludes: [] } as const });
const redirect = (id: number, target: string, fields: Partial<Parameters<typeof madeRule<'redirect'>>[2]>) =>
  madeRule('redirect', id, {
    ...{ target, status_code: 302, preserve_query: false, preserve_path: false },
    ...fields,
  });
const EVERYWHERE = { country_match_type: 'include', countries: [] } as const;
const KEEPS_QUERY = { query_mode: 'preserve', query_target: '' } as const;

export const BLOCKING = {
  rules: [
    madeRule('drop', 1, { ...EVERYWHERE, ...wildcard('/admin*', '/admin/open*') }),
    madeRule('drop', 2, { ...EVERYWHERE, ...regex(String.raw`\.(php|asp)$`) }),
  ],
  blocked: ['/admin', '/admin/x', '/%61dmin', '/b/../admin', '//admin', '/a.php', '/x/y.asp?q'],
  passed: ['/', '/Admin', '/admin/open/1', '/x/admin', '/a.phpx', '/?a.php'],
};

/** Responses by path: status and Location. */
export const REDIRECTING = {
  rules: [
    redirect(1, 'https://other.example/a?b=$host#f', { preserve_query: true, ...wildcard('/query') }),
    redirect(2, 'https://other.example/', {
      preserve_query: true,
      preserve_path: true,
      ...wildcard('/path/*'),
    }),
    redirect(3, '/', { preserve_path: true, status_code: 308, ...wildcard('*evil*') }),
  ],
  responses: [
    ['/query?c=1', '302 https://other.example/a?b=$host&c=1#f'],
    ['/query', '302 https://other.example/a?b=$host#f'],
    ['/path/a%20b?x', '302 https://other.example/path/a%20b?x'],
    // Some clients interpret "\\" as "/".
    ['//evil.example/?x', '308 /evil.example/'],
    ['/\\evil.example/?x', '308 /evil.example/'],
    ['/\\/evil.example/?x', '308 /evil.example/'],
    ['/\\\\evil.example/?x', '308 /evil.example/'],
  ] as const,
};

/** Paths requested from the origin, by the path of the visitor. */
export const REWRITING = {
  rules: [
    madeRule('rewrite', 1, {
      path_target: '/new/$2/$1',
      query_mode: 'replace',
      query_target: 'q=$args',
      ...regex('^/(a+)/(?P<args>.*)$'),
    }),
    madeRule('rewrite', 2, { path_target: '/plain$1%20x', ...KEEPS_QUERY, ...wildcard('/keep') }),
    madeRule('rewrite', 3, {
      ...{ path_target: '/strip', query_mode: 'strip', query_target: '' },
      ...wildcard('/strip*'),
    }),
  ],
  requests: [
    ['/aa/x%20y%3Fz?old=1', '/new/x%20y%3Fz/aa?q=$args'],
    ['/keep?old=1', '/plain$1%20x?old=1'],
    ['/strip/me?old=1', '/strip'],
    ['/b?old=1', '/b?old=1'],
  ] as const,
};
