// How much of a scan is kept: the zone's owner, who may be anybody, chooses how much there is to be found.

import type { Scan, ScannedRecord } from './scan.ts';

export interface ScanBounds {
  readonly records: number;
  /** Of rdata. */
  readonly octets: number;
}

/** Far more than real zones have. */
export const SCAN_BOUNDS: ScanBounds = { records: 10_000, octets: 4 << 20 };

/** For people. */
export function leftOut(records: number): string {
  return `${records} records were left out: there are more than a scan keeps`;
}

/** Record sets whole, in the order of the scan; one that does not fit is left out, and said to be. */
export function limitScan(scan: Scan, bounds: ScanBounds = SCAN_BOUNDS): Scan {
  const sets = new Map<string, ScannedRecord[]>();
  for (const record of scan.records) {
    const key = `${record.type} ${record.name}`;
    const set = sets.get(key);
    if (set === undefined) sets.set(key, [record]);
    else set.push(record);
  }
  const kept = new Set<ScannedRecord>();
  let octets = 0;
  for (const set of sets.values()) {
    const more = set.reduce((sum, { rdata }) => sum + rdata.length, 0);
    if (kept.size + set.length > bounds.records || octets + more > bounds.octets) continue;
    octets += more;
    for (const record of set) kept.add(record);
  }
  const left = scan.records.length - kept.size;
  if (left === 0) return scan;
  return {
    ...scan,
    records: scan.records.filter((record) => kept.has(record)),
    complete: false,
    shortfalls: [...scan.shortfalls, leftOut(left)],
  };
}
