// Where the public page is, and of which name it is.

import { BASE } from '../../app/base.ts';

const PLACE = `${BASE}/check`;

/** The name in the path of the public page; empty where there is none yet. Undefined: it is another page. */
export function publicName(path: string): string | undefined {
  if (path !== PLACE && !path.startsWith(`${PLACE}/`)) return undefined;
  const text = path.slice(PLACE.length + 1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function publicPath(name: string): string {
  return `${PLACE}/${encodeURIComponent(name)}`;
}
