// Decides which replies are conclusive about the queried name, in delegation checks and TXT checks.

import type { ServerOutcome } from './evidence.ts';

/** All other outcomes are timeouts, refusals, or replies of servers that do not serve the zone. */
export function isConclusive({ outcome }: { readonly outcome: ServerOutcome }): boolean {
  switch (outcome) {
    case 'referral':
    case 'answer':
    case 'nodata':
    case 'nxdomain':
    case 'alias':
      return true;
    case 'lame':
    case 'timeout':
    case 'refused':
    case 'servfail':
    case 'bad':
    case 'bogus':
    case 'limit':
      return false;
    default:
      return outcome satisfies never;
  }
}
