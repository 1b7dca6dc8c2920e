// The primaries of a customer's domain, whose zone is copied from them while it is answered whole.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import { countInWindow } from '../../store/accounts/rate-windows.ts';
import { type DomainLock, isGone, lockDomain } from '../../store/change/lock-domain.ts';
import { type SavedEdit, saveEdit } from '../../store/change/save-edit.ts';
import { publishOwnRecords } from '../../store/change/write-domain-change.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { loadRecordsByName } from '../../store/records/load-touched-records.ts';
import { lockKeys } from '../../store/transfers/keys.ts';
import { loadZone } from '../../store/zones/load-zones.ts';
import { ImportMerge } from '../../zone/import/merge-import.ts';
import type { ImportEntry } from '../../zone/import/read-import.ts';
import { isApiType, MAX_TTL_SECONDS, MIN_TTL_SECONDS } from '../../zone/records/customer-types.ts';
import { isEdgeMark, isMark, type ZoneRecord } from '../../zone/zone.ts';
import type { RefreshFinding } from './rules.ts';
import { type SecondaryState, STATE } from './sql.ts';

interface DomainPrimary {
  readonly address: string;
  readonly port: number;
  readonly keyId: number | null;
}

interface StoredDomainPrimary extends DomainPrimary {
  readonly id: number;
  readonly keyName: string | null;
}

export interface CopiedDomain {
  /** In the order in which they are asked. Empty if the domain is not a copy. */
  readonly primaries: readonly StoredDomainPrimary[];
  /** Undefined if the domain is not a copy. */
  readonly copy: CopyState | undefined;
}

interface CopyState {
  readonly state: SecondaryState;
  readonly serial: number | null;
  readonly form: 'axfr' | 'ixfr' | null;
  readonly transferredAt: Date | null;
  readonly refreshedAt: Date | null;
  readonly dueAt: Date;
  readonly expiresAt: Date | null;
  readonly lastError: RefreshFinding | null;
  readonly lastMessage: string | null;
}

export async function loadCopiedDomain(db: Database, domainId: number): Promise<CopiedDomain> {
  const { rows } = await sql<CopyState>`
    select ${STATE} as state, s.serial, s.form, s.transferred_at as "transferredAt", s.refreshed_at as "refreshedAt",
      s.due_at as "dueAt", s.expires_at as "expiresAt", s.last_error as "lastError", s.last_message as "lastMessage"
    from secondaries s where s.domain_id = ${domainId}`.execute(db);
  return { primaries: await listPrimaries(db, domainId), copy: rows[0] };
}

async function listPrimaries(db: Database, domainId: number): Promise<StoredDomainPrimary[]> {
  const { rows } = await sql<StoredDomainPrimary>`
    select p.id, host(p.addresses[1]) as address, p.port, p.key_id as "keyId", k.name as "keyName"
    from secondaries s cross join unnest(s.peers) with ordinality u (id, place) join peers p on p.id = u.id
      left join tsig_keys k on k.id = p.key_id
    where s.domain_id = ${domainId} order by u.place`.execute(db);
  return rows;
}

type ReplacedPrimaries =
  | { readonly kind: 'replaced' }
  /** The domain has been deleted, or has another owner. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'external' }
  /** The fleet signs the domain, or its signatures are still answered. */
  | { readonly kind: 'signed' }
  /** The key of this item was not imported by the owner. */
  | { readonly kind: 'unknown_key'; readonly index: number };

/** Makes the domain a copy of these primaries. The workers query them immediately if they differ from the previous ones. */
export async function replacePrimaries(
  db: Database,
  { id: domainId, accountId }: { readonly id: number; readonly accountId: number },
  wanted: readonly DomainPrimary[],
): Promise<ReplacedPrimaries> {
  return await inTransaction<ReplacedPrimaries>(db, async (trx) => {
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined || isGone(lock, { ownerId: accountId })) return { kind: 'absent' };
    if (lock.row.dnsMode === 'external') return { kind: 'external' };
    const { signed } = lock;
    if (signed !== undefined && (signed.phase !== 'off' || signed.goal === 'signed'))
      return { kind: 'signed' };
    const ids = wanted.flatMap(({ keyId }) => keyId ?? []);
    const keys = await lockKeys(trx, accountId, ids);
    const index = wanted.findIndex(({ keyId }) => keyId !== null && keys.get(keyId) !== 'fetch');
    if (index >= 0) return { kind: 'unknown_key', index };
    const before = await listPrimaries(trx, domainId);
    if (before.map(identityOf).join() === wanted.map(identityOf).join()) return { kind: 'replaced' };
    const peers: number[] = [];
    for (const primary of wanted) {
      const kept = before.find((each) => identityOf(each) === identityOf(primary));
      peers.push(kept?.id ?? (await addPrimary(trx, domainId, primary)));
    }
    await sql`
      insert into secondaries as s (domain_id, peers) values (${domainId}, ${peers}::bigint[])
      on conflict (domain_id) do update set peers = excluded.peers, seq = s.seq + 1, due_at = clock_timestamp(),
        leased_until = null, failures = 0, last_error = null, last_message = null`.execute(trx);
    await removePrimaries(trx, domainId, peers);
    return { kind: 'replaced' };
  });
}

function identityOf({ address, port, keyId }: DomainPrimary): string {
  return `${address} ${port} ${keyId}`;
}

async function addPrimary(
  trx: Database,
  domainId: number,
  { address, port, keyId }: DomainPrimary,
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into peers (domain_id, addresses, port, key_id)
    values (${domainId}, array[${address}::inet], ${port}, ${keyId}) returning id`.execute(trx);
  return (rows[0] as { id: number }).id;
}

async function removePrimaries(trx: Database, domainId: number, except: readonly number[]): Promise<void> {
  await sql`
    delete from peers where domain_id = ${domainId} and not transfers and not notified
      and id <> all(${[...except]}::bigint[])`.execute(trx);
}

const RETRANSFERS = { limit: 6, seconds: 3600 };

type OrderedRetransfer =
  | { readonly kind: 'ordered' }
  | { readonly kind: 'no_copy' }
  | { readonly kind: 'limited'; readonly retrySeconds: number };

/** Requests a transfer of the whole zone, whatever the serial of the primary. */
export async function orderRetransfer(db: Database, domainId: number): Promise<OrderedRetransfer> {
  return await inTransaction<OrderedRetransfer>(db, async (trx) => {
    const retrySeconds = await countInWindow(trx, `retransfers in an hour:${domainId}`, RETRANSFERS);
    if (retrySeconds !== undefined) return { kind: 'limited', retrySeconds };
    const { numAffectedRows } = await sql`
      update secondaries set is_forced = true, due_at = clock_timestamp() where domain_id = ${domainId}`.execute(
      trx,
    );
    return numAffectedRows === 1n ? { kind: 'ordered' } : rollBackTo({ kind: 'no_copy' });
  });
}

type EndedCopy =
  | {
      readonly kind: 'ended';
      /** Number of records that became the domain's. */
      readonly kept: number;
      /** Number of other records of the copy, without SOA and NS of the apex. */
      readonly dropped: number;
      readonly serial: number;
      readonly changeId: number;
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'no_copy' }
  | { readonly kind: 'refused'; readonly saved: Extract<SavedEdit, { kind: 'problems' | 'refused' }> };

/**
 * Ends the copy. Its records replace the domain's own ones, which were not answered. A domain that was not transferred
 * yet keeps its own.
 */
export async function endCopy(
  db: Database,
  { id: domainId, accountId: ownerId }: { readonly id: number; readonly accountId: number },
  by: ChangedBy,
): Promise<EndedCopy> {
  return await inTransaction<EndedCopy>(db, async (trx) => {
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined || isGone(lock, { ownerId })) return { kind: 'absent' };
    if (!lock.row.isCopy) return { kind: 'no_copy' };
    const apex = decodeNameColumn(lock.row.name);
    const copied = await loadCopy(trx, domainId, apex);
    if (copied !== undefined) {
      const own = [...(await loadRecordsByName(trx, domainId)).values()].flat();
      const deletes = own.flatMap(({ id, managed }) => (managed === true ? [] : [{ id }]));
      const edit = { deletes, replaces: [], updates: [], creates: [] };
      const saved = await saveEdit(trx, { ...by, domainId, ownerId, edit, ofCopy: true });
      if (isRefused(saved)) return rollBackTo({ kind: 'refused', saved });
    }
    await sql`delete from secondaries where domain_id = ${domainId}`.execute(trx);
    await removePrimaries(trx, domainId, []);
    if (copied !== undefined) {
      const merge = new ImportMerge(importOf(copied), []);
      const saved = await saveEdit(trx, {
        ...by,
        ...{ domainId, ownerId },
        edit: merge.edit,
        without: (problems) => merge.without(problems),
      });
      if (isRefused(saved)) return rollBackTo({ kind: 'refused', saved });
      const { serial, recordCount: kept } = saved as Extract<SavedEdit, { kind: 'saved' | 'unchanged' }>;
      const dropped = copied.length - kept;
      if (saved.kind === 'saved') return { kind: 'ended', kept, dropped, serial, changeId: saved.changeId };
    }
    const after = (await lockDomain(trx, domainId)) as DomainLock;
    const { serial, changeId } = await publishOwnRecords(trx, after, by);
    return { kind: 'ended', kept: 0, dropped: copied?.length ?? 0, serial, changeId };
  });
}

function isRefused(saved: SavedEdit): saved is Extract<SavedEdit, { kind: 'problems' | 'refused' }> {
  return saved.kind === 'problems' || saved.kind === 'refused';
}

/** Returns the records of the copy without SOA and NS of the apex. Returns undefined if there is no copy yet. */
async function loadCopy(trx: Database, domainId: number, apex: Name): Promise<ZoneRecord[] | undefined> {
  const { rows } = await sql`
    select from secondaries where domain_id = ${domainId} and serial is not null`.execute(trx);
  if (rows.length === 0) return undefined;
  const { records } = (await loadZone(trx, apex)) ?? { records: [] };
  return records.filter((record) => {
    if (isMark(record) || isEdgeMark(record)) return false;
    return record.owner !== apex || (record.type !== TYPE.SOA && record.type !== TYPE.NS);
  });
}

/** Returns the records that customers can have, with TTLs that they can have. */
function importOf(records: readonly ZoneRecord[]): ConstructorParameters<typeof ImportMerge>[0] {
  const entries = records.flatMap(({ owner: name, type: code, ttl, rdata }, index): ImportEntry[] => {
    const type = typeMnemonic(code);
    const within = Math.min(Math.max(ttl, MIN_TTL_SECONDS), MAX_TTL_SECONDS);
    return isApiType(type) ? [{ name, type, ttl: within, rdata, index }] : [];
  });
  return { entries, unread: new Map(), incomplete: new Set(), named: [] };
}
