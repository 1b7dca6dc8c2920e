// Nodes that keep zones from being signed: those that would answer a signed zone wrongly, and those without room for it.

import { sql } from 'kysely';
import { DNSSEC_ABILITY } from '../feed/nodes.ts';
import type { Database } from '../postgres/database.ts';

/** No signature lives longer: what a node that is silent for so long answers is worth nothing to a validator. */
const SILENT_DAYS = 18;
/** Signatures make images three to four times as large. */
const FULL_SHARE = 0.85;

/** In words for operators; undefined: every node can. */
export async function findUnableNodes(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ name: string; isAble: boolean; isFull: boolean }>`
    select name, ${DNSSEC_ABILITY} = any(abilities) as "isAble",
      coalesce(image_octets > image_capacity * ${FULL_SHARE}::float8, false) as "isFull"
    from nodes
    where left_at is null and forgotten_at is null
      and seen_at > clock_timestamp() - make_interval(days => ${SILENT_DAYS}::integer)
    order by name`.execute(db);
  const old = rows.filter(({ isAble }) => !isAble).map(({ name }) => name);
  if (old.length > 0) {
    return `${old.join(', ')}: too old for signed zones, or without a report since its start; upgrade it, or say that it is gone (node forget)`;
  }
  const full = rows.filter(({ isFull }) => isFull).map(({ name }) => name);
  return full.length > 0 ? `${full.join(', ')}: no room for signatures (IMAGE_BYTES)` : undefined;
}
