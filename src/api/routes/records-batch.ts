// Edits many records in one call. All of them are written in one change, or none.

import { z } from 'zod';
import { type EditText, parseEdit } from '../../zone/edit/parse-edit.ts';
import { explainBatch, explainBatchFields } from '../actions/edit-problem.ts';
import { readStoredWarnings, saveRecords, storeWarnings } from '../actions/save-records.ts';
import { invalid, Problem } from '../answers/problem.ts';
import { judgeItems } from '../body/body-bounds.ts';
import type { AnswerHeader } from '../calls/call.ts';
import { domainHead, type Route, route } from '../calls/route.ts';
import { booleanText, boundedArray, idText } from '../schemas/fields.ts';
import {
  BatchDelete,
  BatchDeleted,
  BatchResult,
  countItems,
  MAX_BATCH_ITEMS,
  RecordsBatch,
} from '../schemas/records/batch.ts';

const dryRun = booleanText.optional().describe('If true, everything is validated and nothing is written.');
const answerHeaders: readonly AnswerHeader[] = ['X-Change-Id', 'X-Zone-Serial'];
const access = domainHead('records.edit', { writesRecords: true });
const common = {
  path: '/domains/{domain}/records/batch',
  tag: 'Records',
  audit: 'changes',
  largeBody: true,
  maxItems: MAX_BATCH_ITEMS,
  idempotent: true,
  explainInvalid: explainBatchFields,
  answerHeaders,
} as const;

const editRecords = route(access, {
  ...common,
  method: 'PUT',
  operationId: 'editRecords',
  summary: 'Deletes, replaces, updates and creates records, all or none.',
  description:
    'A replacement specifies the complete record set, so repeating it changes nothing. Errors are listed in `items`, by list and index.',
  query: z.strictObject({ dry_run: dryRun }), // a misspelled `dry_run` must not write
  body: RecordsBatch,
  response: BatchResult,
  problems: ['plan_feature', 'plan_limit', 'record_conflict', 'record_managed', 'domain_secondary'],
  run: (call) => saveBatch(call, call.body, call.query.dry_run),
  remake: ({ body, headers, changeId, rest }) => ({
    created: body.create?.length ?? 0,
    updated: body.update?.length ?? 0,
    deleted: body.delete?.length ?? 0,
    replaced: body.replace?.length ?? 0,
    ...(changeId !== undefined && { change_id: changeId }),
    serial: Number(headers['X-Zone-Serial']),
    warnings: readStoredWarnings(rest),
  }),
});

const idsText = z
  .string()
  .transform((text) => text.split(',').map((id) => id.trim()))
  .pipe(boundedArray(idText).min(1).max(MAX_BATCH_ITEMS))
  .meta({ type: 'string', description: 'Comma-separated list of ids.' });

const deleteRecords = route(access, {
  ...common,
  method: 'DELETE',
  operationId: 'deleteRecords',
  summary: 'Deletes records, all or none.',
  description: 'Specify `ids` in the query or in the body.',
  query: z.strictObject({ ids: idsText.optional(), dry_run: dryRun }),
  body: BatchDelete.nullish(),
  response: BatchDeleted,
  problems: ['plan_limit', 'record_conflict', 'record_managed', 'domain_secondary'],
  async run(call) {
    const { query, body } = call;
    if (query.ids !== undefined && body?.ids !== undefined) {
      return invalid([{ field: 'ids', error: 'must be in the query or in the body, not in both' }]);
    }
    const ids = query.ids ?? body?.ids;
    if (ids === undefined) return invalid([{ field: 'ids', error: 'is required' }]);
    const result = await saveBatch(call, { delete: ids }, query.dry_run, explainDelete);
    if (result instanceof Problem) return result;
    return { message: ids.length === 1 ? 'record deleted' : `${ids.length} records deleted`, ...result };
  },
});

/** A delete has only the list `ids`, so its problems name that list. */
const explainDelete: typeof explainBatch = (problems) => explainBatch(problems, () => 'ids');

async function saveBatch(
  call: Parameters<typeof saveRecords>[0] & Parameters<typeof storeWarnings>[0],
  text: EditText,
  dryRun = false,
  explain: typeof explainBatch = explainBatch,
): Promise<z.input<typeof BatchResult> | Problem> {
  const tooMany = judgeItems(countItems(text), common, call.domain.plan);
  if (tooMany !== undefined) return tooMany;
  const parsed = parseEdit(text, call.domain.name);
  if (parsed.kind === 'problems') return explain(parsed.problems);
  const { edit } = parsed;
  const saved = await saveRecords(call, { text, edit }, explain, { dryRun });
  if (saved instanceof Problem) return saved;
  return {
    created: edit.creates.length,
    updated: edit.updates.length,
    deleted: edit.deletes.length,
    replaced: edit.replaces.length,
    ...(saved.kind === 'saved' && { change_id: saved.changeId }),
    serial: saved.kind === 'dry_run' ? call.domain.serial : saved.serial,
    warnings: storeWarnings(call, saved),
  };
}

export const BATCH_ROUTES: readonly Route[] = [editRecords, deleteRecords];
