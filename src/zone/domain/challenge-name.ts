// The name of the TXT record that proves a domain in external mode (docs/rules.md "TXT verification").

import type { Name } from '../../dns/name.ts';

const LABEL = '_svc-challenge';

/** The result may be too long for a name; `judgeExternalName` checks that. */
export function challengeOf(domain: Name): Name {
  return `${String.fromCharCode(LABEL.length)}${LABEL}${domain}` as Name;
}
