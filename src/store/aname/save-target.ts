// Saves a look-up of a target, and deletes targets that no record uses any more.

import { sql } from 'kysely';
import type { TargetDecision } from '../../checks/aname/next-target.ts';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { IS_NEEDED, type LoadedTarget } from './load-target.ts';

interface TargetLookUp {
  /** The target as it was loaded before the look-up. */
  readonly before: LoadedTarget;
  readonly decision: TargetDecision;
  /** The name where its aliases end. */
  readonly leadsTo: Name;
  /** When the look-up began. */
  readonly checkedAt: number;
}

/** Gives the new `seq`, or undefined when another look-up was saved meanwhile. */
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

/** Records that the result of look-up `seq` is published in every domain. */
export async function savePublished(db: Database, id: number, seq: number): Promise<void> {
  await db
    .updateTable('aname_targets')
    .set({ is_published: true })
    .where('id', '=', id)
    .where('seq', '=', seq)
    .execute();
}

/** False when a record uses the target again. */
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
