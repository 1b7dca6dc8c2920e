// What the owner of a waiting claim reads of its turn, while other claims wait for the name too (docs/rules.md "Turns").

import type { Finding } from '../delegation/finding.ts';
import { FINDINGS } from '../delegation/findings.ts';

interface SeenTurn {
  /** The last turn of the claim. Times are milliseconds since 1970. */
  readonly turn: { readonly from: number; readonly until: number } | undefined;
  /** It asked for a turn that it has not had yet. */
  readonly hasAsked: boolean;
}

/** A turn that goes on is told before the next one for which the claim is in line. */
export function turnFinding({ turn, hasAsked }: SeenTurn, at: number): Finding {
  if (turn !== undefined && turn.from <= at && at < turn.until)
    return FINDINGS.NS_TURN({ kind: 'now', ...turn });
  return FINDINGS.NS_TURN({ kind: hasAsked ? 'waits' : 'none' });
}
