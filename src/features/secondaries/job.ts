// The job that refreshes copies of primaries' zones: its queue, metrics and log lines.

import { Counter, Gauge, type Registry } from 'prom-client';
import { fillQueue } from '../../jobs/fill-queue.ts';
import type { Job, JobLog } from '../../jobs/job.ts';
import { runRounds } from '../../jobs/run-rounds.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { WorkTools } from '../feature.ts';
import type { RefreshOutcome } from './job-refresh.ts';
import { RefreshLane } from './refresh-lane.ts';
import { REFRESH_ZONE, type RefreshJob } from './rules.ts';
import { claimDueSecondaries, countStates, SECONDARY_STATES, takeNotifies } from './sql.ts';

/** Many, because most wait for a silent server. Transfers also wait for memory (`TransferTurns`). */
const AT_ONCE = 500;
/** Short, because an edit at a primary should be answered within two seconds. */
const IDLE_MS = 250;

export function openRefreshJob(tools: WorkTools): Job<RefreshJob, RefreshOutcome> {
  const { db, registry, databaseUrl, settings, onStop } = tools;
  const { tsigSecrets, resolverAllow, transferSource, secondaryMaxRecords } = settings;
  const lane = new RefreshLane({
    ...{ databaseUrl, tsigSecrets, resolverAllow, transferSource, secondaryMaxRecords },
  });
  onStop(() => lane.stop());
  return {
    kind: REFRESH_ZONE,
    atOnce: AT_ONCE,
    open:
      (onOutcome) =>
      async ({ secondaryId }, { signal }) =>
        onOutcome(await lane.refresh(secondaryId, signal)),
    fill(queue, onTrouble) {
      const fill = fillQueue({
        queue,
        room: 2 * AT_ONCE,
        claim: (limit) => claimDueSecondaries(db, limit),
        claimLight: (limit) => claimDueSecondaries(db, limit, { healthyOnly: true }),
      });
      const round = async () => {
        await takeNotifies(db);
        return await fill();
      };
      return runRounds({ round, idleMs: IDLE_MS, onTrouble });
    },
    count: createRefreshMetrics(db, registry),
    log: logRefresh,
  };
}

function createRefreshMetrics(db: Database, registry: Registry): (outcome: RefreshOutcome) => void {
  const transfers = new Counter({
    name: 'zonefleet_transfers_total',
    help: 'Zone transfers by direction (in), form (axfr, ixfr, soa) and outcome: done, current (no transfer was needed), or failed.',
    labelNames: ['direction', 'form', 'outcome'],
    registers: [registry],
  });
  new Gauge({
    name: 'zonefleet_secondaries',
    help: 'Zones that are copied from primaries, by state: waiting (not transferred yet), current, failing (the last refresh failed), held (the breaker prevents their expiry), expired.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const counts = await countStates(db).catch(() => undefined);
      for (const state of SECONDARY_STATES)
        if (counts === undefined) this.remove({ state });
        else this.set({ state }, counts.get(state) ?? 0);
    },
  });
  return (outcome) => {
    const count = (form: string, what: string) => transfers.inc({ direction: 'in', form, outcome: what });
    if (outcome.kind === 'transferred') count(outcome.form, 'done');
    if (outcome.kind === 'current') count('soa', 'current');
    if (outcome.kind === 'failed') count(outcome.form ?? 'soa', 'failed');
  };
}

function logRefresh(log: JobLog, outcome: RefreshOutcome): void {
  if (outcome.kind === 'transferred') {
    const { kind, notIncremental, dropped, wasExpired, ...fields } = outcome;
    const more = {
      ...(notIncremental !== undefined && { notIncremental }),
      ...(dropped > 0 && { dropped }),
    };
    log.info(
      { ...fields, ...more },
      wasExpired ? 'an expired zone was transferred again' : 'a zone was transferred',
    );
  }
  if (outcome.kind === 'current' && outcome.wasFailing)
    log.info({ zone: outcome.zone }, 'the primary of a zone responds again');
  if (outcome.kind !== 'failed') return;
  const { zone, finding, isNew, expiry } = outcome;
  if (expiry === 'expired')
    log.error({ zone, ...finding }, 'a zone expired: nodes answer SERVFAIL until it is transferred');
  else if (isNew) log.warn({ zone, ...finding }, 'a zone could not be refreshed');
}
