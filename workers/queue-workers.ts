// The kinds of jobs of a workers process: what each runs, how many at a time, and where its outcome is counted and
// logged.

import type { AsnOf } from '../src/checks/child/observation.ts';
import { type Rules, UNKNOWN_PENDING_MAX_MS } from '../src/checks/delegation/next-status.ts';
import type { MachineRules } from '../src/checks/dnssec/rules.ts';
import type { Slots } from '../src/checks/shares/slots.ts';
import type { Network } from '../src/dns/record/network.ts';
import type { AccountShares } from '../src/jobs/account-shares.ts';
import type { QueuePlace } from '../src/jobs/connection.ts';
import { accountsInTurn, fillQueue } from '../src/jobs/fill-queue.ts';
import {
  CALL_WEBHOOK,
  CHECK_CHILD,
  CHECK_DELEGATION,
  FLATTEN_ANAME,
  ISSUE_CERTIFICATE,
  ROLL_KEYS,
  SCAN_IMPORT,
  SEND_MAIL,
  VERIFY_TXT,
  type VerifyJob,
} from '../src/jobs/jobs.ts';
import { QueueWorker } from '../src/jobs/queue-worker.ts';
import { type Rounds, runRounds } from '../src/jobs/run-rounds.ts';
import type { Mailer } from '../src/mail/mailer.ts';
import type { Authority } from '../src/outbound/acme/authority.ts';
import type { Resolver } from '../src/resolver/resolver.ts';
import { claimDueTargets } from '../src/store/aname/claim-due-targets.ts';
import { claimDueOrders } from '../src/store/certificates/claim-due-orders.ts';
import { claimDueChildChecks } from '../src/store/child/claim-due-child-checks.ts';
import { noteCheckedDomains } from '../src/store/child/note-checked-domains.ts';
import { claimDueSteps } from '../src/store/dnssec/claim-due-steps.ts';
import { claimDueMails } from '../src/store/people/mails.ts';
import type { Database } from '../src/store/postgres/database.ts';
import { claimDueScans } from '../src/store/scans/claim-due-scans.ts';
import { keyBoxesOf } from '../src/store/secrets/database-keys.ts';
import { claimDueVerifications } from '../src/store/verifications/claim-due-verifications.ts';
import { claimDueDeliveries } from '../src/store/webhooks/claim-due-deliveries.ts';
import type { CountryOf } from '../src/zone/records/country.ts';
import { createWebhookCaller } from './jobs/call-webhooks.ts';
import { createChildChecker } from './jobs/check-child.ts';
import { createChecker } from './jobs/check-delegation.ts';
import { findReceiver } from './jobs/find-receiver.ts';
import { createFlattener } from './jobs/flatten-aname.ts';
import { createIssuer } from './jobs/issue-certificate.ts';
import { rememberOurAddresses } from './jobs/our-addresses.ts';
import { createKeyRoller } from './jobs/roll-keys.ts';
import { createScanner } from './jobs/scan-import.ts';
import { createMailSender } from './jobs/send-mail.ts';
import { createVerifier } from './jobs/verify-txt.ts';
import {
  logCertificate,
  logChild,
  logKeys,
  logMail,
  logScan,
  logTarget,
  logTransition,
  logVerification,
  logWebhook,
  type OutcomeLog,
} from './log-outcomes.ts';
import { createAnameMetrics } from './metrics/aname-metrics.ts';
import { createCertificateMetrics } from './metrics/certificate-metrics.ts';
import { createChildMetrics } from './metrics/child-metrics.ts';
import { createKeyMetrics } from './metrics/key-metrics.ts';
import { createMailMetrics } from './metrics/mail-metrics.ts';
import type { WorkerMetrics } from './metrics/metrics.ts';
import { createScanMetrics } from './metrics/scan-metrics.ts';
import { createWebhookMetrics } from './metrics/webhook-metrics.ts';
import { CheckNotes } from './note-checks.ts';
import type { BreakerWatch } from './rounds/watch-breaker.ts';
import { runSchedule } from './schedule.ts';
import type { VantageAsker } from './vantage/ask-vantages.ts';

/** How many jobs may wait for each that may run: enough for half a minute when every parent is silent. */
const WAITING_PER_RUN = 2;
const VERIFICATIONS_AT_ONCE = 50;
/** How many scans run at a time; each asks up to 4,000 questions. */
const SCANS_AT_ONCE = 20;
const TARGETS_AT_ONCE = 100;
const CHILDREN_AT_ONCE = 50;
const MAILS_AT_ONCE = 4;
/** Each asks up to 120 questions. */
const KEYS_AT_ONCE = 20;
/** Each takes five seconds at most. */
const WEBHOOKS_AT_ONCE = 32;
/** Authorities bound how many requests they take at a time. */
const ORDERS_AT_ONCE = 10;
const IDLE_MS = 1000;

export type Trouble =
  | 'queue'
  | 'schedule'
  | 'breaker'
  | 'housekeeping'
  | 'anchors'
  | 'vantages'
  | 'signing'
  | 'regions'
  | 'analytics'
  | 'uptime';

type QueueWorkers = ReturnType<typeof openQueueWorkers>;

export function openQueueWorkers(place: QueuePlace, onQueueTrouble: (error: Error) => void) {
  return {
    checks: new QueueWorker({ place, kind: CHECK_DELEGATION, onQueueTrouble }),
    verifications: new QueueWorker({ place, kind: VERIFY_TXT, onQueueTrouble }),
    scans: new QueueWorker({ place, kind: SCAN_IMPORT, onQueueTrouble }),
    anames: new QueueWorker({ place, kind: FLATTEN_ANAME, onQueueTrouble }),
    children: new QueueWorker({ place, kind: CHECK_CHILD, onQueueTrouble }),
    mails: new QueueWorker({ place, kind: SEND_MAIL, onQueueTrouble }),
    keys: new QueueWorker({ place, kind: ROLL_KEYS, onQueueTrouble }),
    certificates: new QueueWorker({ place, kind: ISSUE_CERTIFICATE, onQueueTrouble }),
    webhooks: new QueueWorker({ place, kind: CALL_WEBHOOK, onQueueTrouble }),
  };
}

interface Dependencies {
  readonly db: Database;
  readonly resolver: Resolver;
  readonly countryOf: CountryOf | undefined;
  readonly asnOf: AsnOf | undefined;
  readonly breaker: BreakerWatch;
  readonly metrics: WorkerMetrics;
  readonly log: OutcomeLog;
  readonly checkRules: Omit<Rules, 'unknownPendingMaxMs'> & { readonly unverifiedMaxMs: number };
  /** How many delegation checks run at a time. */
  readonly checkConcurrency: number;
  readonly keyRules: MachineRules;
  /** Undefined: no ZSK is replaced unasked. */
  readonly rollZskEveryMs: number | undefined;
  readonly slots: Slots;
  readonly shares: AccountShares;
  readonly vantages: VantageAsker;
  readonly trouble: (of: Trouble, error: Error) => void;
  /** Undefined: no mail is sent. */
  readonly mailer: Mailer | undefined;
  readonly publicUrl: string;
  /** Networks that webhooks may lead to although they are not public. */
  readonly webhookAllow: readonly Network[];
  /** Undefined: no certificates are issued. */
  readonly authority: Authority | undefined;
}

export function startQueueWorkers(workers: QueueWorkers, dependencies: Dependencies): void {
  const notes = new CheckNotes();
  startChecks(workers.checks, dependencies, notes);
  startVerifications(workers.verifications, dependencies);
  startScans(workers.scans, dependencies);
  startAnames(workers.anames, dependencies);
  startChildren(workers.children, dependencies, notes);
  startKeys(workers.keys, dependencies);
  startCertificates(workers.certificates, dependencies);
  if (keyBoxesOf(dependencies.db) !== undefined) startWebhooks(workers.webhooks, dependencies);
  if (dependencies.mailer !== undefined) startMails(workers.mails, dependencies, dependencies.mailer);
}

function startChecks(worker: QueueWorkers['checks'], dependencies: Dependencies, notes: CheckNotes): void {
  const { db, resolver, breaker, metrics, log, checkConcurrency: concurrency, trouble } = dependencies;
  const { unverifiedMaxMs: _, ...rules } = dependencies.checkRules;
  const { slots, shares, vantages, mailer } = dependencies;
  worker.start({
    run: createChecker({
      db,
      resolver,
      ourAddresses: rememberOurAddresses(resolver),
      slots,
      shares,
      breaker,
      vantages,
      sendsMail: mailer !== undefined,
      rules: { ...rules, unknownPendingMaxMs: UNKNOWN_PENDING_MAX_MS },
      onOutcome(outcome) {
        metrics.countOutcome(outcome);
        logTransition(log, outcome);
        notes.add(outcome);
      },
    }),
    concurrency,
    rounds: runSchedule({
      db,
      queue: worker.queue,
      room: concurrency,
      onAsked: metrics.countAskedNames,
      onTrouble: (error) => trouble('schedule', error as Error),
    }),
    onFailed: failing(worker, dependencies),
  });
}

function startVerifications(worker: QueueWorkers['verifications'], dependencies: Dependencies): void {
  const { db, resolver, metrics, log, checkRules, breaker, shares, mailer } = dependencies;
  worker.start({
    run: createVerifier({
      db,
      resolver,
      unverifiedMaxMs: checkRules.unverifiedMaxMs,
      breaker,
      shares,
      sendsMail: mailer !== undefined,
      onOutcome(outcome) {
        metrics.countVerification(outcome);
        logVerification(log, outcome);
      },
    }),
    concurrency: VERIFICATIONS_AT_ONCE,
    rounds: feed<VerifyJob>(
      worker,
      dependencies,
      VERIFICATIONS_AT_ONCE * WAITING_PER_RUN,
      ...accountsInTurn(
        (claim) => claimDueVerifications(db, claim),
        (domainId, turn): VerifyJob => ({ domainId, kind: 'background', turn }),
      ),
    ),
    onFailed: failing(worker, dependencies),
  });
}

function startScans(worker: QueueWorkers['scans'], dependencies: Dependencies): void {
  const { db, resolver, countryOf, metrics, log } = dependencies;
  const count = createScanMetrics(metrics.registry);
  worker.start({
    run: createScanner({
      db,
      resolver,
      countryOf,
      onOutcome(outcome) {
        count(outcome);
        logScan(log, outcome);
      },
    }),
    concurrency: SCANS_AT_ONCE,
    rounds: feed(worker, dependencies, SCANS_AT_ONCE, (limit) => claimDueScans(db, limit)),
    onFailed: failing(worker, dependencies),
  });
}

function startAnames(worker: QueueWorkers['anames'], dependencies: Dependencies): void {
  const { db, resolver, metrics, log } = dependencies;
  const count = createAnameMetrics(metrics.registry);
  worker.start({
    run: createFlattener({
      db,
      resolver,
      onOutcome(outcome) {
        count(outcome);
        logTarget(log, outcome);
      },
    }),
    concurrency: TARGETS_AT_ONCE,
    rounds: feed(worker, dependencies, TARGETS_AT_ONCE * WAITING_PER_RUN, (limit) =>
      claimDueTargets(db, limit),
    ),
    onFailed: failing(worker, dependencies),
  });
}

/** Domains whose delegation was checked are noted first, so that what is due by that is claimed in the same round. */
function startChildren(
  worker: QueueWorkers['children'],
  dependencies: Dependencies,
  notes: CheckNotes,
): void {
  const { db, resolver, asnOf, metrics, log } = dependencies;
  const count = createChildMetrics(metrics.registry);
  worker.start({
    run: createChildChecker({
      db,
      resolver,
      asnOf,
      onOutcome(outcome) {
        count(outcome);
        logChild(log, outcome);
      },
    }),
    concurrency: CHILDREN_AT_ONCE,
    rounds: feed(worker, dependencies, CHILDREN_AT_ONCE * WAITING_PER_RUN, async (limit) => {
      await notes.flush((noted) => noteCheckedDomains(db, noted));
      return await claimDueChildChecks(db, limit);
    }),
    onFailed: failing(worker, dependencies),
  });
}

function startKeys(worker: QueueWorkers['keys'], dependencies: Dependencies): void {
  const { db, resolver, keyRules: rules, rollZskEveryMs, metrics, log, shares, mailer } = dependencies;
  const count = createKeyMetrics(metrics.registry);
  worker.start({
    run: createKeyRoller({
      db,
      resolver,
      rules,
      rollZskEveryMs,
      shares,
      sendsMail: mailer !== undefined,
      onOutcome(outcome) {
        count(outcome);
        logKeys(log, outcome);
      },
    }),
    concurrency: KEYS_AT_ONCE,
    rounds: feed(
      worker,
      dependencies,
      KEYS_AT_ONCE * WAITING_PER_RUN,
      ...accountsInTurn(
        (claim) => claimDueSteps(db, claim),
        (signedZoneId, turn) => ({ signedZoneId, turn }),
      ),
    ),
    onFailed: failing(worker, dependencies),
  });
}

function startCertificates(worker: QueueWorkers['certificates'], dependencies: Dependencies): void {
  const { db, resolver, authority, metrics, log, shares } = dependencies;
  if (authority === undefined) return;
  const count = createCertificateMetrics(metrics.registry);
  worker.start({
    run: createIssuer({
      db,
      resolver,
      authority,
      shares,
      onOutcome(outcome) {
        count(outcome);
        logCertificate(log, outcome);
      },
    }),
    concurrency: ORDERS_AT_ONCE,
    rounds: feed(
      worker,
      dependencies,
      ORDERS_AT_ONCE * WAITING_PER_RUN,
      ...accountsInTurn(
        (claim) => claimDueOrders(db, claim),
        (orderId, turn) => ({ orderId, turn }),
      ),
    ),
    onFailed: failing(worker, dependencies),
  });
}

function startWebhooks(worker: QueueWorkers['webhooks'], dependencies: Dependencies): void {
  const { db, resolver, webhookAllow: allowed, metrics, log } = dependencies;
  const count = createWebhookMetrics(metrics.registry);
  let after: number | undefined;
  worker.start({
    run: createWebhookCaller({
      db,
      allowed,
      addressesOf: findReceiver(resolver),
      onOutcome(outcome) {
        count(outcome);
        logWebhook(log, outcome);
      },
    }),
    concurrency: WEBHOOKS_AT_ONCE,
    rounds: feed(worker, dependencies, WEBHOOKS_AT_ONCE * WAITING_PER_RUN, async (limit) => {
      const claimed = await claimDueDeliveries(db, limit, after);
      after = claimed.after;
      return claimed.jobs;
    }),
    onFailed: failing(worker, dependencies),
  });
}

function startMails(worker: QueueWorkers['mails'], dependencies: Dependencies, mailer: Mailer): void {
  const { db, publicUrl, metrics, log } = dependencies;
  const count = createMailMetrics(metrics.registry);
  worker.start({
    run: createMailSender({
      db,
      mailer,
      publicUrl,
      onOutcome(outcome, job) {
        count(outcome);
        logMail(log, outcome, job);
      },
    }),
    concurrency: MAILS_AT_ONCE,
    rounds: feed(worker, dependencies, MAILS_AT_ONCE * WAITING_PER_RUN, (limit) => claimDueMails(db, limit)),
    onFailed: failing(worker, dependencies),
  });
}

function feed<J extends object>(
  { queue }: QueueWorker<J>,
  { trouble }: Dependencies,
  room: number,
  claim: (limit: number) => Promise<J[]>,
  claimLight?: (limit: number) => Promise<J[]>,
): Rounds {
  const onTrouble = (error: unknown) => trouble('schedule', error as Error);
  return runRounds({
    round: fillQueue({ queue, room, claim, ...(claimLight && { claimLight }) }),
    idleMs: IDLE_MS,
    onTrouble,
  });
}

function failing({ name: kind }: { readonly name: string }, { metrics, log }: Dependencies) {
  return (job: object, error: Error, isDead: boolean) => {
    metrics.countFailure(isDead);
    log.error({ err: error, ...job, kind, dead: isDead }, 'a job failed');
  };
}
