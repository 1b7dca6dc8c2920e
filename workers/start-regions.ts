// Starts the rounds for regions of edges, their metrics and their log lines.

import { Counter, Gauge, type Registry } from 'prom-client';
import type { JobLog } from '../src/jobs/job.ts';
import type { Rounds } from '../src/jobs/run-rounds.ts';
import type { Database } from '../src/store/postgres/database.ts';
import type { DecidedSets } from '../src/store/regions/decide-edge-sets.ts';
import { publishRegions } from './rounds/publish-regions.ts';

interface Regions extends Rounds {
  /** Problems that an operator should solve, one per line. */
  warnings(): string[];
}

export function startRegions(
  db: Database,
  registry: Registry,
  log: JobLog,
  trouble: (error: Error) => void,
): Regions {
  let last: DecidedSets | undefined;
  const registers = [registry];
  new Gauge({
    name: 'zonefleet_edge_breaker_held',
    help: '1 while silent edges stay published, because more than half of all edges are silent.',
    registers,
    collect() {
      this.set(last?.held === undefined ? 0 : 1);
    },
  });
  new Gauge({
    name: 'zonefleet_edge_region_addresses',
    help: 'Addresses that each region publishes for proxied names.',
    labelNames: ['region', 'family'],
    registers,
    collect() {
      this.reset();
      for (const { region, v4, v6 } of last?.sets.regions ?? []) {
        this.set({ region, family: '4' }, v4[0]?.length ?? 0);
        this.set({ region, family: '6' }, v6[0]?.length ?? 0);
      }
    },
  });
  const signatures = new Counter({
    name: 'zonefleet_edge_signatures_made_total',
    help: 'Signatures made over record sets of regions.',
    registers,
  });
  const rounds = publishRegions({
    db,
    onDecided(decided) {
      if (decided.isChanged) log.info({ sets: decided.sets }, 'the published edges of regions changed');
      if ((decided.held === undefined) !== (last?.held === undefined)) {
        if (decided.held === undefined) log.info({}, 'silent edges are removed from their regions again');
        else log.error(decided.held, 'more than half of the edges are silent: all of them stay published');
      }
      last = decided;
    },
    onRepublished: (domains) => log.info({ domains }, 'proxied names were republished by region'),
    onSigned({ made, ...signed }) {
      signatures.inc(made);
      log.info({ ...signed, made }, 'record sets of regions were signed');
    },
    onTrouble: (error) => trouble(error as Error),
  });
  return {
    stop: () => rounds.stop(),
    warnings() {
      const { held, stale = [] } = last ?? {};
      return [
        ...(held === undefined
          ? []
          : [
              `${held.silent} of ${held.published} edges are silent: they stay published until fewer edges are silent`,
            ]),
        ...stale.map((region) => `region ${region} has no live edge: its last edges stay published`),
      ];
    },
  };
}
