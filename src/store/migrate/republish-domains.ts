// Publishes domains anew after the settings that answers are made of have changed, batch by batch, each in a
// transaction of its own. If it is killed, the next `migrate` continues. A domain whose published records do not differ
// gets no change.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { apexRecords, nextSerial, publishApex, publishName } from '../../zone/publish/publish.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { currentTime, type DomainLock } from '../change/lock-domain.ts';
import { saveManagedRecords } from '../change/managed-records.ts';
import { chunksOfNames, writeLog } from '../change/write-domain-change.ts';
import { DOMAIN_COLUMNS, DOMAIN_TABLES, type DomainRow, nameserversOf } from '../domains/domain.ts';
import {
  loadPublishSettings,
  type PublishSettings,
  saveGenerationPublished,
} from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { lockFlattened } from '../records/aname-targets.ts';
import { loadRecordsAt } from '../records/load-touched-records.ts';
import { type LockedZone, lockZones, writeChanges, writeDifference } from '../zones/write-zone.ts';

const BATCH_DOMAINS = 200;
const BATCH_RECORDS = 20_000;

/** Gives how many domains were concerned. The caller wakes the nodes. */
export async function republishDomains(db: Database): Promise<number> {
  const { generations, generation } = await loadPublishSettings(db);
  if (generations.published >= generation) return 0;
  let changed = 0;
  const busy: number[] = [];
  for (let after = 0; ; ) {
    const batch = await nextBatch(db, after, generation);
    const last = batch.at(-1);
    if (last === undefined) break;
    const done = await db.transaction().execute((trx) => republish(trx, batch, 'skip locked'));
    changed += done.changed;
    const locked = new Set(done.ids);
    busy.push(...batch.filter((id) => !locked.has(id)));
    after = last;
  }
  // One at a time: whoever waits for a domain with others locked could wait for somebody who waits for those.
  for (const id of busy)
    changed += (await db.transaction().execute((trx) => republish(trx, [id], 'wait'))).changed;
  await db.transaction().execute((trx) => saveGenerationPublished(trx, generation));
  return changed;
}

async function nextBatch(db: Database, after: number, generation: number): Promise<number[]> {
  const { rows } = await sql<{ id: number; records: number }>`
    select id, record_count as records from domains
    where id > ${after} and answers_generation < ${generation} order by id limit ${BATCH_DOMAINS}`.execute(
    db,
  );
  let records = 0;
  const ids: number[] = [];
  for (const row of rows) {
    records += row.records;
    if (ids.length > 0 && records > BATCH_RECORDS) break;
    ids.push(row.id);
  }
  return ids;
}

interface Republished {
  /** The domains that were locked. */
  readonly ids: readonly number[];
  readonly changed: number;
}

async function republish(
  trx: Database,
  ids: readonly number[],
  whenLocked: 'skip locked' | 'wait',
): Promise<Republished> {
  const locked = await sql<{ id: number }>`
    select id from domains where id = any(${ids}::bigint[]) order by id
    for update ${sql.raw(whenLocked === 'wait' ? '' : whenLocked)}`.execute(trx);
  const lockedIds = locked.rows.map(({ id }) => id);
  const settings = await loadPublishSettings(trx);
  const { rows } = await sql<DomainRow>`
    select ${DOMAIN_COLUMNS} from ${DOMAIN_TABLES}
    where d.id = any(${lockedIds}::bigint[]) and d.answers_generation < ${settings.generation} order by d.id`.execute(
    trx,
  );
  const now = await currentTime(trx);
  const holding = rows.filter((row) => row.zoneId !== null);
  const zones = await lockZones(
    trx,
    holding.map(({ name }) => name),
    false,
  );
  const locks = holding.map((row): DomainLock => ({ row, zone: zones.get(row.name), settings, now }));
  await settleManagedRecords(trx, locks);
  const concerned: { lock: DomainLock; growth: number }[] = [];
  for (const lock of locks) {
    if (lock.row.served === 'none' || lock.zone === undefined) continue;
    const growth = await republishOne(trx, lock);
    if (growth !== undefined) concerned.push({ lock, growth });
  }
  await finish(trx, concerned, settings);
  await sql`
    update domains set answers_generation = ${settings.generation} where id = any(${lockedIds}::bigint[])`.execute(
    trx,
  );
  return { ids: lockedIds, changed: concerned.length };
}

/** Writes managed records only where they differ: most domains stay on the same set. */
async function settleManagedRecords(trx: Database, locks: readonly DomainLock[]): Promise<void> {
  const { rows } = await sql<{ id: number; rdata: string }>`
    select domain_id as id, encode(rdata, 'base64') as rdata from records
    where managed and domain_id = any(${locks.map(({ row }) => row.id)}::bigint[]) and type = 'NS'`.execute(
    trx,
  );
  const held = new Map<number, Set<string>>();
  for (const { id, rdata } of rows) held.set(id, (held.get(id) ?? new Set()).add(rdata));
  for (const lock of locks) {
    const nameservers = nameserversOf(lock.row, lock.settings);
    const present = held.get(lock.row.id);
    const same = nameservers.every((name) => present?.has(Buffer.from(name, 'latin1').toString('base64')));
    if (same && present?.size === nameservers.length) continue;
    await saveManagedRecords(trx, lock, nameservers);
  }
}

/** Publishes one domain with the serial that it has; undefined when nothing differs. */
async function republishOne(trx: Database, { row, zone, settings }: DomainLock): Promise<number | undefined> {
  const apex = decodeNameColumn(row.name);
  const derived = row.answersGeneration < settings.generations.edges ? await loadDerivedNames(trx, row) : [];
  const records = row.served === 'full' ? await loadRecordsAt(trx, row.id, [apex, ...derived]) : [];
  const flattened = await lockFlattened(trx, row.zoneId, [records]);
  const published = new Map<Name, ZoneRecord[]>();
  for (const name of new Set([apex, ...derived])) {
    const at = records.filter((record) => record.name === name);
    published.set(name, publishName(at, settings.edges, flattened.get(name)));
  }
  const own = ownRecords(row, settings, row.serial);
  published.set(apex, publishApex(own, published.get(apex) ?? [], row));
  let growth: number | undefined;
  for (const chunk of chunksOfNames(published, zone as LockedZone)) {
    const grown = (await writeDifference(trx, chunk)).get((zone as LockedZone).id);
    if (grown !== undefined) growth = (growth ?? 0) + grown;
  }
  return growth;
}

function ownRecords(row: DomainRow, settings: PublishSettings, serial: number): ZoneRecord[] {
  const apex = decodeNameColumn(row.name);
  return apexRecords({ apex, nameservers: nameserversOf(row, settings), serial, rname: settings.rname });
}

/** Loads the names where other records are published than the domain has there. */
async function loadDerivedNames(trx: Database, row: DomainRow): Promise<Name[]> {
  if (row.served !== 'full') return [];
  const { rows } = await sql<{ name: string }>`
    select distinct name from records where domain_id = ${row.id} and (proxied or type = 'ANAME')`.execute(
    trx,
  );
  return rows.map(({ name }) => decodeNameColumn(name));
}

async function finish(
  trx: Database,
  concerned: readonly { lock: DomainLock; growth: number }[],
  settings: PublishSettings,
): Promise<void> {
  if (concerned.length === 0) return;
  const by = { kind: 'system' } as const;
  const changes = [];
  for (const { lock, growth } of concerned) {
    const { row } = lock;
    const zone = lock.zone as LockedZone;
    const serial = nextSerial(row.serial);
    await sql`
      update zone_records set rdata = ${soaOf(row, settings, serial)}, version = ${zone.nextVersion}
      where zone_id = ${zone.id} and owner = ${row.name} and type = 6 and not removed`.execute(trx);
    await sql`update domains set serial = ${serial}, updated_at = ${lock.now} where id = ${row.id}`.execute(
      trx,
    );
    const written = { changeId: zone.nextVersion, serial };
    await writeLog(trx, lock, { by, source: 'migrate', operation: 'settings' }, written);
    changes.push({
      zoneId: zone.id,
      version: zone.nextVersion,
      records: zone.records + growth,
      deleted: false,
    });
  }
  await writeChanges(trx, changes, 'zone.save', { source: 'migrate' });
}

function soaOf(row: DomainRow, settings: PublishSettings, serial: number): Buffer {
  const [soa] = ownRecords(row, settings, serial);
  return Buffer.from((soa as ZoneRecord).rdata);
}
