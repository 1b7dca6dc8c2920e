// Loads the served domains of other accounts inside a name. They would end if a claim for the name were proved. Every
// check of a pending domain reads them, so their number is limited.

import { sql } from 'kysely';
import { endingInside, type HeldInside } from '../../checks/claims/inner-domains.ts';
import type { InnerDomain } from '../../checks/delegation/finding-text.ts';
import type { Name } from '../../dns/name.ts';
import { isBelow, namesAbove } from '../change/claim-name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

/** Maximum number of domains read inside a name. */
const MAX_INNER_DOMAINS = 256;

/** Returns the inner domains by claim id. A claim without inner domains has no entry. */
export async function loadInnerDomains(
  db: Database,
  nameText: string,
  claims: readonly { readonly id: number; readonly accountId: number }[],
): Promise<ReadonlyMap<number, readonly InnerDomain[]>> {
  if (claims.length === 0) return new Map();
  const inside = await loadHeldInside(db, nameText);
  if (inside.length === 0) return new Map();
  const cuts = await loadCuts(
    db,
    claims.map(({ id }) => id),
    inside.map(({ text }) => text),
  );
  return new Map(
    claims.flatMap(({ id, accountId }) => {
      const ending = endingInside(accountId, inside, cuts.get(id) ?? []);
      return ending.length === 0 ? [] : [[id, ending]];
    }),
  );
}

async function loadHeldInside(
  db: Database,
  nameText: string,
): Promise<readonly (HeldInside & { readonly text: string })[]> {
  const { rows } = await sql<{ name: string; accountId: number; ns: readonly string[] | null }>`
    select d.name, d.account_id as "accountId", d.delegated_ns as ns from domains d
    where ${isBelow(nameText)} and d.deleted_at is null and d.dns_mode = 'managed' and d.status in ('active', 'moved')
    order by reverse(d.name) collate "C" limit ${MAX_INNER_DOMAINS}`.execute(db);
  return rows.map(({ name, accountId, ns }) => ({
    text: name,
    name: decodeNameColumn(name),
    accountId,
    ns: (ns ?? []).map(decodeNameColumn),
  }));
}

/** Loads the names, at or above the given ones, for which a claim has NS records, by claim id. */
async function loadCuts(
  db: Database,
  ids: readonly number[],
  names: readonly string[],
): Promise<ReadonlyMap<number, readonly Name[]>> {
  const wanted = [...new Set(names.flatMap((name) => [name, ...namesAbove(name)]))];
  const { rows } = await sql<{ id: number; names: string[] }>`
    select domain_id as id, array_agg(distinct name) as names from records
    where domain_id = any(${ids}::bigint[]) and name = any(${wanted}::text[]) and type = 'NS' and not managed
    group by domain_id`.execute(db);
  return new Map(rows.map(({ id, names: cuts }) => [id, cuts.map(decodeNameColumn)]));
}
