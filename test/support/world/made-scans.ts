// Creates the result of a scan from records as text (see `customer-records.ts`), and workers that find it.

import type { Scan } from '../../../src/checks/scan/scan.ts';
import type { Name } from '../../../src/dns/name.ts';
import { parseName } from '../../../src/dns/name.ts';
import type { ScanJob } from '../../../src/jobs/jobs.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { type WireType, wireTypeCode } from '../../../src/zone/records/customer-types.ts';
import { createScanner, type ScannerOptions, type ScanOutcome } from '../../../workers/jobs/scan-import.ts';
import { APEX, newRecord } from '../zone/customer-records.ts';

export function scanOf(lines: readonly string[], more: Partial<Scan> = {}): Scan {
  const { domain = APEX } = more;
  const at = Date.now();
  return {
    domain,
    records: lines.map((line) => {
      const { name, type, ttl, rdata } = newRecord(line, domain);
      return { name, type: wireTypeCode(type as WireType), ttl, rdata };
    }),
    wildcards: [],
    complete: true,
    shortfalls: [],
    failure: undefined,
    names: 10,
    queries: 12,
    startedAt: at,
    finishedAt: at + 1500,
    ...more,
  };
}

/** The result for a zone whose servers are unreachable. */
export function unreachable(domain: Name): Scan {
  const failure = { zone: parseName('.'), reason: 'unreachable', message: 'no server answers' } as const;
  return scanOf([], { domain, complete: false, failure });
}

export type Found = ScannerOptions['resolver']['scanZone'];

export async function runScan(
  db: Database,
  job: ScanJob,
  scanZone: Found,
  signal = new AbortController().signal,
): Promise<ScanOutcome> {
  const outcomes: ScanOutcome[] = [];
  const work = createScanner({
    db,
    resolver: { scanZone },
    onOutcome: (one) => void outcomes.push(one),
    pulseMs: 5,
  });
  await work(job, { signal, again: false });
  return outcomes[0] as ScanOutcome;
}
