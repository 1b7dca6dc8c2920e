// One delegation check: observe, judge, next, save. Only what is saved counts, and it is saved only if the domain has
// not changed since: a job that runs twice, or beside another, leaves one run.
//
//   load ─▶ observe ─▶ judge ─▶ next ─▶ save ─▶ saved
//     └ deleted, not due, or already saved ─▶ done  └ changed meanwhile ─▶ once more, if a caller waits

import type { Evidence } from '../src/checks/delegation/evidence.ts';
import { judgeDelegation } from '../src/checks/delegation/judge-delegation.ts';
import { nextCheckAt } from '../src/checks/delegation/next-check-at.ts';
import { nextStatus, type Rules } from '../src/checks/delegation/next-status.ts';
import type { Verdict } from '../src/checks/delegation/verdict.ts';
import type { Slots } from '../src/checks/shares/slots.ts';
import { printName } from '../src/dns/name.ts';
import type { JobRun, RunJob } from '../src/queue/job-worker.ts';
import type { CheckJob } from '../src/queue/jobs.ts';
import type { ObserveOptions, Resolver } from '../src/resolver/resolver.ts';
import { gatherChecks } from '../src/store/checks/gather-checks.ts';
import { type CheckedDomain, loadCheckedDomain } from '../src/store/checks/load-checked-domain.ts';
import { findCheckByRequest } from '../src/store/checks/load-checks.ts';
import type { Database } from '../src/store/postgres/database.ts';
import { encodeNameColumn } from '../src/store/postgres/name-column.ts';
import { loadHeldZone } from '../src/store/zones/load-held-zone.ts';
import type { AccountShares } from './account-shares.ts';
import type { FindOurAddresses } from './our-addresses.ts';
import { DatabaseWatch } from './rounds/database-watch.ts';

export type CheckOutcome =
  | {
      readonly kind: 'saved';
      readonly job: CheckJob;
      readonly name: string;
      readonly checkId: number;
      readonly evidence: Evidence;
      readonly verdict: Verdict;
      readonly transition: { readonly from: string; readonly to: string } | undefined;
    }
  | {
      readonly kind: /** Gone, or in a status that is not checked. */
        | 'absent'
        /** Another check of the domain was saved since the job was made. */
        | 'early'
        /** This very run was saved, by a process that ended before it could report it. */
        | 'repeated'
        /** The domain changed while it was observed. */
        | 'conflict';
      readonly job: CheckJob;
    };

export interface CheckerOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeDelegation'>;
  readonly rules: Rules;
  readonly breaker: {
    isFrozen(parent: string): boolean;
    count(parent: string, before: Verdict | undefined, after: Verdict): void;
  };
  /** Absent: no check is slow, and no account is counted. */
  readonly slots?: Pick<Slots, 'takeSlow' | 'giveBack'>;
  readonly shares?: Pick<AccountShares, 'begin'>;
  /** Absent: the addresses of our servers are not known. */
  readonly ourAddresses?: FindOurAddresses;
  readonly onOutcome: (outcome: CheckOutcome) => void;
  /** Gives a number in [0, 1). */
  readonly random?: () => number;
  readonly now?: () => number;
}

/** How many times a check is tried that a caller waits for. */
const TRIES = 2;
/** How much earlier than the due time a claim may come: clocks differ. */
const EARLY_MS = 5000;

export function createChecker(options: CheckerOptions): RunJob<CheckJob> {
  const database = new DatabaseWatch(options.db);
  const save = gatherChecks(options.db);
  return async (job, { signal, again: wasBegun }) => {
    const outcome = await database.steadily(signal, (again) =>
      check({ ...options, save }, job, { signal, again: again || wasBegun }),
    );
    options.onOutcome(outcome);
  };
}

type CheckTools = CheckerOptions & { readonly save: ReturnType<typeof gatherChecks> };

async function check(options: CheckTools, job: CheckJob, run: JobRun): Promise<CheckOutcome> {
  const { db, now = Date.now } = options;
  for (let attempt = 1; ; attempt++) {
    if (run.again && job.request !== undefined && (await findCheckByRequest(db, job.request))) {
      return { kind: 'repeated', job };
    }
    const domain = await loadCheckedDomain(db, job.domainId);
    if (domain === undefined) return { kind: 'absent', job };
    const dueAt = domain.nextCheckAt ?? 0;
    if (job.kind === 'background' && dueAt > now() + EARLY_MS) return { kind: 'early', job };
    const outcome = await checkOnce(options, job, domain, run);
    if (outcome.kind !== 'conflict' || job.kind === 'background' || attempt === TRIES) return outcome;
  }
}

/** Observes within the slots: a check that is slow takes a slow one, or ends. */
async function observeInSlot(
  { resolver, slots, shares }: CheckTools,
  { name, accountId }: CheckedDomain,
  options: ObserveOptions,
): Promise<Evidence> {
  const end = shares?.begin(accountId);
  let isSlow = false;
  const onSlow = () => {
    isSlow = slots === undefined || slots.takeSlow();
    return isSlow;
  };
  try {
    return await resolver.observeDelegation(name, { ...options, onSlow });
  } finally {
    if (isSlow) slots?.giveBack();
    end?.();
  }
}

async function checkOnce(
  tools: CheckTools,
  job: CheckJob,
  domain: CheckedDomain,
  { signal }: JobRun,
): Promise<CheckOutcome> {
  const { db, rules, breaker, save, ourAddresses, random = Math.random } = tools;
  const { name, state, seq } = domain;
  const held = await loadHeldZone(db, name);
  const evidence = await observeInSlot(tools, domain, {
    signal,
    fresh: job.kind !== 'background',
    ...(held && { held }),
  });
  signal.throwIfAborted(); // an aborted run has no outcome

  const needsOurs = evidence.servers.some(({ showsCut }) => showsCut === true);
  const ours = needsOurs ? await ourAddresses?.(domain.expected.allSets) : undefined;
  const expected = { ...domain.expected, ...(ours !== undefined && { ourAddresses: ours }) };
  const judgement = judgeDelegation(evidence, expected);
  const parent = evidence.parent === undefined ? domain.parentText : encodeNameColumn(evidence.parent);
  const at = evidence.finishedAt;
  const decision = nextStatus(state, judgement, at, rules, breaker.isFrozen(parent), expected);
  const saved = await save({
    domainId: job.domainId,
    seq,
    kind: job.kind,
    ...(job.request !== undefined && { request: job.request }),
    evidence,
    judgement,
    decision,
    nextCheckAt: nextCheckAt(decision.state, judgement.verdict, at, random(), {
      before: domain.unknowns,
      isTryLater: evidence.failure?.reason === 'later',
    }),
    startedAt: evidence.startedAt,
    finishedAt: at,
  });
  if (saved.kind !== 'saved') return { kind: saved.kind, job };
  if (state.status === 'active' && job.kind === 'background')
    breaker.count(parent, domain.lastVerdict, judgement.verdict);
  return {
    kind: 'saved',
    job,
    name: printName(name),
    checkId: saved.checkId,
    evidence,
    verdict: judgement.verdict,
    transition: saved.transition,
  };
}
