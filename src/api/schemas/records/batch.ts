// Many changes of a domain's records in one call, and their results.

import { z } from 'zod';
import type { EditText } from '../../../zone/edit/parse-edit.ts';
import { boundedArray, Id } from '../fields.ts';
import { RecordContent, RecordCreate, RecordUpdateItem, Warnings } from './record.ts';

export const MAX_BATCH_ITEMS = 10_000;
const TOO_MANY = `expected at most ${MAX_BATCH_ITEMS} items in all`;

const RecordSetReplacement = z
  .strictObject({
    name: RecordCreate.shape.name,
    type: RecordCreate.shape.type,
    ttl: RecordCreate.shape.ttl,
    records: boundedArray(RecordContent).describe(
      'All records that the set has afterwards. Existing records keep the members that are left out. An empty list deletes the set.',
    ),
  })
  .meta({ id: 'RecordSetReplacement' });

const Batch = z.strictObject({
  delete: boundedArray(Id).describe('Ids of records.').optional(),
  replace: boundedArray(RecordSetReplacement).describe('Record sets. Each may appear once.').optional(),
  update: boundedArray(RecordUpdateItem).optional(),
  create: boundedArray(RecordCreate).optional(),
});

export const RecordsBatch = Batch.refine((batch) => countItems(batch) <= MAX_BATCH_ITEMS, {
  error: TOO_MANY,
}).meta({
  id: 'RecordsBatch',
  description: `Applied in the order delete, replace, update, create. Only the final result is validated. At most ${MAX_BATCH_ITEMS} items in all.`,
});

/** Counts the items of a batch. A record set counts as many items as it has records, but at least one. */
export function countItems({ delete: gone = [], replace = [], update = [], create = [] }: EditText): number {
  const inSets = replace.reduce((count, { records }) => count + Math.max(1, records.length), 0);
  return gone.length + inSets + update.length + create.length;
}

const count = z.int().min(0);

export const BatchResult = z
  .object({
    created: count.describe(
      'Number of items of `create` that were applied. The next three members count the other lists.',
    ),
    updated: count,
    deleted: count,
    replaced: count,
    change_id: Id.optional().describe('Absent if nothing changed, and for a dry run.'),
    serial: count.describe('Serial of the zone after the change. For a dry run: the current serial.'),
    warnings: Warnings,
  })
  .meta({ id: 'BatchResult' });

export const BatchDelete = z
  .strictObject({ ids: boundedArray(Id).min(1).max(MAX_BATCH_ITEMS) })
  .meta({ id: 'BatchDelete' });

export const BatchDeleted = z
  .object({ message: z.string(), ...BatchResult.shape })
  .meta({ id: 'BatchDeleted' });
