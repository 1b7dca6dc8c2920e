// `scan`: the scan and plan of a worker, from this machine and at once, without a queue; with `--import` its import
// too.

import { planImport } from '../../checks/scan/plan-import.ts';
import type { Scan } from '../../checks/scan/scan.ts';
import type { Name } from '../../dns/name.ts';
import { openCountryDb } from '../../process/country-db.ts';
import type { Actor } from '../../store/accounts/actor.ts';
import { findDomain } from '../../store/domains/load-domains.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import type { Database } from '../../store/postgres/database.ts';
import { importScanned } from '../../store/scans/import-scanned.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { EdgeAddresses } from '../../zone/records/customer-record.ts';
import { RECORD_TYPE_CODES } from '../../zone/records/customer-types.ts';
import type { CliSettings } from '../terminal/cli.ts';
import { openResolver } from '../terminal/open-resolver.ts';
import { INTERRUPTED, type Output } from '../terminal/output.ts';
import type { ProgressBar } from '../terminal/progress-bar.ts';
import { type FoundRecords, importJson, importLines, printScan, scanJson } from './print-scan.ts';

export interface ScanNameOrder {
  readonly domain: Name;
  readonly settings: CliSettings;
  readonly signal: AbortSignal;
  readonly bar: ProgressBar;
}

export async function scanName(order: ScanNameOrder, output: Output): Promise<number> {
  const scan = await observe(order);
  if (scan === undefined) return INTERRUPTED;
  const { edgeIpv4: v4, edgeIpv6: v6 } = order.settings.answers;
  const found = plan(scan, { v4, v6 });
  await output.print(output.json ? JSON.stringify(scanJson(found)) : printScan(found));
  return found.plan.records.length === 0 ? 1 : 0;
}

export async function scanAndImport(
  db: Database,
  order: ScanNameOrder & { readonly by: Actor },
  output: Output,
): Promise<number> {
  const { domain: name, by } = order;
  const countryOf = await openCountryDb(order.settings.countryDb);
  const domain = await findDomain(db, name);
  if (domain === undefined) return await refuse(name, 'no such domain', output);
  const scan = await observe(order);
  if (scan === undefined) return INTERRUPTED;
  const found = plan(scan, (await loadPublishSettings(db)).edges);
  const { records } = found.plan;
  const imported = await importScanned(db, { domainId: domain.id, records, by, narrowing: null, countryOf });
  if (output.json) {
    await output.print(JSON.stringify({ ...scanJson(found), import: importJson(imported, name) }));
  } else {
    await output.print([printScan(found), ...importLines(imported, name)].join('\n\n'));
  }
  const isDone = imported.kind === 'imported' && imported.failed.length === 0;
  return isDone && records.length > 0 ? 0 : 1;
}

async function refuse(name: Name, message: string, output: Output): Promise<number> {
  const domain = printWithoutDot(name);
  if (output.json)
    await output.print(JSON.stringify({ domain, outcome: 'refused', code: 'absent', message }));
  else await output.complain(`${domain}: ${message}`);
  return 1;
}

function plan(scan: Scan, edges: EdgeAddresses): FoundRecords {
  return { scan, plan: planImport(scan, { apex: scan.domain, edges, types: RECORD_TYPE_CODES }) };
}

/** Undefined: interrupted. */
async function observe({ domain, settings, signal, bar }: ScanNameOrder): Promise<Scan | undefined> {
  const resolver = await openResolver(settings);
  try {
    return await resolver.scanZone(domain, {
      signal,
      onProgress: ({ names, of, records, queries }) =>
        bar.show(names, of, `${names} of ${of} names, ${records} records, ${queries} questions`),
    });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    bar.clear();
    await resolver.close();
  }
}
