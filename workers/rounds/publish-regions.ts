// Decides in rounds which edges each region publishes, and signs the record sets of signed zones. When a fleet gets
// its first region, its proxied names are republished, a few at a time.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { republishDomains } from '../../src/store/migrate/republish-domains.ts';
import { announceChanges } from '../../src/store/postgres/announce-changes.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { claimDueEdgeZones, endEdgeLease, signedSetsKey } from '../../src/store/regions/claim-edge-zones.ts';
import {
  type DecidedSets,
  decideEdgeSets,
  loadDecidedSets,
} from '../../src/store/regions/decide-edge-sets.ts';
import { signEdgeSets } from '../../src/store/regions/sign-edge-sets.ts';

interface RegionOptions {
  readonly db: Database;
  readonly onDecided: (decided: DecidedSets) => void;
  /** Called with the number of domains that were republished. */
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
const ZONES_A_ROUND = 20;
const ZONES_AT_ONCE = 3;

export function publishRegions(options: RegionOptions): Rounds {
  const { db, onDecided, onRepublished, onTrouble, idleMs = IDLE_MS } = options;
  const stopping = new AbortController();
  const decide = async () => {
    const decided = await decideEdgeSets(db);
    if (decided !== undefined) onDecided(decided);
    return { isMore: false };
  };
  const republish = async () => {
    if ((await loadDecidedSets(db)).version === 0) return { isMore: false };
    const domains = await republishDomains(db);
    if (domains > 0) {
      announceChanges(db);
      onRepublished(domains);
    }
    return { isMore: false };
  };
  // Separate rounds, so that silent edges are removed on time, and a large zone does not delay others.
  const signing = Array.from({ length: ZONES_AT_ONCE }, () => () => signDue(options, stopping.signal));
  const rounds = [decide, republish, ...signing].map((round) => runRounds({ round, idleMs, onTrouble }));
  return {
    async stop() {
      stopping.abort(new Error('the rounds are stopped'));
      await Promise.all(rounds.map((one) => one.stop()));
    },
  };
}

async function signDue(
  { db, onSigned, onTrouble }: RegionOptions,
  signal: AbortSignal,
): Promise<{ isMore: boolean }> {
  const sets = await loadDecidedSets(db);
  if (sets.version === 0) return { isMore: false };
  const due = await claimDueEdgeZones(db, signedSetsKey(sets), ZONES_A_ROUND);
  for (const zone of due) {
    const startedMs = performance.now();
    try {
      signal.throwIfAborted();
      const made = await signEdgeSets(db, zone, sets, signal);
      if (made > 0) onSigned({ zone: zone.name, made, seconds: (performance.now() - startedMs) / 1000 });
    } catch (error) {
      // A zone that failed keeps its lease, so that it does not delay the zones after it.
      if (signal.aborted) await endEdgeLease(db, zone);
      else onTrouble(error);
    }
  }
  return { isMore: due.length === ZONES_A_ROUND };
}
