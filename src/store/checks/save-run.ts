// Writes the log of a domain's checks, and deletes old runs.

import { sql } from 'kysely';
import type { CheckedStatus } from '../../checks/delegation/check-state.ts';
import { encodeEvidence } from '../../checks/delegation/evidence-json.ts';
import type { Database } from '../postgres/database.ts';
import { type CheckOrder, type CheckOutcome, isEnd, outcomeHash } from './check-outcome.ts';
import { encodeView } from './check-runs.ts';

export interface LastRun {
  readonly lastRunId: number | null;
  readonly lastOutcome: string | null;
}

/**
 * Saves a run. A background check increments the last run's counter if the outcome is the same and the check was due
 * for this domain itself. Call it under the domain's lock.
 */
export async function saveRun(
  trx: Database,
  order: CheckOrder,
  {
    outcome,
    from,
    last,
  }: { readonly outcome: CheckOutcome; readonly from: CheckedStatus; readonly last: LastRun },
): Promise<number> {
  const { domainId, kind } = order;
  const hash = outcomeHash(outcome);
  const nextCheckAt = isEnd(outcome.to) ? null : outcome.nextAt;
  if (kind === 'background' && last.lastOutcome === hash && last.lastRunId !== null) {
    if (!order.isOwnTime) return last.lastRunId;
    await sql`
      update check_runs set repeated = repeated + 1, last_seen_at = ${outcome.finishedAt},
        next_check_at = ${nextCheckAt}
      where id = ${last.lastRunId}`.execute(trx);
    return last.lastRunId;
  }
  const { id } = await trx
    .insertInto('check_runs')
    .values({
      domain_id: domainId,
      kind,
      request: order.request ?? null,
      started_at: new Date(order.startedAt),
      finished_at: outcome.finishedAt,
      last_seen_at: outcome.finishedAt,
      verdict: outcome.verdict,
      findings: JSON.stringify(outcome.findings),
      status_before: from,
      status_after: outcome.to,
      current_ns: outcome.currentNs ?? null,
      matched_ns: outcome.matchedNs ?? null,
      parent: outcome.parent ?? null,
      queries: order.evidence.queries,
      next_check_at: nextCheckAt,
      evidence: JSON.stringify(encodeEvidence(order.evidence)),
      vantages: order.vantages === undefined ? null : JSON.stringify(order.vantages.map(encodeView)),
      change_id: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`
    update domain_checks set last_run_id = ${id}, last_outcome = ${hash} where domain_id = ${domainId}`.execute(
    trx,
  );
  await purgeRunsNowAndThen(trx, domainId, id);
  return id;
}

const PURGE_EACH = 16;
const RUNS_KEPT = 100;

/** Deletes old runs. Runs that changed something are kept as long as the domain, and about a hundred of the others. */
export async function purgeRunsNowAndThen(db: Database, domainId: number, checkId: number): Promise<void> {
  if (checkId % PURGE_EACH !== 0) return;
  await sql`
    delete from check_runs where domain_id = ${domainId} and change_id is null and id < (
      select id from check_runs where domain_id = ${domainId} order by id desc offset ${RUNS_KEPT} limit 1)`.execute(
    db,
  );
}
