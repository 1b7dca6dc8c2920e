// POST /domains/{domain}/records/scan-import: finds the records that the domain has elsewhere and imports them. A
// worker does both, so the work is done even if the client disconnects.

import { z } from 'zod';
import { GATES } from '../../billing/gates.ts';
import { loadVisibleById } from '../../store/domains/load-domains.ts';
import { type ListedRecord, streamRecords } from '../../store/records/load-records.ts';
import { importFound } from '../../store/scans/import-found.ts';
import { type ImportedScan, importScanned } from '../../store/scans/import-scanned.ts';
import { findRecentScan, type SavedScan } from '../../store/scans/load-scan.ts';
import { askForScan, type ScanCall } from '../actions/ask-for-scan.ts';
import { jobRequestOf } from '../actions/job-request.ts';
import { judgePlan } from '../actions/judge-plan.ts';
import { forbidden, notFound, Problem, problem } from '../answers/problem.ts';
import { asActor, asStoreCaller } from '../callers/caller.ts';
import { domain, route } from '../calls/route.ts';
import { RecordPrinter } from '../print/print-record.ts';
import { planFound, printFailed, printScan } from '../print/print-scan.ts';
import { booleanText } from '../schemas/query-text.ts';
import { ScanImported } from '../schemas/records/scan.ts';
import { REUSED_SECONDS, recentOrNew } from './scan.ts';

type Imported = Extract<ImportedScan, { kind: 'imported' }>;

export const scanImport = route(domain('records.edit', { wholeKeys: true }), {
  method: 'POST',
  path: '/domains/{domain}/records/scan-import',
  operationId: 'scanImport',
  audit: 'changes',
  tag: 'Records',
  summary: 'Finds the records that the domain has elsewhere and adds them.',
  description:
    'Looks where the name is delegated now: at the apex, at names in common use, and at names that other records reveal. Only names and types that have no record here are filled, as they are when it writes, so that a repeat adds nothing. Answers within 55 seconds; a scan that takes longer goes on, imports what it finds when it is over, and answers with `complete: false` before. What a scan found less than 10 minutes ago is imported without another, unless `fresh` is set. One goes on for a domain at a time: a second call joins it, and `GET …/records/scan` shows its progress. A key that is narrowed to names or types may not call it.',
  waits: true,
  query: z.strictObject({
    dry_run: booleanText
      .optional()
      .describe('`true`: tells what would be done, by a scan of the last 10 minutes where there is one.'),
    fresh: booleanText.optional().describe('`true`: looks again, also if a scan was made lately.'),
  }),
  response: ScanImported,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['no_active_plan', 'plan_limit'],
  async run(call) {
    const { dry_run: isTried = false, fresh = false } = call.query;
    const shut = judgePlan(GATES.import, call.domain.plan);
    if (shut !== undefined) return shut;
    if (isTried) return await tryImport(call, fresh);
    if (!fresh) {
      const { api, domain } = call;
      const request = jobRequestOf('scan-import', call);
      const recent = await findRecentScan(api.db, domain.id, REUSED_SECONDS, request);
      if (recent !== undefined) return await importAgain(call, recent, request);
    }
    const scan = await askForScan(call, 'manual');
    return scan instanceof Problem ? scan : await answer(call, scan, scan.result);
  },
});

async function importAgain(call: ScanCall, scan: SavedScan, request: string) {
  const { api, idempotencyKey } = call;
  const order = { ...(await importOrder(call, scan)), countryOf: api.countryOf };
  const kept = idempotencyKey === undefined ? undefined : request;
  return await answer(call, scan, await importFound(api.db, scan.id, order, kept));
}

async function tryImport(call: ScanCall, fresh: boolean) {
  const scan = fresh ? await askForScan(call, 'preview') : await recentOrNew(call);
  if (scan instanceof Problem) return scan;
  const imported = await importScanned(call.api.db, { ...(await importOrder(call, scan)), dryRun: true });
  return await answer(call, scan, imported);
}

async function importOrder({ api, caller, domain }: ScanCall, scan: SavedScan) {
  const { records } = await planFound(api.db, scan, domain.name);
  const { id: domainId, accountId: ownerId } = domain;
  return { domainId, ownerId, records, by: asActor(caller), narrowing: null };
}

const NOTHING: Imported = { kind: 'imported', created: 0, failed: [], present: 0, changeId: undefined };

async function answer(call: ScanCall, scan: SavedScan, imported: ImportedScan | null) {
  if (imported?.kind === 'refused') return explainRefusal(imported);
  const { api, caller, domain, answerHeader } = call;
  const { created, failed, present, changeId } = imported ?? NOTHING;
  const now = await loadVisibleById(api.db, asStoreCaller(caller), domain.id);
  if (now === undefined) return notFound('domain');
  answerHeader('X-Zone-Serial', now.serial);
  if (changeId !== undefined) answerHeader('X-Change-Id', changeId);
  return {
    created,
    failed: printFailed(failed, domain.name),
    skipped: present,
    records: await printRecords(call),
    ...(changeId !== undefined && { change_id: changeId }),
    ...printScan(scan, await planFound(api.db, scan, domain.name), domain.name),
  };
}

async function printRecords({ api, domain }: ScanCall): Promise<z.input<typeof ScanImported>['records']> {
  const printer = new RecordPrinter(api.db, domain);
  const records: ListedRecord[] = [];
  for await (const record of streamRecords(api.db, domain.id, {}, { sort: 'name', descending: false })) {
    records.push(record);
  }
  return await printer.printAll(records);
}

function explainRefusal({ code, message, limit }: Extract<ImportedScan, { kind: 'refused' }>): Problem {
  switch (code) {
    case 'not_found':
      return notFound('domain');
    case 'domain_disabled':
    case 'domain_banned':
      return problem(code, message);
    case 'forbidden':
      return forbidden(message);
    case 'plan_feature':
    case 'plan_limit':
      return problem(code, message, limit === undefined ? {} : { limit });
    default:
      return code satisfies never;
  }
}
