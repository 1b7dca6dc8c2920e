// Which account a set of nameserver names proves a name for (docs/rules.md "Sets and rights"): for one name, a set is one account's.

import { sql } from 'kysely';
import { endingRights } from '../../checks/claims/choose-sets.ts';
import type { Database } from '../postgres/database.ts';
import { loadSightings } from './sightings.ts';

interface Right {
  /** Sorted, as in their column. */
  readonly names: readonly string[];
  readonly accountId: number;
  readonly exclusive: boolean;
}

export async function loadRights(db: Database, nameText: string): Promise<readonly Right[]> {
  const { rows } = await sql<Right>`
    select names, account_id as "accountId", exclusive from ns_rights where name = ${nameText}
    order by made_at`.execute(db);
  return rows;
}

/** Call it under `lockNamesAround`. A right of another account stays that account's. */
export async function saveRight(trx: Database, nameText: string, right: Right): Promise<void> {
  const names = sortedNames(right.names);
  await sql`
    insert into ns_rights (name, names, account_id, exclusive)
    values (${nameText}, ${names}::text[], ${right.accountId}, ${right.exclusive})
    on conflict (name, names) do nothing`.execute(trx);
}

/** Takes the right from whoever has it. */
export async function takeRight(trx: Database, nameText: string, right: Right): Promise<void> {
  await sql`
    insert into ns_rights (name, names, account_id, exclusive)
    values (${nameText}, ${sortedNames(right.names)}::text[], ${right.accountId}, ${right.exclusive})
    on conflict (name, names) do update set account_id = excluded.account_id, exclusive = excluded.exclusive,
      made_at = clock_timestamp()`.execute(trx);
}

export async function giveUpRights(
  trx: Database,
  nameText: string,
  accountId: number,
  sets: readonly (readonly string[])[],
): Promise<void> {
  for (const names of sets)
    await sql`
      delete from ns_rights
      where name = ${nameText} and names = ${sortedNames(names)}::text[] and account_id = ${accountId}`.execute(
      trx,
    );
}

/** Ends the rights that end with their account's claim (`endingRights`). The others stay two years. */
export async function endRights(trx: Database, nameText: string, accountId: number): Promise<void> {
  const rights = await loadRights(trx, nameText);
  if (rights.every((right) => right.accountId !== accountId)) return;
  const sighted = (await loadSightings(trx, nameText)).map(({ names }) => names);
  const ending = endingRights(rights, accountId, sighted);
  await giveUpRights(
    trx,
    nameText,
    accountId,
    ending.map(({ names }) => names),
  );
}

export function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}
