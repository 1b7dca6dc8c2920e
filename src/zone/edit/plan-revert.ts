// Plans the edit that reverts a change. It is refused if a record is not in the state in which the change left it: a
// record that it created or altered has another value or is deleted, or one that it deleted exists again. A later
// change that was itself reverted does not matter. Deleted rows return with their ids and creation times.

import {
  type CustomerRecord,
  type RecordValue,
  SETTING_NAMES,
  sameValue,
  setKey,
} from '../records/customer-record.ts';
import type { Edit, NewRecord, RecordChange, RecordUpdate } from './edit.ts';

/** A saved operation: every row has its id. */
export interface SavedOperation {
  readonly op: 'create' | 'update' | 'delete';
  readonly before?: CustomerRecord;
  readonly after?: CustomerRecord;
}

type PlannedRevert =
  | { readonly kind: 'edit'; readonly edit: Edit }
  | { readonly kind: 'conflict'; readonly ids: readonly number[]; readonly message: string };

/**
 * `records` must include those with the same ids and all at the names of the operations. Additional records have no effect.
 */
export function planRevert(
  ops: readonly SavedOperation[],
  records: readonly CustomerRecord[],
): PlannedRevert {
  const current = new Map(records.map((record) => [record.id, record]));
  const ids = ops
    .filter((op) => !isAsLeft(op, current))
    .map(({ before, after }) => (after ?? before)?.id as number);
  if (ids.length > 0) {
    const which = ids.length === 1 ? `record ${ids[0]}` : `${ids.length} records`;
    return { kind: 'conflict', ids, message: `a later change touched ${which} of this change` };
  }
  const own = new Set(ops.flatMap(({ after }) => (after === undefined ? [] : [after.id])));
  const othersIn = new Set(
    records.filter(({ id }) => !own.has(id)).map(({ name, type }) => setKey(name, type)),
  );
  const deletes: { id: number }[] = [];
  const updates: RecordUpdate[] = [];
  const creates: NewRecord[] = [];
  for (const { before, after } of ops) {
    if (before === undefined && after !== undefined) deletes.push({ id: after.id });
    else if (before !== undefined && after !== undefined) {
      updates.push({ id: before.id, set: differences(after, before), allowEqualTxt: true });
    } else if (before !== undefined) {
      // a set with other records keeps their current TTL
      creates.push(returning(before, othersIn.has(setKey(before.name, before.type))));
    }
  }
  return { kind: 'edit', edit: { deletes, replaces: [], updates, creates } };
}

function isAsLeft({ before, after }: SavedOperation, current: ReadonlyMap<number, CustomerRecord>): boolean {
  if (after === undefined) return before === undefined || !current.has(before.id);
  const record = current.get(after.id);
  return record !== undefined && sameValue(record, after);
}

function differences(from: RecordValue, to: RecordValue): RecordChange {
  const changed = SETTING_NAMES.filter((setting) => from[setting] !== to[setting]);
  return {
    ...Object.fromEntries(changed.map((setting) => [setting, to[setting]])),
    ...(from.name !== to.name && { name: to.name }),
    ...(from.type !== to.type && { type: to.type }),
    ...((from.type !== to.type || Buffer.compare(from.rdata, to.rdata) !== 0) && { rdata: to.rdata }),
    ...(from.ttl !== to.ttl && { ttl: to.ttl }),
  };
}

function returning(
  { id, createdAt, updatedAt: _, ttl, ...value }: CustomerRecord,
  joins: boolean,
): NewRecord {
  return { ...value, ...(!joins && { ttl }), allowEqualTxt: true, restores: { id, createdAt } };
}
