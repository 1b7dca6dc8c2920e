// Saves checks that leave their domain as it is, as nearly all do: one statement saves any number of them. When the
// outcome is that of the last run, the run's counter goes up, else a new run is added.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { type CheckOrder, CODES, isEnd, outcomeHash, outcomeOf, rememberedColumns } from './check-outcome.ts';
import { encodeEvidence } from './check-run-row.ts';
import { purgeRunsNowAndThen } from './save-run.ts';

/**
 * Gives the ids of the runs that were saved. Left out are checks that change the status or what is published, those
 * that a user asked for, those that come too late, and those whose domain is locked: `saveCheck` saves them under its
 * locks.
 */
export async function saveStillChecks(
  db: Database,
  orders: readonly CheckOrder[],
): Promise<Map<CheckOrder, number>> {
  const byDomain = new Map<number, CheckOrder>();
  for (const order of orders) if (mayBeStill(order)) byDomain.set(order.domainId, order);
  if (byDomain.size === 0) return new Map();
  const rows = [...byDomain.values()].map(rowOf);
  const saved = await saveRows(db, JSON.stringify(rows));
  for (const { domainId, checkId, isNew } of saved) {
    // These are saved, whatever becomes of older ones.
    if (isNew) await purgeRunsNowAndThen(db, domainId, checkId).catch(() => {});
  }
  return new Map(saved.map(({ domainId, checkId }) => [byDomain.get(domainId) as CheckOrder, checkId]));
}

function mayBeStill({ kind, decision }: CheckOrder): boolean {
  return kind === 'background' && !isEnd(decision.to);
}

function rowOf(order: CheckOrder) {
  const outcome = outcomeOf(order);
  const { to, verdict, findings, currentNs, matchedNs, delegatedNs, parent, finishedAt } = outcome;
  const { preset_taken, ...columns } = rememberedColumns(outcome);
  return {
    ...columns,
    preset_taken: JSON.parse(preset_taken),
    domain_id: order.domainId,
    seq: order.seq,
    status: to,
    started_at: new Date(order.startedAt),
    finished_at: finishedAt,
    verdict,
    findings,
    seen_ns: currentNs,
    matched_ns: matchedNs,
    keeps_delegated: delegatedNs === undefined,
    delegated_ns: delegatedNs,
    parent,
    queries: order.evidence.queries,
    outcome: outcomeHash(outcome),
    evidence: encodeEvidence(order.evidence),
  };
}

interface StillRow {
  readonly domainId: number;
  readonly checkId: number;
  readonly isNew: boolean;
}

// Locked rows are skipped: waiting for one with others locked could be waiting for somebody who waits for those. The
// domain has to be what it was when the check began (`seq`, its status), and what would be published anew (`delegated_ns`,
// `preset`) what the check makes it.
async function saveRows(db: Database, json: string): Promise<readonly StillRow[]> {
  const { rows } = await sql<StillRow>`
    with w as materialized (
      select * from jsonb_to_recordset(${json}::jsonb) as w(
        domain_id bigint, seq bigint, status text, started_at timestamptz, finished_at timestamptz, verdict text,
        findings jsonb, seen_ns text[], matched_ns text[], keeps_delegated boolean, delegated_ns text[], parent text,
        queries integer, outcome text, evidence jsonb, ours_at timestamptz, miss_count integer,
        first_miss_at timestamptz, last_miss_at timestamptz, conclusive_at timestamptz, conclusive_ours boolean,
        preset text, preset_taken jsonb, due_at timestamptz, next_check_at timestamptz,
        ns_check_interval_seconds integer)),
    locked as materialized (
      select d.id, d.last_check_id, d.last_check_id is not null and d.last_outcome = w.outcome as same
      from domains d join w on w.domain_id = d.id
      where d.check_seq = w.seq and d.deleted_at is null and d.zone_id is not null
        and case when w.status = 'leaving' then d.leaving
          else not d.leaving and d.dns_mode = 'managed' and d.status = w.status end
        and (w.keeps_delegated or d.delegated_ns is not distinct from w.delegated_ns)
        and d.preset = w.preset and d.preset_taken = w.preset_taken
      order by d.id for no key update of d skip locked),
    still as materialized (
      select id, same, case when same then last_check_id
        else nextval(pg_get_serial_sequence('check_runs', 'id')) end as run_id
      from locked),
    remembered as (
      update domains d set check_seq = d.check_seq + 1, check_parent = coalesce(w.parent, d.check_parent),
        miss_count = w.miss_count, first_miss_at = w.first_miss_at, last_miss_at = w.last_miss_at,
        conclusive_at = w.conclusive_at, conclusive_ours = w.conclusive_ours,
        ours_at = coalesce(w.ours_at, d.ours_at), due_at = w.due_at, next_check_at = w.next_check_at,
        ns_check_interval_seconds = w.ns_check_interval_seconds,
        current_ns = coalesce(w.seen_ns, d.current_ns), last_check_id = s.run_id, last_outcome = w.outcome,
        findings = case when s.same or d.findings = w.findings then d.findings else (
          select coalesce(jsonb_agg(f.value order by f.ordinality), '[]')
          from jsonb_array_elements(d.findings) with ordinality f
          where f.value ->> 'code' <> all(${CODES}::text[])) || w.findings end
      from still s join w on w.domain_id = s.id where d.id = s.id),
    counted as (
      update check_runs r set repeated = r.repeated + 1, last_seen_at = w.finished_at, next_check_at = w.due_at
      from still s join w on w.domain_id = s.id where s.same and r.id = s.run_id),
    added as (
      insert into check_runs (id, domain_id, kind, started_at, finished_at, last_seen_at, verdict, findings,
        status_before, status_after, current_ns, matched_ns, parent, queries, next_check_at, evidence)
      select s.run_id, s.id, 'background', w.started_at, w.finished_at, w.finished_at, w.verdict, w.findings,
        w.status, w.status, w.seen_ns, w.matched_ns, w.parent, w.queries, w.due_at, w.evidence
      from still s join w on w.domain_id = s.id where not s.same)
    select id as "domainId", run_id as "checkId", not same as "isNew" from still`.execute(db);
  return rows;
}
