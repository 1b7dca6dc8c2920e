// Host names in languages other than English, and in English outside of America (words/languages.txt).

import { readWordGroups, type WordGroup } from './read-words.ts';
import type { Kind } from './scan-kind.ts';

/** Number of signs per language that every scan queries if the domain may be of any language. */
const MOST_PROBES = 4;

export const LANGUAGES: readonly Kind[] = readWordGroups('languages', ['domains', 'names'], ['signs']).map(
  languageOf,
);

/** One sign is sufficient: no sign is listed for another language. */
function languageOf({ domains, signs, names }: WordGroup<'domains' | 'signs' | 'names'>): Kind {
  const end = domains.map((domain) => domain.replaceAll('.', '\\.')).join('|');
  return {
    signs: new Set(signs),
    needed: 1,
    probes: signs.slice(0, MOST_PROBES),
    domains: new RegExp(`\\.(${end})$`),
    names: [...signs, ...names],
  };
}
