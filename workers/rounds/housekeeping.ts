// Runs the housekeeping of the store in rounds: one task deletes what is old, one compares what is published with the
// records, some domains at a time.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { checkPublished } from '../../src/store/housekeeping/check-published.ts';
import { type DomainToCheck, domainsToCheck, purgeOld } from '../../src/store/housekeeping/keep-house.ts';
import type { Retention } from '../../src/store/housekeeping/retention.ts';
import type { Database } from '../../src/store/postgres/database.ts';

export interface PublishFault {
  readonly domain: string;
  /** One line for each difference. */
  readonly differences: readonly string[];
}

interface HousekeepingOptions {
  readonly db: Database;
  /** What features delete. */
  readonly retention: Retention;
  /** A domain is published otherwise than its records say: a bug of a writer. Told once for as long as it lasts. */
  readonly onFault: (fault: PublishFault) => void;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

const IDLE_MS = 10_000;

export function runHousekeeping(options: HousekeepingOptions): Rounds {
  const { db, retention, onTrouble, idleMs = IDLE_MS } = options;
  const purging = runRounds({
    round: async () => ({ isMore: await purgeOld(db, retention) }),
    idleMs,
    onTrouble,
  });
  const watch = new PublishWatch(options);
  const checking = runRounds({ round: () => watch.round(), idleMs, onTrouble });
  return {
    async stop() {
      await Promise.all([purging.stop(), checking.stop()]);
    },
  };
}

/**
 * A difference counts when a round later it is still there: new addresses of an ANAME, and new settings, are written a moment before
 * they are published.
 */
class PublishWatch {
  readonly #options: HousekeepingOptions;
  #after = 0;
  #suspects: readonly DomainToCheck[] = [];
  readonly #told = new Set<number>();

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  async round(): Promise<{ isMore: boolean }> {
    const again = this.#suspects;
    this.#suspects = [];
    for (const domain of again) {
      const differences = await this.#compare(domain);
      if (differences.length === 0) continue;
      this.#told.add(domain.id);
      this.#options.onFault({ domain: domain.name, differences });
    }
    const domains = await domainsToCheck(this.#options.db, this.#after);
    this.#after = domains.at(-1)?.id ?? 0;
    const suspects: DomainToCheck[] = [];
    for (const domain of domains) {
      const differs = (await this.#compare(domain)).length > 0;
      if (!differs) this.#told.delete(domain.id);
      else if (!this.#told.has(domain.id)) suspects.push(domain);
    }
    this.#suspects = suspects;
    return { isMore: false };
  }

  /** A domain that cannot be compared does not keep others from their turn. */
  async #compare({ id }: DomainToCheck): Promise<readonly string[]> {
    try {
      return await checkPublished(this.#options.db, id);
    } catch (error) {
      this.#options.onTrouble(error);
      return [];
    }
  }
}
