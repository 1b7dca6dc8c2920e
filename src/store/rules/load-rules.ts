// Loads the rules of a domain, for its members.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { RuleType } from '../../edge/edge-rule.ts';
import type { Database } from '../postgres/database.ts';
import { CursorError, type Page, type Paged } from '../postgres/list-page.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { decodeRule, RULE_COLUMNS, type Rule, type RuleRow, type WholeRule } from './rule-row.ts';

/** Those of one type, in the order in which they are evaluated. */
export async function listRules(
  db: Database,
  domainId: number,
  type: RuleType,
  { limit, cursor, offset = 0 }: Page,
): Promise<Paged<Rule>> {
  const { rows } = await sql<RuleRow>`
    select ${RULE_COLUMNS} from rules r
    where r.domain_id = ${domainId} and r.type = ${type} and ${behind(cursor)}
    order by r.priority, r.id limit ${limit + 1} offset ${offset}`.execute(db);
  const items = rows.slice(0, limit).map(decodeRule);
  const last = items.at(-1);
  const isLast = rows.length <= limit || last === undefined;
  return { items, cursor: isLast ? undefined : `${last.body.priority}.${last.id}` };
}

/** A cursor is priority and id of the last rule before it. */
function behind(cursor: string | undefined): RawBuilder<unknown> {
  if (cursor === undefined) return sql`true`;
  const [, priority, id] = /^([0-9]{1,9})\.([1-9][0-9]{0,14})$/.exec(cursor) ?? [];
  if (priority === undefined) throw new CursorError('the cursor does not belong to this list');
  return sql`(r.priority, r.id) > (${Number(priority)}::integer, ${Number(id)}::bigint)`;
}

export async function countRules(db: Database, domainId: number, type: RuleType): Promise<number> {
  return (await countRulesByType(db, domainId)).get(type) ?? 0;
}

export async function countRulesByType(db: Database, domainId: number): Promise<Map<RuleType, number>> {
  const { rows } = await sql<{ type: RuleType; count: number }>`
    select type, count(*)::integer as count from rules where domain_id = ${domainId} group by type`.execute(
    db,
  );
  return new Map(rows.map(({ type, count }) => [type, count]));
}

export async function loadRule(
  db: Database,
  domainId: number,
  type: RuleType,
  id: number,
): Promise<WholeRule | undefined> {
  const { rows } = await sql<RuleRow & { html: string | null }>`
    select ${RULE_COLUMNS}, p.html from rules r
      left join rule_pages p on p.domain_id = r.domain_id and p.digest = r.page
    where r.domain_id = ${domainId} and r.type = ${type} and r.id = ${id}`.execute(db);
  const [row] = rows;
  return row === undefined ? undefined : { ...decodeRule(row), html: row.html };
}

/** Those of the ids that the domain has, of any type. */
export async function loadRulesWithIds(
  trx: Database,
  domainId: number,
  ids: readonly number[],
): Promise<Rule[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<RuleRow>`
    select ${RULE_COLUMNS} from rules r where r.domain_id = ${domainId} and r.id = any(${ids}::bigint[])`.execute(
    trx,
  );
  return rows.map(decodeRule);
}

/** Those that are for one of these records. */
export async function loadRulesOfRecords(
  trx: Database,
  domainId: number,
  recordIds: readonly number[],
): Promise<Rule[]> {
  const { rows } = await sql<RuleRow>`
    select ${RULE_COLUMNS} from rules r
    where r.domain_id = ${domainId} and r.record_ids && ${recordIds}::bigint[] order by r.id`.execute(trx);
  return rows.map(decodeRule);
}

/** What the rules of a domain take, without some of them. */
export async function sumRuleOctets(
  trx: Database,
  domainId: number,
  without: readonly number[],
): Promise<{ bodies: number; pages: number }> {
  const { rows } = await sql<{ bodies: number; pages: number }>`
    select coalesce(sum(octets), 0)::integer as bodies, coalesce(sum(page_octets), 0)::integer as pages
    from rules where domain_id = ${domainId} and not id = any(${without}::bigint[])`.execute(trx);
  return rows[0] as { bodies: number; pages: number };
}

/** A record that a rule names but cannot apply to. */
interface UnfitRecord {
  readonly id: number;
  /** Undefined if the domain has no record with this id. Otherwise the record is not proxied. */
  readonly record: { readonly name: Name; readonly type: string } | undefined;
}

/** Returns the records among these ids that the domain does not have, or that are not proxied. */
export async function findUnfitRecords(
  trx: Database,
  domainId: number,
  ids: readonly number[],
): Promise<UnfitRecord[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: number; name: string | null; type: string | null }>`
    select w.id, r.name, r.type from unnest(${ids}::bigint[]) w (id)
    left join records r on r.id = w.id and r.domain_id = ${domainId}
    where r.proxied is not true`.execute(trx);
  return rows.map(({ id, name, type }) => ({
    id,
    record: name === null || type === null ? undefined : { name: decodeNameColumn(name), type },
  }));
}
