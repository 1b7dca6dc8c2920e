// Finds the change that a repeated `present` waits for.

import type { Database } from '../../store/postgres/database.ts';

/** Returns undefined if no change of the domain is stored. */
export async function newestChangeId(db: Database, domainId: number): Promise<number | undefined> {
  const { id } = await db
    .selectFrom('domain_changes')
    .select(({ fn }) => fn.max('id').as('id'))
    .where('domain_id', '=', domainId)
    .executeTakeFirstOrThrow();
  return id ?? undefined;
}
