// Plans how operations on rules are taken back, as `planRevert` of records does: refused when a rule is no longer as the change
// left it. Deleted rules return with their ids and creation times.

import type { Entitlements } from '../../billing/entitlements.ts';
import type { Database } from '../postgres/database.ts';
import { judgeRuleGates } from './judge-limits.ts';
import { countRulesByType, findForeignRecords, loadRulesWithIds } from './load-rules.ts';
import {
  created,
  deleted,
  digestOf,
  membersOf,
  type RuleOperation,
  ruleValueIn,
  updated,
  type WrittenRule,
} from './rule-operations.ts';
import type { Rule, RuleValue } from './rule-row.ts';
import { findLostPages } from './write-rules.ts';

export type PlannedRuleRevert =
  | { readonly kind: 'planned'; readonly written: readonly WrittenRule[] }
  | { readonly kind: 'conflict'; readonly ids: readonly number[]; readonly message: string }
  /** What the rules need is not there any more. */
  | { readonly kind: 'lacking'; readonly message: string }
  | { readonly kind: 'gate'; readonly refusal: NonNullable<ReturnType<typeof judgeRuleGates>> };

/** Under the lock of the domain. `returning`: records that come back with them. */
export async function planRuleRevert(
  trx: Database,
  domainId: number,
  plan: Entitlements | null,
  operations: readonly RuleOperation[],
  returning: ReadonlySet<number> = new Set(),
): Promise<PlannedRuleRevert> {
  const ids = operations.map(({ id }) => id);
  const current = new Map((await loadRulesWithIds(trx, domainId, ids)).map((rule) => [rule.id, rule]));
  const touched = operations.filter((operation) => !isAsLeft(operation, current)).map(({ id }) => id);
  if (touched.length > 0) {
    const which = touched.length === 1 ? `rule ${touched[0]}` : `${touched.length} rules`;
    return { kind: 'conflict', ids: touched, message: `a later change touched ${which} of this change` };
  }
  const written = operations.flatMap((operation) => takeBack(operation, current) ?? []);
  const values = written.flatMap(({ value }) => value ?? []);
  const lacking =
    (await findLackingRecord(trx, domainId, values, returning)) ??
    (await findLackingPage(trx, domainId, values));
  if (lacking !== undefined) return { kind: 'lacking', message: lacking };
  const refusal = await judgeReturning(trx, domainId, plan, operations);
  return refusal === undefined ? { kind: 'planned', written } : { kind: 'gate', refusal };
}

function isAsLeft({ id, op, digest }: RuleOperation, current: ReadonlyMap<number, Rule>): boolean {
  const rule = current.get(id);
  if (op === 'delete') return rule === undefined;
  return rule !== undefined && digestOf(membersOf(rule)) === digest;
}

function takeBack(operation: RuleOperation, current: ReadonlyMap<number, Rule>): WrittenRule | undefined {
  const { op, id, type, before = {}, after = {}, created_at } = operation;
  const rule = current.get(id);
  if (op === 'delete') {
    const returned = created(id, type, ruleValueIn(before));
    return { ...returned, operation: { ...returned.operation, ...(created_at && { created_at }) } };
  }
  if (rule === undefined) return undefined;
  if (op === 'create') return deleted(rule);
  const members: Record<string, unknown> = { ...membersOf(rule) };
  for (const name of Object.keys(after)) delete members[name];
  return updated(rule, ruleValueIn({ ...members, ...before }));
}

async function findLackingRecord(
  trx: Database,
  domainId: number,
  values: readonly RuleValue[],
  returning: ReadonlySet<number>,
): Promise<string | undefined> {
  const wanted = new Set(values.flatMap(({ body }) => body.record_ids).filter((id) => !returning.has(id)));
  const [first] = await findForeignRecords(trx, domainId, [...wanted]);
  return first === undefined ? undefined : `record ${first}, which a rule was for, is not there any more`;
}

async function findLackingPage(
  trx: Database,
  domainId: number,
  values: readonly RuleValue[],
): Promise<string | undefined> {
  const digests = values.flatMap(({ page }) => page?.digest ?? []);
  const lost = await findLostPages(trx, domainId, digests);
  return lost.length === 0 ? undefined : 'the text of the error page is not kept any more';
}

/** Rules that return need the plan as new ones do. */
async function judgeReturning(
  trx: Database,
  domainId: number,
  plan: Entitlements | null,
  operations: readonly RuleOperation[],
): Promise<NonNullable<ReturnType<typeof judgeRuleGates>> | undefined> {
  const returns = operations.filter(({ op }) => op === 'delete').map(({ type }) => type);
  if (returns.length === 0) return undefined;
  const counts = await countRulesByType(trx, domainId);
  for (const type of new Set(returns)) {
    const count = (counts.get(type) ?? 0) + returns.filter((each) => each === type).length;
    const refusal = judgeRuleGates(plan, count);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
