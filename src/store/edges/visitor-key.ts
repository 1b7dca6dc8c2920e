// The key with which visitors of proxied names become numbers. It was made once, with the database, and never changes: with another
// one, every visitor would be a new one. Secrets that are sealed by KEY_SECRETS change with them; this one must not.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export async function loadVisitorKey(db: Database): Promise<Buffer> {
  const { rows } = await sql<{ key: Buffer }>`select key from visitor_key`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the table visitor_key is empty');
  return row.key;
}
