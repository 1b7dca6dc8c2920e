// Writes listings of the catalogs that this fleet produces: their records, and the rows of `catalog_members`.

import { sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import { arrayOf } from '../../store/postgres/prepared-statements.ts';
import { writeDifference } from '../../store/zones/write-zone.ts';
import { chunksOfOwners } from '../../store/zones/zone-rows.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { ChangedListing, Draft } from './draft.ts';

/** Writes the listings that are not written yet. */
export async function writeListings(trx: Database, drafts: readonly Draft[]): Promise<void> {
  const names = new Map(drafts.map(({ catalogId, apex }) => [catalogId, apex]));
  for (const draft of drafts) {
    const { catalogId } = draft;
    const listings = draft.take();
    await writeRows(trx, draft, draft.rowsOf(listings, names));
    const gone = listings.filter(({ after }) => after === undefined);
    if (gone.length > 0) await deleteMembers(trx, catalogId, gone);
    if (gone.length < listings.length) await saveMembers(trx, catalogId, listings);
  }
}

export async function writeRows(trx: Database, draft: Draft, rows: readonly OwnerRows[]): Promise<void> {
  const { zone, apex } = draft;
  for (const chunk of chunksOfOwners(zone, apex, rows))
    draft.growth += (await writeDifference(trx, chunk)).get(zone.id) ?? 0;
}

async function deleteMembers(trx: Database, catalogId: number, gone: readonly ChangedListing[]) {
  await sql`
    delete from catalog_members m
    using unnest(${arrayOf('text', gone, ({ name }) => name)}, ${arrayOf('bigint', gone, ({ zoneId }) => zoneId)}) g (name, zone_id)
    where m.catalog_id = ${catalogId} and m.name = g.name and m.zone_id = g.zone_id`.execute(trx);
}

async function saveMembers(trx: Database, catalogId: number, listings: readonly ChangedListing[]) {
  const rows = listings.flatMap(({ name, zoneId, after }) =>
    after === undefined
      ? []
      : [{ name, zoneId, label: after.label, group: after.group, coo: after.coo ?? null }],
  );
  await sql`
    insert into catalog_members (catalog_id, name, zone_id, label, group_name, left_at, moved_to)
    select ${catalogId}, name, zone_id, label, group_name, case when coo is not null then clock_timestamp() end, coo
    from unnest(
      ${arrayOf('text', rows, (row) => row.name)}, ${arrayOf('bigint', rows, (row) => row.zoneId)},
      ${arrayOf('text', rows, (row) => row.label)}, ${arrayOf('text', rows, (row) => row.group)},
      ${arrayOf('bigint', rows, (row) => row.coo)}
    ) r (name, zone_id, label, group_name, coo)
    on conflict (catalog_id, name) do update set zone_id = excluded.zone_id, label = excluded.label,
      group_name = excluded.group_name, left_at = excluded.left_at, moved_to = excluded.moved_to`.execute(
    trx,
  );
}
