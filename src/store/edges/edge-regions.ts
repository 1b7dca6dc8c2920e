// Assigns regions to visitors' countries, and restricts domains to the edges of some regions.

import { sql } from 'kysely';
import { isGone, lockDomain } from '../change/lock-domain.ts';
import { writeDomainChange } from '../change/write-domain-change.ts';
import type { Database } from '../postgres/database.ts';
import { announce, announceAfterCommit, inTransaction } from '../postgres/transaction.ts';

const BY = { by: { kind: 'system' }, source: 'cli' } as const;

interface CountryRegion {
  readonly country: string;
  readonly region: string;
}

export async function listCountries(db: Database): Promise<CountryRegion[]> {
  const { rows } =
    await sql<CountryRegion>`select country, region from edge_countries order by country`.execute(db);
  return rows;
}

/** Returns the countries whose region changed. */
export async function setCountries(
  db: Database,
  countries: readonly string[],
  region: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ country: string }>`
    insert into edge_countries (country, region) select distinct c, ${region} from unnest(${[...countries]}::text[]) c
    on conflict (country) do update set region = excluded.region where edge_countries.region <> excluded.region
    returning country`.execute(db);
  if (rows.length > 0) announce(db);
  return rows.map(({ country }) => country).sort();
}

/** Returns the countries that had a region. */
export async function removeCountries(
  db: Database,
  countries: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ country: string }>`
    delete from edge_countries where country = any(${[...countries]}::text[]) returning country`.execute(db);
  if (rows.length > 0) announce(db);
  return rows.map(({ country }) => country).sort();
}

/** Null means edges of every region. Returns undefined if the domain is deleted. */
export async function setServedRegions(
  db: Database,
  domainId: number,
  regions: readonly string[] | null,
): Promise<{ readonly before: readonly string[] | null } | undefined> {
  return await inTransaction(db, async (trx) => {
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined || isGone(lock, {})) return undefined;
    const { rows } = await sql<{ regions: string[] | null }>`
      select edge_regions as regions from domains where id = ${domainId}`.execute(trx);
    const before = rows[0]?.regions ?? null;
    await sql`update domains set edge_regions = ${regions === null ? null : [...regions]}::text[] where id = ${domainId}`.execute(
      trx,
    );
    if ((before === null) !== (regions === null) && lock.zone !== undefined && lock.row.served === 'full') {
      const row = { ...lock.row, edgeRegions: regions };
      await writeDomainChange(
        trx,
        { ...lock, row },
        { ...BY, operation: 'settings', served: 'full', publish: 'whole' },
      );
    } else announceAfterCommit(trx);
    return { before };
  });
}
