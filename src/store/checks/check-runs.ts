// The log of a domain's checks, with evidence and findings as JSON.

import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Evidence, ServerEvidence, WalkedZone } from '../../checks/delegation/evidence.ts';
import {
  boundedText,
  encodeNames,
  type JsonEvidence,
  type JsonServer,
} from '../../checks/delegation/evidence-json.ts';
import type { Finding, FindingCode } from '../../checks/delegation/finding.ts';
import type { VoiceView } from '../../checks/delegation/seen.ts';
import type { Verdict } from '../../checks/delegation/verdict.ts';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../postgres/list-page.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { CheckKind, RunStatus, StoredFinding } from '../postgres/tables/schema.ts';
import { type Waiting, waitForRow } from '../postgres/wait-for-row.ts';

export function decodeEvidence(json: JsonEvidence): Evidence {
  const { domain, parent, walk, servers, failure, ...passed } = json;
  return {
    ...passed,
    domain: decodeNameColumn(domain),
    parent: parent === undefined ? undefined : decodeNameColumn(parent),
    walk: walk.map(
      ({ zone, servers, cached }): WalkedZone => ({
        zone: decodeNameColumn(zone),
        servers: servers.map(decodeNameColumn),
        cached,
      }),
    ),
    servers: servers.map(decodeServer),
    failure: failure === undefined ? undefined : { ...failure, zone: decodeNameColumn(failure.zone) },
  };
}

function decodeServer({ glue, ...json }: JsonServer): ServerEvidence {
  return {
    ...json,
    ...(glue !== undefined && {
      glue: glue.map(({ name, address }) => ({ name: decodeNameColumn(name), address })),
    }),
    server: decodeNameColumn(json.server),
    rttMs: json.rttMs,
    rcode: json.rcode,
    aa: json.aa,
    ns: json.ns.map(decodeNameColumn),
    ttl: json.ttl,
    ds: json.ds.map((text) => new Uint8Array(Buffer.from(text, 'base64'))),
    error: json.error,
  };
}

/** The observation of one vantage point as JSON. Its names are limited, because zone owners decide how many there are. */
interface StoredView extends Omit<VoiceView, 'ns'> {
  readonly ns: readonly string[];
}

const MOST_VIEW_NAMES = 16;

export function encodeView({ label, word, kind, ns }: VoiceView): StoredView {
  return { label, word, kind, ns: encodeNames(ns.slice(0, MOST_VIEW_NAMES)) };
}

function decodeView(view: StoredView): VoiceView {
  return { ...view, ns: view.ns.map(decodeNameColumn) };
}

export function encodeFinding({ code, message, names }: Finding): StoredFinding {
  return { code, message: boundedText(message), ...(names !== undefined && { names: encodeNames(names) }) };
}

function decodeFinding({ code, message, names }: StoredFinding): Finding {
  return {
    code: code as FindingCode,
    message,
    ...(names !== undefined && { names: names.map(decodeNameColumn) }),
  };
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}

/** A run. Undefined fields are unknown. */
export interface SavedRun {
  readonly id: number;
  readonly domainId: number;
  readonly kind: CheckKind;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  /** The end of the newest check with the same outcome. */
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
  /** The evidence of the run's first check. Lists omit it unless requested. */
  readonly evidence: Evidence | undefined;
  /** Observations of the vantage points. Undefined if none was queried. */
  readonly vantages: readonly VoiceView[] | undefined;
}

interface CheckFilter {
  /** Only runs with a higher id. */
  readonly after?: number | undefined;
  readonly kinds?: readonly CheckKind[] | undefined;
  readonly verdicts?: readonly Verdict[] | undefined;
}

type CheckPage = Partial<LogPage> & Pick<LogPage, 'limit'> & { readonly evidence?: boolean };

interface RunRow
  extends Omit<SavedRun, 'findings' | 'currentNs' | 'matchedNs' | 'parent' | 'evidence' | 'vantages'> {
  readonly findings: readonly StoredFinding[];
  readonly currentNs: readonly string[] | null;
  readonly matchedNs: readonly string[] | null;
  readonly parent: string | null;
  readonly evidence: JsonEvidence | null;
  readonly vantages: readonly StoredView[] | null;
}

/** Lists runs, newest first by default. */
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

/** Waits for the run that a worker makes for a request. Returns undefined after a timeout or an abort by `signal`. */
export async function waitForCheck(
  db: Database,
  request: string,
  waiting: Waiting,
): Promise<SavedRun | undefined> {
  return await waitForRow(() => findCheckByRequest(db, request), waiting);
}
