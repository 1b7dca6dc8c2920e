// Rounds that publish the members of catalogs of this fleet, and the metrics of all catalogs.

import { Gauge } from 'prom-client';
import { type Rounds, runRounds } from '../../jobs/run-rounds.ts';
import type { WorkTools } from '../feature.ts';
import { CATALOG_STATES, type CatalogCounts, countCatalogs } from './sql-list.ts';
import { publishCatalogs } from './sql-publish.ts';

const IDLE_MS = 500;
/** Counting the members of a large catalog takes a tenth of a second. */
const COUNTED_FOR_MS = 60_000;

export function startPublishing({ db, log, registry, trouble }: WorkTools): Rounds {
  createCatalogMetrics(registry, () => countCatalogs(db));
  return runRounds({
    idleMs: IDLE_MS,
    onTrouble: (error) => trouble('catalogs', error as Error),
    async round() {
      for (const { catalog, joined, left, newlyFull } of await publishCatalogs(db)) {
        if (newlyFull === undefined || joined + left > 0)
          log.info({ catalog, joined, left }, 'a catalog was changed');
        if (newlyFull !== undefined) log.warn({ catalog, finding: newlyFull }, 'a catalog is full');
      }
      return { isMore: false };
    },
  });
}

function createCatalogMetrics(registry: WorkTools['registry'], count: () => Promise<CatalogCounts>): void {
  let counted: Promise<CatalogCounts | undefined> | undefined;
  let countedAtMs = Number.NEGATIVE_INFINITY;
  const recent = () => {
    if (counted === undefined || performance.now() - countedAtMs > COUNTED_FOR_MS) {
      countedAtMs = performance.now();
      counted = count().catch(() => undefined);
    }
    return counted;
  };
  new Gauge({
    name: 'zonefleet_catalogs',
    help: 'Catalogs by state: current, full (no zone joins, because the limit is reached); of other operators also waiting (not read yet), partial (members are skipped), held (removals wait for a confirmation), broken.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const counts = await recent();
      for (const state of CATALOG_STATES)
        if (counts === undefined) this.remove({ state });
        else this.set({ state }, counts.states.get(state) ?? 0);
    },
  });
  new Gauge({
    name: 'zonefleet_catalog_members',
    help: 'Members of each catalog.',
    labelNames: ['catalog'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [catalog, members] of (await recent())?.members ?? []) this.set({ catalog }, members);
    },
  });
}
