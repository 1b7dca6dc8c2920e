// The sets of regions as nodes read them: one row, and only when it is another one than they know.

import type { Connection } from '../postgres/connection.ts';

/** The sets as JSON text; undefined: they are still these, or there are none yet. */
export async function loadEdgeSets(connection: Connection, known: string): Promise<string | undefined> {
  const rows = await connection.query('select sets::text from edge_sets where sets::text <> $1', [known]);
  return rows[0]?.[0] as string | undefined;
}
