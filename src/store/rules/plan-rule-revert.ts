// Plans how operations on rules are reverted, like `planRevert` for records: refused if a rule has changed since.
// Deleted rules return with their ids and creation times. What returns is validated like a new write.

import type { Entitlements } from '../../billing/entitlements.ts';
import type { Network } from '../../dns/record/network.ts';
import { judgeOrigin } from '../../edge/judge-origin.ts';
import { kindOf } from '../../edge/rules/every-type.ts';
import type { EdgeAddresses } from '../../zone/records/customer-record.ts';
import type { Database } from '../postgres/database.ts';
import { loadOwnEdges } from './edge-rules.ts';
import {
  countRulesByType,
  findRoomFault,
  findUnfitRecords,
  judgeRuleGates,
  loadRulesWithIds,
} from './load-rules.ts';
import type { Rule, RuleValue } from './rule.ts';
import {
  created,
  deleted,
  digestOf,
  membersOf,
  type RuleOperation,
  ruleValueIn,
  updated,
  type WrittenRule,
} from './rule.ts';
import { findLostPages } from './write-rules.ts';

export type PlannedRuleRevert =
  | { readonly kind: 'planned'; readonly written: readonly WrittenRule[] }
  | { readonly kind: 'conflict'; readonly ids: readonly number[]; readonly message: string }
  /** Something that the rules need no longer exists or is no longer allowed. */
  | { readonly kind: 'lacking'; readonly message: string }
  | { readonly kind: 'gate'; readonly refusal: NonNullable<ReturnType<typeof judgeRuleGates>> };

interface RevertedRules {
  readonly domainId: number;
  readonly plan: Entitlements | null;
  /** The default addresses of proxied names. */
  readonly edges: EdgeAddresses;
  /** Networks in which origins may be although they are not public. If undefined, origins are not validated. */
  readonly originAllow: readonly Network[] | undefined;
  readonly operations: readonly RuleOperation[];
  /** Records that are restored with the rules. */
  readonly returning?: ReadonlySet<number>;
}

/** Call it under the lock of the domain. */
export async function planRuleRevert(trx: Database, order: RevertedRules): Promise<PlannedRuleRevert> {
  const { domainId, operations, returning = new Set() } = order;
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
    (await findLackingPage(trx, domainId, values)) ??
    (await findWrongOrigin(trx, order, written, current)) ??
    (values.length === 0 ? undefined : (await findRoomFault(trx, domainId, values, ids))?.error);
  if (lacking !== undefined) return { kind: 'lacking', message: lacking };
  const refusal = await judgeReturning(trx, order, written, current);
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
  const unfit = await findUnfitRecords(trx, domainId, [...wanted]);
  const missing = unfit.find(({ record }) => record === undefined);
  return missing && `record ${missing.id}, to which a rule of this change applied, no longer exists`;
}

async function findLackingPage(
  trx: Database,
  domainId: number,
  values: readonly RuleValue[],
): Promise<string | undefined> {
  const digests = values.flatMap(({ page }) => page?.digest ?? []);
  const lost = await findLostPages(trx, domainId, digests);
  return lost.length === 0 ? undefined : 'the text of the error page is no longer stored';
}

/** Unchanged origins are not validated again. */
async function findWrongOrigin(
  trx: Database,
  { edges, originAllow: allowed }: RevertedRules,
  written: readonly WrittenRule[],
  current: ReadonlyMap<number, Rule>,
): Promise<string | undefined> {
  if (allowed === undefined) return undefined;
  const hostsOf = (type: RuleOperation['type'], value: RuleValue | undefined) =>
    value === undefined
      ? []
      : kindOf(type)
          .origins(value.body)
          .map(({ host }) => host);
  const named = written.flatMap(({ operation: { id, type }, value }) => {
    const held = new Set(hostsOf(type, current.get(id)));
    return hostsOf(type, value).flatMap((host) => (held.has(host) ? [] : [{ id, host }]));
  });
  if (named.length === 0) return undefined;
  const rules = { allowed, edges: await loadOwnEdges(trx, edges) };
  for (const { id, host } of named) {
    const fault = judgeOrigin(host, rules);
    if (fault !== undefined) return `rule ${id}: ${fault}: ${host}`;
  }
  return undefined;
}

/** Checks the plan: returning rules count as new ones, changed rules as updates. */
async function judgeReturning(
  trx: Database,
  { domainId, plan }: RevertedRules,
  written: readonly WrittenRule[],
  current: ReadonlyMap<number, Rule>,
): Promise<NonNullable<ReturnType<typeof judgeRuleGates>> | undefined> {
  const returns = written.flatMap(({ operation: { op, type } }) => (op === 'create' ? [type] : []));
  const changes = written.some(({ operation, value }) => {
    const rule = current.get(operation.id);
    return rule !== undefined && value !== undefined && !isSwitchedOff(rule, value);
  });
  const counts = returns.length === 0 ? new Map() : await countRulesByType(trx, domainId);
  for (const type of new Set(returns)) {
    const count = (counts.get(type) ?? 0) + returns.filter((each) => each === type).length;
    const refusal = judgeRuleGates(plan, count);
    if (refusal !== undefined) return refusal;
  }
  return changes ? judgeRuleGates(plan) : undefined;
}

/** Returns true if the rule is only disabled, which requires no plan. */
function isSwitchedOff(from: RuleValue, to: RuleValue): boolean {
  const members = (value: RuleValue) =>
    digestOf({ ...membersOf(value), enabled: false, disabled_reason: null });
  return !to.body.enabled && members(from) === members(to);
}
