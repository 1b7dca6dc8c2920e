// Reports silent addresses and parents to the other workers, and learns what they reported.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import type { Silences } from '../../src/resolver/state/silences.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { learnSilences, purgeSilences, tellSilences } from '../../src/store/resolver/silences.ts';

const INTERVAL_MS = 2000;
/** Number of rounds after which old rows are deleted. */
const PURGE_EACH = 60;

export function shareSilences(
  db: Database,
  silences: Pick<Silences, 'takeNews' | 'learn'>,
  { onTrouble, idleMs = INTERVAL_MS }: { onTrouble: (error: unknown) => void; idleMs?: number },
): Rounds {
  let after: Date | undefined;
  let rounds = 0;
  const round = async () => {
    await tellSilences(db, silences.takeNews());
    const learnt = await learnSilences(db, after);
    after = learnt.after;
    for (const silence of learnt.silences) silences.learn(silence);
    if (++rounds % PURGE_EACH === 0) await purgeSilences(db);
    return { isMore: false };
  };
  return runRounds({ round, idleMs, onTrouble });
}
