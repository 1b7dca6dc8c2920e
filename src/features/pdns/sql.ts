// Loads and stores the properties that the PowerDNS API adds to domains, and searches records.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';

export interface ZoneFacts {
  /** Primaries from which the zone is copied, in the order in which they are queried. */
  readonly masters: readonly { readonly address: string; readonly port: number }[];
  /** Names of the keys with which the primaries are queried. */
  readonly primaryKeys: readonly string[];
  /** Names of the keys with which secondaries transfer the zone. */
  readonly transferKeys: readonly string[];
  /** Null if the zone is not a copy, or was not transferred yet. */
  readonly copySerial: number | null;
  readonly refreshedAt: Date | null;
  /** True if a secondary of the domain receives NOTIFY. */
  readonly isNotified: boolean;
  readonly notifiedSerial: number | null;
  /** Stored metadata by kind, and other properties by names in lower case. */
  readonly properties: Properties;
}

export type Properties = Readonly<Record<string, readonly string[]>>;

interface FactsRow extends Omit<ZoneFacts, 'masters' | 'primaryKeys' | 'transferKeys' | 'properties'> {
  readonly id: number;
  readonly primaries: readonly { address: string; port: number; key: string | null }[] | null;
  readonly transferKeys: readonly string[] | null;
  readonly properties: Record<string, string[]> | null;
}

/** Loads the facts of domains, by id. */
export async function loadFacts(db: Database, ids: readonly number[]): Promise<Map<number, ZoneFacts>> {
  const { rows } = await sql<FactsRow>`
    select d.id, s.serial as "copySerial", s.refreshed_at as "refreshedAt",
      (select json_agg(json_build_object('address', host(p.addresses[1]), 'port', p.port, 'key', k.name) order by u.place)
        from unnest(s.peers) with ordinality u (id, place) join peers p on p.id = u.id
          left join tsig_keys k on k.id = p.key_id) as primaries,
      (select json_agg(k.name order by p.id) from peers p join tsig_keys k on k.id = p.key_id
        where p.domain_id = d.id and p.transfers) as "transferKeys",
      exists (select from peers p where p.domain_id = d.id and p.notified) as "isNotified",
      (select r.notified_serial from transfer_reports r where r.zone_id = d.zone_id and r.notified_serial is not null
        order by r.reported_at desc limit 1) as "notifiedSerial",
      (select json_object_agg(m.kind, m.items) from pdns_metadata m where m.domain_id = d.id) as properties
    from domains d left join secondaries s on s.domain_id = d.id
    where d.id = any(${[...ids]}::bigint[])`.execute(db);
  return new Map(
    rows.map(({ id, primaries, transferKeys, properties, ...row }) => [
      id,
      {
        ...row,
        masters: primaries ?? [],
        primaryKeys: (primaries ?? []).flatMap(({ key }) => key ?? []),
        transferKeys: transferKeys ?? [],
        properties: properties ?? {},
      },
    ]),
  );
}

/** Maximum number of kinds that clients may store with a domain. */
const MAX_KINDS = 40;

/** Stores properties of a domain. Deletes those without items. Returns false if the domain would have too many. */
export async function saveProperties(
  trx: Database,
  domainId: number,
  properties: Properties,
): Promise<boolean> {
  for (const [kind, items] of Object.entries(properties)) {
    if (items.length === 0) {
      await sql`delete from pdns_metadata where domain_id = ${domainId} and kind = ${kind}`.execute(trx);
      continue;
    }
    const { numAffectedRows } = await sql`
      insert into pdns_metadata as m (domain_id, kind, items)
      select ${domainId}, ${kind}, ${[...items]}::text[]
      where (select count(*) from pdns_metadata o where o.domain_id = ${domainId} and o.kind <> ${kind}) < ${MAX_KINDS}
      on conflict (domain_id, kind) do update set items = excluded.items`.execute(trx);
    if (numAffectedRows === 0n) return false;
  }
  return true;
}

export interface SearchOrder {
  readonly accountId: number;
  /** Domains to which the API key is restricted. Undefined if it is not restricted. */
  readonly names: readonly Name[] | undefined;
  /** Pattern for LIKE, with `!` as the escape character. */
  readonly pattern: string;
  readonly most: number;
}

export interface FoundRecord {
  readonly zone: string;
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  /** Octets in hexadecimal digits. */
  readonly rdata: string;
  readonly comment: string | null;
}

/** Maximum number of domains whose records are searched. */
const MAX_DOMAINS = 2000;

const visible = ({ accountId, names }: SearchOrder) => sql`
  select d.id, d.name from domains d
  where d.deleted_at is null and (${names === undefined} or d.name = any(${(names ?? []).map(encodeNameColumn)}::text[]))
    and (d.account_id = ${accountId} or d.id = any(array(
      select m.domain_id from memberships m where m.account_id = ${accountId})))`;

/** Finds domains of the account, and domains that are shared with it, by name. */
export async function findZones(db: Database, order: SearchOrder): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct v.name from (${visible(order)}) v where rtrim(v.name, '.') like ${order.pattern} escape '!'
    order by v.name limit ${order.most}`.execute(db);
  return rows.map(({ name }) => name);
}

/** Finds records by their names and contents, or by their comments. */
export async function findRecords(
  db: Database,
  order: SearchOrder,
  by: 'record' | 'comment',
): Promise<FoundRecord[]> {
  const { pattern, most } = order;
  const matches =
    by === 'record'
      ? sql`(rtrim(r.name, '.') like ${pattern} escape '!' or lower(rtrim(r.destination, '.')) like ${pattern} escape '!')`
      : sql`lower(r.comment) like ${pattern} escape '!'`;
  const { rows } = await sql<FoundRecord>`
    with searched as materialized (select * from (${visible(order)}) v order by v.name limit ${MAX_DOMAINS})
    select s.name as zone, r.name, r.type, r.ttl, encode(r.rdata, 'hex') as rdata, r.comment
    from searched s cross join lateral (
      select * from records r where r.domain_id = s.id and (not r.managed or r.type = 'NS') and ${matches}
      order by r.name, r.id limit ${most}) r
    limit ${most}`.execute(db);
  return rows;
}
