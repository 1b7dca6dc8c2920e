// Looks up the addresses of ANAME targets.

import { Counter, Histogram, type Registry } from 'prom-client';
import { asLoop, nextTarget, TARGET_RULES, type TargetRules } from '../../checks/aname/next-target.ts';
import type { TargetEvidence } from '../../checks/aname/target-evidence.ts';
import { type Name, printName } from '../../dns/name.ts';
import { DatabaseWatch } from '../../jobs/database-watch.ts';
import { fillByClaims, type Job, type JobLog } from '../../jobs/job.ts';
import type { JobRun, RunJob } from '../../jobs/job-worker.ts';
import type { Resolver } from '../../resolver/resolver.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { WorkTools } from '../feature.ts';
import { FLATTEN_ANAME, type FlattenJob } from './rules.ts';
import {
  claimDueTargets,
  deleteTarget,
  findTargetLoop,
  type LoadedTarget,
  loadTarget,
  savePublished,
  saveTarget,
} from './sql.ts';
import { publishTarget } from './sql-publish.ts';

export type FlattenOutcome =
  | {
      readonly kind: 'saved';
      readonly target: string;
      readonly evidence: TargetEvidence;
      /** Number of domains whose addresses changed. */
      readonly changed: number;
      /** Why the target fails. Undefined if it does not. */
      readonly fails: string | undefined;
      /** True if the target began or stopped failing, or fails for another reason. */
      readonly hasTurned: boolean;
    }
  | {
      readonly kind: /** No record uses the target. */
        | 'deleted'
        | 'absent'
        /** The target was looked up a moment ago. */
        | 'early'
        /** Another lookup of the target was saved meanwhile. */
        | 'conflict';
    };

export interface FlattenerOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeAddresses'>;
  readonly onOutcome: (outcome: FlattenOutcome) => void;
  readonly rules?: TargetRules;
  readonly now?: () => number;
}

/** How long before its due time a job may come, because clocks differ. */
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
  return `its ANAME records form a loop: ${way.map(printName).join(' → ')}`;
}

const AT_ONCE = 100;

export function openAnameJob({ db, resolver, registry }: WorkTools): Job<FlattenJob, FlattenOutcome> {
  return {
    kind: FLATTEN_ANAME,
    atOnce: AT_ONCE,
    open: (onOutcome) => createFlattener({ db, resolver, onOutcome }),
    fill: fillByClaims({ room: 2 * AT_ONCE, claim: (limit) => claimDueTargets(db, limit) }),
    count: createAnameMetrics(registry),
    log: logTarget,
  };
}

function createAnameMetrics(registry: Registry): (outcome: FlattenOutcome) => void {
  const registers = [registry];
  const lookUps = new Counter({
    name: 'zonefleet_aname_lookups_total',
    help: 'Lookups of ANAME targets, by result: found, none, or failed (in whole or in part).',
    labelNames: ['outcome'],
    registers,
  });
  const unsaved = new Counter({
    name: 'zonefleet_aname_unsaved_total',
    help: 'Jobs that ended without a lookup, by reason: deleted (no record uses the target), absent (the target does not exist), early (it was looked up a moment ago), conflict (another lookup was saved).',
    labelNames: ['reason'],
    registers,
  });
  const changes = new Counter({
    name: 'zonefleet_aname_changes_total',
    help: 'Domains that were published with new addresses of a target.',
    registers,
  });
  const seconds = new Histogram({
    name: 'zonefleet_aname_seconds',
    help: 'Duration of lookups.',
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 15],
    registers,
  });
  return (outcome) => {
    if (outcome.kind !== 'saved') return unsaved.inc({ reason: outcome.kind });
    const { v4, v6, startedAt, finishedAt } = outcome.evidence;
    const kinds = [v4.kind, v6.kind];
    const brought = outcome.fails ? 'failed' : kinds.includes('found') ? 'found' : 'none';
    lookUps.inc({ outcome: brought });
    changes.inc(outcome.changed);
    seconds.observe((finishedAt - startedAt) / 1000);
  };
}

/** Logs a target only if something changed. */
function logTarget(log: JobLog, outcome: FlattenOutcome): void {
  if (outcome.kind !== 'saved') return;
  const { target, changed, fails, hasTurned } = outcome;
  if (changed > 0) log.info({ target, domains: changed }, 'addresses changed');
  if (!hasTurned) return;
  if (fails === undefined) log.info({ target }, 'an ANAME target resolves again');
  else log.warn({ target, error: fails }, 'an ANAME target does not resolve');
}
