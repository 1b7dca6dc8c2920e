// Which replies say something about the name that was asked for, in checks of delegations and of TXT records alike.

import type { ServerOutcome } from './evidence.ts';

/** All other outcomes are silence, a refusal, or the reply of a server that does not serve the zone. */
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
