// A scan is asked for: of a domain one goes on at a time, and whoever asks for another joins it. One that was only to be
// looked at imports as well from the moment that somebody joins who wants that, and with the rights of whoever has more.

import { sql } from 'kysely';
import type { KeyNarrowing } from '../zone/key-narrowing.ts';
import type { Actor } from './actor.ts';
import type { Database } from './database.ts';
import type { ScanKind } from './schema.ts';
import { inTransaction } from './transaction.ts';

export interface ScanOrder {
  readonly domainId: number;
  readonly kind: ScanKind;
  readonly by: Actor;
  /** Of the API key that asks. */
  readonly narrowing: KeyNarrowing | null;
  /** A UUID by which a repeat of the same call finds it again. */
  readonly request?: string;
}

export interface OpenedScan {
  readonly id: number;
  /** `repeated`: by the same request, and perhaps over. `barred`: a key that is narrowed otherwise imports by it. */
  readonly how: 'begun' | 'joined' | 'raised' | 'repeated' | 'barred';
  /** For a worker. */
  readonly isWaiting: boolean;
  /** When it comes up again, as text: whoever joins it while it waits, or begins with it, moves that. */
  readonly dueAt: string | null;
}

/** Whoever asked puts the job into the queue; should it get lost there, the scan comes up again after so long. */
const ENQUEUED_SECONDS = 30;

export async function openScan(db: Database, order: ScanOrder): Promise<OpenedScan> {
  return await inTransaction(db, async (trx) => {
    for (;;) {
      const opened =
        (await findRequested(trx, order)) ??
        (await insertScan(trx, order, ENQUEUED_SECONDS)) ??
        (await joinScan(trx, order));
      if (opened !== undefined) return opened;
      // it was over between the two
    }
  });
}

/** Of a domain that is made in this transaction: a worker finds it. */
export async function openBackgroundScan(trx: Database, domainId: number, by: Actor): Promise<void> {
  await insertScan(trx, { domainId, kind: 'background', by, narrowing: null }, 0);
}

/** Takes back what `openScan` did, where nobody has joined it since and no worker has begun with it. */
export async function withdrawScan(db: Database, { id, how, dueAt }: OpenedScan): Promise<void> {
  const isUntouched = sql`id = ${id} and due_at = ${dueAt}::timestamptz`;
  if (how === 'begun') await sql`delete from scans where ${isUntouched}`.execute(db);
  else if (how === 'raised') {
    await sql`
      update scans set imports = false, kind = 'preview', request = null where ${isUntouched}`.execute(db);
  }
}

/** No worker has it, or one that fell silent. */
const WAITS = sql`(finished_at is null and (run is null or due_at <= clock_timestamp()))`;

type Found = Omit<OpenedScan, 'how'>;

/** One whose import was refused is no answer to a repeat, nor is one for an import that does not import. */
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
  { domainId, kind, by, narrowing, request }: ScanOrder,
  dueInSeconds: number,
): Promise<OpenedScan | undefined> {
  const { rows } = await sql<Found>`
    insert into scans (domain_id, account_id, kind, imports, actor, narrowing, request, due_at)
    values (${domainId}, (select account_id from domains where id = ${domainId}), ${kind}, ${kind !== 'preview'},
      ${JSON.stringify(by)}, ${narrowing === null ? null : JSON.stringify(narrowing)}, ${request ?? null},
      clock_timestamp() + make_interval(secs => ${dueInSeconds}))
    on conflict do nothing returning id, true as "isWaiting", due_at::text as "dueAt"`.execute(trx);
  return rows[0] && { ...rows[0], how: 'begun' };
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
  /** As the order is. */
  readonly isNarrowedSo: boolean;
}

/** Whoever joins puts a job of their own into the queue. `found` is locked. */
async function keepWaiting(trx: Database, found: Found): Promise<Found> {
  const { id, isWaiting, dueAt } = found;
  if (!isWaiting) return { id, isWaiting, dueAt };
  const { rows } = await sql<{ dueAt: string }>`
    update scans set run = null, due_at = clock_timestamp() + make_interval(secs => ${ENQUEUED_SECONDS})
    where id = ${id} returning due_at::text as "dueAt"`.execute(trx);
  return { id, isWaiting, dueAt: rows[0]?.dueAt ?? null };
}
