// One question of a command to the analytics store about one domain.

import { AnalyticsFault, openAnalytics } from '../../analytics/open-analytics.ts';
import type { Asking } from '../../analytics/requests/asked-requests.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { onOneDomain } from '../terminal/on-one-domain.ts';
import type { OwnerOption } from '../terminal/with-owner.ts';

export interface PeriodOption extends OwnerOption {
  readonly period: string;
}

/** How long the store may work on one query. */
const SECONDS = 45;

/** `work` gives the exit code. Fails while the store cannot answer. */
export async function askAnalytics(
  cli: Cli,
  text: string,
  options: OwnerOption,
  work: (asking: Asking, domain: Domain, db: Database) => Promise<number>,
): Promise<void> {
  const url = await cli.analyticsUrl();
  await cli.withStore((db) =>
    onOneDomain(db, text, options, cli.output, async (domain) => {
      const store = openAnalytics(url);
      try {
        return await work({ store, seconds: SECONDS }, domain, db);
      } catch (error) {
        if (error instanceof AnalyticsFault) throw new Failure('analytics', error.message, { cause: error });
        throw error;
      } finally {
        await store.close();
      }
    }),
  );
}
