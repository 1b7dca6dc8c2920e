// Takes a change back by an edit of its own: its records are as before the change, and the serial still grows.

import { planRevert } from '../../zone/edit/plan-revert.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { loadDomainChange } from '../records/load-changes.ts';
import { type SavedEdit, saveEdit } from './save-edit.ts';

/** A change without records has nothing to take back: `nothing_to_revert`. */
export type SavedRevert =
  | SavedEdit
  | { readonly kind: 'conflict'; readonly ids: readonly number[]; readonly message: string }
  | { readonly kind: 'no_change' | 'nothing_to_revert'; readonly message: string };

export async function saveRevert(
  db: Database,
  order: {
    readonly domainId: number;
    /** As in `saveEdit`. */
    readonly ownerId?: number;
    readonly changeId: number;
    readonly by: ChangedBy['by'];
    readonly dryRun?: boolean;
  },
): Promise<SavedRevert> {
  const { domainId, ownerId, changeId, by, dryRun = false } = order;
  return await inTransaction<SavedRevert>(db, async (trx) => {
    const change = await loadDomainChange(trx, domainId, changeId);
    if (change === undefined) return { kind: 'no_change', message: 'the domain has no such change' };
    const { ops } = change;
    if (ops.length === 0) {
      return { kind: 'nothing_to_revert', message: 'this change did not touch any record' };
    }
    const touched = ops.flatMap(({ before, after }) => [before, after].filter((one) => one !== undefined));
    let conflict: Extract<SavedRevert, { kind: 'conflict' }> | undefined;
    const saved = await saveEdit(trx, {
      domainId,
      ...(ownerId !== undefined && { ownerId }),
      by,
      source: 'revert',
      reverts: changeId,
      dryRun,
      edit: async (locked) => {
        const byId = await locked.recordsWithIds([...new Set(touched.map(({ id }) => id))]);
        const atNames = await locked.recordsAt([...new Set(touched.map(({ name }) => name))]);
        const records = new Map([...byId, ...atNames].map((record) => [record.id, record]));
        const planned = planRevert(ops, [...records.values()]);
        if (planned.kind === 'edit') return planned.edit;
        conflict = planned;
        return { kind: 'problems', problems: [] };
      },
    });
    return conflict ?? saved;
  });
}
