// Saves checks that leave their domain unchanged, as nearly all do: one statement saves any number of them. If the
// outcome equals that of the last run, the run's counter is incremented, and the domain's own row is neither locked nor
// written. Otherwise a new run is added, and the domain's findings are written if they differ.

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
 * Returns the ids of the saved runs. Skips checks that change the status or what is published, that a user requested,
 * or that come too late, and those whose rows are locked. `saveMovingCheck` saves these under its locks.
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
    // These checks are saved, even if deleting old runs fails.
    if (isNew) await purgeRunsNowAndThen(db, domainId, checkId).catch(() => {});
  }
  return new Map(saved.map(({ domainId, checkId }) => [byDomain.get(domainId) as CheckOrder, checkId]));
}

function mayBeStill({ kind, decision, setsAfter }: CheckOrder): boolean {
  return kind === 'background' && !isEnd(decision.to) && setsAfter === undefined;
}

/** Fields of a check besides the remembered columns, with their SQL types. */
const OTHER_COLUMNS = {
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

type CheckRow = Readonly<Record<keyof typeof OTHER_COLUMNS | keyof typeof REMEMBERED, unknown>>;

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
  [...Object.entries(OTHER_COLUMNS), ...remembered.map(([name, { type }]) => [name, type])]
    .map((column) => column.join(' '))
    .join(', '),
);

const REMEMBERED_SET = sql.raw(
  remembered
    .map(([name, { mayStay }]) => `${name} = ${mayStay ? `coalesce(w.${name}, c.${name})` : `w.${name}`}`)
    .join(', '),
);

/** The column `findings` after the check: its own findings are replaced, those of other writers are kept. */
const FINDINGS_AFTER = sql`((
  select coalesce(jsonb_agg(f.value order by f.ordinality), '[]')
  from jsonb_array_elements(d.findings) with ordinality f
  where f.value ->> 'code' <> all(${CODES}::text[])) || w.findings)`;

interface StillRow {
  readonly domainId: number;
  readonly checkId: number;
  readonly isNew: boolean;
}

// Locked rows are skipped, because waiting for one while holding others could deadlock. A new run locks its domain's
// row by the foreign key, so that row is locked first, or skipped too. `seq` ensures that the domain has not changed
// since the check started, even without its lock. Published columns (`delegated_ns`, `open`) must already have the
// check's values. Without `= any`, the planner may scan the whole table, because it expects `w` to have a hundred rows.
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
