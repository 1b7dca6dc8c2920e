// The only way to write rules without records: lock the domain → plan → write rules and change in one transaction. The
// zone and its serial stay the same. Edges receive the rules in their own feed.

import type { EdgeAddresses } from '../../zone/records/customer-record.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import type { Plan } from '../accounts/plans.ts';
import { planOf } from '../domains/domain-row.ts';
import type { Database } from '../postgres/database.ts';
import { announceAfterCommit, inTransaction } from '../postgres/transaction.ts';
import type { WrittenRule } from '../rules/rule.ts';
import { writeRules } from '../rules/write-rules.ts';
import { type DomainLock, isGone, lockDomain } from './lock-domain.ts';
import { nextVersion, writeLog } from './write-domain-change.ts';

/** A domain whose rules are locked. */
export interface LockedForRules {
  readonly trx: Database;
  readonly domainId: number;
  readonly plan: Plan | null;
  /** The default addresses of proxied names. */
  readonly edges: EdgeAddresses;
}

interface RulesOrder<R> extends ChangedBy {
  readonly domainId: number;
  /** See `saveEdit`. */
  readonly ownerId?: number;
  readonly reverts?: number;
  /** Validates the call against the current rules. With `refusal`, nothing is written. */
  readonly plan: (
    locked: LockedForRules,
  ) => Promise<{ readonly written: readonly WrittenRule[] } | { readonly refusal: R }>;
}

type SavedRules<R> =
  | {
      readonly kind: 'saved';
      readonly changeId: number;
      readonly serial: number;
      readonly written: readonly WrittenRule[];
    }
  | { readonly kind: 'unchanged'; readonly serial: number }
  | { readonly kind: 'refused_by_plan'; readonly refusal: R }
  /** The domain was deleted, switched off or transferred since the caller loaded it. */
  | {
      readonly kind: 'refused';
      readonly code: 'not_found' | 'domain_disabled' | 'domain_banned';
      readonly message: string;
    };

export async function saveRules<R>(db: Database, order: RulesOrder<R>): Promise<SavedRules<R>> {
  return await inTransaction<SavedRules<R>>(db, async (trx) => {
    const lock = await lockDomain(trx, order.domainId);
    if (lock === undefined || isGone(lock, order))
      return { kind: 'refused', code: 'not_found', message: 'the domain was deleted or transferred' };
    const { row } = lock;
    if (row.status === 'disabled' || row.status === 'banned')
      return { kind: 'refused', code: `domain_${row.status}`, message: `the domain is ${row.status}` };
    const planned = await order.plan({
      trx,
      domainId: row.id,
      plan: planOf(row),
      edges: lock.settings.edges,
    });
    if ('refusal' in planned) return { kind: 'refused_by_plan', refusal: planned.refusal };
    const { written } = planned;
    if (written.length === 0) return { kind: 'unchanged', serial: row.serial };
    return { kind: 'saved', ...(await writeRuleChange(trx, lock, order, written)), written };
  });
}

async function writeRuleChange(
  trx: Database,
  lock: DomainLock,
  { by, source, reverts }: Pick<RulesOrder<unknown>, 'by' | 'source' | 'reverts'>,
  written: readonly WrittenRule[],
): Promise<{ readonly changeId: number; readonly serial: number }> {
  await writeRules(trx, lock.row.id, written, lock.now);
  const changed = { changeId: lock.zone?.nextVersion ?? (await nextVersion(trx)), serial: lock.row.serial };
  const rules = written.map(({ operation }) => operation);
  const order = { by, source, operation: 'rules', rules, ...(reverts !== undefined && { reverts }) } as const;
  await writeLog(trx, lock, order, changed);
  announceAfterCommit(trx);
  return changed;
}
