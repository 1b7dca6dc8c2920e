// Describes the job that scans a domain for records: its queue, metrics and log lines.

import { Counter, Histogram, type Registry } from 'prom-client';
import { fillByClaims, type Job, type JobLog, type JobTools } from '../../src/jobs/job.ts';
import { SCAN_IMPORT, type ScanJob } from '../../src/jobs/jobs.ts';
import { claimDueScans } from '../../src/store/scans/begin-scan.ts';
import type { CountryOf } from '../../src/zone/records/country.ts';
import { createScanner, type ScanOutcome } from '../jobs/scan-import.ts';

/** Small, because each job sends up to 4,000 queries. */
const AT_ONCE = 20;

export function scanJob(
  { db, resolver, registry }: JobTools,
  countryOf: CountryOf | undefined,
): Job<ScanJob, ScanOutcome> {
  return {
    kind: SCAN_IMPORT,
    atOnce: AT_ONCE,
    open: (onOutcome) => createScanner({ db, resolver, countryOf, onOutcome }),
    fill: fillByClaims<ScanJob>({ room: AT_ONCE, claim: (limit) => claimDueScans(db, limit) }),
    count: createScanMetrics(registry),
    log: logScan,
  };
}

function createScanMetrics(registry: Registry): (outcome: ScanOutcome) => void {
  const registers = [registry];
  const scans = new Counter({
    name: 'zonefleet_scans_total',
    help: 'Finished scans, by kind, and by whether all queries were answered.',
    labelNames: ['kind', 'complete'],
    registers,
  });
  const unsaved = new Counter({
    name: 'zonefleet_scans_unsaved_total',
    help: 'Scan jobs that ended without a result, by reason: the scan is deleted, belongs to another worker or was started too often, or its domain accepts no records.',
    labelNames: ['reason'],
    registers,
  });
  const records = new Counter({
    name: 'zonefleet_scan_records_total',
    help: 'Records of scans, by result: imported, failed (in conflict), skipped (the name and type already have records), or refused with the whole import.',
    labelNames: ['became'],
    registers,
  });
  const seconds = new Histogram({
    name: 'zonefleet_scan_seconds',
    help: 'Duration of scans.',
    buckets: [0.5, 1, 2, 5, 10, 20, 30, 45, 60],
    registers,
  });
  const questions = new Histogram({
    name: 'zonefleet_scan_questions',
    help: 'Packets that one scan sent.',
    buckets: [10, 100, 500, 1000, 1300, 2000, 3000, 4000],
    registers,
  });
  return (outcome) => {
    if (outcome.kind !== 'saved') return unsaved.inc({ reason: outcome.kind });
    const { scan, scanKind, imported } = outcome;
    scans.inc({ kind: scanKind, complete: String(scan.complete) });
    seconds.observe((scan.finishedAt - scan.startedAt) / 1000);
    questions.observe(scan.queries);
    if (imported?.kind === 'refused') records.inc({ became: 'refused' }, outcome.records);
    if (imported?.kind !== 'imported') return;
    records.inc({ became: 'imported' }, imported.created);
    records.inc({ became: 'failed' }, imported.failed.length);
    records.inc({ became: 'skipped' }, imported.present);
  };
}

function logScan(log: JobLog, outcome: ScanOutcome): void {
  if (outcome.kind !== 'saved') return;
  const { name, scanKind: kind, scan, records, imported, job } = outcome;
  const { complete, queries } = scan;
  const created = imported?.kind === 'imported' ? imported.created : 0;
  const refused = imported?.kind === 'refused' ? { refused: imported.message } : {};
  log.info(
    { domain: name, kind, complete, queries, records, created, ...refused, scan: job.scanId },
    'a scan finished',
  );
}
