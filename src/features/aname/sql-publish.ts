// Publishes the addresses of an ANAME target.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { type DomainLock, lockDomain } from '../../store/change/lock-domain.ts';
import { writeDomainChange } from '../../store/change/write-domain-change.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import {
  encodeTarget,
  IS_FLATTENED,
  loadAddresses,
  lockFlattened,
  TARGET_OF_RECORD,
} from '../../store/records/aname-targets.ts';
import { loadRecordsAt } from '../../store/records/load-touched-records.ts';
import type { LockedZone } from '../../store/zones/write-zone.ts';
import { publishName } from '../../zone/publish/publish.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';

const BATCH_DOMAINS = 500;

/** Returns the number of domains that changed. Rejects with the signal's reason when the signal aborts. */
export async function publishTarget(db: Database, target: Name, signal: AbortSignal): Promise<number> {
  let changed = 0;
  for (let after = 0; ; ) {
    const ids = await loadDomainIds(db, target, after);
    const last = ids.at(-1);
    if (last === undefined) return changed;
    for (const id of ids) {
      signal.throwIfAborted();
      if (await publishIn(db, id, target)) changed++;
    }
    after = last;
  }
}

async function loadDomainIds(db: Database, target: Name, after: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select distinct r.domain_id as id from records r join domains d on d.id = r.domain_id
    where ${IS_FLATTENED} and ${TARGET_OF_RECORD} = ${encodeTarget(target)} and d.served = 'full'
      and r.domain_id > ${after}
    order by 1 limit ${BATCH_DOMAINS}`.execute(db);
  return rows.map(({ id }) => id);
}

async function publishIn(db: Database, domainId: number, target: Name): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    const lock = await lockDomain(trx, domainId);
    if (lock?.zone === undefined || lock.row.served !== 'full' || lock.row.isCopy) return false;
    const names = await loadNames(trx, domainId, target);
    const byName = new Map<Name, CustomerRecord[]>(names.map((name) => [name, []]));
    for (const record of await loadRecordsAt(trx, domainId, names)) {
      byName.get(record.name)?.push(record);
    }
    if (await isPublished(trx, lock, lock.zone, names, byName)) return false;
    await writeDomainChange(trx, lock, {
      by: { kind: 'system' },
      source: 'aname',
      operation: 'addresses',
      served: lock.row.served,
      publish: byName,
    });
    return true;
  });
}

async function loadNames(trx: Database, domainId: number, target: Name): Promise<Name[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct r.name from records r
    where ${IS_FLATTENED} and ${TARGET_OF_RECORD} = ${encodeTarget(target)} and r.domain_id = ${domainId}`.execute(
    trx,
  );
  return rows.map(({ name }) => decodeNameColumn(name));
}

/** True if the addresses are already published at these names. Each name has an ANAME, and so no other addresses. */
async function isPublished(
  trx: Database,
  { settings }: DomainLock,
  zone: LockedZone,
  names: readonly Name[],
  byName: ReadonlyMap<Name, readonly CustomerRecord[]>,
): Promise<boolean> {
  const types: readonly number[] = [TYPE.A, TYPE.AAAA];
  const rows = await loadAddresses(trx, zone.id, names);
  const flattened = await lockFlattened(trx, zone.id, byName.values());
  const wanted = names.flatMap((name) => {
    const records = byName.get(name) ?? [];
    return publishName(records, settings.edges, flattened.get(name))
      .filter(({ type }) => types.includes(type))
      .map((record) => ({ ...record, owner: encodeNameColumn(name) }));
  });
  const there = new Set(rows.map(keyOf));
  return wanted.length === there.size && wanted.every((record) => there.has(keyOf(record)));
}

function keyOf(row: {
  readonly owner: string;
  readonly type: number;
  readonly ttl: number;
  rdata: Uint8Array;
}) {
  return `${row.owner} ${row.type} ${row.ttl} ${Buffer.from(row.rdata).toString('hex')}`;
}
