// Reverts a change with a new change: records and rules return. The serial still increments if records change.

import type { Network } from '../../dns/record/network.ts';
import { planRevert } from '../../zone/edit/plan-revert.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { planOf } from '../domains/domain-row.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type DomainChange, loadDomainChange } from '../records/load-changes.ts';
import { type PlannedRuleRevert, planRuleRevert } from '../rules/plan-rule-revert.ts';
import type { WrittenRule } from '../rules/rule.ts';
import { lockDomain } from './lock-domain.ts';
import { type SavedEdit, saveEdit } from './save-edit.ts';
import { saveRules } from './save-rules.ts';

/** A change without records and rules cannot be reverted: `nothing_to_revert`. */
export type SavedRevert =
  | SavedEdit
  | {
      readonly kind: 'conflict';
      /** The kind of object that a later change touched. */
      readonly of: 'record' | 'rule';
      readonly ids: readonly number[];
      readonly message: string;
    }
  | { readonly kind: 'no_change' | 'nothing_to_revert' | 'lacking'; readonly message: string };

interface RevertOrder {
  readonly domainId: number;
  /** See `saveEdit`. */
  readonly ownerId?: number;
  readonly changeId: number;
  readonly by: ChangedBy['by'];
  /** See `saveEdit`. */
  readonly originAllow?: readonly Network[];
}

export async function saveRevert(db: Database, order: RevertOrder): Promise<SavedRevert> {
  const { domainId, changeId } = order;
  return await inTransaction<SavedRevert>(db, async (trx) => {
    const change = await loadDomainChange(trx, domainId, changeId);
    if (change === undefined) return { kind: 'no_change', message: 'the domain has no such change' };
    if (change.ops.length > 0) return await revertRecords(trx, order, change);
    if (change.rules.length > 0) return await revertRules(trx, order, change);
    return { kind: 'nothing_to_revert', message: 'this change did not touch any record or rule' };
  });
}

/** Also reverts the rules from which the change removed records. */
async function revertRecords(
  trx: Database,
  { domainId, ownerId, changeId, by, originAllow }: RevertOrder,
  { ops, rules: operations }: DomainChange,
): Promise<SavedRevert> {
  const returning = new Set(ops.flatMap(({ op, before }) => (op === 'delete' && before ? [before.id] : [])));
  let rules: readonly WrittenRule[] = [];
  if (operations.length > 0) {
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined)
      return { kind: 'refused', code: 'not_found', message: 'the domain was deleted or transferred' };
    const { edges } = lock.settings;
    const plan = planOf(lock.row);
    const order = { domainId, plan, edges, originAllow, operations, returning };
    const planned = await planRuleRevert(trx, order);
    if (planned.kind !== 'planned') return refused(planned);
    rules = planned.written;
  }
  const touched = ops.flatMap(({ before, after }) => [before, after].filter((one) => one !== undefined));
  let conflict: Extract<SavedRevert, { kind: 'conflict' }> | undefined;
  const saved = await saveEdit(trx, {
    domainId,
    ...(ownerId !== undefined && { ownerId }),
    by,
    source: 'revert',
    reverts: changeId,
    ...(originAllow !== undefined && { originAllow }),
    rules,
    edit: async (locked) => {
      const byId = await locked.recordsWithIds([...new Set(touched.map(({ id }) => id))]);
      const atNames = await locked.recordsAt([...new Set(touched.map(({ name }) => name))]);
      const records = new Map([...byId, ...atNames].map((record) => [record.id, record]));
      const planned = planRevert(ops, [...records.values()]);
      if (planned.kind === 'edit') return planned.edit;
      conflict = { ...planned, of: 'record' };
      return { kind: 'problems', problems: [] };
    },
  });
  return conflict ?? saved;
}

async function revertRules(
  trx: Database,
  { domainId, ownerId, changeId, by, originAllow }: RevertOrder,
  { rules: operations }: DomainChange,
): Promise<SavedRevert> {
  const saved = await saveRules<SavedRevert>(trx, {
    domainId,
    ...(ownerId !== undefined && { ownerId }),
    by,
    source: 'revert',
    reverts: changeId,
    async plan({ trx, plan, edges }) {
      const planned = await planRuleRevert(trx, { domainId, plan, edges, originAllow, operations });
      return planned.kind === 'planned' ? planned : { refusal: refused(planned) };
    },
  });
  if (saved.kind === 'refused_by_plan') return saved.refusal;
  if (saved.kind === 'refused') return saved;
  if (saved.kind === 'unchanged') return { ...saved, recordCount: 0, warnings: [] };
  return {
    kind: 'saved',
    changeId: saved.changeId,
    serial: saved.serial,
    recordCount: 0,
    ops: [],
    warnings: [],
  };
}

function refused(planned: Exclude<PlannedRuleRevert, { kind: 'planned' }>): SavedRevert {
  if (planned.kind === 'conflict') return { ...planned, of: 'rule' };
  if (planned.kind === 'lacking') return planned;
  return { kind: 'problems', problems: [{ list: 'create', index: 0, ...planned.refusal }] };
}
