// Has a worker scan a domain for the records that its current nameservers have, shows what an import would do with
// them, and imports them.
//
//     open or join a scan → enqueue → wait          no queue, or no worker: the scan is withdrawn, 503

import { z } from 'zod';
import { GATES } from '../../billing/gates.ts';
import { scanTurn } from '../../checks/shares/turns.ts';
import { openScan, withdrawScan } from '../../store/change/open-scan.ts';
import { loadVisibleById } from '../../store/domains/load-domains.ts';
import { type ListedRecord, loadSetKeys, streamRecords } from '../../store/records/load-records.ts';
import { countScansInHand } from '../../store/scans/begin-scan.ts';
import { type ImportedScan, importFound, importScanned } from '../../store/scans/import-scanned.ts';
import {
  findRecentScan,
  findRunningScan,
  type SavedScan,
  waitForScan,
} from '../../store/scans/saved-scans.ts';
import { enqueueNow, jobRequestOf } from '../actions/enqueue.ts';
import { judgePlan } from '../actions/judge-plan.ts';
import { forbidden, notFound, Problem, problem, unavailable } from '../answers/problem.ts';
import { asActor, asStoreCaller } from '../callers/caller.ts';
import type { CallOf } from '../calls/call.ts';
import { domain, type Route, route } from '../calls/route.ts';
import { RecordPrinter } from '../print/print-record.ts';
import { planFound, printFailed, printPreview, printScan } from '../print/print-scan.ts';
import { booleanText } from '../schemas/fields.ts';
import { ScanImported, ScanPreview } from '../schemas/records/scan.ts';

/** A scan ends within 60 s. */
const WAIT_MS = 55_000;
const RETRY_SECONDS = 10;

type ScanCall = CallOf<'domain'>;

/** Returns the scan when it has ended, or its state when the waiting time is over. */
async function askForScan(call: ScanCall, kind: 'manual' | 'preview'): Promise<SavedScan | Problem> {
  const { api, caller, domain, gone, idempotencyKey } = call;
  const opened = await openScan(api.db, {
    domainId: domain.id,
    kind,
    by: asActor(caller),
    narrowing: null, // the guard refuses keys with such restrictions
    ...(idempotencyKey !== undefined && {
      request: jobRequestOf(kind === 'preview' ? 'scan' : 'scan-import', call),
    }),
  });
  if (opened.how === 'barred') return BARRED;
  if (opened.isWaiting) {
    const inHand = await countScansInHand(api.db, domain.accountId);
    const job = { scanId: opened.id, turn: scanTurn({ inHand, isAsked: true }) };
    // Also moves a scan forward that already waits in the background.
    if (!(await enqueueNow(api.scans, job, 'scan', call))) {
      await withdrawScan(api.db, opened);
      return NOT_STARTED;
    }
  }
  const timeoutMs = api.scans.waitMs ?? WAIT_MS;
  const scan = await waitForScan(api.db, opened.id, { timeoutMs, signal: gone });
  if (scan !== undefined && (scan.startedAt ?? scan.finishedAt) !== null) return scan;
  await withdrawScan(api.db, opened); // no worker took it in time
  return NOT_STARTED;
}

const NOT_STARTED = unavailable('the scan could not be started; try again', RETRY_SECONDS);

const BARRED = unavailable(
  'a scan for an API key with other restrictions is running; try again',
  RETRY_SECONDS,
);

/** A scan up to this age is reused, because each scan puts load on the servers of other operators. */
const REUSED_SECONDS = 600;

const previewScan = route(domain('records.edit', { wholeKeys: true }), {
  method: 'GET',
  path: '/domains/{domain}/records/scan',
  operationId: 'previewScan',
  tag: 'Records',
  summary: 'Finds the records that the domain has at its current nameservers.',
  description:
    'Scans the nameservers to which the name is delegated now, and writes nothing. Use `scan-import` to import the records. Responds within 55 seconds. A scan that takes longer continues. While a scan is running, no matter who requested it, the call returns immediately with `complete: false`, its `progress` and no records yet. Results of the last 10 minutes are reused. API keys that are restricted to names or types may not make this call.',
  waits: true,
  response: ScanPreview,
  async run(call) {
    const { api, domain } = call;
    const scan = (await findRunningScan(api.db, domain.id)) ?? (await recentOrNew(call));
    if (scan instanceof Problem) return scan;
    const planned = await planFound(api.db, scan, domain.name);
    const present = await loadSetKeys(api.db, domain.id);
    return printPreview(scan, planned, { apex: domain.name, present });
  },
});

async function recentOrNew(call: ScanCall): Promise<SavedScan | Problem> {
  const recent = await findRecentScan(call.api.db, call.domain.id, REUSED_SECONDS);
  return recent ?? (await askForScan(call, 'preview'));
}

type Imported = Extract<ImportedScan, { kind: 'imported' }>;

const scanImport = route(domain('records.edit', { wholeKeys: true }), {
  method: 'POST',
  path: '/domains/{domain}/records/scan-import',
  operationId: 'scanImport',
  audit: 'changes',
  tag: 'Records',
  summary: 'Finds the records that the domain has at its current nameservers, and imports them.',
  description:
    'Scans the nameservers to which the name is delegated now: the apex, common names, and names that other records reveal. Imports only records whose name and type have no records at the time of writing, so repeating the call adds nothing. Responds within 55 seconds. A scan that takes longer continues and imports its results at the end. The response then has `complete: false`. Results of the last 10 minutes are imported without a new scan unless `fresh` is set. Only one scan per domain runs at a time: a second call joins it, and `GET …/records/scan` shows its progress. API keys that are restricted to names or types may not make this call.',
  waits: true,
  query: z.strictObject({
    dry_run: booleanText
      .optional()
      .describe(
        'If true, shows what would be imported, and writes nothing. Uses a scan of the last 10 minutes if there is one.',
      ),
    fresh: booleanText.optional().describe('If true, scans again even if there is a recent scan.'),
  }),
  response: ScanImported,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['no_active_plan', 'plan_limit', 'domain_secondary'],
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
    case 'domain_secondary':
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

export const SCAN_ROUTES: readonly Route[] = [scanImport, previewScan];
