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
      'All that the set has in the end. Records that are there keep what is not said. None: it is deleted.',
    ),
  })
  .meta({ id: 'RecordSetReplacement' });

const Batch = z.strictObject({
  delete: boundedArray(Id).describe('Ids of records.').optional(),
  replace: boundedArray(RecordSetReplacement).describe('Record sets, each once.').optional(),
  update: boundedArray(RecordUpdateItem).optional(),
  create: boundedArray(RecordCreate).optional(),
});

export const RecordsBatch = Batch.refine((batch) => countItems(batch) <= MAX_BATCH_ITEMS, {
  error: TOO_MANY,
}).meta({
  id: 'RecordsBatch',
  description: `Carried out in the order delete, replace, update, create, judged by the result. At most ${MAX_BATCH_ITEMS} items in all.`,
});

/** Counts items; a set counts as many as it has records. */
export function countItems({ delete: gone = [], replace = [], update = [], create = [] }: EditText): number {
  const inSets = replace.reduce((count, { records }) => count + Math.max(1, records.length), 0);
  return gone.length + inSets + update.length + create.length;
}

const count = z.int().min(0);

export const BatchResult = z
  .object({
    created: count.describe('How many items of `create` were carried out; the same for the next three.'),
    updated: count,
    deleted: count,
    replaced: count,
    change_id: Id.optional().describe('Absent when nothing differs, and of a dry run.'),
    serial: count.describe('Of the zone from then on; of a dry run: now.'),
    warnings: Warnings,
  })
  .meta({ id: 'BatchResult' });

export const BatchDelete = z
  .strictObject({ ids: boundedArray(Id).min(1).max(MAX_BATCH_ITEMS) })
  .meta({ id: 'BatchDelete' });

export const BatchDeleted = z
  .object({ message: z.string(), ...BatchResult.shape })
  .meta({ id: 'BatchDeleted' });
