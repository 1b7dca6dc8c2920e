// Lists, creates, shows, updates and deletes single records of a domain. The list includes the service's own nameservers,
// which cannot be edited. Each keeps its id as long as the domain has the nameserver.

import { z } from 'zod';
import { loadDomainChange } from '../../store/records/load-changes.ts';
import {
  countRecords,
  type ListedRecord,
  listRecordRows,
  loadRecord,
  RECORD_SORTS,
  type RecordFilter,
  type RecordOrder,
} from '../../store/records/load-records.ts';
import type { RecordJson } from '../../store/records/record-row.ts';
import { type EditText, parseEdit } from '../../zone/edit/parse-edit.ts';
import { parseRecordName } from '../../zone/records/record-name.ts';
import { explainOne } from '../actions/edit-problem.ts';
import { readStoredWarnings, storeWarnings } from '../actions/keep-warnings.ts';
import { type Saved, saveRecords } from '../actions/save-records.ts';
import { invalid, notFound, Problem } from '../answers/problem.ts';
import { JsonTexts } from '../answers/stream-array.ts';
import type { AnswerHeader, Call, CallOf } from '../calls/call.ts';
import { domain, route } from '../calls/route.ts';
import { answerList, PAGE_QUERY } from '../lists/paging.ts';
import { RecordPrinter } from '../print/print-record.ts';
import { RecordTexts } from '../print/record-text.ts';
import { idText } from '../schemas/ids.ts';
import { booleanText, recordTypesText, sortText } from '../schemas/query-text.ts';
import {
  Record,
  RecordCreate,
  RecordDeleted,
  RecordUpdate,
  WrittenRecord,
} from '../schemas/records/record.ts';

const tag = 'Records';
const answerHeaders: readonly AnswerHeader[] = ['X-Change-Id', 'X-Zone-Serial'];
const RecordPath = z.object({ id: idText });

const RecordQuery = z.object({
  ...PAGE_QUERY,
  name: z.string().max(1024).optional().describe('Relative, `@`, or the full name.'),
  type: recordTypesText.optional(),
  proxied: booleanText.optional(),
  search: z
    .string()
    .max(1024)
    .optional()
    .describe('In names, destinations and comments, in any case; A-labels are found by their Unicode too.'),
  sort: sortText(RECORD_SORTS).optional().describe('By name unless said; `-` descends. Equals by id.'),
});

export const listDomainRecords = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/records/',
  operationId: 'listRecords',
  tag,
  summary: 'The records of a domain.',
  description: 'Includes the nameservers that the service sets at the apex, which are not `editable`.',
  query: RecordQuery,
  response: z.array(Record),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { api, domain, query } = call;
    const filter = readFilter(query, domain);
    if (filter instanceof Problem) return filter;
    const { sort } = query;
    const order: RecordOrder = { sort: sort?.column ?? 'name', descending: sort?.descends ?? false };
    const texts = new RecordTexts(api.db, domain);
    return answerList<RecordJson, z.input<typeof Record>>(call, {
      load: (page) => listRecordRows(api.db, domain.id, filter, order, page),
      count: () => countRecords(api.db, domain.id, filter),
      print: async (rows) => new JsonTexts(await texts.printAll(rows)),
    });
  },
});

function readFilter(
  { name, type, proxied, search }: z.output<typeof RecordQuery>,
  domain: CallOf<'domain'>['domain'],
): RecordFilter | Problem {
  const read = name === undefined ? undefined : parseRecordName(name, domain.name);
  if (read?.kind === 'problem') return invalid([{ field: 'name', error: read.message }]);
  return {
    ...(read !== undefined && { name: read.name }),
    ...(type !== undefined && { types: type }),
    ...(proxied !== undefined && { proxied }),
    ...(search !== undefined && search !== '' && { search }),
  };
}

export const createRecord = route(domain('records.edit', { writesRecords: true }), {
  method: 'POST',
  path: '/domains/{domain}/records/',
  operationId: 'createRecord',
  audit: 'changes',
  tag,
  summary: 'Adds a record.',
  description:
    'A `ttl` is that of all records of the name and type: the others follow. `Idempotency-Key` makes a repeat harmless.',
  body: RecordCreate,
  response: WrittenRecord,
  answerHeaders,
  problems: ['plan_feature', 'plan_limit', 'record_conflict'],
  async run(call) {
    const saved = await saveOne(call, { create: [call.body] });
    if (saved instanceof Problem) return saved;
    const created = saved.kind === 'saved' ? saved.ops.find(({ op }) => op === 'create')?.after : undefined;
    if (created === undefined) throw new Error('a record was created and is not there');
    return await printWritten(call, created, storeWarnings(call, saved));
  },
  async remake({ api, domain, changeId, rest }) {
    if (changeId === undefined) return undefined;
    const change = await loadDomainChange(api.db, domain.id, changeId);
    const created = change?.ops.find(({ op }) => op === 'create')?.after;
    return created && (await printWritten({ api, domain }, created, readStoredWarnings(rest)));
  },
});

const oneRecord = {
  params: RecordPath,
  find: ({ api, domain, params }: CallOf<'domain', z.output<typeof RecordPath>>) =>
    loadRecord(api.db, domain.id, params.id),
  finds: 'record',
};

export const getRecord = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/records/{id}',
  operationId: 'getRecord',
  tag,
  summary: 'One record.',
  ...oneRecord,
  response: Record,
  run: ({ api, domain, found }) => new RecordPrinter(api.db, domain).print(found),
});

export const updateRecord = route(domain('records.edit', { writesRecords: true }), {
  method: 'PUT',
  path: '/domains/{domain}/records/{id}',
  operationId: 'updateRecord',
  audit: 'changes',
  tag,
  summary: 'Changes fields of a record, its name and type too.',
  description:
    'Fields that are left out stay, and read-only ones are ignored: what was read can be edited and sent back. With another `type` and no `destination` the old one is read as the new type has it.',
  ...oneRecord,
  body: RecordUpdate,
  response: WrittenRecord,
  answerHeaders,
  problems: ['plan_feature', 'record_conflict', 'record_managed'],
  async run(call) {
    const { id } = call.found;
    const saved = await saveOne(call, { update: [{ ...call.body, id }] });
    if (saved instanceof Problem) return saved;
    const written =
      saved.kind === 'saved' ? saved.ops.find(({ after }) => after?.id === id)?.after : undefined;
    const record: ListedRecord | typeof written =
      written ?? (await loadRecord(call.api.db, call.domain.id, id));
    if (record === undefined) return notFound('record');
    return await printWritten(call, record, storeWarnings(call, saved));
  },
});

export const deleteRecord = route(domain('records.edit', { writesRecords: true }), {
  method: 'DELETE',
  path: '/domains/{domain}/records/{id}',
  operationId: 'deleteRecord',
  audit: 'changes',
  tag,
  summary: 'Deletes a record.',
  ...oneRecord,
  response: RecordDeleted,
  answerHeaders,
  problems: ['record_conflict', 'record_managed'],
  async run(call) {
    const saved = await saveOne(call, { delete: [call.found.id] });
    if (saved instanceof Problem) return saved;
    return { message: 'record deleted', warnings: storeWarnings(call, saved) };
  },
});

type WriteCall = Parameters<typeof saveRecords>[0] & Pick<Call, 'body'>;

async function saveOne(call: WriteCall, text: EditText): Promise<Saved | Problem> {
  const parsed = parseEdit(text, call.domain.name);
  if (parsed.kind === 'problems') return explainOne(parsed.problems);
  return await saveRecords(call, { text, edit: parsed.edit }, explainOne);
}

async function printWritten(
  { api, domain }: Pick<WriteCall, 'api' | 'domain'>,
  record: Parameters<RecordPrinter['print']>[0],
  warnings: ReturnType<typeof storeWarnings>,
): Promise<z.input<typeof WrittenRecord>> {
  return { ...(await new RecordPrinter(api.db, domain).print(record)), warnings };
}
