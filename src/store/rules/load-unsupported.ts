// What edges say of rules that they cannot obey, for the members of the domain: how many say so, never which.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

interface UnsupportedBy {
  readonly why: string;
  /** How many edges say so. */
  readonly edges: number;
}

/** An edge that is silent for longer is not published either. */
const SILENT_SECONDS = 60;

/** By the id of the rule. What counts is the word of edges that are there and are told the domain. */
export async function loadUnsupported(
  db: Database,
  domainId: number,
  ruleIds: readonly number[],
): Promise<Map<number, UnsupportedBy[]>> {
  const found = new Map<number, UnsupportedBy[]>();
  if (ruleIds.length === 0) return found;
  const { rows } = await sql<UnsupportedBy & { id: number }>`
    select u.rule_id as id, u.why, count(*)::integer as edges
    from edge_unsupported u join edges e on e.id = u.edge_id join domains d on d.id = ${domainId}
    where u.rule_id = any(${ruleIds}::bigint[]) and e.revoked_at is null
      and e.seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS})
      and (d.edge_regions is null or e.region = any(d.edge_regions))
    group by u.rule_id, u.why order by count(*) desc, u.why`.execute(db);
  for (const { id, ...by } of rows) found.set(id, [...(found.get(id) ?? []), by]);
  return found;
}
