// GET /domains/{domain}/records/scan: shows what a scan-import would find and do. Nothing is written.

import { loadSetKeys } from '../../store/records/load-records.ts';
import { findRecentScan, findRunningScan, type SavedScan } from '../../store/scans/load-scan.ts';
import { askForScan, type ScanCall } from '../actions/ask-for-scan.ts';
import { Problem } from '../answers/problem.ts';
import { domain, route } from '../calls/route.ts';
import { planFound, printPreview } from '../print/print-scan.ts';
import { ScanPreview } from '../schemas/records/scan.ts';

/** A scan up to this age is reused, because each scan loads the servers of other operators. */
export const REUSED_SECONDS = 600;

export const previewScan = route(domain('records.edit', { wholeKeys: true }), {
  method: 'GET',
  path: '/domains/{domain}/records/scan',
  operationId: 'previewScan',
  tag: 'Records',
  summary: 'The records that the domain has elsewhere.',
  description:
    'Looks for them where the name is delegated now, and writes nothing: `scan-import` is what imports them. Answers within 55 seconds; a scan that takes longer goes on. While one goes on, whoever asked for it, the answer comes at once, with `complete: false`, its `progress` and no records yet. What was found less than 10 minutes ago is answered with again. A key that is narrowed to names or types may not call it.',
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

export async function recentOrNew(call: ScanCall): Promise<SavedScan | Problem> {
  const recent = await findRecentScan(call.api.db, call.domain.id, REUSED_SECONDS);
  return recent ?? (await askForScan(call, 'preview'));
}
