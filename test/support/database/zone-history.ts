// Every version of zones that nodes can be given, as they stood when it was committed.

import { sql } from 'kysely';
import type { Name } from '../../../src/dns/name.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../../../src/store/postgres/name-column.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';

export interface ZoneVersion {
  readonly version: number;
  readonly records: readonly ZoneRecord[];
}

/** From now on. Call it once. */
export async function keepHistory(db: Database): Promise<void> {
  await sql`
    create table history (version bigint, zone text, owner text, type integer, ttl bigint, rdata bytea)`.execute(
    db,
  );
  await sql`
    create function keep_history() returns trigger language plpgsql as $$ begin
      insert into history select new.id, new.zone, owner, type, ttl, rdata from zone_records
        where zone_id = new.zone_id and not removed;
      return null; end $$`.execute(db);
  await sql`
    create constraint trigger keep_history after insert on changes deferrable initially deferred
      for each row execute function keep_history()`.execute(db);
}

/** In the order of the versions. */
export async function historyOf(db: Database, apex: Name): Promise<ZoneVersion[]> {
  const { rows } = await sql<{ version: number; owner: string; type: number; ttl: number; rdata: Buffer }>`
    select version, owner, type, ttl, rdata from history where zone = ${encodeNameColumn(apex)}
    order by version, owner, type`.execute(db);
  const versions = new Map<number, ZoneRecord[]>();
  for (const { version, owner, type, ttl, rdata } of rows) {
    const record = { owner: decodeNameColumn(owner), type, ttl, rdata };
    const same = versions.get(version);
    if (same === undefined) versions.set(version, [record]);
    else same.push(record);
  }
  return [...versions].map(([version, records]) => ({ version, records }));
}
