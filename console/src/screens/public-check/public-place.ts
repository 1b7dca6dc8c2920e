// The address of the public page, and its name.

import { BASE } from '../../app/base.ts';

const PLACE = `${BASE}/check`;

/** Returns the name in the path, empty if there is none. Undefined if the path is another page. */
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
