// Decides what each region publishes, and writes it to the row that nodes follow. One worker process does it at a time.

import { sql } from 'kysely';
import { nextEdgeSets } from '../../edge/sets/next-edge-sets.ts';
import { type EdgeSetsPlan, type Members, planEdgeSets } from '../../edge/sets/plan-edge-sets.ts';
import type { EdgeSets } from '../../zone/edge-sets.ts';
import { startRegionalAnswers } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { announceAfterCommit, inTransaction } from '../postgres/transaction.ts';

export interface DecidedSets {
  readonly sets: EdgeSets;
  readonly held: EdgeSetsPlan['held'];
  readonly stale: readonly string[];
  readonly isChanged: boolean;
}

interface Row {
  readonly sets: EdgeSets;
  readonly members: Members;
  readonly held: EdgeSetsPlan['held'] | null;
  readonly now: number;
}

interface EdgeRow {
  readonly name: string;
  readonly region: string;
  readonly v4: string[];
  readonly v6: string[];
  readonly isDrained: boolean;
  readonly seenAtMs: number | null;
}

/** Returns undefined if another process is deciding at the moment. */
export async function decideEdgeSets(db: Database): Promise<DecidedSets | undefined> {
  return await inTransaction(db, async (trx) => {
    const { rows } = await sql<Row>`
      select sets, members, held, extract(epoch from clock_timestamp()) * 1000 as now
      from edge_sets for update skip locked`.execute(trx);
    const [row] = rows;
    if (row === undefined) return undefined;
    const found = await sql<EdgeRow>`
      select name, region, v4, v6, drained_at is not null as "isDrained",
        extract(epoch from seen_at) * 1000 as "seenAtMs"
      from edges where revoked_at is null order by name`.execute(trx);
    const edges = found.rows.map((edge) => ({
      ...edge,
      seenAtMs: edge.seenAtMs === null ? undefined : Number(edge.seenAtMs),
    }));
    const countries = await sql<{ country: string; region: string }>`
      select country, region from edge_countries`.execute(trx);
    const placed = Object.fromEntries(countries.rows.map(({ country, region }) => [country, region]));
    const { members, held, stale } = planEdgeSets(edges, row, Number(row.now));
    const sets = nextEdgeSets(edges, members, placed, row.sets);
    const isChanged = sets !== row.sets;
    if (isChanged || !isEqual(members, row.members) || !isEqual(held ?? null, row.held)) {
      await sql`
        update edge_sets set sets = ${JSON.stringify(sets)}::jsonb, members = ${JSON.stringify(members)}::jsonb,
          held = ${held === undefined ? null : JSON.stringify(held)}::jsonb, decided_at = now()`.execute(trx);
      if (isChanged) announceAfterCommit(trx);
    }
    if (sets.regions.length > 0) await startRegionalAnswers(trx);
    return { sets, held, stale, isChanged };
  });
}

/** Loads the latest decision of any process. */
export async function loadDecidedSets(db: Database): Promise<EdgeSets> {
  const { rows } = await sql<Pick<Row, 'sets'>>`select sets from edge_sets`.execute(db);
  return (rows[0] as Row).sets;
}

/** Postgres stores the members of an object in another order. */
function isEqual(a: unknown, b: unknown): boolean {
  return print(a) === print(b);
}

function print(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
