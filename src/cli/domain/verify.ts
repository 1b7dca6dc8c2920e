// `zonefleet verify NAME`: does for operators what POST …/verify does for customers. A worker looks for the TXT record
// of the domain ahead of all others; the reply of each server and the change of status are printed.

import type { Command } from 'commander';
import type { Name } from '../../dns/name.ts';
import type { JobQueue } from '../../jobs/job-queue.ts';
import type { VerifyJob } from '../../jobs/jobs.ts';
import type { Domain, Verification } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { VerificationRun } from '../../store/verifications/load-verifications.ts';
import type { DomainStatus } from '../../zone/domain/domain-status.ts';
import type { Cli } from '../terminal/cli.ts';
import type { Owner } from '../terminal/one-domain.ts';
import { INTERRUPTED } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { printRefusal, type Refusal } from '../terminal/print-refusal.ts';
import { type OwnerOption, ownerOption, withOwner } from '../terminal/with-owner.ts';
import { askWorker } from './ask-worker.ts';
import { printVerification, verificationJson } from './print-verification.ts';

export function addVerifyCommand(program: Command, cli: Cli): void {
  const command = program
    .command('verify')
    .description('have the TXT record of a domain looked for now; exit 1 unless it is verified')
    .argument('<name>', "the domain's name");
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

/** Without a run no server was asked: the domain is active already, or its value was renewed. */
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
      'the domain is in managed mode: its delegation proves it, and no TXT record is needed',
    );
  if (status === 'active') return await told(db, domain, verification);
  if (status !== 'unverified' && status !== 'pending')
    return refused('wrong_state', `the domain is ${status}: it is not verified`);
  if (await renewExpiredVerification(db, domainId)) return await told(db, domain, verification);
  const since = new Date();
  const answered = await askWorker({
    enqueue: (request) => queue.enqueueNow({ domainId, kind: 'operator', request }),
    wait: (request, waiting) =>
      waitForVerification(db, { domainId, value: verification.value, request, since }, waiting),
    signal,
    undone: 'looked for the record',
    before: 'anybody looked',
  });
  return answered.kind === 'refused' ? answered : await told(db, domain, verification);
}

async function told(db: Database, { id, status: before }: Domain, known: Verification): Promise<Verified> {
  const { loadDomainById } = await import('../../store/domains/load-domains.ts');
  const { findNewestVerification } = await import('../../store/verifications/load-verifications.ts');
  const domain = (await loadDomainById(db, id)) as Domain;
  // Meanwhile the delegation may have proved it, so that it has no record any more.
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
