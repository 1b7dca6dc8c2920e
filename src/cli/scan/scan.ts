// `zonefleet scan NAME`: runs a worker's scan and plan from this machine, without a queue. It needs no database and changes
// nothing, except with `--import`.

import type { Command } from 'commander';
import { planImport } from '../../checks/scan/plan-import.ts';
import type { Scan } from '../../checks/scan/scan.ts';
import { type Name, ROOT } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { EdgeAddresses } from '../../zone/records/customer-record.ts';
import { RECORD_TYPE_CODES } from '../../zone/records/customer-types.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import { INTERRUPTED } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { printRefusal } from '../terminal/print-refusal.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import type { FoundRecords } from './print-scan.ts';

export function addScanCommand(program: Command, cli: Cli): void {
  commandOf(program, 'scan')
    .argument('<name>', "the domain's name")
    .option(
      '--import',
      'add them to the domain in the database, except at names and types that already have records',
    )
    .action(async (text: string, options: { import?: true }) => {
      const domain = parseZoneName(text);
      if (domain === ROOT) throw new Failure('usage', 'the root cannot be scanned');
      if (options.import) await cli.withStore((db) => scanAndImport(db, domain, cli));
      else cli.exitCode = await scanOnly(domain, cli);
    });
}

async function scanOnly(domain: Name, cli: Cli): Promise<number> {
  const { printScan, scanJson } = await import('./print-scan.ts');
  const scan = await observe(domain, cli);
  if (scan === undefined) return INTERRUPTED;
  const { edgeIpv4: v4, edgeIpv6: v6 } = (await cli.settings()).answers;
  const found = plan(scan, { v4, v6 });
  await cli.output.print(cli.output.json ? JSON.stringify(scanJson(found)) : printScan(found));
  return found.plan.records.length === 0 ? 1 : 0;
}

async function scanAndImport(db: Database, name: Name, cli: Cli): Promise<number> {
  const { openCountryDb } = await import('../../process/country-db.ts');
  const { findDomain } = await import('../../store/domains/load-domains.ts');
  const { loadPublishSettings } = await import('../../store/postgres/answer-settings.ts');
  const { importScanned } = await import('../../store/scans/import-scanned.ts');
  const { importJson, importLines, printScan, scanJson } = await import('./print-scan.ts');
  const countryOf = await openCountryDb((await cli.settings()).countryDb);
  const domain = await findDomain(db, name);
  if (domain === undefined) {
    await printRefusal(name, { kind: 'refused', code: 'absent', message: 'no such domain' }, cli.output);
    return 1;
  }
  const scan = await observe(name, cli);
  if (scan === undefined) return INTERRUPTED;
  const found = plan(scan, (await loadPublishSettings(db)).edges);
  const { records } = found.plan;
  const { by } = cli.changedBy();
  const imported = await importScanned(db, { domainId: domain.id, records, by, narrowing: null, countryOf });
  const text = cli.output.json
    ? JSON.stringify({ ...scanJson(found), import: importJson(imported, name) })
    : [printScan(found), ...importLines(imported, name)].join('\n\n');
  await cli.output.print(text);
  const isDone = imported.kind === 'imported' && imported.failed.length === 0;
  return isDone && records.length > 0 ? 0 : 1;
}

function plan(scan: Scan, edges: EdgeAddresses): FoundRecords {
  return { scan, plan: planImport(scan, { apex: scan.domain, edges, types: RECORD_TYPE_CODES }) };
}

/** Returns undefined if interrupted. */
async function observe(domain: Name, cli: Cli): Promise<Scan | undefined> {
  const { observeFromHere } = await import('../terminal/observe-from-here.ts');
  const settings = await cli.settings();
  const signal = cli.interruptible();
  const bar = new ProgressBar(process.stderr);
  const scanning = observeFromHere({ settings, signal }, (resolver) =>
    resolver.scanZone(domain, {
      signal,
      onProgress: ({ names, of, records, queries }) =>
        bar.show(names, of, `${names} of ${of} names, ${records} records, ${queries} queries`),
    }),
  );
  return await scanning.finally(() => bar.clear());
}
