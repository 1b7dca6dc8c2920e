// The job that issues a certificate: its queue, metrics and log lines.

import { readFile } from 'node:fs/promises';
import { Counter, type Registry } from 'prom-client';
import { accountsInTurn } from '../../jobs/fill-queue.ts';
import { fillByClaims, type Job, type JobLog } from '../../jobs/job.ts';
import { keyBoxesOf } from '../../store/secrets/key-boxes.ts';
import type { WorkTools } from '../feature.ts';
import { Authority } from './client.ts';
import { type CertificateOutcome, createIssuer } from './job-issue.ts';
import { type CertificateJob, ISSUE_CERTIFICATE } from './rules.ts';
import { claimDueOrders } from './sql-orders.ts';

/** Small, because certificate authorities limit concurrent requests. */
const AT_ONCE = 10;

/** Returns undefined if no authority is configured, or if this process cannot store private keys. */
export async function openCertificateJob({
  db,
  resolver,
  registry,
  shares,
  settings,
  log,
  onStop,
}: WorkTools): Promise<Job<CertificateJob, CertificateOutcome> | undefined> {
  const authority = await openAuthority(settings);
  if (authority === undefined) return undefined;
  onStop(async () => authority.close());
  if (keyBoxesOf(db) === undefined) {
    log.warn({}, 'ACME_DIRECTORY is set, but not KEY_SECRETS: no certificates are issued');
    return undefined;
  }
  const [claim, claimLight] = accountsInTurn(
    (due) => claimDueOrders(db, due),
    (orderId, turn): CertificateJob => ({ orderId, turn }),
  );
  return {
    kind: ISSUE_CERTIFICATE,
    atOnce: AT_ONCE,
    open: (onOutcome) => createIssuer({ db, resolver, authority, shares, onOutcome }),
    fill: fillByClaims({ room: 2 * AT_ONCE, claim, claimLight }),
    count: createCertificateMetrics(registry),
    log: logCertificate,
  };
}

async function openAuthority(settings: WorkTools['settings']): Promise<Authority | undefined> {
  const { acmeDirectory: directory, acmeBinding: binding, acmeContact: contact, acmeCaFile } = settings;
  if (directory === undefined) return undefined;
  const roots = acmeCaFile === undefined ? undefined : await readFile(acmeCaFile, 'utf8');
  return new Authority({ directory, binding, contact, roots });
}

function createCertificateMetrics(registry: Registry): (outcome: CertificateOutcome) => void {
  const runs = new Counter({
    name: 'zonefleet_certificate_runs_total',
    help: 'Runs of certificate orders, by result: issued, failed, busy (the authority is asked again later), waiting, resting, conflict, absent.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return ({ kind }) => runs.inc({ outcome: kind });
}

function logCertificate(log: JobLog, outcome: CertificateOutcome): void {
  const { kind } = outcome;
  if (kind === 'issued')
    log.info({ domain: outcome.domain, names: outcome.names }, 'a certificate was issued');
  if (kind === 'failed')
    log.warn({ domain: outcome.domain, error: outcome.error }, 'a certificate could not be issued');
}
