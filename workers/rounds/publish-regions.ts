// Decides in rounds which edges each region publishes, and signs what signed zones need for it. Names of a fleet that gets its first
// region are published anew, a few at a time.

import { republishDomains } from '../../src/store/migrate/republish-domains.ts';
import { announceChanges } from '../../src/store/postgres/announce-changes.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { type DecidedSets, decideEdgeSets } from '../../src/store/regions/decide-edge-sets.ts';
import { findDueEdgeZones, signEdgeSets, signedSetsKey } from '../../src/store/regions/sign-edge-sets.ts';
import { type Rounds, runRounds } from './run-rounds.ts';

interface RegionOptions {
  readonly db: Database;
  readonly onDecided: (decided: DecidedSets) => void;
  /** So many names are published anew. */
  readonly onRepublished: (domains: number) => void;
  readonly onSigned: (signed: {
    readonly zone: string;
    readonly made: number;
    readonly seconds: number;
  }) => void;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

const IDLE_MS = 2000;
const ZONES_A_ROUND = 200;
const ZONES_AT_ONCE = 3;

export function publishRegions(options: RegionOptions): Rounds {
  const { db, onDecided, onRepublished, onTrouble, idleMs = IDLE_MS } = options;
  const stopping = new AbortController();
  let decided: DecidedSets | undefined;
  const deciding = runRounds({
    idleMs,
    onTrouble,
    async round() {
      const now = await decideEdgeSets(db);
      if (now !== undefined) {
        decided = now;
        onDecided(now);
      }
      return { isMore: false };
    },
  });
  // apart: however long these take, an edge that is gone leaves the sets
  const signing = runRounds({
    idleMs,
    onTrouble: (error) => {
      if (!stopping.signal.aborted) onTrouble(error);
    },
    async round() {
      if (decided === undefined || decided.sets.version === 0) return { isMore: false };
      const domains = await republishDomains(db);
      if (domains > 0) {
        announceChanges(db);
        onRepublished(domains);
      }
      return await signDue(options, decided, stopping.signal);
    },
  });
  return {
    async stop() {
      stopping.abort(new Error('the rounds are stopped'));
      await Promise.all([deciding.stop(), signing.stop()]);
    },
  };
}

async function signDue(
  { db, onSigned, onTrouble }: RegionOptions,
  { sets }: DecidedSets,
  signal: AbortSignal,
): Promise<{ isMore: boolean }> {
  const due = await findDueEdgeZones(db, signedSetsKey(sets), ZONES_A_ROUND);
  let failed = 0;
  const left = due.values();
  const work = async () => {
    for (const zone of left) {
      if (signal.aborted) return;
      const startedMs = performance.now();
      try {
        const made = await signEdgeSets(db, zone, sets, signal);
        if (made > 0) onSigned({ zone: zone.name, made, seconds: (performance.now() - startedMs) / 1000 });
      } catch (error) {
        failed++;
        if (!signal.aborted) onTrouble(error);
      }
    }
  };
  await Promise.all(Array.from({ length: ZONES_AT_ONCE }, work));
  return { isMore: due.length === ZONES_A_ROUND && failed < due.length };
}
