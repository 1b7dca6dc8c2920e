// Finds domains, zones and copies that have the names of members, or names above them.

import { sql } from 'kysely';
import { namesAbove } from '../../store/change/claim-name.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Occupant } from '../../zone/catalog/compare-members.ts';

interface OccupantRow {
  readonly member: string;
  readonly name: string;
  readonly kind: 'domain' | 'zone' | 'member';
  readonly catalog: string | null;
  readonly coo: string | null;
  readonly hasSamePeer: boolean | null;
}

/**
 * Returns the occupants by member: customers' domains in any status, because each may be answered again; operator zones;
 * and copies, also before their first transfer. Call it under `lockNamesAroundAll`.
 */
export async function findOccupants(
  trx: Database,
  catalog: string,
  members: readonly string[],
): Promise<ReadonlyMap<string, readonly Occupant[]>> {
  const pairs = members.flatMap((member) =>
    [member, ...namesAbove(member), '.'].map((name) => ({ member, name })),
  );
  const { rows } = await sql<OccupantRow>`
    with pairs as materialized (
      select * from unnest(${pairs.map(({ member }) => member)}::text[], ${pairs.map(({ name }) => name)}::text[])
        as p(member, name)),
    names as materialized (select distinct name from pairs),
    occupants as (
      select d.name, 'domain' as kind, null::text as catalog, null::text as coo, null::boolean as same
      from names n join domains d on d.name = n.name and d.deleted_at is null
      union
      select z.name, 'zone', null, null, null
      from names n join zones z on z.name = n.name and z.kind = 'operator' and z.deleted_at is null
      where not exists (select from secondaries s where s.zone_name = z.name)
      union
      select s.zone_name, case when c.id is null then 'zone' else 'member' end, c.name, m.coo,
        s.peers && (select o.peers from secondaries o where o.zone_name = ${catalog})
      from names n join secondaries s on s.zone_name = n.name left join catalogs c on c.id = s.catalog_id
        left join catalog_members m on m.catalog_id = c.id and m.name = s.zone_name)
    select p.member, o.name, o.kind, o.catalog, o.coo, o.same as "hasSamePeer"
    from pairs p join occupants o on o.name = p.name
    order by length(o.name) desc, o.kind`.execute(trx);
  const found = new Map<string, Occupant[]>();
  for (const { member, ...row } of rows) {
    const list = found.get(member) ?? [];
    found.set(member, list);
    list.push(occupantOf(row));
  }
  return found;
}

function occupantOf({ name, kind, catalog, coo, hasSamePeer }: Omit<OccupantRow, 'member'>): Occupant {
  if (kind !== 'member') return { kind, name };
  return { kind, name, catalog: catalog ?? '', coo, hasSamePeer: hasSamePeer ?? false };
}
