// Publishes the members of the catalogs that this fleet produces, in one change of each catalog that differs.

import { sql } from 'kysely';
import { TYPE } from '../../dns/type-codes.ts';
import { readOwners } from '../../store/keys/read-zone-rows.ts';
import { currentTime } from '../../store/postgres/current-time.ts';
import type { Database } from '../../store/postgres/database.ts';
import { allowLong } from '../../store/postgres/deadlines.ts';
import { announceAfterCommit, inTransaction } from '../../store/postgres/transaction.ts';
import { changedZone, lockZones, writeChanges } from '../../store/zones/write-zone.ts';
import { planListings } from '../../zone/catalog/plan-members.ts';
import { serialIn, timedSerial, withSerial } from '../../zone/serial.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { Draft } from './draft.ts';
import {
  findDifferences,
  isRoundDue,
  loadCompared,
  lockProducers,
  noteMoves,
  type Producer,
  takeChanges,
} from './sql-compare.ts';
import { writeListings, writeRows } from './sql-listings.ts';

/** A change of a catalog. */
interface PublishedCatalog {
  readonly catalog: string;
  readonly joined: number;
  readonly left: number;
  /** Why no zone joins. Undefined if zones may join, or could not join before either. */
  readonly newlyFull: string | undefined;
}

const PAGE = 2000;

/** Writes at most one change of each catalog. Does nothing if there is no work, or another worker does it. */
export async function publishCatalogs(db: Database): Promise<readonly PublishedCatalog[]> {
  if (!(await isRoundDue(db))) return [];
  return await inTransaction(db, async (trx) => {
    const producers = await lockProducers(trx);
    if (producers === undefined) return [];
    await allowLong(trx);
    const changes = await takeChanges(trx);
    if (producers.length === 0) return [];
    const isWhole = producers.some(({ isDue }) => isDue);
    const found = await findDifferences(trx, producers, isWhole ? undefined : [...changes.keys()]);
    const full = await findFull(trx, producers, found, isWhole);
    const others = [...changes].flatMap(([id, { isReplaced, hasMoved }]) =>
      isReplaced || hasMoved ? [id] : [],
    );
    const ids = [...new Set([...others, ...found.ids])];
    const drafts = ids.length === 0 ? [] : await lockDrafts(trx, producers);
    for (const page of pagesOf(ids)) {
      const compared = await loadCompared(trx, producers, page);
      const unfinished: number[] = [];
      for (const zone of compared) {
        const isReplaced = changes.get(zone.id)?.isReplaced === true;
        const planned = planListings({ ...zone, isReplaced }, zone.stored, (id) => full.has(id));
        if (planned.isUnfinished) unfinished.push(zone.id);
        for (const draft of drafts) draft.add(zone, planned.listings);
      }
      await writeListings(trx, drafts);
      await noteMoves(trx, unfinished);
    }
    const changed = drafts.filter((draft) => draft.isChanged);
    await finishZones(trx, changed);
    await saveProducers(trx, { producers, changed, full, isCompared: isWhole && !found.isMore });
    return producers.flatMap(({ id, name, finding }) => {
      const draft = changed.find((each) => each.catalogId === id);
      const { joined = 0, left = 0 } = draft ?? {};
      const newlyFull = finding === null ? full.get(id) : undefined;
      return draft === undefined && newlyFull === undefined
        ? []
        : [{ catalog: name, joined, left, newlyFull }];
    });
  });
}

function* pagesOf(ids: readonly number[]): Generator<number[]> {
  for (let at = 0; at < ids.length; at += PAGE) yield ids.slice(at, at + PAGE);
}

/** Returns why no zone joins, for each catalog that is full. */
async function findFull(
  trx: Database,
  producers: readonly Producer[],
  found: Awaited<ReturnType<typeof findDifferences>>,
  isWhole: boolean,
): Promise<ReadonlyMap<number, string>> {
  const full = new Map<number, string>();
  for (const { id, name, maxMembers, finding } of producers) {
    // A comparison of some zones does not count those that wait already.
    if (!isWhole && finding !== null) {
      full.set(id, finding);
      continue;
    }
    const joining = found.joining.get(id) ?? 0;
    if (joining === 0) continue;
    // The number of records is an upper bound, and needs no counting.
    const { rows } = await sql<{ members: number }>`
      select case when records + ${joining} <= ${maxMembers} then records
        else (select count(*)::integer from catalog_members where catalog_id = ${id}) end as members
      from zones where name = ${name}`.execute(trx);
    const members = (rows[0]?.members ?? 0) + joining - (found.leaving.get(id) ?? 0);
    if (members > maxMembers)
      full.set(id, `${members} zones would be members, but the limit is ${maxMembers}: no zone joins`);
  }
  return full;
}

async function lockDrafts(trx: Database, producers: readonly Producer[]): Promise<Draft[]> {
  const zones = await lockZones(
    trx,
    producers.map(({ name }) => name),
    false,
  );
  return producers.flatMap(({ id, name }) => {
    const zone = zones.get(name);
    return zone === undefined || zone.deleted ? [] : [new Draft(id, zone)];
  });
}

/** Writes the serials and the new versions of the zones. */
async function finishZones(trx: Database, changed: readonly Draft[]): Promise<void> {
  if (changed.length === 0) return;
  const now = await currentTime(trx);
  for (const draft of changed) {
    const { zone, apex } = draft;
    const records = await readOwners(trx, zone.id, [apex]);
    const soa = records.find(({ type }) => type === TYPE.SOA) as ZoneRecord;
    const next = { ...soa, rdata: withSerial(soa.rdata, timedSerial(serialIn(soa.rdata), now)) };
    await writeRows(trx, draft, [{ owner: apex, types: [TYPE.SOA], records: [next] }]);
  }
  const zones = changed.map(({ zone, growth }) => changedZone(zone, zone.records + growth));
  await writeChanges(trx, zones, 'zone.save', { source: 'catalog' });
  announceAfterCommit(trx);
}

interface ProducersToSave {
  readonly producers: readonly Producer[];
  readonly changed: readonly Draft[];
  readonly full: ReadonlyMap<number, string>;
  /** True if all zones were compared. */
  readonly isCompared: boolean;
}

/** A finding stays until all zones were compared again, because a catalog that is full skips zones that change. */
async function saveProducers(
  trx: Database,
  { producers, changed, full, isCompared }: ProducersToSave,
): Promise<void> {
  for (const { id, isDue } of producers) {
    const why = full.get(id);
    const isChanged = changed.some(({ catalogId }) => catalogId === id);
    if (why === undefined && !isChanged && !isCompared && !isDue) continue;
    const findings = why === undefined ? '[]' : JSON.stringify([{ code: 'CATALOG_FULL', message: why }]);
    await sql`
      update catalogs set
        findings = case when ${isCompared || why !== undefined} then ${findings}::jsonb else findings end,
        compared_at = case when ${isCompared} then clock_timestamp() else compared_at end,
        published_at = case when ${isChanged} then clock_timestamp() else published_at end
      where id = ${id}`.execute(trx);
  }
}
