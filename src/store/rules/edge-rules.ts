// Loads rules as edges receive them, and checks which origins edges may connect to.

import { sql } from 'kysely';
import { printIpv4, printIpv6 } from '../../dns/record/ip-address.ts';
import type { Network } from '../../dns/record/network.ts';
import type { EdgeRule, RuleType } from '../../edge/edge-rule.ts';
import { isExample, judgeOrigin } from '../../edge/judge-origin.ts';
import { edgeRuleOf, kindOf, RULE_TYPES } from '../../edge/rules/every-type.ts';
import type { RuleBody } from '../../edge/rules/rule-kind.ts';
import type { EditProblem } from '../../zone/edit/edit.ts';
import type { RecordOperation } from '../../zone/edit/plan-edit.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { RecordValue } from '../../zone/records/customer-record.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

/**
 * Loads the enabled rules of each domain by domain id, in the order of execution: type, priority, id. A domain without
 * rules has no entry. Rules that are only for unproxied records are left out, because no request can match them.
 */
export async function loadEdgeRules(
  db: Database,
  domainIds: readonly number[],
): Promise<Map<number, EdgeRule[]>> {
  const { rows } = await sql<EdgeRuleRow>`
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

/** Only what an edge receives: reading times and digests of a snapshot's rules would take as long as the rest. */
interface EdgeRuleRow {
  readonly id: number;
  readonly domainId: number;
  readonly type: RuleType;
  readonly priority: number;
  readonly fields: Record<string, unknown>;
  readonly html: string | null;
  readonly hosts: string[] | null;
}

interface Problems {
  readonly kind: 'problems';
  readonly problems: readonly EditProblem[];
}

/**
 * Finds proxied records whose origin edges may not connect to. Unchanged origins are not validated again. Returns
 * undefined if there are none.
 */
export async function findWrongOrigins(
  db: Database,
  ops: readonly RecordOperation[],
  edges: Parameters<typeof loadOwnEdges>[1],
  allowed: readonly Network[],
): Promise<Problems | undefined> {
  const changed = ops.flatMap((op) => {
    if (op.op === 'delete' || op.item === undefined) return [];
    const address = addressOf(op.after);
    const isNew = op.op === 'create' || addressOf(op.before) !== address;
    return address !== undefined && isNew ? [{ address, item: op.item }] : [];
  });
  if (changed.length === 0) return undefined;
  const rules = { allowed, edges: await loadOwnEdges(db, edges) };
  const problems = changed.flatMap(({ address, item: { list, index, path } }): EditProblem[] => {
    const message = judgeOrigin(address, rules);
    return message === undefined
      ? []
      : [{ list, index, field: `${path}destination`, code: 'invalid', message: `${message}: ${address}` }];
  });
  return problems.length === 0 ? undefined : { kind: 'problems', problems };
}

/** Returns the address of the origin, or undefined if there is none or only a name. */
function addressOf({ type, proxied, rdata }: RecordValue): string | undefined {
  if (!proxied) return undefined;
  if (type === 'A') return printIpv4(rdata);
  return type === 'AAAA' ? printIpv6(rdata) : undefined;
}

interface EdgeAddresses {
  readonly v4: readonly string[];
  readonly v6: readonly string[];
}

/**
 * Loads the addresses of the fleet's edges, which must not be origins: those in the settings and those of registered
 * edges. `settings` are the default addresses of proxied names; until operators set them, they are examples.
 */
export async function loadOwnEdges(db: Database, { v4, v6 }: EdgeAddresses): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select distinct unnest(v4 || v6) as address from edges where revoked_at is null`.execute(db);
  const published = [...v4, ...v6].filter((address) => !isExample(address));
  return [...published, ...rows.map(({ address }) => address)];
}
