// The final slash is part of a path. A path that is not found, but would be with or without its final slash, is answered
// with that other path.

import type { Route } from '../calls/route.ts';

/** Finds the path that a caller of a wrong one may have meant; undefined: there is none of this method. */
type SlashHint = (method: string, url: string) => string | undefined;

export function createSlashHint(routes: readonly Route[]): SlashHint {
  const known = routes.map(({ method, path }) => ({
    method: method as string,
    path: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
  return (method, url) => {
    const asked = url.split(/[?#]/, 1)[0] as string;
    const other = asked.endsWith('/') ? asked.slice(0, -1) : `${asked}/`;
    const isKnown = known.some(
      (route) =>
        (method === 'OPTIONS' || route.method === (method === 'HEAD' ? 'GET' : method)) &&
        route.path.test(other),
    );
    return isKnown ? other : undefined;
  };
}
