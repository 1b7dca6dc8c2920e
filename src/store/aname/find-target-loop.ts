// Whether a target leads back to itself through ANAME records of this fleet: each would publish the other's addresses,
// and keep them alive after the last real one is gone. Only active domains count, since anyone can create a pending
// one.

import { sql } from 'kysely';
import { type Name, parentOf, ROOT } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { decodeTarget, encodeTarget, IS_FLATTENED, TARGET_OF_RECORD } from '../records/aname-targets.ts';

/** The most records that are followed; no real chain is longer. */
const MAX_LINKS = 16;

/**
 * The targets on the way, from the first to the one that repeats. `leadsTo`: the name where the first one's aliases
 * end.
 */
export async function findTargetLoop(
  db: Database,
  target: Name,
  leadsTo: Name,
): Promise<readonly Name[] | undefined> {
  const way = [target];
  let end = leadsTo;
  for (;;) {
    const next = await loadAnameAt(db, end);
    if (next === undefined) return undefined;
    const isLoop = way.includes(next);
    way.push(next);
    if (isLoop || way.length > MAX_LINKS) return way;
    end = (await loadLeadsTo(db, next)) ?? next;
  }
}

/** The target of the ANAME that answers for this name, which may be a wildcard's. */
async function loadAnameAt(db: Database, name: Name): Promise<Name | undefined> {
  const names = [encodeNameColumn(name)];
  for (let above = name; above !== ROOT; names.push(encodeNameColumn(above))) above = parentOf(above);
  // What is at the name itself, or at the deepest wildcard above it (RFC 4592 §2.2.1), in the deepest domain.
  const places = [names[0], ...names.slice(1).map((above) => (above === '.' ? '*.' : `*.${above}`))];
  const { rows } = await sql<{ target: string | null }>`
    with domain as (
      select d.id from domains d
      where d.name = any(${names}::text[]) and d.status = 'active' and d.served = 'full'
      order by length(d.name) desc limit 1),
    place as (
      select r.domain_id, r.name from records r
      where r.domain_id = (select id from domain) and r.name = any(${places}::text[])
      order by array_position(${places}::text[], r.name) limit 1)
    select ${TARGET_OF_RECORD} as target from records r join place p using (domain_id, name)
    where ${IS_FLATTENED}`.execute(db);
  const text = rows[0]?.target;
  return text == null ? undefined : decodeTarget(text);
}

async function loadLeadsTo(db: Database, target: Name): Promise<Name | undefined> {
  const row = await db
    .selectFrom('aname_targets')
    .select('leads_to')
    .where('target', '=', encodeTarget(target))
    .executeTakeFirst();
  return row?.leads_to == null ? undefined : decodeNameColumn(row.leads_to);
}
