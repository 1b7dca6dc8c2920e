// Republishes domains after the settings that answers depend on have changed, with one transaction per batch. If it is
// killed, the next `migrate` continues. A domain whose published records stay the same gets no change.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { apexRecords, publishApex, publishName } from '../../zone/publish/publish.ts';
import { timedSerial } from '../../zone/serial.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { DomainLock } from '../change/lock-domain.ts';
import { edgesOf, ownersOf, saveManagedRecords } from '../change/publish-zone.ts';
import { writeLog } from '../change/write-domain-change.ts';
import { DOMAIN_COLUMNS, DOMAIN_TABLES, type DomainRow } from '../domains/domain-row.ts';
import { nameserversOf } from '../domains/nameserver-sets.ts';
import { type ChangeToSign, signChange } from '../keys/sign-change.ts';
import { isWrittenSigned, loadSignedDomains } from '../keys/signed-zone.ts';
import {
  loadPublishSettings,
  type PublishSettings,
  saveGenerationPublished,
} from '../postgres/answer-settings.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { lockFlattened } from '../records/aname-targets.ts';
import { loadRecordsAt } from '../records/load-touched-records.ts';
import {
  changedZone,
  type LockedZone,
  lockZones,
  writeChanges,
  writeDifference,
} from '../zones/write-zone.ts';
import { chunksOfOwners } from '../zones/zone-rows.ts';

const BATCH_DOMAINS = 200;
const BATCH_RECORDS = 20_000;
/** Maximum number of signed domains in a batch, because signing takes long. */
const BATCH_SIGNED = 40;

/** Returns the number of changed domains. The caller notifies the nodes. */
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
  // One at a time, because waiting for a locked domain while others are locked could deadlock.
  for (const id of busy)
    changed += (await db.transaction().execute((trx) => republish(trx, [id], 'wait'))).changed;
  await db.transaction().execute((trx) => saveGenerationPublished(trx, generation));
  return changed;
}

async function nextBatch(db: Database, after: number, generation: number): Promise<number[]> {
  const { rows } = await sql<{ id: number; records: number; isSigned: boolean }>`
    select id, record_count as records,
      exists (select from signed_zones s where s.domain_id = d.id) as "isSigned"
    from domains d
    where id > ${after} and answers_generation < ${generation} order by id limit ${BATCH_DOMAINS}`.execute(
    db,
  );
  let records = 0;
  let signed = 0;
  const ids: number[] = [];
  for (const row of rows) {
    records += row.records;
    if (row.isSigned) signed++;
    if (ids.length > 0 && (records > BATCH_RECORDS || signed > BATCH_SIGNED)) break;
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
  const signed = await loadSignedDomains(
    trx,
    holding.map(({ id }) => id),
  );
  const locks = holding.map(
    (row): DomainLock => ({ row, zone: zones.get(row.name), signed: signed.get(row.id), settings, now }),
  );
  await settleManagedRecords(trx, locks);
  const concerned: { lock: DomainLock; growth: number }[] = [];
  for (const lock of locks) {
    if (lock.row.served === 'none' || lock.zone === undefined) continue;
    if (lock.row.isCopy && lock.row.served === 'full') continue; // only transfers write it
    const growth = await republishOne(trx, lock);
    if (growth !== undefined) concerned.push({ lock, growth });
  }
  await finish(trx, concerned);
  await sql`
    update domains set answers_generation = ${settings.generation} where id = any(${lockedIds}::bigint[])`.execute(
    trx,
  );
  return { ids: lockedIds, changed: concerned.length };
}

/** Writes managed records only where they differ: most domains keep their set. */
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

/** Returns the growth of the domain's number of records, or undefined if nothing but the serial differs. */
async function republishOne(trx: Database, lock: DomainLock): Promise<number | undefined> {
  const { row, signed, settings } = lock;
  const apex = decodeNameColumn(row.name);
  const derived = row.answersGeneration < settings.generations.edges ? await loadDerivedNames(trx, row) : [];
  const records = row.served === 'full' ? await loadRecordsAt(trx, row.id, [apex, ...derived]) : [];
  const flattened = await lockFlattened(trx, row.zoneId, [records]);
  const published = new Map<Name, ZoneRecord[]>();
  for (const name of new Set([apex, ...derived])) {
    const at = records.filter((record) => record.name === name);
    published.set(name, publishName(at, edgesOf(row, settings), flattened.get(name)));
  }
  const owners = published.get(apex) ?? [];
  const withSerial = (serial: number) =>
    new Map(published).set(apex, publishApex(ownRecords(row, settings, serial), owners, row));
  const zone = lock.zone as LockedZone;
  if (isWrittenSigned(signed)) {
    const change: ChangeToSign = {
      zoneId: zone.id,
      apex,
      signed,
      now: lock.now,
      wanted: withSerial(row.serial),
    };
    if ((await signChange(trx, change)).length === 0) return undefined;
    const wanted = withSerial(timedSerial(row.serial, lock.now));
    return await writeOwners(trx, zone, apex, await signChange(trx, { ...change, wanted }));
  }
  const growth = await writeOwners(trx, zone, apex, ownersOf(withSerial(row.serial)));
  if (growth === undefined) return undefined;
  const [soa] = ownRecords(row, settings, timedSerial(row.serial, lock.now));
  await writeOwners(trx, zone, apex, [{ owner: apex, types: [TYPE.SOA], records: [soa as ZoneRecord] }]);
  return growth;
}

async function writeOwners(
  trx: Database,
  zone: LockedZone,
  apex: Name,
  owners: Iterable<OwnerRows>,
): Promise<number | undefined> {
  let growth: number | undefined;
  for (const chunk of chunksOfOwners(zone, apex, owners)) {
    const grown = (await writeDifference(trx, chunk)).get(zone.id);
    if (grown !== undefined) growth = (growth ?? 0) + grown;
  }
  return growth;
}

function ownRecords(row: DomainRow, settings: PublishSettings, serial: number): ZoneRecord[] {
  const apex = decodeNameColumn(row.name);
  return apexRecords({ apex, nameservers: nameserversOf(row, settings), serial, rname: settings.rname });
}

/** Loads the names at which other records are published than the domain has there. */
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
): Promise<void> {
  if (concerned.length === 0) return;
  const by = { kind: 'system' } as const;
  const changes = [];
  for (const { lock, growth } of concerned) {
    const { row } = lock;
    const zone = lock.zone as LockedZone;
    const serial = timedSerial(row.serial, lock.now);
    await sql`update domains set serial = ${serial}, updated_at = ${lock.now} where id = ${row.id}`.execute(
      trx,
    );
    const written = { changeId: zone.nextVersion, serial };
    await writeLog(trx, lock, { by, source: 'migrate', operation: 'settings' }, written);
    changes.push(changedZone(zone, zone.records + growth));
  }
  await writeChanges(trx, changes, 'zone.save', { source: 'migrate' });
}
