// What edges are told of the rules of domains.

import { sql } from 'kysely';
import type { EdgeRule, RuleType } from '../../edge/edge-rule.ts';
import { edgeRuleOf, kindOf, RULE_TYPES } from '../../edge/rules/every-type.ts';
import type { RuleBody } from '../../edge/rules/rule-kind.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

/**
 * The enabled rules of each domain, by its id, in the order in which they act: type, priority, id. A domain without any has
 * no entry. A rule for records none of which is proxied is left out, since no request can match it.
 */
export async function loadEdgeRules(
  db: Database,
  domainIds: readonly number[],
): Promise<Map<number, EdgeRule[]>> {
  const { rows } = await sql<ToldRow>`
    select r.id, r.domain_id as "domainId", r.type, r.priority, r.fields, p.html, case when r.record_ids <> '{}' then array(
      select distinct d.name from records d
      where d.id = any(r.record_ids) and d.domain_id = r.domain_id and d.proxied order by 1) end as hosts
    from rules r left join rule_pages p on p.domain_id = r.domain_id and p.digest = r.page
    where r.domain_id = any(${domainIds}::bigint[]) and r.enabled
    order by r.domain_id, array_position(${RULE_TYPES}::text[], r.type), r.priority, r.id`.execute(db);
  const found = new Map<number, EdgeRule[]>();
  for (const { id, domainId, type, priority, fields, html, hosts } of rows) {
    if (hosts?.length === 0) continue;
    const { pageField } = kindOf(type);
    const page = pageField === undefined ? {} : { [pageField]: html ?? '' };
    const whole = { ...fields, ...page, record_ids: [], enabled: true, priority } as unknown as RuleBody;
    const names = hosts?.map((name) => printWithoutDot(decodeNameColumn(name)));
    const rules = found.get(domainId) ?? [];
    rules.push(edgeRuleOf(type, id, whole, names));
    found.set(domainId, rules);
  }
  return found;
}

/** No more than an edge is told: times and digests of a snapshot's rules take as long to read as the rest. */
interface ToldRow {
  readonly id: number;
  readonly domainId: number;
  readonly type: RuleType;
  readonly priority: number;
  readonly fields: Record<string, unknown>;
  readonly html: string | null;
  readonly hosts: string[] | null;
}
