// Lists, creates, shows, updates, deletes and exports records of a domain. The list includes the service's own
// nameservers, which cannot be edited. Each keeps its id as long as the domain has the nameserver.

import { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import { coveredType } from '../../dns/record/covered-type.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { printZoneFileEntries } from '../../dns/zone-file/print-zone-file.ts';
import { headWithRecord } from '../../store/domains/load-domains.ts';
import { isOfSigner } from '../../store/keys/signed-zone.ts';
import { loadDomainChange } from '../../store/records/load-changes.ts';
import {
  countRecords,
  type ListedRecord,
  listRecords,
  loadRecord,
  RECORD_SORTS,
  type RecordFilter,
  type RecordOrder,
  type RecordPage,
  readOwnRecords,
} from '../../store/records/load-records.ts';
import type { RecordJson } from '../../store/records/record-row.ts';
import { loadZone } from '../../store/zones/load-zones.ts';
import { type EditText, parseEdit } from '../../zone/edit/parse-edit.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { parseRecordName } from '../../zone/records/record-name.ts';
import { isEdgeMark, isMark, type ZoneRecord } from '../../zone/zone.ts';
import { explainOne } from '../actions/edit-problem.ts';
import { readStoredWarnings, type Saved, saveRecords, storeWarnings } from '../actions/save-records.ts';
import { invalid, notFound, Problem, problem } from '../answers/problem.ts';
import { JsonTexts, StreamedText } from '../answers/streams.ts';
import { answerList, PAGE_QUERY } from '../calls/answer-list.ts';
import type { AnswerHeader, Call, CallOf } from '../calls/call.ts';
import { domainHead, type Route, route } from '../calls/route.ts';
import { RecordPrinter } from '../print/print-record.ts';
import { RecordLines } from '../print/record-lines.ts';
import { RecordTexts } from '../print/record-text.ts';
import { booleanText, idText, recordTypesText, sortText } from '../schemas/fields.ts';
import {
  Record,
  RecordCreate,
  RecordDeleted,
  RecordUpdate,
  WrittenRecord,
} from '../schemas/records/record.ts';
import { BATCH_ROUTES } from './records-batch.ts';
import { IMPORT_ROUTES } from './records-import.ts';

const tag = 'Records';
const answerHeaders: readonly AnswerHeader[] = ['X-Change-Id', 'X-Zone-Serial'];
const RecordPath = z.object({ id: idText });

const RecordQuery = z.object({
  ...PAGE_QUERY,
  name: z.string().max(1024).optional().describe('A relative name, `@`, or the full name.'),
  type: recordTypesText.optional(),
  proxied: booleanText.optional(),
  search: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'Text in names, destinations and comments, case-insensitive. A-labels are also found by their Unicode form.',
    ),
  sort: sortText(RECORD_SORTS)
    .optional()
    .describe('A leading `-` sorts in descending order. Default: by name. Ties are sorted by id.'),
});

/** Slightly more than a round number, because most domains also have NS records of the service. */
const READ_AT_ONCE = 1024;

const listDomainRecords = route(domainHead('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/records/',
  operationId: 'listRecords',
  tag,
  summary: 'Lists the records of a domain.',
  description: 'Includes the NS records that the service sets at the apex, which are not `editable`.',
  query: RecordQuery,
  response: z.array(Record),
  answerHeaders: ['Link', 'X-Total-Count'],
  compresses: true,
  run(call) {
    const { api, domain, query } = call;
    const filter = readFilter(query, domain);
    if (filter instanceof Problem) return filter;
    const { sort } = query;
    const order: RecordOrder = { sort: sort?.column ?? 'name', descending: sort?.descends ?? false };
    const texts = new RecordTexts(api.db, domain);
    return answerList<RecordJson, z.input<typeof Record>, RecordPage['items']>(call, {
      load: (page) => listRecords(api.db, domain.id, filter, order, page),
      count: () => countRecords(api.db, domain.id, filter),
      print: async (items) => new JsonTexts(await texts.printAll(items)),
      readAtOnce: READ_AT_ONCE,
    });
  },
});

function readFilter(
  { name, type, proxied, search }: z.output<typeof RecordQuery>,
  domain: CallOf<'head'>['domain'],
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

const createRecord = route(domainHead('records.edit', { writesRecords: true }), {
  method: 'POST',
  path: '/domains/{domain}/records/',
  operationId: 'createRecord',
  audit: 'changes',
  tag,
  summary: 'Creates a record.',
  description:
    'A `ttl` applies to all records of the name and type, so the existing ones change too. With an `Idempotency-Key`, the call can be repeated safely.',
  body: RecordCreate,
  response: WrittenRecord,
  answerHeaders,
  problems: ['plan_feature', 'plan_limit', 'record_conflict', 'domain_secondary'],
  async run(call) {
    const saved = await saveOne(call, { create: [call.body] });
    if (saved instanceof Problem) return saved;
    const created = saved.kind === 'saved' ? saved.ops.find(({ op }) => op === 'create')?.after : undefined;
    if (created === undefined) throw new Error('the created record was not found');
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
  findWithDomain: ({ id }: z.output<typeof RecordPath>) => headWithRecord(id),
  finds: 'record',
};

const getRecord = route(domainHead('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/records/{id}',
  operationId: 'getRecord',
  tag,
  summary: 'Returns a record.',
  ...oneRecord,
  response: Record,
  run: ({ api, domain, found }) => new RecordPrinter(api.db, domain).print(found),
});

const updateRecord = route(domainHead('records.edit', { writesRecords: true }), {
  method: 'PUT',
  path: '/domains/{domain}/records/{id}',
  operationId: 'updateRecord',
  audit: 'changes',
  tag,
  summary: 'Changes fields of a record, including its name and type.',
  description:
    'Fields that are left out stay unchanged, and read-only fields are ignored, so a response can be edited and sent back. With a new `type` and no `destination`, the old destination is interpreted as the new type.',
  ...oneRecord,
  body: RecordUpdate,
  response: WrittenRecord,
  answerHeaders,
  problems: ['plan_feature', 'record_conflict', 'record_managed', 'domain_secondary'],
  async run(call) {
    const { id, name } = call.found;
    const saved = await saveOne(call, { update: [{ ...call.body, id }] }, [name]);
    if (saved instanceof Problem) return saved;
    const written =
      saved.kind === 'saved' ? saved.ops.find(({ after }) => after?.id === id)?.after : undefined;
    const record: ListedRecord | typeof written =
      written ?? (await loadRecord(call.api.db, call.domain.id, id));
    if (record === undefined) return notFound('record');
    return await printWritten(call, record, storeWarnings(call, saved));
  },
});

const deleteRecord = route(domainHead('records.edit', { writesRecords: true }), {
  method: 'DELETE',
  path: '/domains/{domain}/records/{id}',
  operationId: 'deleteRecord',
  audit: 'changes',
  tag,
  summary: 'Deletes a record.',
  ...oneRecord,
  response: RecordDeleted,
  answerHeaders,
  problems: ['record_conflict', 'record_managed', 'domain_secondary'],
  async run(call) {
    const { id, name } = call.found;
    const saved = await saveOne(call, { delete: [id] }, [name]);
    if (saved instanceof Problem) return saved;
    return { message: 'record deleted', warnings: storeWarnings(call, saved) };
  },
});

type WriteCall = Parameters<typeof saveRecords>[0] & Pick<Call, 'body'>;

/** `owners` are the names of the records that the edit updates or deletes. */
async function saveOne(
  call: WriteCall,
  text: EditText,
  owners: readonly Name[] = [],
): Promise<Saved | Problem> {
  const parsed = parseEdit(text, call.domain.name);
  if (parsed.kind === 'problems') return explainOne(parsed.problems);
  return await saveRecords(call, { text, edit: parsed.edit }, explainOne, { owners });
}

async function printWritten(
  { api, domain }: Pick<WriteCall, 'api' | 'domain'>,
  record: Parameters<RecordPrinter['print']>[0],
  warnings: ReturnType<typeof storeWarnings>,
): Promise<z.input<typeof WrittenRecord>> {
  return { ...(await new RecordPrinter(api.db, domain).print(record)), warnings };
}

const exportRecords = route(domainHead('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/records/export',
  operationId: 'exportRecords',
  tag: 'Records',
  summary: 'Exports the records of a domain as a zone file.',
  description:
    '`origin`: the records as they were written. Comments contain the settings that a zone file cannot express, and an import reads all of them back. Other servers do not know the type ANAME. `published`: the records that the nameservers serve, including SOA and NS, without names that have no records, such as an ANAME without addresses. `signed`: the same with keys, signatures and denial records (DNSKEY, RRSIG, NSEC or NSEC3), for a domain whose answers contain them.',
  query: z.object({
    view: z.enum(['origin', 'published', 'signed']).optional().describe('Default: `origin`.'),
  }),
  textResponse: 'text/dns',
  response: z.string(),
  answerHeaders: ['Content-Disposition'],
  compresses: true,
  problems: ['wrong_state'],
  async run({ api, domain, query, answerHeader }) {
    const { id, name, served } = domain;
    const { view = 'origin' } = query;
    if (view === 'origin') {
      answerHeader('Content-Disposition', attachment(`${fileName(name)}.origin.zone`));
      const lines = new RecordLines(name);
      await readOwnRecords(api.db, id, (columns) => lines.add(columns));
      return new StreamedText(lines.inOrder());
    }
    const zone = served === 'none' ? undefined : await loadZone(api.db, name);
    if (zone === undefined) return problem('wrong_state', 'the domain has no published records');
    const records = zone.records.filter((record) => !isMark(record) && !isEdgeMark(record));
    const isSigned = view === 'signed';
    if (isSigned && !records.some((record) => isApexSignature(name, record)))
      return problem('wrong_state', 'the answers of the domain are not signed');
    const shown = isSigned ? records : records.filter((record) => !isOfSigner(name, record));
    answerHeader('Content-Disposition', attachment(`${fileName(name)}${isSigned ? '.signed' : ''}.zone`));
    return new StreamedText(printZoneFileEntries(name, shown));
  },
});

/** Returns true if the record signs the SOA: the signature that is added last and removed first. */
function isApexSignature(apex: Name, { owner, type, rdata }: ZoneRecord): boolean {
  return owner === apex && type === TYPE.RRSIG && coveredType(rdata) === TYPE.SOA;
}

function fileName(name: Parameters<typeof printWithoutDot>[0]): string {
  return printWithoutDot(name).replaceAll(/[^A-Za-z0-9._-]/g, '_');
}

function attachment(file: string): string {
  return `attachment; filename="${file}"`;
}

export const RECORD_ROUTES: readonly Route[] = [
  listDomainRecords,
  createRecord,
  exportRecords,
  getRecord,
  updateRecord,
  deleteRecord,
  ...BATCH_ROUTES,
  ...IMPORT_ROUTES,
];
