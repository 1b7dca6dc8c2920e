// The names that a scan tries below a domain, the most likely ones first (words/hosts.txt).

import { groupOf, readWordGroups } from './read-words.ts';

const GROUPS = readWordGroups('hosts', ['names']);

/** All names in order of likelihood. */
export const SCAN_WORDS: readonly string[] = [...new Set(GROUPS.flatMap(({ names }) => names))];

/** Names that are queried with every type, even if a wildcard appears to answer for them. */
export const COMMON_WORDS: ReadonlySet<string> = new Set(groupOf(GROUPS, 'common').names);
