// Names of hosts in languages other than English, and in English outside of America (words/languages.txt).

import { readWordGroups, type WordGroup } from './read-words.ts';
import type { Kind } from './scan-kind.ts';

/** How many signs of each language every scan asks for, when the domain may be of any language. */
const MOST_PROBES = 4;

export const LANGUAGES: readonly Kind[] = readWordGroups('languages', ['domains', 'names'], ['signs']).map(
  languageOf,
);

/** One sign is enough: no sign stands in the list of another language. */
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
