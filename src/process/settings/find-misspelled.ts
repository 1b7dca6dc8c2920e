// Finds environment variables that are probably misspelled settings: such a setting would silently keep its default.

import { READERS_OF } from './every-setting.ts';

/** Variables of other programs, although some of their names are similar to settings. */
const OF_OTHERS = [
  /^(npm_|NODE_|PG|LC_|XDG_|SSL_)/,
  /^(CACHE|CONFIGURATION|CREDENTIALS|LOGS|RUNTIME|STATE)_DIRECTORY$/, // systemd
  // Kubernetes and Docker links add these for each service, regardless of its name.
  /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/,
];

/** Returns a warning for each variable whose name is close to that of a setting. */
export function misspelledSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).flatMap((variable) => {
    if (READERS_OF.has(variable) || OF_OTHERS.some((pattern) => pattern.test(variable))) return [];
    if (variable.endsWith('_FILE') && READERS_OF.has(variable.slice(0, -'_FILE'.length)))
      return [`${variable} is not a setting and is ignored: only secrets can be in files`];
    const nearest = nearestSetting(variable.toUpperCase());
    return nearest === undefined
      ? []
      : [`${variable} is not a setting and is ignored; did you mean ${nearest}?`];
  });
}

function nearestSetting(variable: string): string | undefined {
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const name of READERS_OF.keys()) {
    const edits = countEdits(variable, name, editsAllowedIn(name));
    if (edits !== undefined && edits < fewest) [nearest, fewest] = [name, edits];
  }
  return nearest;
}

/** Short names are close to many others. */
function editsAllowedIn({ length }: string): number {
  if (length < 5) return 0;
  return length < 10 ? 1 : 2;
}

/**
 * Returns how many letters must be inserted, removed, replaced or swapped with their neighbour, or undefined if there are more
 * than `most` (the optimal string alignment distance).
 */
function countEdits(from: string, to: string, most: number): number | undefined {
  if (Math.abs(from.length - to.length) > most) return undefined;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row[j] = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    if (Math.min(...last, ...row) > most) return undefined; // later rows are not smaller
    [beforeLast, last] = [last, row];
  }
  const edits = at(last, to.length);
  return edits <= most ? edits : undefined;
}

function at(row: readonly number[], index: number): number {
  return row[index] as number;
}
