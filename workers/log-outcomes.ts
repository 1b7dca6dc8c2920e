// The log lines of jobs: one for each change of a status, for each scan, and for a target that begins or stops failing.

import type { MailJob } from '../src/jobs/jobs.ts';
import type { WebhookOutcome } from './jobs/call-webhooks.ts';
import type { ChildOutcome } from './jobs/check-child.ts';
import type { CheckOutcome } from './jobs/check-delegation.ts';
import type { FlattenOutcome } from './jobs/flatten-aname.ts';
import type { CertificateOutcome } from './jobs/issue-certificate.ts';
import type { KeyOutcome } from './jobs/roll-keys.ts';
import type { ScanOutcome } from './jobs/scan-import.ts';
import type { MailOutcome } from './jobs/send-mail.ts';
import type { VerifyOutcome } from './jobs/verify-txt.ts';

import type { SigningOutcome } from './rounds/sign-zones.ts';

export interface OutcomeLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export function logTransition(log: OutcomeLog, outcome: CheckOutcome): void {
  if (outcome.kind !== 'saved') return;
  const { name, job, checkId, verdict, transition, others } = outcome;
  if (transition !== undefined)
    log.info({ domain: name, id: job.domainId, ...transition, verdict, check: checkId }, 'status changed');
  for (const { domainId: id, from, to } of others) log.info({ domain: name, id, from, to }, 'status changed');
}

/** How long until the same fault of our own nameservers is logged again: every domain shows it. */
const OWN_FAULT_LINE_MS = 300_000;
const toldAtMs = new Map<string, number>();

/** Logs what is wrong with our own nameservers; notices are counted only. */
export function logChild(log: OutcomeLog, outcome: ChildOutcome): void {
  if (outcome.kind !== 'saved') return;
  for (const { code, place, severity, message } of outcome.findings) {
    const isSoon = performance.now() - (toldAtMs.get(code) ?? Number.NEGATIVE_INFINITY) < OWN_FAULT_LINE_MS;
    if (place !== 'operator' || severity === 'notice' || isSoon) continue;
    toldAtMs.set(code, performance.now());
    const say = code === 'OUR_SERVERS_UNREACHABLE' ? log.error : log.warn;
    say.call(log, { domain: outcome.name, code, message }, 'our own nameservers have a fault');
  }
}

/** Logs steps, and servers whose answers do not validate. */
export function logKeys(log: OutcomeLog, outcome: KeyOutcome): void {
  if (outcome.kind !== 'saved') return;
  const { name, status, step, preflight } = outcome;
  if (step !== undefined) log.info({ domain: name, status, step }, 'a step of DNSSEC keys');
  if (preflight?.hasStrangers === true)
    log.error({ domain: name }, 'nameservers show DNSKEY records of keys that the database does not know');
  else if (preflight?.failure !== undefined)
    log.warn({ domain: name, failure: preflight.failure }, 'the answers of a signed domain do not validate');
}

export function logScan(log: OutcomeLog, outcome: ScanOutcome): void {
  if (outcome.kind !== 'saved') return;
  const { name, scanKind: kind, scan, records, imported, job } = outcome;
  const { complete, queries } = scan;
  const created = imported?.kind === 'imported' ? imported.created : 0;
  const refused = imported?.kind === 'refused' ? { refused: imported.message } : {};
  log.info(
    { domain: name, kind, complete, queries, records, created, ...refused, scan: job.scanId },
    'scanned',
  );
}

/** Logs a target only if something changed. */
export function logTarget(log: OutcomeLog, outcome: FlattenOutcome): void {
  if (outcome.kind !== 'saved') return;
  const { target, changed, fails, hasTurned } = outcome;
  if (changed > 0) log.info({ target, domains: changed }, 'addresses changed');
  if (!hasTurned) return;
  if (fails === undefined) log.info({ target }, 'a target is found again');
  else log.warn({ target, error: fails }, 'a target fails');
}

export function logVerification(log: OutcomeLog, outcome: VerifyOutcome): void {
  if (outcome.kind !== 'saved' && outcome.kind !== 'expired') return;
  if (outcome.transition === undefined) return;
  const found = outcome.kind === 'saved' ? { verdict: outcome.verdict, verification: outcome.runId } : {};
  log.info({ domain: outcome.name, ...outcome.transition, ...found }, 'status changed');
  if (outcome.kind === 'saved' && outcome.lost !== undefined)
    log.info({ domain: outcome.name, id: outcome.lost, from: 'active', to: 'disabled' }, 'status changed');
}

/** Refreshes are counted only. */
export function logSigning(log: OutcomeLog, outcome: SigningOutcome): void {
  const { kind, zone } = outcome;
  if (kind === 'signed' || kind === 'unsigned') log.info({ zone }, `a zone is ${kind}`);
  if (kind === 'chained') log.info({ zone }, 'a zone proves what is not there in another way');
  if (kind === 'unreadable')
    log.error(
      { zone, err: outcome.error },
      'a signed zone cannot be written: see docs/operating.md "DNSSEC"',
    );
  if (kind === 'failed') log.error({ zone, err: outcome.error }, 'signatures could not be made');
}

/** Without the address, which is personal. */
export function logMail(log: OutcomeLog, outcome: MailOutcome, { mailId: mail }: MailJob): void {
  if (outcome.kind === 'delayed') log.warn({ mail, reason: outcome.reason }, 'a mail is tried again later');
  if (outcome.kind === 'given_up') log.error({ mail, reason: outcome.reason }, 'a mail is given up');
}

export function logCertificate(log: OutcomeLog, outcome: CertificateOutcome): void {
  const { kind } = outcome;
  if (kind === 'issued')
    log.info({ domain: outcome.domain, names: outcome.names }, 'a certificate is issued');
  if (kind === 'failed')
    log.warn({ domain: outcome.domain, error: outcome.error }, 'a certificate is not issued');
}

/** Without the URL, which may have a secret. */
export function logWebhook(log: OutcomeLog, outcome: WebhookOutcome): void {
  if (outcome.kind === 'disabled')
    log.warn({ webhook: outcome.webhookId, why: outcome.why }, 'a webhook is called no more');
}
