// Where the TXT record of a domain in external mode belongs (spec §8).

import type { Name } from '../dns/name.ts';

const LABEL = '_svc-challenge';

/** `judgeExternalName` says where there is no room for it. */
export function challengeOf(domain: Name): Name {
  return `${String.fromCharCode(LABEL.length)}${LABEL}${domain}` as Name;
}
