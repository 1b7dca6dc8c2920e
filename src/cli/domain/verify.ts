// `zonefleet verify NAME`: verifies a domain for an operator, as POST …/verify does for customers. A worker looks for the TXT
// record ahead of all others; the response of each server and the status change are printed.

import type { Command } from 'commander';
import type { Name } from '../../dns/name.ts';
import type { JobQueue } from '../../jobs/job-queue.ts';
import type { VerifyJob } from '../../jobs/jobs.ts';
import type { Domain, Verification } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { VerificationRun } from '../../store/verifications/load-verifications.ts';
import type { DomainStatus } from '../../zone/domain/domain-status.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import type { Owner } from '../terminal/one-domain.ts';
import { INTERRUPTED } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { printRefusal, type Refusal } from '../terminal/print-refusal.ts';
import { type OwnerOption, ownerOption, withOwner } from '../terminal/with-owner.ts';
import { askWorker } from './ask-worker.ts';
import { printVerification, verificationJson } from './print-verification.ts';

export function addVerifyCommand(program: Command, cli: Cli): void {
  const command = commandOf(program, 'verify').argument('<name>', "the domain's name");
  ownerOption(command).action(async (text: string, options: OwnerOption) => {
    const name = parseZoneName(text);
    const signal = cli.interruptible();
    const { VERIFY_TXT } = await import('../../jobs/jobs.ts');
    await cli.withQueue(VERIFY_TXT, (db, queue) =>
      withOwner(db, options, cli.output, async (owner) => {
        const verified = await verify(db, name, { queue, signal, ...owner });
        if (verified.kind === 'told') return await printVerified(verified, cli);
        await printRefusal(name, verified, cli.output);
        return signal.aborted ? INTERRUPTED : 1;
      }),
    );
  });
}

/** `run` is undefined if no server was queried, because the domain is active or its value was replaced. */
interface Verified {
  readonly kind: 'told';
  readonly before: DomainStatus;
  readonly domain: Domain;
  readonly verification: Verification;
  readonly run: VerificationRun | undefined;
}

async function verify(
  db: Database,
  name: Name,
  { queue, signal, ...owner }: Owner & { readonly queue: JobQueue<VerifyJob>; readonly signal: AbortSignal },
): Promise<Verified | Refusal> {
  const { findOneDomain } = await import('../terminal/one-domain.ts');
  const { renewExpiredVerification } = await import('../../store/verifications/verified-domain.ts');
  const { waitForVerification } = await import('../../store/verifications/load-verifications.ts');
  const found = await findOneDomain(db, name, owner);
  if (found.kind === 'refused') return found;
  const { domain } = found;
  const { id: domainId, status, verification } = domain;
  if (verification === null)
    return refused(
      'wrong_state',
      'the domain is in managed mode: its delegation proves it, so it needs no TXT record',
    );
  if (status === 'active') return await told(db, domain, verification);
  if (status !== 'unverified' && status !== 'pending')
    return refused('wrong_state', `the domain is ${status}, so it cannot be verified`);
  if (await renewExpiredVerification(db, domainId)) return await told(db, domain, verification);
  const since = new Date();
  const answered = await askWorker({
    enqueue: (request) => queue.enqueueNow({ domainId, kind: 'operator', request }),
    wait: (request, waiting) =>
      waitForVerification(db, { domainId, value: verification.value, request, since }, waiting),
    signal,
    undone: 'looked up the record',
    before: 'the record was looked up',
  });
  return answered.kind === 'refused' ? answered : await told(db, domain, verification);
}

async function told(db: Database, { id, status: before }: Domain, known: Verification): Promise<Verified> {
  const { loadDomainById } = await import('../../store/domains/load-domains.ts');
  const { findNewestVerification } = await import('../../store/verifications/load-verifications.ts');
  const domain = (await loadDomainById(db, id)) as Domain;
  // The delegation may have proved the domain meanwhile; then it no longer has a record.
  const verification = domain.verification ?? known;
  const run = await findNewestVerification(db, id, verification.value);
  return { kind: 'told', before, domain, verification, run };
}

function refused(code: string, message: string): Refusal {
  return { kind: 'refused', code, message };
}

async function printVerified(
  { domain, verification, run, before }: Verified,
  { output }: Cli,
): Promise<number> {
  await output.print(
    output.json
      ? JSON.stringify(verificationJson(domain, verification, run))
      : printVerification(domain, verification, run, { before, colours: output.colours }),
  );
  return verification.verified || domain.status === 'active' ? 0 : 1;
}
