// One verification of a domain, in external mode or while it waits in managed mode: observe, evaluate, decide, save.
// As for a delegation check, only saved results count, and a result is saved only if the domain is unchanged.
//
//   load ─▶ observe ─▶ judge ─▶ next ─▶ save ─▶ saved
//     │ └ its value has expired ─▶ next ─▶ save ─▶ expired
//     └ deleted, proved, not due, already run ─▶ done       └ changed meanwhile ─▶ once more, if a caller waits

import { judgeTxt } from '../../src/checks/txt/judge-txt.ts';
import { nextPreparation } from '../../src/checks/txt/next-preparation.ts';
import { type Look, nextVerification } from '../../src/checks/txt/next-verification.ts';
import type { TxtEvidence } from '../../src/checks/txt/txt-evidence.ts';
import type { TxtVerdict } from '../../src/checks/txt/txt-judgement.ts';
import { isThere, nextTxtTakeover, sinceAfter } from '../../src/checks/txt/txt-takeover.ts';
import { printName } from '../../src/dns/name.ts';
import type { AccountShares } from '../../src/jobs/account-shares.ts';
import { DatabaseWatch } from '../../src/jobs/database-watch.ts';
import type { JobRun, RunJob } from '../../src/jobs/job-worker.ts';
import type { VerifyJob } from '../../src/jobs/jobs.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { findVerificationByRequest } from '../../src/store/verifications/load-verifications.ts';
import { saveVerification, type VerificationLook } from '../../src/store/verifications/save-verification.ts';
import {
  findUntrusted,
  loadVerifiedDomain,
  type VerifiedDomain,
} from '../../src/store/verifications/verified-domain.ts';

interface Transition {
  readonly from: 'unverified';
  readonly to: 'active' | 'disabled';
}

export type VerifyOutcome =
  | {
      readonly kind: 'saved';
      readonly job: VerifyJob;
      readonly name: string;
      readonly runId: number;
      readonly evidence: TxtEvidence;
      readonly verdict: TxtVerdict;
      readonly transition: Transition | undefined;
      /** The domain of another account that lost the name. */
      readonly lost?: number | undefined;
    }
  /** The value has expired, so no server was queried. */
  | {
      readonly kind: 'expired';
      readonly job: VerifyJob;
      readonly name: string;
      readonly transition: Transition | undefined;
    }
  | {
      readonly kind: /** The domain is deleted or proved, or its status does not depend on a TXT record. */
        | 'absent'
        /** Another verification of the domain was saved after the job was made. */
        | 'early'
        /** The same run was saved by a process that ended before it could report this. */
        | 'repeated'
        /** The domain changed while it was observed. */
        | 'conflict';
      readonly job: VerifyJob;
    };

export interface VerifierOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeTxt'>;
  readonly unverifiedMaxMs: number;
  /** Absent if takeovers are never held, and no account is counted. */
  readonly breaker?: { isFrozen(parent: string): boolean };
  readonly shares?: Pick<AccountShares, 'begin'>;
  /** As for delegation checks. */
  readonly sendsMail?: boolean;
  readonly onOutcome: (outcome: VerifyOutcome) => void;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
  readonly now?: () => number;
}

/** Maximum number of attempts if a caller waits. */
const TRIES = 2;
/** How long before its due time a job may come, because clocks differ. */
const EARLY_MS = 5000;

export function createVerifier(options: VerifierOptions): RunJob<VerifyJob> {
  const database = new DatabaseWatch(options.db);
  return async (job, { signal, again: wasBegun }) => {
    const outcome = await database.steadily(signal, (again) =>
      verify(options, job, { signal, again: again || wasBegun }),
    );
    options.onOutcome(outcome);
  };
}

async function verify(options: VerifierOptions, job: VerifyJob, run: JobRun): Promise<VerifyOutcome> {
  const { db, now = Date.now } = options;
  for (let attempt = 1; ; attempt++) {
    if (run.again && job.request !== undefined && (await findVerificationByRequest(db, job.request))) {
      return { kind: 'repeated', job };
    }
    const domain = await loadVerifiedDomain(db, job.domainId);
    if (domain === undefined) return { kind: 'absent', job };
    const dueAt = domain.nextAt ?? 0;
    if (job.kind === 'background' && dueAt > now() + EARLY_MS) return { kind: 'early', job };
    const isExpired = domain.state.expiresAt <= now();
    const outcome = await (isExpired ? expire(options, job, domain) : verifyOnce(options, job, domain, run));
    if (outcome.kind !== 'conflict' || job.kind === 'background' || attempt === TRIES) return outcome;
  }
}

async function verifyOnce(
  options: VerifierOptions,
  job: VerifyJob,
  domain: VerifiedDomain,
  { signal }: JobRun,
): Promise<VerifyOutcome> {
  const { db } = options;
  const { value, ownServers } = domain;
  const evidence = await observeCounted(options, domain, { signal, fresh: job.kind !== 'background' });
  signal.throwIfAborted(); // an aborted run has no outcome

  const untrusted = await findUntrusted(db, evidence.links, ownServers);
  const judgement = judgeTxt(evidence, { value, untrusted });
  const { verdict } = judgement;
  const { kind, request } = job;
  const saved = await save(
    options,
    domain,
    { kind: kind === 'background' ? 'scheduled' : 'asked', verdict },
    evidence.finishedAt,
    { kind, request, evidence, judgement },
  );
  if (saved.kind !== 'saved') return { kind: saved.kind, job };
  const { runId, transition, lost } = saved;
  const name = printName(domain.name);
  return { kind: 'saved', job, name, runId: runId as number, evidence, verdict, transition, lost };
}

async function observeCounted(
  { resolver, shares }: VerifierOptions,
  { host, accountId }: VerifiedDomain,
  observing: Parameters<Resolver['observeTxt']>[1],
): Promise<TxtEvidence> {
  const end = shares?.begin(accountId);
  try {
    return await resolver.observeTxt(host, observing);
  } finally {
    end?.();
  }
}

async function expire(
  options: VerifierOptions,
  job: VerifyJob,
  domain: VerifiedDomain,
): Promise<VerifyOutcome> {
  const { now = Date.now } = options;
  const saved = await save(options, domain, { kind: 'expired' }, now(), undefined);
  if (saved.kind !== 'saved') return { kind: saved.kind, job };
  return { kind: 'expired', job, name: printName(domain.name), transition: saved.transition };
}

async function save(
  options: VerifierOptions,
  domain: VerifiedDomain,
  look: Look,
  at: number,
  made: VerificationLook | undefined,
) {
  const { id: domainId, seq, value, dnsMode } = domain;
  const decision =
    dnsMode === 'managed' ? prepare(options, domain, look, at) : prove(options, domain, look, at, made);
  const { db, sendsMail = false } = options;
  return await saveVerification(db, { domainId, seq, value, decision, look: made, sendsMail });
}

function prepare(
  { random = Math.random }: VerifierOptions,
  { state }: VerifiedDomain,
  look: Look,
  at: number,
) {
  return { to: 'pending' as const, ...nextPreparation(state, look, at, random()) };
}

function prove(
  { unverifiedMaxMs, random = Math.random, breaker }: VerifierOptions,
  { state, holder, takeoverSeenAt: since, takeovers, parentText }: VerifiedDomain,
  look: Look,
  at: number,
  made: VerificationLook | undefined,
) {
  const decision = nextVerification(state, look, at, unverifiedMaxMs, random());
  const takeoverSeenAt = look.kind === 'expired' ? undefined : sinceAfter(since, look.verdict);
  if (decision.to !== 'active' || holder === undefined || made === undefined)
    return { ...decision, takeoverSeenAt };
  const isHeld = isThere(made.evidence, holder.value);
  const isFrozen = breaker?.isFrozen(parentText) ?? false;
  const step = nextTxtTakeover({ since, takeovers, isFrozen, isHeld }, at);
  return { ...decision, takeoverSeenAt, takeover: { holder, step } };
}
