// Saves checks that leave their domain as it is, as nearly all do: one statement saves any number of them. When the
// outcome is that of the last run, the run's counter goes up and the domain's own row is neither locked nor written.
// Else a new run is added, and the domain's findings are written if they differ.

import { sql } from 'kysely';
import { encodeEvidence } from '../../checks/delegation/evidence-json.ts';
import type { Database } from '../postgres/database.ts';
import {
  type CheckOrder,
  CODES,
  isEnd,
  outcomeHash,
  outcomeOf,
  publishedColumns,
  REMEMBERED,
  rememberedColumns,
} from './check-outcome.ts';
import { encodeView } from './check-runs.ts';
import { purgeRunsNowAndThen } from './save-run.ts';

/**
 * Gives the ids of the runs that were saved. Left out are checks that change the status or what is published, those
 * that a user asked for, those that come too late, and those whose rows are locked: `saveMovingCheck` saves them under
 * its locks.
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

function mayBeStill({ kind, decision, setsAfter }: CheckOrder): boolean {
  return kind === 'background' && !isEnd(decision.to) && setsAfter === undefined;
}

/** What comes with a check besides the columns that are remembered, with types of SQL. */
const BESIDE = {
  domain_id: 'bigint',
  seq: 'bigint',
  status: 'text',
  keeps_delegated: 'boolean',
  delegated_ns: 'text[]',
  open: 'boolean',
  started_at: 'timestamptz',
  finished_at: 'timestamptz',
  verdict: 'text',
  findings: 'jsonb',
  matched_ns: 'text[]',
  queries: 'integer',
  evidence: 'jsonb',
  vantages: 'jsonb',
  last_outcome: 'text',
} as const;

type CheckRow = Readonly<Record<keyof typeof BESIDE | keyof typeof REMEMBERED, unknown>>;

function rowOf(order: CheckOrder): CheckRow {
  const outcome = outcomeOf(order);
  const { delegated_ns, open } = publishedColumns(outcome);
  return {
    ...rememberedColumns(outcome),
    domain_id: order.domainId,
    seq: order.seq,
    status: outcome.to,
    keeps_delegated: delegated_ns === undefined,
    delegated_ns,
    open,
    started_at: new Date(order.startedAt),
    finished_at: outcome.finishedAt,
    verdict: outcome.verdict,
    findings: outcome.findings,
    matched_ns: outcome.matchedNs,
    queries: order.evidence.queries,
    evidence: encodeEvidence(order.evidence),
    vantages: order.vantages?.map(encodeView),
    last_outcome: outcomeHash(outcome),
  };
}

const remembered = Object.entries<{ readonly type: string; readonly mayStay?: true }>(REMEMBERED);

const CHECK_COLUMNS = sql.raw(
  [...Object.entries(BESIDE), ...remembered.map(([name, { type }]) => [name, type])]
    .map((column) => column.join(' '))
    .join(', '),
);

const REMEMBERED_SET = sql.raw(
  remembered
    .map(([name, { mayStay }]) => `${name} = ${mayStay ? `coalesce(w.${name}, c.${name})` : `w.${name}`}`)
    .join(', '),
);

/** The column `findings` after the check: it writes its own anew and keeps those of other writers. */
const FINDINGS_AFTER = sql`((
  select coalesce(jsonb_agg(f.value order by f.ordinality), '[]')
  from jsonb_array_elements(d.findings) with ordinality f
  where f.value ->> 'code' <> all(${CODES}::text[])) || w.findings)`;

interface StillRow {
  readonly domainId: number;
  readonly checkId: number;
  readonly isNew: boolean;
}

// Rows that are locked are skipped: waiting for one with others locked could be waiting for somebody who waits for
// those. A new run locks its domain's row by the foreign key, so that row is locked here first, and skipped too. The
// domain has to be what it was when the check began: `seq` says so, whoever changes it meanwhile, and without its lock.
// What would be published anew (`delegated_ns`, `open`) has to be what the check makes it.
// `any`: of the join alone the planner may make a look at every row, since it takes `w` for a hundred.
async function saveRows(db: Database, json: string): Promise<readonly StillRow[]> {
  const { rows } = await sql<StillRow>`
    with w as materialized (select * from jsonb_to_recordset(${json}::jsonb) as w(${CHECK_COLUMNS})),
    changed as materialized (
      select id from domains where id = any(array(
        select c.domain_id from w join domain_checks c on c.domain_id = w.domain_id
        where c.domain_id = any(array(select domain_id from w))
          and c.seq = w.seq and c.last_outcome is distinct from w.last_outcome))
      for no key update skip locked),
    locked as materialized (
      select c.domain_id as id, c.last_run_id, l.id is null as same
      from w join domain_checks c on c.domain_id = w.domain_id join domains d on d.id = c.domain_id
        left join changed l on l.id = d.id
      where d.id = any(array(select domain_id from w))
        and c.seq = w.seq and d.deleted_at is null
        and (l.id is not null or c.last_run_id is not null and c.last_outcome = w.last_outcome)
        and case when w.status = 'leaving' then d.leaving
          when w.status = 'ended' then d.status = 'disabled' and d.disabled_by = 'checker'
          else not d.leaving and d.dns_mode = 'managed' and d.status = w.status end
        and (w.keeps_delegated or d.delegated_ns is not distinct from w.delegated_ns)
        and d.open = w.open
      for no key update of c skip locked),
    still as materialized (
      select id, same, case when same then last_run_id
        else nextval(pg_get_serial_sequence('check_runs', 'id')) end as run_id
      from locked),
    remembered as (
      update domain_checks c set seq = c.seq + 1, last_run_id = s.run_id, last_outcome = w.last_outcome, ${REMEMBERED_SET}
      from still s join w on w.domain_id = s.id where c.domain_id = s.id),
    found as (
      update domains d set findings = ${FINDINGS_AFTER}
      from still s join w on w.domain_id = s.id
      where d.id = s.id and not s.same and w.status <> 'ended' and d.findings <> ${FINDINGS_AFTER}),
    counted as (
      update check_runs r set repeated = r.repeated + 1, last_seen_at = w.finished_at, next_check_at = w.due_at
      from still s join w on w.domain_id = s.id where s.same and r.id = s.run_id),
    added as (
      insert into check_runs (id, domain_id, kind, started_at, finished_at, last_seen_at, verdict, findings,
        status_before, status_after, current_ns, matched_ns, parent, queries, next_check_at, evidence, vantages)
      select s.run_id, s.id, 'background', w.started_at, w.finished_at, w.finished_at, w.verdict, w.findings,
        w.status, w.status, w.current_ns, w.matched_ns, w.parent, w.queries, w.due_at, w.evidence, w.vantages
      from still s join w on w.domain_id = s.id where not s.same)
    select id as "domainId", run_id as "checkId", not same as "isNew" from still`.execute(db);
  return rows;
}
