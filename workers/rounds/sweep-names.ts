// Checks names whose last domain of the fleet has ended, to record which nameservers their parents show. Checks a few
// at a time, each once a day and later once a week. No caller waits for it, and no domain changes.

import { sightedNames } from '../../src/checks/claims/judge-name.ts';
import { isNewSighting } from '../../src/checks/claims/sightings.ts';
import { nextSweep } from '../../src/checks/claims/sweep.ts';
import { foldCase } from '../../src/dns/name.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { loadSightings, saveSighting } from '../../src/store/claims/name-rights.ts';
import { claimSweptNames, type DueName, saveSweep } from '../../src/store/claims/swept-names.ts';
import { allOurNameservers, loadPublishSettings } from '../../src/store/postgres/answer-settings.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../../src/store/postgres/name-column.ts';
import { loadHeldZone } from '../../src/store/zones/load-zones.ts';
import { observeInSlot, type SlotTools } from './observe-in-slot.ts';

interface SweepOptions extends SlotTools {
  readonly db: Database;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
  readonly now?: () => number;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
}

/** Number of names that a process checks concurrently. */
const AT_ONCE = 4;
const IDLE_MS = 10_000;

export function sweepNames(options: SweepOptions): Rounds {
  const { db, idleMs = IDLE_MS, onTrouble } = options;
  const stopping = new AbortController();
  let after = 0;
  const rounds = runRounds({
    round: async () => {
      const begun = after;
      const due = await claimSweptNames(db, { limit: AT_ONCE, after });
      after = due.after;
      await Promise.all(due.names.map((name) => lookAt(options, name, stopping.signal)));
      return { isMore: due.names.length > 0 || begun > 0 };
    },
    idleMs,
    onTrouble: (error) => {
      if (!stopping.signal.aborted) onTrouble(error);
    },
  });
  return {
    async stop() {
      stopping.abort();
      await rounds.stop();
    },
  };
}

async function lookAt(options: SweepOptions, due: DueName, signal: AbortSignal): Promise<void> {
  const { db, now = Date.now, random = Math.random } = options;
  const shown = due.isChecked ? undefined : await sightNow(options, due, signal);
  await saveSweep(db, due.name, nextSweep(due, shown, now(), random()));
}

/** Returns true if the parent shows a nameserver of the fleet. Undefined if nothing was observed. */
async function sightNow(
  options: SweepOptions,
  { name: nameText, accountId }: DueName,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { db } = options;
  const name = decodeNameColumn(nameText);
  const held = await loadHeldZone(db, name);
  const evidence = await observeInSlot(options, name, accountId, { signal, ...(held && { held }) });
  signal.throwIfAborted();
  const ours = new Set(allOurNameservers(await loadPublishSettings(db)).map(foldCase));
  const sighted = sightedNames({ ours }, evidence)?.map(encodeNameColumn).sort();
  if (sighted === undefined) return undefined;
  if (isNewSighting(await loadSightings(db, nameText), sighted, evidence.finishedAt))
    await saveSighting(db, nameText, sighted, new Date(evidence.finishedAt));
  return sighted.length > 0;
}
