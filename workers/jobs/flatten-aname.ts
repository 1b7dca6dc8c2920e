// One look-up of a target of ANAME records, for all domains that point there: observe, next, save, publish. The result
// is published domain by domain; if a worker is killed in between, the next run publishes the rest.
//
//   load ─▶ observe ─▶ next ─▶ save ─▶ publish ─▶ saved
//     └ gone, unused, not due ─▶ done  └ saved by another ─▶ done

import { asLoop, nextTarget, TARGET_RULES, type TargetRules } from '../../src/checks/aname/next-target.ts';
import type { TargetEvidence } from '../../src/checks/aname/target-evidence.ts';
import { type Name, printName } from '../../src/dns/name.ts';
import { DatabaseWatch } from '../../src/jobs/database-watch.ts';
import type { JobRun, RunJob } from '../../src/jobs/job-worker.ts';
import type { FlattenJob } from '../../src/jobs/jobs.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import { findTargetLoop } from '../../src/store/aname/find-target-loop.ts';
import { type LoadedTarget, loadTarget } from '../../src/store/aname/load-target.ts';
import { publishTarget } from '../../src/store/aname/publish-target.ts';
import { deleteTarget, savePublished, saveTarget } from '../../src/store/aname/save-target.ts';
import type { Database } from '../../src/store/postgres/database.ts';

export type FlattenOutcome =
  | {
      readonly kind: 'saved';
      readonly target: string;
      readonly evidence: TargetEvidence;
      /** How many domains got other addresses. */
      readonly changed: number;
      /** Why the target fails, if it fails now. */
      readonly fails: string | undefined;
      /** The target began or stopped failing, or fails for another reason. */
      readonly hasTurned: boolean;
    }
  | {
      readonly kind: /** No record has it. */
        | 'deleted'
        | 'absent'
        /** The target was looked up a moment ago. */
        | 'early'
        /** Another look-up of the target was saved meanwhile. */
        | 'conflict';
    };

export interface FlattenerOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeAddresses'>;
  readonly onOutcome: (outcome: FlattenOutcome) => void;
  readonly rules?: TargetRules;
  readonly now?: () => number;
}

/** How much earlier than the due time a claim may come: clocks differ. */
const EARLY_MS = 5000;

export function createFlattener(options: FlattenerOptions): RunJob<FlattenJob> {
  const database = new DatabaseWatch(options.db);
  return async (job, { signal }) => {
    options.onOutcome(await database.steadily(signal, () => flatten(options, job, signal)));
  };
}

async function flatten(
  options: FlattenerOptions,
  { targetId }: FlattenJob,
  signal: JobRun['signal'],
): Promise<FlattenOutcome> {
  const { db, rules = TARGET_RULES, now = Date.now } = options;
  const before = await loadTarget(db, targetId);
  if (before === undefined) return { kind: 'absent' };
  if (!before.isNeeded && (await deleteTarget(db, targetId))) return { kind: 'deleted' };
  const { checkedAt = 0 } = before;
  if (checkedAt <= now() && checkedAt + rules.minIntervalMs > now() + EARLY_MS) {
    await publish(db, before, before.seq, signal); // an aborted run may not have published
    return { kind: 'early' };
  }
  return await lookUp({ ...options, rules }, before, signal);
}

async function lookUp(
  { db, resolver, rules }: FlattenerOptions & { readonly rules: TargetRules },
  before: LoadedTarget,
  signal: AbortSignal,
): Promise<FlattenOutcome> {
  const { target, state } = before;
  const observed = await resolver.observeAddresses(target, { signal });
  signal.throwIfAborted(); // an aborted run has no outcome
  const leadsTo = observed.names.at(-1) ?? target;
  const way = await findTargetLoop(db, target, leadsTo);
  const evidence = way === undefined ? observed : asLoop(observed, sentenceOf(way));

  const decision = nextTarget(state, evidence, rules);
  const seq = await saveTarget(db, { before, decision, leadsTo, checkedAt: evidence.startedAt });
  if (seq === undefined) return { kind: 'conflict' };
  const isPublished = before.isPublished && !decision.isChanged;
  const changed = await publish(db, { ...before, isPublished }, seq, signal);
  const { failure } = decision.state;
  const hasTurned = failure?.reason !== state.failure?.reason;
  return { kind: 'saved', target: printName(target), evidence, changed, fails: failure?.message, hasTurned };
}

async function publish(
  db: Database,
  { id, target, isPublished }: LoadedTarget,
  seq: number,
  signal: AbortSignal,
): Promise<number> {
  if (isPublished) return 0;
  const changed = await publishTarget(db, target, signal);
  await savePublished(db, id, seq);
  return changed;
}

function sentenceOf(way: readonly Name[]): string {
  return `its ANAME records lead back: ${way.map(printName).join(' → ')}`;
}
