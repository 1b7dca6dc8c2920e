// Watches the observers elsewhere. An operator must learn when one is unavailable, because status changes wait for
// them.

import type { AsnOf } from '../../src/checks/child/observation.ts';
import { areAsked, inForce, voicesOf } from '../../src/checks/vantage/voices.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { listVantages, type StoredVantage } from '../../src/store/vantage/vantages.ts';

export interface VantageState {
  /** Number of configured observers, whether or not they have ever run. */
  readonly vantages: number;
  /** Number of voices of the observers that have run. */
  readonly voices: number;
  readonly isAsked: boolean;
  /** Observers that have not requested jobs for a long time. */
  readonly away: readonly string[];
}

interface VantageWatchOptions {
  readonly asnOf?: AsnOf | undefined;
  /** Called when the set of unavailable observers changes. */
  readonly onAway: (away: readonly string[]) => void;
  readonly onTrouble: (error: Error) => void;
  readonly idleMs?: number;
}

const IDLE_MS = 10_000;
const AWAY_MS = 600_000;

export class VantageWatch {
  readonly #db: Database;
  readonly #options: VantageWatchOptions;
  #state: VantageState = { vantages: 0, voices: 0, isAsked: false, away: [] };
  #rounds: Rounds | undefined;

  constructor(db: Database, options: VantageWatchOptions) {
    this.#db = db;
    this.#options = options;
  }

  state(): VantageState {
    return this.#state;
  }

  /** Problems that an operator should solve, one per line. */
  warnings(): string[] {
    const { vantages, voices, isAsked, away } = this.#state;
    return [
      ...(vantages > 0 && !isAsked
        ? ['observers of fewer than two networks have ever run, so none is asked: see zonefleet vantage list']
        : []),
      ...(isAsked && voices < 2
        ? [
            'the observers count as one voice, so status changes wait: zonefleet vantage list shows which belong together',
          ]
        : []),
      ...away.map(
        (name) => `observer ${name} has been unavailable for over 10 minutes: see zonefleet vantage list`,
      ),
    ];
  }

  start(): void {
    const { onTrouble, idleMs = IDLE_MS } = this.#options;
    this.#rounds = runRounds({
      round: async () => {
        await this.#round();
        return { isMore: false };
      },
      idleMs,
      onTrouble: (error) => onTrouble(error as Error),
    });
  }

  async stop(): Promise<void> {
    await this.#rounds?.stop();
  }

  async #round(): Promise<void> {
    const { asnOf, onAway } = this.#options;
    const stored = await listVantages(this.#db);
    const known = inForce(stored);
    const away = stored.filter(isAway).map(({ name }) => name);
    const before = this.#state.away;
    this.#state = {
      vantages: stored.length,
      voices: voicesOf(known, asnOf).length,
      isAsked: areAsked(known),
      away,
    };
    if (away.join() !== before.join()) onAway(away);
  }
}

function isAway({ seenAt, createdAt, now }: StoredVantage): boolean {
  return now.getTime() - (seenAt ?? createdAt).getTime() > AWAY_MS;
}
