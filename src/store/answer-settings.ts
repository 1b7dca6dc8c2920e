// The settings that answers are made of. They live in Postgres, so that all processes of a fleet answer alike; a
// difference is one change for each zone whose answers are made of them (customer zones; operator zones bring their
// own SOA and NS).

import { sql } from 'kysely';
import type { Database } from './database.ts';

export interface AnswerSettings {
  edgeIpv4: readonly string[];
  edgeIpv6: readonly string[];
  /** Sets of nameserver names; the first one is canonical. */
  nameserverSets: readonly (readonly string[])[];
  soaRname: string;
}

const SETTING_NAMES = {
  edgeIpv4: 'EDGE_IPV4',
  edgeIpv6: 'EDGE_IPV6',
  nameserverSets: 'NAMESERVER_SETS',
  soaRname: 'SOA_RNAME',
} as const satisfies Record<keyof AnswerSettings, string>;

/** Undefined until `migrate` has stored them. */
export async function loadAnswerSettings(db: Database): Promise<AnswerSettings | undefined> {
  const rows = await db.selectFrom('settings').selectAll().execute();
  const values = new Map(rows.map((row) => [row.name, row.value]));
  const entries = Object.entries(SETTING_NAMES).map(([key, name]) => [key, values.get(name)]);
  if (entries.some(([, value]) => value === undefined)) return undefined;
  return Object.fromEntries(entries) as AnswerSettings;
}

/** Inside a transaction: a reader sees all of the new settings or none. */
export async function saveAnswerSettings(
  trx: Database,
  settings: AnswerSettings,
): Promise<{ changed: string[]; zones: number }> {
  const first = (await trx.selectFrom('settings').select('name').limit(1).execute()).length === 0;
  const changed: string[] = [];
  for (const [key, name] of Object.entries(SETTING_NAMES)) {
    const value = JSON.stringify(settings[key as keyof AnswerSettings]);
    const { numAffectedRows } = await sql`
      insert into settings as s (name, value) values (${name}, ${value}::jsonb)
      on conflict (name) do update set value = excluded.value where s.value <> excluded.value`.execute(trx);
    if (numAffectedRows === 1n) changed.push(name);
  }
  if (first) return { changed: [], zones: 0 };
  return { changed, zones: changed.length === 0 ? 0 : await touchZonesMadeOfSettings(trx) };
}

async function touchZonesMadeOfSettings(trx: Database): Promise<number> {
  const { numAffectedRows } = await sql`
    with locked as (
      select id, name from zones where kind = 'domain' and deleted_at is null order by name for update),
    versions as (
      select id, name, nextval('change_version') as version,
             (random() * 9007199254740991)::bigint as mark from locked),
    touched as (
      update zones z set version = v.version, mark = v.mark from versions v where z.id = v.id)
    insert into changes (id, zone_id, zone, operation, source, mark)
    select version, id, name, 'zone.save', 'migrate', mark from versions`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}
