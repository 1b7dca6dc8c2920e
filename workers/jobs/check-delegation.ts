// One delegation check: observe, evaluate, decide, save. Only saved results count, and a result is saved only if the
// domain is unchanged. A job that runs twice, or concurrently with another, therefore leaves one run.
//
//   load ─▶ observe ─▶ judge ─▶ next ─▶ save ─▶ saved
//                        └ a status would change ─▶ ask observers elsewhere ─▶ save, or judge as `unknown`
//     └ deleted, not due, or already saved ─▶ done  └ changed meanwhile ─▶ once more at once, else again soon

import { claimsWithoutSet, type JudgedClaim, sightedNames } from '../../src/checks/claims/judge-name.ts';
import type { CheckedClaim } from '../../src/checks/claims/name-claims.ts';
import type { Evidence } from '../../src/checks/delegation/evidence.ts';
import type { Rules } from '../../src/checks/delegation/next-status.ts';
import type { Verdict } from '../../src/checks/delegation/verdict.ts';
import { observersDeadlineMs } from '../../src/checks/shares/deadlines.ts';
import { printName } from '../../src/dns/name.ts';
import { DatabaseWatch } from '../../src/jobs/database-watch.ts';
import type { JobRun, RunJob } from '../../src/jobs/job-worker.ts';
import type { CheckJob } from '../../src/jobs/jobs.ts';
import { reportProgress } from '../../src/jobs/report-progress.ts';
import { runInTurn } from '../../src/jobs/run-in-turn.ts';
import { approveAsShown } from '../../src/store/change/approve-domain.ts';
import { lockNamesAround } from '../../src/store/change/lock-domain.ts';
import { findCheckByRequest } from '../../src/store/checks/check-runs.ts';
import { shortenLease } from '../../src/store/checks/claim-due-domains.ts';
import { gatherChecks, gatherNames, gatherZones } from '../../src/store/checks/gather-checks.ts';
import type { CheckedName, SavedState } from '../../src/store/checks/load-checked-name.ts';
import { nameOrder } from '../../src/store/checks/name-order.ts';
import { replaceSpentSets } from '../../src/store/claims/claim-sets.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../../src/store/postgres/name-column.ts';
import type { StoredSet } from '../../src/store/postgres/tables/schema.ts';
import { loadHeldZone } from '../../src/store/zones/load-zones.ts';
import { observeInSlot, type SlotTools } from '../rounds/observe-in-slot.ts';
import type { VantageAsker } from '../vantage/ask-vantages.ts';
import { confirmChange } from '../vantage/confirm-change.ts';
import type { FindOurAddresses } from './our-addresses.ts';

export type CheckOutcome =
  | {
      readonly kind: 'saved';
      readonly job: CheckJob;
      readonly name: string;
      readonly checkId: number;
      readonly evidence: Evidence;
      readonly verdict: Verdict;
      readonly transition: { readonly from: string; readonly to: string } | undefined;
      /** Changes that the check made to other domains of the name. */
      readonly others: readonly { readonly domainId: number; readonly from: string; readonly to: string }[];
    }
  | {
      readonly kind: /** The domain is deleted, or its status is not checked. */
        | 'absent'
        /** Another check of the domain was saved after the job was made. */
        | 'early'
        /** The same run was saved by a process that ended before it could report this. */
        | 'repeated'
        /** The domain changed while it was observed. */
        | 'conflict';
      readonly job: CheckJob;
    };

export interface CheckerOptions extends SlotTools {
  readonly db: Database;
  readonly rules: Rules;
  readonly breaker: {
    isFrozen(parent: string): boolean;
    count(parent: string, before: Verdict | undefined, after: Verdict): void;
  };
  /** Absent if no observers elsewhere are asked before a status changes. */
  readonly vantages?: Pick<VantageAsker, 'ask'>;
  /** Absent if the addresses of the fleet's nameservers are unknown. */
  readonly ourAddresses?: FindOurAddresses;
  /** True if the holder of a name is mailed when another account is about to take it. */
  readonly sendsMail?: boolean;
  readonly onOutcome: (outcome: CheckOutcome) => void;
  /** Time after which the next check of a job begins, although one is running. */
  readonly slowAfterMs?: number;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
  readonly now?: () => number;
}

/** Maximum number of attempts if the domain changes meanwhile. */
const TRIES = 2;
/** Time until the schedule checks again afterwards. The lease would last for minutes. */
const AGAIN_SECONDS = 30;
/** How long before its due time a job may come, because clocks differ. */
const EARLY_MS = 5000;
/** Minimum interval of scheduled checks of a name (docs/rules.md "When a domain is checked"). */
const SAME_CHECK_MS = 10_000;

export function createChecker(options: CheckerOptions): RunJob<CheckJob> {
  const database = new DatabaseWatch(options.db);
  const { db } = options;
  const tools = { ...options, load: gatherNames(db), findZones: gatherZones(db), save: gatherChecks(db) };
  return async ({ others = [], ...job }, { signal, again: wasBegun }) => {
    const checkOne = async (domainId: number) => {
      const one = { ...job, domainId };
      const outcome = await database.steadily(signal, (again) =>
        check(tools, one, { signal, again: again || wasBegun }),
      );
      options.onOutcome(outcome);
    };
    // If the job is repeated because one check failed, the saved domains are early.
    await runInTurn([job.domainId, ...others], checkOne, signal, options.slowAfterMs);
  };
}

interface CheckTools extends CheckerOptions {
  readonly load: ReturnType<typeof gatherNames>;
  readonly findZones: ReturnType<typeof gatherZones>;
  readonly save: ReturnType<typeof gatherChecks>;
}

async function check(options: CheckTools, job: CheckJob, run: JobRun): Promise<CheckOutcome> {
  const { db, load, now = Date.now } = options;
  for (let attempt = 1; ; attempt++) {
    if (run.again && job.request !== undefined && (await findCheckByRequest(db, job.request))) {
      return { kind: 'repeated', job };
    }
    const name = await load(job.domainId);
    if (name === undefined) return { kind: 'absent', job };
    if (job.kind === 'background' && isEarly(name, job.domainId, now())) return { kind: 'early', job };
    const outcome = await checkOnce(options, job, name, run);
    if (outcome.kind !== 'conflict') return outcome;
    if (attempt < TRIES) continue;
    if (job.kind === 'background') await shortenLease(db, job.domainId, AGAIN_SECONDS);
    return outcome;
  }
}

/** Each claim of a name has its own job, but each check is for all claims. A new claim does not wait. */
function isEarly(
  { saved, claims, checkedAt: newest = 0, turnEndsAt }: CheckedName,
  domainId: number,
  now: number,
): boolean {
  if (turnEndsAt !== undefined && turnEndsAt <= now) return false; // the next claim in line gets its turn
  const { checkedAt, nextCheckAt = 0 } = saved.get(domainId) ?? {};
  const isChecked = checkedAt !== undefined && claims.claims.length > 1 && now - newest < SAME_CHECK_MS;
  return isChecked || nextCheckAt > now + EARLY_MS;
}

async function checkOnce(
  options: CheckTools,
  job: CheckJob,
  checked: CheckedName,
  { signal }: JobRun,
): Promise<CheckOutcome> {
  const {
    db,
    rules,
    breaker,
    findZones,
    save,
    ourAddresses,
    shares,
    vantages,
    random = Math.random,
  } = options;
  const { name, claims, saved: savedStates } = checked;
  const held = await loadHeldZone(db, name, findZones);
  const isThorough = claims.claims.some(({ takeoverSeenAt }) => takeoverSeenAt !== undefined);
  const asked = claims.claims.find(({ id }) => id === job.domainId) as CheckedClaim;
  const progress = job.kind === 'background' ? undefined : reportProgress(db, job.domainId);
  const evidence = await observeInSlot(options, name, asked.accountId, {
    signal,
    ...(held && { held }),
    ...(isThorough && { isThorough }),
    fresh: job.kind !== 'background',
    ...(progress && { onStep: progress.step }),
  });
  progress?.end();
  signal.throwIfAborted(); // an aborted run has no outcome

  const needsOurs = evidence.servers.some(({ showsCut }) => showsCut === true);
  const ours = needsOurs ? await ourAddresses?.([[...claims.ours]]) : undefined;
  const own = savedStates.get(job.domainId) as SavedState;
  const parent = evidence.parent === undefined ? own.parentText : encodeNameColumn(evidence.parent);
  const substitutes = await giveReplacements(options, checked, evidence);
  const around = {
    asked: job.domainId,
    rules,
    isFrozen: breaker.isFrozen(parent),
    ...(ours !== undefined && { ourAddresses: ours }),
    substitutes: new Map([...substitutes].map(([id, { names }]) => [id, names.map(decodeNameColumn)])),
    random,
  };
  const { judged, views } = await confirmChange(vantages && counted(vantages, shares, asked.accountId), {
    claims,
    evidence,
    around,
    nameText: checked.nameText,
    fresh: job.kind !== 'background',
    thorough: isThorough,
    deadlineMs: observersDeadlineMs(evidence.finishedAt - evidence.startedAt, {
      isAwaited: job.kind === 'manual',
    }),
    signal,
  });
  const order = nameOrder(checked, job, evidence, judged, substitutes, views);
  const saved = await save(options.sendsMail === true ? order : { ...order, warned: [] });
  if (saved.kind !== 'saved') return { kind: saved.kind, job };
  for (const { claim, decision } of judged.claims)
    if (decision.to === 'pending' && savedStates.get(claim.id)?.approvedAhead && judged.sighted?.length)
      await approveAsShown(db, claim.id);
  const first = judged.claims.find(({ claim }) => claim.id === job.domainId) as JudgedClaim;
  for (const { claim, judgement } of judged.claims)
    if (claim.state.status === 'active' && job.kind === 'background')
      breaker.count(parent, claim.lastVerdict, judgement.verdict);
  return {
    kind: 'saved',
    job,
    name: printName(name),
    checkId: saved.checkId,
    evidence,
    verdict: first.judgement.verdict,
    transition: saved.transition,
    others: saved.others ?? [],
  };
}

/** Waiting for observers takes a slot too. */
function counted(
  vantages: Pick<VantageAsker, 'ask'>,
  shares: CheckerOptions['shares'],
  accountId: number,
): Pick<VantageAsker, 'ask'> {
  return { ask: (question) => vantages.ask(question).finally(shares?.begin(accountId)) };
}

/** Assigns a set to each claim that has just lost its last one. No two claims get the same set. */
async function giveReplacements(
  { db }: CheckTools,
  { nameText, settings, claims }: CheckedName,
  evidence: Evidence,
): Promise<ReadonlyMap<number, StoredSet>> {
  const given = new Map<number, StoredSet>();
  const needing = claimsWithoutSet(claims, evidence);
  if (needing.length === 0) return given;
  const shown = sightedNames(claims, evidence) ?? [];
  await db.transaction().execute(async (trx) => {
    await lockNamesAround(trx, nameText);
    for (const { id, accountId } of needing) {
      const set = await replaceSpentSets(trx, { nameText, accountId, settings }, shown);
      if (set !== undefined) given.set(id, set);
    }
  });
  return given;
}
