// Runs the housekeeping of the store in rounds: one task deletes old rows, and one compares published zones with
// their records, some domains at a time.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { checkPublished } from '../../src/store/housekeeping/check-published.ts';
import { type DomainToCheck, domainsToCheck, purgeOld } from '../../src/store/housekeeping/keep-house.ts';
import type { Retention } from '../../src/store/housekeeping/retention.ts';
import type { Database } from '../../src/store/postgres/database.ts';

export interface PublishFault {
  readonly domain: string;
  /** One line per difference. */
  readonly differences: readonly string[];
}

interface HousekeepingOptions {
  readonly db: Database;
  /** Rows of features that are deleted. */
  readonly retention: Retention;
  /** Called once if a published zone differs from its records, which is a bug of the code that wrote it. */
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

/** A difference counts only if it persists for a round, because some changes are stored before they are published. */
class PublishWatch {
  readonly #options: HousekeepingOptions;
  #after = 0;
  #suspects: readonly DomainToCheck[] = [];
  readonly #reported = new Set<number>();

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  async round(): Promise<{ isMore: boolean }> {
    const again = this.#suspects;
    this.#suspects = [];
    for (const domain of again) {
      const differences = await this.#compare(domain);
      if (differences.length === 0) continue;
      this.#reported.add(domain.id);
      this.#options.onFault({ domain: domain.name, differences });
    }
    const domains = await domainsToCheck(this.#options.db, this.#after);
    this.#after = domains.at(-1)?.id ?? 0;
    const suspects: DomainToCheck[] = [];
    for (const domain of domains) {
      const differs = (await this.#compare(domain)).length > 0;
      if (!differs) this.#reported.delete(domain.id);
      else if (!this.#reported.has(domain.id)) suspects.push(domain);
    }
    this.#suspects = suspects;
    return { isMore: false };
  }

  /** A domain that cannot be compared does not delay others. */
  async #compare({ id }: DomainToCheck): Promise<readonly string[]> {
    try {
      return await checkPublished(this.#options.db, id);
    } catch (error) {
      this.#options.onTrouble(error);
      return [];
    }
  }
}
