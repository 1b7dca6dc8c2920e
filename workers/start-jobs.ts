// Starts each kind of job that a workers process runs.

import type { AsnOf } from '../src/checks/child/observation.ts';
import { type Rules, UNKNOWN_PENDING_MAX_MS } from '../src/checks/delegation/next-status.ts';
import { RULES } from '../src/checks/dnssec/rules.ts';
import type { Slots } from '../src/checks/shares/slots.ts';
import { LETTERS } from '../src/features/every-feature.ts';
import type { JobTools } from '../src/jobs/job.ts';
import type { RunningJobs } from '../src/jobs/run-jobs.ts';
import type { Mailer } from '../src/mail/mailer.ts';
import type { CountryOf } from '../src/zone/records/country.ts';
import { CheckNotes } from './jobs/note-checks.ts';
import { childJob } from './kinds/child-job.ts';
import { delegationJob } from './kinds/delegation-job.ts';
import { keyJob } from './kinds/key-job.ts';
import { mailJob } from './kinds/mail-job.ts';
import { scanJob } from './kinds/scan-job.ts';
import { verificationJob } from './kinds/verification-job.ts';
import type { WorkerMetrics } from './metrics/metrics.ts';
import type { BreakerWatch } from './rounds/watch-breaker.ts';
import type { VantageAsker } from './vantage/ask-vantages.ts';

interface JobSettings {
  readonly checkRules: Omit<Rules, 'unknownPendingMaxMs'> & { readonly unverifiedMaxMs: number };
  /** Number of delegation checks that run concurrently. */
  readonly checkConcurrency: number;
  readonly keyBackupAfterMs: number;
  /** Undefined if a ZSK is replaced only on request. */
  readonly rollZskEveryMs: number | undefined;
  readonly publicUrl: string;
}

interface JobOptions {
  readonly settings: JobSettings;
  readonly metrics: WorkerMetrics;
  readonly breaker: BreakerWatch;
  readonly slots: Slots;
  readonly vantages: VantageAsker;
  readonly countryOf: CountryOf | undefined;
  readonly asnOf: AsnOf | undefined;
  /** Undefined if no mail is sent. */
  readonly mailer: Mailer | undefined;
}

export function startJobs(
  jobs: RunningJobs,
  tools: JobTools,
  { settings, metrics, breaker, slots, vantages, countryOf, asnOf, mailer }: JobOptions,
): void {
  const { checkRules, checkConcurrency, keyBackupAfterMs, rollZskEveryMs, publicUrl } = settings;
  const { unverifiedMaxMs, ...rules } = checkRules;
  const notes = new CheckNotes();
  jobs.start(
    delegationJob(tools, {
      slots,
      breaker,
      vantages,
      rules: { ...rules, unknownPendingMaxMs: UNKNOWN_PENDING_MAX_MS },
      atOnce: checkConcurrency,
      onAsked: metrics.countAskedNames,
      count(outcome) {
        metrics.countOutcome(outcome);
        notes.add(outcome);
      },
    }),
  );
  jobs.start(verificationJob(tools, { unverifiedMaxMs, breaker, count: metrics.countVerification }));
  jobs.start(scanJob(tools, countryOf));
  jobs.start(childJob(tools, { asnOf, notes }));
  jobs.start(keyJob(tools, { rules: { ...RULES, backupAfterMs: keyBackupAfterMs }, rollZskEveryMs }));
  if (mailer !== undefined) jobs.start(mailJob(tools, { mailer, publicUrl, letters: LETTERS }));
}
