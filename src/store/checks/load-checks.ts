// The log of a domain's checks.

import { type RawBuilder, sql } from 'kysely';
import type { Evidence } from '../../checks/delegation/evidence.ts';
import type { JsonEvidence } from '../../checks/delegation/evidence-json.ts';
import type { Finding } from '../../checks/delegation/findings.ts';
import type { VoiceView } from '../../checks/delegation/seen.ts';
import type { Verdict } from '../../checks/delegation/verdict.ts';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../postgres/list-page.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { CheckKind, RunStatus, StoredFinding } from '../postgres/tables/schema.ts';
import { decodeEvidence, decodeFinding, decodeView, type StoredView } from './check-run-row.ts';

/** A run; `undefined` means not known. */
export interface SavedRun {
  readonly id: number;
  readonly domainId: number;
  readonly kind: CheckKind;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  /** When the newest check with the same outcome ended. */
  readonly lastSeenAt: Date;
  readonly repeated: number;
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  readonly statusBefore: RunStatus;
  readonly statusAfter: RunStatus;
  readonly currentNs: readonly Name[] | undefined;
  readonly matchedNs: readonly Name[] | undefined;
  readonly parent: Name | undefined;
  readonly queries: number;
  readonly nextCheckAt: Date | null;
  /** The evidence of the first of these checks; in lists only on request. */
  readonly evidence: Evidence | undefined;
  /** What observers elsewhere saw; undefined: none was asked. */
  readonly vantages: readonly VoiceView[] | undefined;
}

interface CheckFilter {
  /** Only runs with a higher id. */
  readonly after?: number | undefined;
  readonly kinds?: readonly CheckKind[] | undefined;
  readonly verdicts?: readonly Verdict[] | undefined;
}

type CheckPage = Partial<LogPage> & Pick<LogPage, 'limit'> & { readonly evidence?: boolean };

/** A run as in its row. */
interface RunRow
  extends Omit<SavedRun, 'findings' | 'currentNs' | 'matchedNs' | 'parent' | 'evidence' | 'vantages'> {
  readonly findings: readonly StoredFinding[];
  readonly currentNs: readonly string[] | null;
  readonly matchedNs: readonly string[] | null;
  readonly parent: string | null;
  readonly evidence: JsonEvidence | null;
  readonly vantages: readonly StoredView[] | null;
}

/** Lists runs, newest first unless said. */
export async function listChecks(
  db: Database,
  domainId: number,
  { limit, offset = 0, descending = true, evidence = false, ...rest }: CheckPage,
  filter: CheckFilter = {},
): Promise<SavedRun[]> {
  const { behind, order } = logSql(sql`r.id`, { limit, descending, ...rest });
  return await loadRuns(
    db,
    sql`${conditions(domainId, filter)} and ${behind} order by ${order} limit ${limit} offset ${offset}`,
    evidence,
  );
}

export async function countChecks(db: Database, domainId: number, filter: CheckFilter): Promise<number> {
  return await countUpTo(db, sql`check_runs r where ${conditions(domainId, filter)}`);
}

function conditions(domainId: number, { after = 0, kinds, verdicts }: CheckFilter): RawBuilder<unknown> {
  const all = [sql`r.domain_id = ${domainId}`, sql`r.id > ${after}`];
  if (kinds !== undefined) all.push(sql`r.kind = any(${kinds}::text[])`);
  if (verdicts !== undefined) all.push(sql`r.verdict = any(${verdicts}::text[])`);
  return sql.join(all, sql` and `);
}

export async function loadCheck(db: Database, domainId: number, id: number): Promise<SavedRun | undefined> {
  const [run] = await loadRuns(db, sql`r.id = ${id} and r.domain_id = ${domainId}`, true);
  return run;
}

export async function loadLatestCheck(db: Database, domainId: number): Promise<SavedRun | undefined> {
  const [run] = await loadRuns(db, sql`r.domain_id = ${domainId} order by r.id desc limit 1`, true);
  return run;
}

export async function findCheckByRequest(db: Database, request: string): Promise<SavedRun | undefined> {
  const [run] = await loadRuns(db, sql`r.request = ${request}::uuid`, true);
  return run;
}

async function loadRuns(
  db: Database,
  where: RawBuilder<unknown>,
  withEvidence: boolean,
): Promise<SavedRun[]> {
  const { rows } = await sql<RunRow>`
    select r.id, r.domain_id as "domainId", r.kind, r.started_at as "startedAt", r.finished_at as "finishedAt",
      r.last_seen_at as "lastSeenAt", r.repeated, r.verdict, r.findings, r.status_before as "statusBefore",
      r.status_after as "statusAfter", r.current_ns as "currentNs", r.matched_ns as "matchedNs", r.parent, r.queries,
      r.next_check_at as "nextCheckAt", r.vantages, ${withEvidence ? sql`r.evidence` : sql`null`} as evidence
    from check_runs r where ${where}`.execute(db);
  return rows.map((row) => ({
    ...row,
    findings: row.findings.map(decodeFinding),
    currentNs: row.currentNs?.map(decodeNameColumn),
    matchedNs: row.matchedNs?.map(decodeNameColumn),
    parent: row.parent === null ? undefined : decodeNameColumn(row.parent),
    evidence: row.evidence === null ? undefined : decodeEvidence(row.evidence),
    vantages: row.vantages?.map(decodeView),
  }));
}
