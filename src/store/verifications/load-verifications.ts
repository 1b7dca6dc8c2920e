// Loads runs of verifications.

import { type RawBuilder, sql } from 'kysely';
import type { TxtVerdict } from '../../checks/txt/txt-judgement.ts';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { CheckKind } from '../postgres/tables/schema.ts';
import { type Waiting, waitForRow } from '../postgres/wait-for-row.ts';
import type { JsonTxtResolver, JsonTxtServer } from './verification-run-row.ts';
import { IS_TO_BE_VERIFIED } from './verified-domain.ts';

export interface VerificationRun {
  readonly id: number;
  readonly domainId: number;
  readonly kind: CheckKind;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly verdict: TxtVerdict;
  /** Number of addresses that have the record, of those queried. */
  readonly found: number;
  readonly asked: number;
  readonly servers: readonly (Omit<JsonTxtServer, 'server'> & { readonly server: Name })[];
  readonly resolvers: readonly JsonTxtResolver[];
  readonly message: string;
  /** The evidence as encoded by `encodeTxtEvidence`. */
  readonly evidence: object;
  /** The change of the domain's status that the run caused. */
  readonly changeId: number | null;
}

export type VerificationLine = Omit<VerificationRun, 'evidence'> & {
  /** The value that was queried. */
  readonly value: string;
};

/** Lists all stored runs, including those of older values, newest first. */
export async function listVerifications(db: Database, domainId: number): Promise<VerificationLine[]> {
  const { rows } = await sql<RunRow & { readonly value: string }>`
    select ${COLUMNS}, r.value from verification_runs r where r.domain_id = ${domainId} order by r.id desc`.execute(
    db,
  );
  return rows.map(decodeServers);
}

/** Returns the newest run for this value. Runs for older values do not count. */
export async function findNewestVerification(
  db: Database,
  domainId: number,
  value: string,
): Promise<VerificationRun | undefined> {
  return await loadRun(db, sql`r.domain_id = ${domainId} and r.value = ${value} order by r.id desc limit 1`);
}

export async function findVerificationByRequest(
  db: Database,
  request: string,
): Promise<VerificationRun | undefined> {
  return await loadRun(db, sql`r.request = ${request}::uuid`);
}

/** Returns the run of `request`, or another run that started later and serves as well. */
async function findVerificationSince(
  db: Database,
  {
    domainId,
    value,
    request,
    since,
  }: { readonly domainId: number; readonly value: string; readonly request: string; readonly since: Date },
): Promise<VerificationRun | undefined> {
  return await loadRun(
    db,
    sql`r.request = ${request}::uuid
      or r.domain_id = ${domainId} and r.value = ${value} and r.started_at >= ${since}
      order by r.id desc limit 1`,
  );
}

async function loadRun(db: Database, where: RawBuilder<unknown>): Promise<VerificationRun | undefined> {
  const { rows } = await sql<RunRow>`
    select ${COLUMNS}, r.evidence from verification_runs r where ${where}`.execute(db);
  const [row] = rows;
  return row && decodeServers(row);
}

const COLUMNS = sql`r.id, r.domain_id as "domainId", r.kind, r.started_at as "startedAt", r.finished_at as "finishedAt",
  r.verdict, r.found, r.asked, r.servers, r.resolvers, r.message, r.change_id as "changeId"`;

function decodeServers<R extends Pick<RunRow, 'servers'>>(row: R) {
  return {
    ...row,
    servers: row.servers.map(({ server, ...said }) => ({ ...said, server: decodeNameColumn(server) })),
  };
}

interface RunRow extends Omit<VerificationRun, 'servers'> {
  readonly servers: readonly JsonTxtServer[];
}

type AwaitedVerification =
  | { readonly kind: 'run'; readonly run: VerificationRun }
  /** The domain has changed, so there is nothing to wait for. */
  | { readonly kind: 'over' };

interface WantedVerification {
  readonly domainId: number;
  readonly value: string;
  readonly request: string;
  /** When the verification was requested. */
  readonly since: Date;
}

/**
 * Waits for a requested verification. It may never be made: a later one serves as well, another one proved the domain
 * first, or the domain's time ended. After the timeout, returns a verification that was running at the request. Returns
 * undefined if there was none, or if `signal` has aborted.
 */
export async function waitForVerification(
  db: Database,
  wanted: WantedVerification,
  waiting: Waiting,
): Promise<AwaitedVerification | undefined> {
  const { domainId, value } = wanted;
  const before = await findNewestVerification(db, domainId, value);
  const find = async (): Promise<AwaitedVerification | undefined> => {
    const isOver = !(await isOpen(db, wanted)); // first, so that the run that ended it is visible below
    const run = await findVerificationSince(db, wanted);
    if (run !== undefined) return { kind: 'run', run };
    return isOver ? { kind: 'over' } : undefined;
  };
  const came = await waitForRow(find, waiting);
  if (came !== undefined || waiting.signal.aborted) return came;
  const run = await findNewestVerification(db, domainId, value);
  return run === undefined || run.id === before?.id ? undefined : { kind: 'run', run };
}

async function isOpen(db: Database, { domainId, value }: WantedVerification): Promise<boolean> {
  const { rows } = await sql`
    select from domains d join domain_verifications v on v.domain_id = d.id
    where d.id = ${domainId} and ${IS_TO_BE_VERIFIED} and v.value = ${value} and v.expires_at > clock_timestamp()`.execute(
    db,
  );
  return rows.length > 0;
}
