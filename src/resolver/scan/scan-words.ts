// The names that a scan tries below a domain, the likely ones first (words/hosts.txt).

import { groupOf, readWordGroups } from './read-words.ts';

const GROUPS = readWordGroups('hosts', ['names']);

/** All names, ranked. */
export const SCAN_WORDS: readonly string[] = [...new Set(GROUPS.flatMap(({ names }) => names))];

/** Names that are asked for with every type, even where a wildcard seems to answer for them. */
export const COMMON_WORDS: ReadonlySet<string> = new Set(groupOf(GROUPS, 'common').names);
