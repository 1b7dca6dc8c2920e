// Saves a look-up of a target, and forgets targets that no record has any more.

import { sql } from 'kysely';
import type { TargetDecision } from '../checks/next-target.ts';
import type { Name } from '../dns/name.ts';
import type { Database } from './database.ts';
import { IS_NEEDED, type LoadedTarget } from './load-target.ts';
import { encodeNameColumn } from './name-column.ts';
import { inTransaction } from './transaction.ts';

export interface TargetLookUp {
  /** As it was loaded before it. */
  readonly before: LoadedTarget;
  readonly decision: TargetDecision;
  /** The end of its aliases. */
  readonly leadsTo: Name;
  /** When it began. */
  readonly checkedAt: number;
}

/** The new `seq`, or undefined where another look-up was saved meanwhile. */
export async function saveTarget(db: Database, lookUp: TargetLookUp): Promise<number | undefined> {
  const { before, decision, leadsTo, checkedAt } = lookUp;
  const { v4, v6, ttl, failure } = decision.state;
  const row = await db
    .updateTable('aname_targets')
    .set({
      v4_addresses: v4.addresses?.slice() ?? null,
      v6_addresses: v6.addresses?.slice() ?? null,
      ttl: ttl ?? null,
      v4_gone_at: dateOf(v4.goneAt),
      v6_gone_at: dateOf(v6.goneAt),
      leads_to: encodeNameColumn(leadsTo),
      failing_since: dateOf(failure?.since),
      failure: failure?.reason ?? null,
      failure_message: failure?.message ?? null,
      failures: failure?.count ?? 0,
      seq: before.seq + 1,
      ...(decision.isChanged && { is_published: false }),
      checked_at: new Date(checkedAt),
      due_at: new Date(decision.dueAt),
    })
    .where('id', '=', before.id)
    .where('seq', '=', before.seq)
    .returning('seq')
    .executeTakeFirst();
  return row?.seq;
}

/** Every domain has what the look-up `seq` brought. */
export async function savePublished(db: Database, id: number, seq: number): Promise<void> {
  await db
    .updateTable('aname_targets')
    .set({ is_published: true })
    .where('id', '=', id)
    .where('seq', '=', seq)
    .execute();
}

/** False where a record has it again. */
export async function deleteTarget(db: Database, id: number): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    // The lock first: whoever publishes a record of it has it until the commit, and the record is seen after that.
    await sql`select from aname_targets where id = ${id} for update`.execute(trx);
    const { numAffectedRows } = await sql`
      delete from aname_targets t where id = ${id} and not ${IS_NEEDED}`.execute(trx);
    return numAffectedRows === 1n;
  });
}

function dateOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
