import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { ScanOutcome } from '../../../workers/jobs/scan-import.ts';
import { createScanMetrics } from '../../../workers/metrics/scan-metrics.ts';
import { scanOf } from '../../support/world/made-scans.ts';

const job = { scanId: 1 };
const saved = (imported: Extract<ScanOutcome, { kind: 'saved' }>['imported']): ScanOutcome => ({
  kind: 'saved',
  job,
  name: 'example.com.',
  scanKind: 'background',
  scan: scanOf([]),
  records: 7,
  imported,
});

test('scans are counted by kind and completeness, records by outcome', async () => {
  const registry = new Registry();
  const count = createScanMetrics(registry);
  count(saved({ kind: 'imported', created: 4, failed: [], present: 3, changeId: 1 }));
  count(saved({ kind: 'refused', code: 'plan_limit', message: '' }));
  count(saved(undefined));
  count({ kind: 'held', job });
  const lines = (await registry.metrics()).split('\n');
  for (const line of [
    'zonefleet_scans_total{kind="background",complete="true"} 3',
    'zonefleet_scans_unsaved_total{reason="held"} 1',
    'zonefleet_scan_records_total{became="imported"} 4',
    'zonefleet_scan_records_total{became="skipped"} 3',
    'zonefleet_scan_records_total{became="refused"} 7',
    'zonefleet_scan_seconds_sum 4.5',
    'zonefleet_scan_questions_sum 36',
  ]) {
    expect(lines).toContain(line);
  }
});
