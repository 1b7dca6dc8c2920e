// Loads the names of a domain that edges answer for.

import { sql } from 'kysely';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

/** More are not looked at: a certificate that lacks one of so many is seen. */
const MOST_NAMES = 1000;

/** Without the final dot, sorted. */
export async function loadProxiedNames(db: Database, domainId: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct name from records where domain_id = ${domainId} and proxied
    order by name limit ${MOST_NAMES}`.execute(db);
  return rows.map(({ name }) => printWithoutDot(decodeNameColumn(name)));
}
