// Loads the rules of a domain for its members, and checks their limits. Edges receive all rules of a domain together,
// so the limits on number and size apply even if a plan has none.

import { type RawBuilder, sql } from 'kysely';
import type { Entitlements } from '../../billing/entitlements.ts';
import { type EntitlementRefusal, GATES, judgeGate } from '../../billing/gates.ts';
import type { Name } from '../../dns/name.ts';
import type { RuleType } from '../../edge/edge-rule.ts';
import { MAX_RULES_OF_A_TYPE } from '../../edge/rules/common-fields.ts';
import type { Database } from '../postgres/database.ts';
import { CursorError, type Page, type Paged } from '../postgres/list-page.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { arrayOf } from '../postgres/prepared-statements.ts';
import {
  decodeRule,
  octetsOfBody,
  RULE_COLUMNS,
  type Rule,
  type RuleRow,
  type RuleValue,
  updated,
  type WholeRule,
  type WrittenRule,
} from './rule.ts';

/** Lists rules of one type, in the order of evaluation. */
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

/** A cursor contains priority and id of the previous page's last rule. */
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

/** Loads the domain's rules with these ids, of any type. */
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

/** True if rules of the domain `d` are for any of these records. */
export function hasRulesOf(recordIds: readonly number[]): RawBuilder<unknown> {
  const ids = arrayOf('bigint', recordIds);
  return sql`exists (select from rules r where r.domain_id = d.id and r.record_ids && ${ids}::bigint[])`;
}

/** Loads the rules for any of these records. */
async function loadRulesOfRecords(
  trx: Database,
  domainId: number,
  recordIds: readonly number[],
): Promise<Rule[]> {
  const { rows } = await sql<RuleRow>`
    select ${RULE_COLUMNS} from rules r
    where r.domain_id = ${domainId} and r.record_ids && ${recordIds}::bigint[] order by r.id`.execute(trx);
  return rows.map(decodeRule);
}

/** Returns the size of a domain's rules, without some of them. */
async function sumRuleOctets(
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

const MIB = 1024 * 1024;
const MAX_BODY_OCTETS = 4 * MIB;
const MAX_PAGE_OCTETS = 4 * MIB;

/** `count` is the number of rules of the type after the change. Undefined if none is added. */
export function judgeRuleGates(plan: Entitlements | null, count?: number): EntitlementRefusal | undefined {
  const shut = judgeGate(GATES.rules, plan);
  if (shut !== undefined || count === undefined) return shut;
  const over = judgeGate(GATES.rules_of_a_type, plan, count);
  if (over !== undefined || count <= MAX_RULES_OF_A_TYPE) return over;
  const message = `a domain may have at most ${MAX_RULES_OF_A_TYPE} rules of one type`;
  return { code: 'plan_limit', message, limit: MAX_RULES_OF_A_TYPE };
}

/** Returns an error if these values exceed the domain's space. `without` are the rules whose values they replace. */
export async function findRoomFault(
  trx: Database,
  domainId: number,
  values: readonly RuleValue[],
  without: readonly number[],
): Promise<{ readonly field: string; readonly error: string } | undefined> {
  const { bodies, pages } = await sumRuleOctets(trx, domainId, without);
  const sum = (octetsOf: (value: RuleValue) => number) =>
    values.reduce((octets, value) => octets + octetsOf(value), 0);
  const more = (what: string, limit: number) =>
    `${what} of a domain may take at most ${limit / MIB} MiB in total`;
  if (pages + sum(({ page }) => page?.octets ?? 0) > MAX_PAGE_OCTETS)
    return { field: 'html', error: more('the error pages', MAX_PAGE_OCTETS) };
  if (bodies + sum(octetsOfBody) > MAX_BODY_OCTETS)
    return { field: 'body', error: more('the rules', MAX_BODY_OCTETS) };
  return undefined;
}

const LAST_RECORD_GONE =
  'the last record of this rule was deleted: without records, the rule would apply to the whole domain';

/**
 * Removes deleted records from the rules that are for them. A rule that loses its last record is disabled, because
 * otherwise it would apply to the whole domain. The caller holds the lock of the domain.
 */
export async function rulesWithout(
  trx: Database,
  domainId: number,
  recordIds: readonly number[],
): Promise<WrittenRule[]> {
  if (recordIds.length === 0) return [];
  const gone = new Set(recordIds);
  const rules = await loadRulesOfRecords(trx, domainId, recordIds);
  return rules.flatMap((rule) => {
    const left = rule.body.record_ids.filter((id) => !gone.has(id));
    const isLast = left.length === 0;
    const body = { ...rule.body, record_ids: left, enabled: rule.body.enabled && !isLast };
    const disabledReason = isLast && rule.body.enabled ? LAST_RECORD_GONE : rule.disabledReason;
    const written = updated(rule, { ...rule, body, disabledReason });
    return written === undefined ? [] : [written];
  });
}

interface UnsupportedBy {
  readonly why: string;
  /** Number of edges that report it. */
  readonly edges: number;
}

/** An edge that is silent for longer is not published either. */
const SILENT_SECONDS = 60;

/**
 * Returns the number of edges that report a rule as unsupported, by rule id. Members of the domain never see which
 * edges. Only edges that are present and receive the domain count.
 */
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
