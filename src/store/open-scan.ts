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
  /** `repeated`: by the same request, and perhaps over. */
  readonly how: 'begun' | 'joined' | 'raised' | 'repeated';
  /** For a worker. */
  readonly isWaiting: boolean;
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

/** Takes back what `openScan` did, where no worker has begun with it. */
export async function withdrawScan(db: Database, { id, how }: OpenedScan): Promise<void> {
  if (how === 'begun') await sql`delete from scans where id = ${id} and run is null`.execute(db);
  else if (how === 'raised') {
    await sql`
      update scans set imports = false, kind = 'preview' where id = ${id} and finished_at is null`.execute(
      db,
    );
  }
}

/** No worker has it, or one that fell silent. */
const WAITS = sql`(finished_at is null and (run is null or due_at <= clock_timestamp()))`;

async function findRequested(trx: Database, { request }: ScanOrder): Promise<OpenedScan | undefined> {
  if (request === undefined) return undefined;
  const { rows } = await sql<{ id: number; isWaiting: boolean }>`
    select id, ${WAITS} as "isWaiting" from scans where request = ${request}::uuid`.execute(trx);
  return rows[0] && { ...rows[0], how: 'repeated' };
}

async function insertScan(
  trx: Database,
  { domainId, kind, by, narrowing, request }: ScanOrder,
  dueInSeconds: number,
): Promise<OpenedScan | undefined> {
  const { rows } = await sql<{ id: number }>`
    insert into scans (domain_id, kind, imports, actor, narrowing, request, due_at)
    values (${domainId}, ${kind}, ${kind !== 'preview'}, ${JSON.stringify(by)},
      ${narrowing === null ? null : JSON.stringify(narrowing)}, ${request ?? null},
      clock_timestamp() + make_interval(secs => ${dueInSeconds}))
    on conflict do nothing returning id`.execute(trx);
  return rows[0] && { id: rows[0].id, how: 'begun', isWaiting: true };
}

async function joinScan(
  trx: Database,
  { domainId, kind, by, narrowing, request }: ScanOrder,
): Promise<OpenedScan | undefined> {
  const { rows } = await sql<{ id: number; imports: boolean; isNarrowed: boolean; isWaiting: boolean }>`
    select id, imports, narrowing is not null as "isNarrowed", ${WAITS} as "isWaiting" from scans
    where domain_id = ${domainId} and finished_at is null for update`.execute(trx);
  const [open] = rows;
  if (open === undefined) return undefined;
  const { id, imports, isNarrowed, isWaiting } = open;
  const hasRights = imports && !(isNarrowed && narrowing === null);
  if (hasRights || kind === 'preview') return { id, how: 'joined', isWaiting };
  await sql`
    update scans set imports = true, kind = ${kind}, actor = ${JSON.stringify(by)}, request = ${request ?? null},
      narrowing = ${narrowing === null ? null : JSON.stringify(narrowing)}
    where id = ${id}`.execute(trx);
  return { id, how: imports ? 'joined' : 'raised', isWaiting };
}
