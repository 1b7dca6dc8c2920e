// Finding about the turn of a waiting claim while other claims wait for the same name (docs/rules.md "Turns").

import type { Finding } from '../delegation/finding.ts';
import { FINDINGS } from '../delegation/findings.ts';

interface SeenTurn {
  /** The claim's last turn. Times are milliseconds since 1970. */
  readonly turn: { readonly from: number; readonly until: number } | undefined;
  /** True if it requested a turn that it has not had yet. */
  readonly hasAsked: boolean;
}

/** A current turn takes precedence over the next one for which the claim is in line. */
export function turnFinding({ turn, hasAsked }: SeenTurn, at: number): Finding {
  if (turn !== undefined && turn.from <= at && at < turn.until)
    return FINDINGS.NS_TURN({ kind: 'now', ...turn });
  return FINDINGS.NS_TURN({ kind: hasAsked ? 'waits' : 'none' });
}
