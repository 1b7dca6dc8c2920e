// Starts the rounds that sign zones, the verification of their signatures, their metrics and their log lines.

import type { Registry } from 'prom-client';
import type { JobLog } from '../src/jobs/job.ts';
import type { Rounds } from '../src/jobs/run-rounds.ts';
import type { Database } from '../src/store/postgres/database.ts';
import { loadSigningState } from '../src/store/signing/load-signing.ts';
import { createSigningMetrics } from './metrics/signing-metrics.ts';
import { runSignals } from './rounds/publish-signals.ts';
import type { SigningOutcome } from './rounds/sign-zones.ts';
import { signZones } from './rounds/sign-zones.ts';
import { SigningBreaker } from './rounds/signing-breaker.ts';

export function startSigning(
  db: Database,
  registry: Registry,
  log: JobLog,
  trouble: (error: Error) => void,
): Rounds {
  const onTrouble = (error: unknown) => trouble(error as Error);
  const breaker = new SigningBreaker({
    db,
    onFault: (fault) => {
      metrics.countFault();
      log.error(fault, 'a signed zone does not verify: report this bug');
    },
    onOpen: () =>
      log.error({}, 'this process makes no signatures any more, because its new ones do not verify'),
    onTrouble,
  });
  const metrics = createSigningMetrics(registry, {
    state: () => loadSigningState(db),
    isBreakerOpen: () => breaker.isOpen,
  });
  const verifying = breaker.watch();
  const signing = signZones({
    db,
    breaker,
    onOutcome(outcome) {
      metrics.count(outcome);
      logSigning(log, outcome);
    },
    onTrouble,
  });
  const signalling = runSignals({ db, onTrouble });
  return {
    async stop() {
      await Promise.all([verifying.stop(), signing.stop(), signalling.stop()]);
    },
  };
}

/** Refreshes are only counted. */
function logSigning(log: JobLog, outcome: SigningOutcome): void {
  const { kind, zone } = outcome;
  if (kind === 'signed' || kind === 'unsigned') log.info({ zone }, `a zone was ${kind}`);
  if (kind === 'chained') log.info({ zone }, 'a zone changed its denial of existence');
  if (kind === 'unreadable')
    log.error(
      { zone, err: outcome.error },
      'a signed zone cannot be written: see docs/operating/dnssec.md "DNSSEC"',
    );
  if (kind === 'failed') log.error({ zone, err: outcome.error }, 'signatures could not be made');
}
