// `verify`, for one domain: a worker looks for its TXT record ahead of all others; the reply of each server and the
// change of status are printed.

import { randomUUID } from 'node:crypto';
import type { Name } from '../../dns/name.ts';
import type { VerifyJob } from '../../queue/jobs.ts';
import type { Domain } from '../../store/domains/domain.ts';
import { findDomain, loadDomainById } from '../../store/domains/load-domains.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  findNewestVerification,
  type VerificationRun,
} from '../../store/verifications/load-verifications.ts';
import { renewExpiredVerification } from '../../store/verifications/renew-verification.ts';
import { waitForVerification } from '../../store/verifications/wait-for-verification.ts';
import type { DomainStatus } from '../../zone/domain/domain-status.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { INTERRUPTED, type Output } from '../terminal/output.ts';
import { printVerification, verificationJson } from './print-verification.ts';

/** A verification ends within 20 s, and others may stand before it. */
const WAIT_MS = 60_000;

export interface VerifyWay {
  readonly enqueue: (job: VerifyJob & { readonly request: string }) => Promise<void>;
  readonly signal: AbortSignal;
  readonly waitMs?: number;
}

type Verified =
  /** Without a run no server was asked: the domain is active already, or its value was renewed. */
  | {
      readonly kind: 'told';
      readonly before: DomainStatus;
      readonly domain: Domain;
      readonly run: VerificationRun | undefined;
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

export async function verifyDomain(
  db: Database,
  name: Name,
  way: VerifyWay,
  output: Output,
): Promise<number> {
  const came = await verify(db, name, way);
  const shown = printWithoutDot(name);
  if (came.kind === 'refused') {
    const { code, message } = came;
    if (output.json) await output.print(JSON.stringify({ domain: shown, outcome: 'refused', code, message }));
    else await output.complain(`${shown}: ${message}`);
    return way.signal.aborted ? INTERRUPTED : 1;
  }
  const { domain, run, before } = came;
  await output.print(
    output.json
      ? JSON.stringify(verificationJson(domain, run))
      : printVerification(domain, run, { before, colours: output.colours }),
  );
  return domain.status === 'active' ? 0 : 1;
}

async function verify(
  db: Database,
  name: Name,
  { enqueue, signal, waitMs = WAIT_MS }: VerifyWay,
): Promise<Verified> {
  const domain = await findDomain(db, name);
  if (domain === undefined) return refused('absent', 'no such domain');
  const { id: domainId, status, verification } = domain;
  if (verification === null)
    return refused('wrong_state', 'the domain is in managed mode: its delegation proves it');
  if (status === 'active') return await told(db, domain);
  if (status !== 'unverified') return refused('wrong_state', `the domain is ${status}: it is not verified`);
  if (await renewExpiredVerification(db, domainId)) return await told(db, domain);
  const request = randomUUID();
  const since = new Date();
  await enqueue({ domainId, kind: 'operator', request });
  const wanted = { domainId, value: verification.value, request, since };
  const came = await waitForVerification(db, wanted, { timeoutMs: waitMs, signal });
  if (came !== undefined) return await told(db, domain);
  return refused('no_answer', signal.aborted ? 'interrupted before anybody looked' : NO_WORKER);
}

const NO_WORKER = 'no worker has looked for the record; do workers run, and do they reach the queue?';

async function told(db: Database, { id, status: before }: Domain): Promise<Verified> {
  const domain = (await loadDomainById(db, id)) as Domain;
  const value = domain.verification?.value ?? '';
  return { kind: 'told', before, domain, run: await findNewestVerification(db, id, value) };
}

function refused(code: string, message: string): Verified {
  return { kind: 'refused', code, message };
}
