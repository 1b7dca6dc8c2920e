// Opens a scan. A domain has one running scan at a time, and a second request joins it. If a request to import joins a
// preview, the scan also imports, with the wider rights of the two.

import { type RawBuilder, sql } from 'kysely';
import type { KeyNarrowing } from '../../zone/edit/key-narrowing.ts';
import type { Actor } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import type { ScanKind } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';

export interface ScanOrder {
  readonly domainId: number;
  readonly kind: ScanKind;
  readonly by: Actor;
  /** The restrictions of the calling API key. */
  readonly narrowing: KeyNarrowing | null;
  /** A UUID by which a repeated call finds its scan. */
  readonly request?: string;
}

interface OpenedScan {
  readonly id: number;
  /**
   * `repeated`: the same request opened the scan earlier, and it may be finished. `barred`: a scan is running that
   * imports with a key of other restrictions.
   */
  readonly how: 'begun' | 'joined' | 'raised' | 'repeated' | 'barred';
  /** True if the scan waits for a worker. */
  readonly isWaiting: boolean;
  /** The time at which the scan is due again, as text. It changes if a request joins or a worker starts the scan. */
  readonly dueAt: string | null;
}

/** The scan is due again after this many seconds, in case the caller's queue job is lost. */
const ENQUEUED_SECONDS = 30;

export async function openScan(db: Database, order: ScanOrder): Promise<OpenedScan> {
  return await inTransaction(db, async (trx) => {
    for (;;) {
      const opened =
        (await findRequested(trx, order)) ??
        (await insertScan(trx, order, ENQUEUED_SECONDS)) ??
        (await joinScan(trx, order));
      if (opened !== undefined) return opened;
      // The scan finished between the statements.
    }
  });
}

/** Opens the scan of a domain that this transaction creates. A worker will find it. */
export async function openBackgroundScan(trx: Database, domainId: number, by: Actor): Promise<void> {
  await sendWithNext(trx, scanInsert({ domainId, kind: 'background', by, narrowing: null }, 0));
}

/** Reverts `openScan`, unless another request has joined the scan or a worker has started it. */
export async function withdrawScan(db: Database, { id, how, dueAt }: OpenedScan): Promise<void> {
  const isUntouched = sql`id = ${id} and due_at = ${dueAt}::timestamptz`;
  if (how === 'begun') await sql`delete from scans where ${isUntouched}`.execute(db);
  else if (how === 'raised') {
    await sql`
      update scans set imports = false, kind = 'preview', request = null where ${isUntouched}`.execute(db);
  }
}

/** Selects scans without a worker, or whose worker has stopped renewing its lease. */
const WAITS = sql`(finished_at is null and (run is null or due_at <= clock_timestamp()))`;

type Found = Omit<OpenedScan, 'how'>;

/** A scan whose import was refused does not answer a repeat, and a preview does not answer a request to import. */
async function findRequested(trx: Database, { kind, request }: ScanOrder): Promise<OpenedScan | undefined> {
  if (request === undefined) return undefined;
  await sql`
    update scans set request = null
    where request = ${request}::uuid
      and (result->>'kind' = 'refused' or not imports and ${kind !== 'preview'})`.execute(trx);
  const { rows } = await sql<Found>`
    select id, ${WAITS} as "isWaiting", due_at::text as "dueAt" from scans
    where request = ${request}::uuid for update`.execute(trx);
  return rows[0] && { ...(await keepWaiting(trx, rows[0])), how: 'repeated' };
}

async function insertScan(
  trx: Database,
  order: ScanOrder,
  dueInSeconds: number,
): Promise<OpenedScan | undefined> {
  const { rows } = await scanInsert(order, dueInSeconds).execute(trx);
  return rows[0] && { ...rows[0], how: 'begun' };
}

/** Inserts nothing if the domain has a running scan. */
function scanInsert(
  { domainId, kind, by, narrowing, request }: ScanOrder,
  dueInSeconds: number,
): RawBuilder<Found> {
  return sql<Found>`
    insert into scans (domain_id, account_id, kind, imports, actor, narrowing, request, due_at)
    values (${domainId}, (select account_id from domains where id = ${domainId}), ${kind}, ${kind !== 'preview'},
      ${JSON.stringify(by)}, ${narrowing === null ? null : JSON.stringify(narrowing)}, ${request ?? null},
      clock_timestamp() + make_interval(secs => ${dueInSeconds}))
    on conflict do nothing returning id, true as "isWaiting", due_at::text as "dueAt"`;
}

async function joinScan(trx: Database, order: ScanOrder): Promise<OpenedScan | undefined> {
  const { domainId, kind, by, request } = order;
  const narrowing = order.narrowing === null ? null : JSON.stringify(order.narrowing);
  const { rows } = await sql<Joinable>`
    select id, imports, narrowing is not null as "isNarrowed",
      narrowing is not distinct from ${narrowing}::jsonb as "isNarrowedSo", ${WAITS} as "isWaiting",
      due_at::text as "dueAt"
    from scans where domain_id = ${domainId} and finished_at is null for update`.execute(trx);
  const [open] = rows;
  if (open === undefined) return undefined;
  const { imports, isNarrowed, isNarrowedSo } = open;
  const isImport = kind !== 'preview';
  if (isImport && imports && isNarrowed && narrowing !== null && !isNarrowedSo) {
    return { ...open, how: 'barred' };
  }
  const joined = await keepWaiting(trx, open);
  const hasRights = imports && (!isNarrowed || isNarrowedSo);
  if (hasRights || !isImport) return { ...joined, how: 'joined' };
  await sql`
    update scans set imports = true, kind = ${kind}, actor = ${JSON.stringify(by)}, request = ${request ?? null},
      narrowing = ${narrowing}
    where id = ${open.id}`.execute(trx);
  return { ...joined, how: imports ? 'joined' : 'raised' };
}

interface Joinable extends Found {
  readonly imports: boolean;
  readonly isNarrowed: boolean;
  /** True if the scan has the restrictions of the order. */
  readonly isNarrowedSo: boolean;
}

/** Makes the scan wait for the queue job of the joining request. `found` is locked. */
async function keepWaiting(trx: Database, found: Found): Promise<Found> {
  const { id, isWaiting, dueAt } = found;
  if (!isWaiting) return { id, isWaiting, dueAt };
  const { rows } = await sql<{ dueAt: string }>`
    update scans set run = null, due_at = clock_timestamp() + make_interval(secs => ${ENQUEUED_SECONDS})
    where id = ${id} returning due_at::text as "dueAt"`.execute(trx);
  return { id, isWaiting, dueAt: rows[0]?.dueAt ?? null };
}
