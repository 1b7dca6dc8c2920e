// What operators watch of signed zones: how many there are in which phase, and how long the first signature still lives.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export interface SigningState {
  readonly phases: Readonly<Record<string, number>>;
  /** Seconds until the first signature ends, of zones that we sign and of those that were loaded signed. */
  readonly left: Readonly<Partial<Record<'ours' | 'verbatim', number>>>;
}

export async function loadSigningState(db: Database): Promise<SigningState> {
  const { rows } = await sql<{ phase: string; verbatim: boolean; count: number; left: number | null }>`
    select phase, verbatim, count(*)::integer as count,
      extract(epoch from min(expires_at) - clock_timestamp())::float8 as left
    from signed_zones group by phase, verbatim`.execute(db);
  const phases: Record<string, number> = {};
  const left: { ours?: number; verbatim?: number } = {};
  for (const row of rows) {
    if (!row.verbatim) phases[row.phase] = row.count;
    if (row.left === null) continue;
    const kind = row.verbatim ? 'verbatim' : 'ours';
    left[kind] = Math.min(left[kind] ?? Number.POSITIVE_INFINITY, row.left);
  }
  return { phases, left };
}
